"""Scaled dot product attention, in blocks of queries where the scores are many.

In: queries, keys and values. Out: weighted averages of the values. A block's scores fit into the
cache and are gone with the block; the backward computes them again, block by block, so that memory
grows with the number of queries and not with its square. Blocks are rows of queries, or whole
heads; the row `attention` computes each, and its derivative is the one that is used.

Source: Vaswani et al. 2017; Dao et al., "FlashAttention" (2022), for what the backward keeps;
Rabe and Staats, "Self-attention does not need O(n^2) memory" (2021), for blocks of queries.
"""

import math
from collections.abc import Iterator
from typing import Any

from minitorch2.autograd.function import Function
from minitorch2.autograd.modes import enable_grad
from minitorch2.autograd.public import grad
from minitorch2.creation import empty, ones, zeros_like
from minitorch2.dispatch import call, is_compiling, state
from minitorch2.dtypes import bool as bool_dtype
from minitorch2.errors import ArgumentValueError
from minitorch2.nn.functional.rows import row
from minitorch2.ops.attention import attention_weights
from minitorch2.ops.table import lookup

MOST_SCORES = 1 << 21  # of a block
LEAST_ROWS = 64
_dropout = row("dropout")


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """softmax(query @ key.mT * scale + mask) @ value.

    query [..., L, E], key [..., S, E], value [..., S, V] give [..., L, V]. A boolean mask says what
    may be looked at; another is added. `enable_gqa` repeats the heads of key and value. Memory for
    all L * S scores at once is needed under autocast and in function transforms, with dropout, with
    a mask that requires a gradient, and where leading dimensions differ. In compiled code the steps
    become chains (kernels/schedule/chains.py), with dropout and such masks too; it needs the memory
    of shorter rows' weights for the backward, and all where a step is no member of a chain.
    """
    if enable_gqa:
        key, value = (_repeated_heads(x, query.shape[-3] // x.shape[-3]) for x in (key, value))
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    rows, columns = query.shape[-2], key.shape[-2]
    causal = False
    if is_causal:
        if attn_mask is not None:
            raise ArgumentValueError(
                "scaled_dot_product_attention(attn_mask=..., is_causal=True)",
                "Explicit attn_mask should not be set when is_causal=True",
                "put the causal mask into attn_mask",
            )
        causal = not dropout_p and rows == columns
        if not causal:
            attn_mask = ones(rows, columns, dtype=bool_dtype, device=query.device).tril()
    if dropout_p:
        weights = attention_weights(query, key, attn_mask, scale, False)
        weights = _dropout(weights, dropout_p, True)
        return (weights @ value.to(weights.dtype)).to(query.dtype)
    if _is_cut(query, key, value, attn_mask):
        return _in_blocks(query, key, value, attn_mask, scale, causal)
    return _attention(query, key, value, attn_mask, scale, causal)


def _attention(*args: Any) -> Any:
    return call(lookup("attention"), args)


def _repeated_heads(x: Any, repeats: int) -> Any:
    """[..., H, S, E] with each head `repeats` times in a row."""
    shape = (*x.shape[:-2], repeats, *x.shape[-2:])
    return x.unsqueeze(-3).expand(shape).flatten(-4, -3)


def _is_cut(query: Any, key: Any, value: Any, mask: Any) -> bool:
    """Whether the scores are many, nothing looks on, and the leading dimensions are the same."""
    if is_compiling() or state.modes or state.tracer or state.duals or state.autocast:
        return False
    if query.is_meta or mask is not None and mask.requires_grad:
        return False
    lead = query.shape[:-2]
    if query.ndim < 2 or key.shape[:-2] != lead or value.shape[:-2] != lead:
        return False
    return lead.numel() * query.shape[-2] * key.shape[-2] > MOST_SCORES


def _cuts(sizes: tuple[int, ...], inner: int) -> Iterator[tuple[slice, ...]]:
    """Blocks of at most MOST_SCORES, or of LEAST_ROWS rows: a slice for each size.

    >>> list(_cuts((1, 2, 4096), 1 << 10))[:2]
    [(slice(0, 1, None), slice(0, 1, None), slice(0, 2048, None)), \
(slice(0, 1, None), slice(0, 1, None), slice(2048, 4096, None))]
    """
    if not sizes:
        yield ()
        return
    first, *rest = sizes
    together = math.prod(rest) * inner
    step = max(1 if rest else LEAST_ROWS, MOST_SCORES // together)
    for start in range(0, first, step):
        here = slice(start, min(start + step, first))
        if together > MOST_SCORES:
            yield from ((here, *others) for others in _cuts(tuple(rest), inner))
        else:
            yield (here, *(slice(0, size) for size in rest))


class ScaledDotProductFlashAttentionForCpu(Function):
    """Attention whose scores are computed again in the backward, block by block."""

    @staticmethod
    def forward(
        ctx: Any, query: Any, key: Any, value: Any, mask: Any, scale: float, causal: bool
    ) -> Any:
        ctx.save_for_backward(query, key, value, mask)
        ctx.scale, ctx.causal = scale, causal
        found = empty(*query.shape[:-1], value.shape[-1], dtype=query.dtype)
        for at, parts in _blocks(query, key, value, mask, causal):
            found[at] = _attention(*parts, scale, causal)
        return found

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> tuple:
        *given, mask = ctx.saved_tensors
        needed = ctx.needs_input_grad[:3]
        if state.grad_enabled:  # somebody differentiates this gradient: the whole row's
            result = _attention(*given, mask, ctx.scale, ctx.causal)
            wanted = [part for part, need in zip(given, needed, strict=True) if need]
            found = iter(grad(result, wanted, gradient, create_graph=True))
            return (*(next(found) if need else None for need in needed), None, None, None)
        totals = [
            zeros_like(part) if need else None for part, need in zip(given, needed, strict=True)
        ]
        query, key, value = given
        for at, (*parts, seen) in _blocks(query, key, value, mask, ctx.causal):
            places = (at, *[(*at[:-1], slice(0, parts[1].shape[-2]))] * 2)
            with enable_grad():
                leaves = [part.detach().requires_grad_(need)
                          for part, need in zip(parts, needed, strict=True)]  # fmt: skip
                result = _attention(*leaves, seen, ctx.scale, ctx.causal)
                wanted = [leaf for leaf in leaves if leaf.requires_grad]
                found = iter(grad(result, wanted, gradient[at]))
            for total, place in zip(totals, places, strict=True):
                if total is not None:
                    total[place] += next(found)
        return (*totals, None, None, None)


_in_blocks = ScaledDotProductFlashAttentionForCpu.apply


def _blocks(
    query: Any, key: Any, value: Any, mask: Any, causal: bool
) -> Iterator[tuple[tuple[slice, ...], tuple]]:
    """Where a block of queries lies, and its part of query, key, value and mask.

    Of what is causal it sees the keys up to its last query: half of them need not be looked at.
    """
    columns = key.shape[-2]
    if mask is not None:
        mask = mask.expand(*query.shape[:-1], columns)
    for at in _cuts(tuple(query.shape[:-1]), columns):
        seen = (*at[:-1], slice(0, at[-1].stop if causal else columns))
        part = None if mask is None else mask[at].contiguous()
        yield at, (query[at].contiguous(), key[seen].contiguous(), value[seen].contiguous(), part)

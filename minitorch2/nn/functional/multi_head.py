"""Attention with several heads, as a function of its weights.

In: query [L, N, E], key [S, N, Ek], value [S, N, Ev], the weights of the projections. Out:
[L, N, E], and the weights of the attention [N, L, S] or [N, heads, L, S], None where they are not
asked for.

Source: Vaswani et al. 2017; torch.nn.functional.multi_head_attention_forward.
"""

import math
from collections.abc import Sequence
from typing import Any

from minitorch2.creation import ones, zeros
from minitorch2.dtypes import bool as bool_dtype
from minitorch2.errors import OperationError, ShapeError
from minitorch2.nn.functional.lookups import linear
from minitorch2.nn.functional.padding import pad
from minitorch2.nn.functional.rows import row

_dropout, _where, _cat = row("dropout"), row("where"), row("cat")


def attention_of_heads(
    projections: Sequence[tuple[Any, Any, Any]],
    out: tuple[Any, Any],
    heads: int,
    masks: tuple[Any, Any] = (None, None),
    dropout_p: float = 0.0,
    extra: tuple[Any, Any, bool] = (None, None, False),
    static: tuple[Any, Any] = (None, None),
    causal: bool = False,
) -> tuple[Any, Any]:
    """Attention of batches: the result [N, L, E] and the weights [N, heads, L, S].

    `projections` holds the input [N, T, E'], weight and bias of query, key and value; `out` the
    last projection's weight and bias. `masks` are what may not be looked at, or what is added:
    [L, S] or [N * heads, L, S], and [N, S] of the keys. `extra` is a key and a value [1, 1, E] that
    each sequence gets, and whether it gets one of zeros. `static` are keys and values
    [N * heads, S, D] that take the place of the projected ones. `causal` puts the causal mask in
    the place of the one given, which it is said to be.
    """
    attn_mask, padding = masks
    if attn_mask is not None and attn_mask.ndim == 3:
        attn_mask = attn_mask.unflatten(0, (-1, heads))
    padding = None if padding is None else padding[..., None, None, :]
    q, k, v = (linear(x, weight, bias) for x, weight, bias in projections)
    added = 0
    if extra[0] is not None:
        k, v = (_cat((x, e.expand(len(x), 1, -1)), 1) for x, e in zip((k, v), extra, strict=False))
        added += 1
    q, k, v = (_split(x, heads) for x in (q, k, v))
    k, v = (
        x if given is None else given.unflatten(0, (-1, heads))
        for x, given in zip((k, v), static, strict=True)
    )
    if extra[2]:
        k, v = (_cat((x, zeros(*x.shape[:2], 1, x.shape[3], dtype=x.dtype)), 2) for x in (k, v))
        added += 1
    scores = q @ k.mT / math.sqrt(q.shape[-1])  # [N, heads, L, S]
    if causal:
        attn_mask, added = ones(*scores.shape[-2:], dtype=bool_dtype).triu(1), 0
    for mask in (attn_mask, padding):
        if mask is not None:
            mask = pad(mask, (0, added)) if added else mask
            scores = _where(mask, -math.inf, scores) if mask.dtype is bool_dtype else scores + mask
    weights = _dropout(scores.softmax(-1), dropout_p, dropout_p > 0)
    return linear((weights @ v).transpose(1, 2).flatten(2), *out), weights


def _split(x: Any, heads: int) -> Any:
    """[N, T, E] as [N, heads, T, E / heads]."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def trusts_hint(is_causal: bool, attn_mask: Any, padding: Any, need_weights: bool) -> bool:
    """Whether the causal mask is taken without a look at the mask that is said to be causal.

    As torch does, where neither weights nor the padding of keys need a mask; OperationError for a
    hint without a mask.
    """
    if is_causal and attn_mask is None:
        raise OperationError(
            "multi-head attention with is_causal=True",
            "Need attn_mask if specifying the is_causal hint.",
            "pass attn_mask=nn.Transformer.generate_square_subsequent_mask(length)",
        )
    return is_causal and padding is None and not need_weights


def multi_head_attention_forward(
    query: Any,
    key: Any,
    value: Any,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Any,
    in_proj_bias: Any,
    bias_k: Any,
    bias_v: Any,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Any,
    out_proj_bias: Any,
    training: bool = True,
    key_padding_mask: Any = None,
    need_weights: bool = True,
    attn_mask: Any = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    static_k: Any = None,
    static_v: Any = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Any, Any]:
    """Attention as nn.MultiheadAttention computes it, from its weights; [L, N, E] or [L, E].

    `is_causal` is a hint that the mask given is the causal one (see `trusts_hint`).
    """
    causal = trusts_hint(is_causal, attn_mask, key_padding_mask, need_weights)
    if query.shape[-1] != embed_dim_to_check:
        raise ShapeError(
            "multi_head_attention_forward()",
            f"was expecting embedding dimension of {embed_dim_to_check}, but got {query.shape[-1]}",
            "give a query whose last size is embed_dim_to_check",
        )
    single = query.ndim == 2
    inputs = [x.unsqueeze(0) if single else x.transpose(0, 1) for x in (query, key, value)]
    if single and key_padding_mask is not None:
        key_padding_mask = key_padding_mask.unsqueeze(0)
    parts = (q_proj_weight, k_proj_weight, v_proj_weight)
    weights = parts if use_separate_proj_weight else in_proj_weight.chunk(3)
    biases = (None, None, None) if in_proj_bias is None else in_proj_bias.chunk(3)
    result, found = attention_of_heads(
        tuple(zip(inputs, weights, biases, strict=True)),
        (out_proj_weight, out_proj_bias),
        num_heads,
        (attn_mask, key_padding_mask),
        dropout_p if training else 0.0,
        (bias_k, bias_v, add_zero_attn),
        (static_k, static_v),
        causal,
    )
    result = result.squeeze(0) if single else result.transpose(0, 1)
    if not need_weights:
        return result, None
    found = found.mean(1) if average_attn_weights else found
    return result, found.squeeze(0) if single else found

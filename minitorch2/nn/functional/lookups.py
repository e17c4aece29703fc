"""Layers that are products: linear, one_hot, scaled_dot_product_attention.

In: tensors, or integers that name rows. Out: tensors.

Source: torch.nn.functional; Vaswani et al. 2017 (attention).
"""

import math
from typing import Any

from minitorch2.creation import ones
from minitorch2.dtypes import bool as bool_dtype
from minitorch2.errors import ArgumentValueError
from minitorch2.nn.functional.rows import row

linear, one_hot = row("linear"), row("one_hot")
_softmax, _dropout, _where = (row(name) for name in ("softmax", "dropout", "where"))


def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """x1 @ weight[k] @ x2 for each output k."""
    flat = (input1.unsqueeze(-1) * input2.unsqueeze(-2)).flatten(-2)
    return linear(flat, weight.flatten(1), bias)


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
    may be looked at; another is added. `enable_gqa` repeats the heads of key and value.
    """
    if enable_gqa:
        repeats = query.shape[-3] // key.shape[-3]
        key, value = _repeated_heads(key, repeats), _repeated_heads(value, repeats)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query @ key.mT * scale  # [..., L, S]
    if is_causal:
        if attn_mask is not None:
            raise ArgumentValueError(
                "scaled_dot_product_attention(attn_mask=..., is_causal=True)",
                "Explicit attn_mask should not be set when is_causal=True",
                "put the causal mask into attn_mask",
            )
        attn_mask = ones(*scores.shape[-2:], dtype=bool_dtype).tril()
    if attn_mask is not None:
        if attn_mask.dtype is bool_dtype:
            scores = _where(attn_mask, scores, -math.inf)
        else:
            scores = scores + attn_mask
    weights = _softmax(scores, -1)
    if attn_mask is not None and attn_mask.dtype is bool_dtype and not is_causal:
        # A row that may look at nothing has nan weights; it gives zero, as torch's does.
        weights = _where(attn_mask.any(-1, keepdim=True), weights, 0.0)
    return _dropout(weights, dropout_p, dropout_p > 0) @ value


def _repeated_heads(x: Any, repeats: int) -> Any:
    """[..., H, S, E] with each head `repeats` times in a row."""
    shape = (*x.shape[:-2], repeats, *x.shape[-2:])
    return x.unsqueeze(-3).expand(shape).flatten(-4, -3)

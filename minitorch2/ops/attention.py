"""Scaled dot product attention as one composite row, over all rows of queries at once.

In: queries, keys and values of the same leading dimensions. Out: for each query the average of the
values, weighted by how well their keys fit. `nn/functional/attention.py` publishes it, and cuts
what is large into blocks of queries.

Source: Vaswani et al., "Attention Is All You Need" (2017), equation 1.
"""

import math

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.ops.composites import composite
from minitorch2.ops.table import lookup


def _op(name, *args):
    return call(lookup(name), args)


def attention_weights(query, key, mask, scale, causal):
    """How much each query looks at each key: rows [..., L, S] that sum to 1, or are all zero."""
    if query.dtype.itemsize == 2 and query.dtype.is_floating_point:
        query, key = query.to(dtypes.float32), key.to(dtypes.float32)  # scores are not rounded
    scores = query @ key.mT * scale
    nothing = None  # rows that may look at nothing give zero, and pass no gradients on
    rows, columns = scores.shape[-2:]
    if causal:
        everything = _op("full", (rows, columns), True, dtypes.bool, query.device)
        mask = _op("tril", everything, columns - rows)
    if mask is not None and mask.dtype is dtypes.bool:
        scores = _op("where", mask, scores, -math.inf)
        nothing = None if causal and rows <= columns else ~mask.any(-1, keepdim=True)
    elif mask is not None:
        scores = scores + mask
        nothing = scores.detach().amax(-1, keepdim=True) == -math.inf
    if nothing is None:
        return _op("softmax", scores, -1, None)
    weights = _op("softmax", _op("where", nothing, 0.0, scores), -1, None)
    return _op("where", nothing, 0.0, weights)


def _attention(query, key, value, mask, scale, causal):
    weights = attention_weights(query, key, mask, scale, causal)
    return (weights @ value.to(weights.dtype)).to(query.dtype)


composite(
    "attention(Tensor query, Tensor key, Tensor value, Tensor? mask, float scale, bool causal)"
    " -> Tensor",
    _attention,
    "softmax(query @ key.mT * scale + mask) @ value. query [..., L, E], key [..., S, E], value "
    "[..., S, V], mask [..., L, S], of booleans (what may be looked at) or added. `causal`: the "
    "last query sees all keys, the one before it all but the last, and so on.",
    method=False,
    function=False,
    precision="lower",
    whole=True,
)

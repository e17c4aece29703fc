"""MultiheadAttention: several attentions side by side, each on its own projection.

In: query [L, N, E], key and value [S, N, E] (or with the batch first). Out: [L, N, E] and the
weights, averaged over the heads.

Source: Vaswani et al. 2017; torch.nn.MultiheadAttention.
"""

import math
from typing import Any

from minitorch2.creation import empty
from minitorch2.dtypes import bool as bool_dtype
from minitorch2.errors import ArgumentValueError
from minitorch2.nn import functional as F
from minitorch2.nn import init
from minitorch2.nn.linear import NonDynamicallyQuantizableLinear
from minitorch2.nn.module import Module
from minitorch2.nn.parameter import Parameter
from minitorch2.ops.table import lookup

_where = lookup("where").public


class MultiheadAttention(Module):
    """`num_heads` attentions of embed_dim / num_heads features each; all inputs alike in size."""

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        if embed_dim % num_heads:
            raise ArgumentValueError(
                f"MultiheadAttention({embed_dim}, {num_heads})",
                "embed_dim must be divisible by num_heads",
            )
        if add_bias_kv or add_zero_attn or {kdim, vdim} - {None, embed_dim}:
            raise ArgumentValueError(
                f"MultiheadAttention({embed_dim}, {num_heads}, ...)",
                "add_bias_kv, add_zero_attn and sizes kdim, vdim other than embed_dim are not "
                "supported",
                "project keys and values to embed_dim with nn.Linear first",
            )
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.head_dim, self.batch_first = embed_dim // num_heads, batch_first
        self.in_proj_weight = Parameter(empty(3 * embed_dim, embed_dim, device=device, dtype=dtype))
        if bias:
            self.in_proj_bias = Parameter(empty(3 * embed_dim, device=device, dtype=dtype))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        init.xavier_uniform_(self.in_proj_weight)
        if bias:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)

    def _heads(self, x: Any, part: int) -> Any:
        """[N, T, E] projected by the `part`-th third of the weight: [N, heads, T, head_dim]."""
        rows = slice(part * self.embed_dim, (part + 1) * self.embed_dim)
        weight: Any = self.in_proj_weight
        bias: Any = self.in_proj_bias
        projected = F.linear(x, weight[rows], None if bias is None else bias[rows])
        return projected.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)

    def forward(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        single = query.ndim == 2
        inputs = [x.unsqueeze(0) if single else x for x in (query, key, value)]
        if not single and not self.batch_first:
            inputs = [x.transpose(0, 1) for x in inputs]
        q, k, v = (self._heads(x, part) for part, x in enumerate(inputs))
        scores = q @ k.mT / math.sqrt(self.head_dim)  # [N, heads, L, S]
        if attn_mask is not None:
            if attn_mask.ndim == 3:
                attn_mask = attn_mask.unflatten(0, (-1, self.num_heads))
            scores = _masked(scores, attn_mask)
        if key_padding_mask is not None:
            scores = _masked(scores, key_padding_mask[..., None, None, :])
        weights = F.dropout(scores.softmax(-1), self.dropout, self.training)
        result = self.out_proj((weights @ v).transpose(1, 2).flatten(2))
        if single:
            result = result.squeeze(0)
        elif not self.batch_first:
            result = result.transpose(0, 1)
        if not need_weights:
            return result, None
        weights = weights.mean(1) if average_attn_weights else weights
        return result, weights.squeeze(0) if single else weights


def _masked(scores: Any, mask: Any) -> Any:
    """True in a mask forbids; a floating mask is added."""
    return _where(mask, -math.inf, scores) if mask.dtype is bool_dtype else scores + mask

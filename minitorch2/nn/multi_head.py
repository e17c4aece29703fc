"""MultiheadAttention: several attentions side by side, each on its own projection.

In: query [L, N, E], key and value [S, N, E] (or with the batch first). Out: [L, N, E] and the
weights, averaged over the heads.

Source: Vaswani et al. 2017; torch.nn.MultiheadAttention.
"""

from typing import Any

from minitorch2.creation import empty
from minitorch2.errors import ArgumentValueError
from minitorch2.nn import init
from minitorch2.nn.functional.multi_head import attention_of_heads, trusts_hint
from minitorch2.nn.linear import NonDynamicallyQuantizableLinear
from minitorch2.nn.module import Module
from minitorch2.nn.parameter import Parameter


class MultiheadAttention(Module):
    """`num_heads` attentions of embed_dim / num_heads features each.

    Keys have `kdim` features and values `vdim`, embed_dim unless given. `add_bias_kv` gives each
    sequence a learned key and value besides its own, `add_zero_attn` one of zeros.
    """

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
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise ArgumentValueError(
                f"MultiheadAttention({embed_dim}, {num_heads})",
                "embed_dim must be divisible by num_heads, and both greater than 0",
            )
        made: dict[str, Any] = {"device": device, "dtype": dtype}
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.head_dim, self.batch_first = embed_dim // num_heads, batch_first
        self.add_zero_attn = add_zero_attn
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        sizes: tuple[int | None, ...] = (embed_dim, self.kdim, self.vdim)
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(empty(3 * embed_dim, embed_dim, **made))
            sizes = (None, None, None)
        else:
            self.register_parameter("in_proj_weight", None)
        for name, size in zip("qkv", sizes, strict=True):
            part = None if size is None else Parameter(empty(embed_dim, size, **made))
            self.register_parameter(f"{name}_proj_weight", part)
        if bias:
            self.in_proj_bias = Parameter(empty(3 * embed_dim, **made))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        for name in ("bias_k", "bias_v"):
            learned = Parameter(empty(1, 1, embed_dim, **made)) if add_bias_kv else None
            self.register_parameter(name, learned)
        self._reset_parameters()

    def _weights(self) -> tuple[Any, Any, Any]:
        """The projections' weights: of query, key and value."""
        joined: Any = self.in_proj_weight
        if joined is None:
            return self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        return tuple(self._third(joined, part) for part in range(3))

    def _third(self, joined: Any, part: int) -> Any:
        return joined[part * self.embed_dim : (part + 1) * self.embed_dim]

    def _reset_parameters(self) -> None:
        for weight in self._weights() if self.in_proj_weight is None else (self.in_proj_weight,):
            init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for learned in (self.bias_k, self.bias_v):
            if learned is not None:
                init.xavier_normal_(learned)

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
        """The attention of each query, and how much of each key went into it.

        A true element of a mask forbids; a floating mask is added. `is_causal` is a hint that
        `attn_mask` is the causal mask, which has to be given all the same; without need_weights
        and key_padding_mask nobody looks at it.
        """
        single = query.ndim == 2
        inputs = [x.unsqueeze(0) if single else x for x in (query, key, value)]
        if not single and not self.batch_first:
            inputs = [x.transpose(0, 1) for x in inputs]
        causal = trusts_hint(is_causal, attn_mask, key_padding_mask, need_weights)
        bias: Any = self.in_proj_bias
        biases = [None if bias is None else self._third(bias, part) for part in range(3)]
        result, weights = attention_of_heads(
            tuple(zip(inputs, self._weights(), biases, strict=True)),
            (self.out_proj.weight, self.out_proj.bias),
            self.num_heads,
            (attn_mask, key_padding_mask),
            self.dropout if self.training else 0.0,
            (self.bias_k, self.bias_v, self.add_zero_attn),
            causal=causal,
        )
        if single:
            result = result.squeeze(0)
        elif not self.batch_first:
            result = result.transpose(0, 1)
        if not need_weights:
            return result, None
        weights = weights.mean(1) if average_attn_weights else weights
        return result, weights.squeeze(0) if single else weights

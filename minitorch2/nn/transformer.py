"""Transformers: encoder and decoder layers, stacks of them, and both together.

In: sequences [T, N, d_model] (or with the batch first). Out: the same shape.

Source: Vaswani et al. 2017; torch.nn.Transformer for names and defaults.
"""

import copy
from collections.abc import Callable
from typing import Any

from minitorch2.creation import full
from minitorch2.errors import ArgumentValueError
from minitorch2.nn import functional as F
from minitorch2.nn import init
from minitorch2.nn.containers import ModuleList
from minitorch2.nn.dropout import Dropout
from minitorch2.nn.linear import Linear
from minitorch2.nn.module import Module
from minitorch2.nn.multi_head import MultiheadAttention
from minitorch2.nn.normalization import LayerNorm


def _activation(given: str | Callable) -> Callable:
    if not isinstance(given, str):
        return given
    if given not in ("relu", "gelu"):
        raise ArgumentValueError(
            f"a transformer with activation={given!r}",
            f"activation should be relu/gelu, not {given}",
        )
    return F.relu if given == "relu" else F.gelu


class TransformerEncoderLayer(Module):
    """Self-attention, then two linear layers; each is added to its input and normalized."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        given = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, **given
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias, **given)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **given)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **given)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **given)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.activation = _activation(activation)

    def forward(
        self,
        src: Any,
        src_mask: Any = None,
        src_key_padding_mask: Any = None,
        is_causal: bool = False,
    ) -> Any:
        def attend(x: Any) -> Any:
            found = self.self_attn(x, x, x, src_key_padding_mask, False, src_mask)[0]
            return self.dropout1(found)

        if self.norm_first:
            src = src + attend(self.norm1(src))
            return src + self._feed(self.norm2(src))
        src = self.norm1(src + attend(src))
        return self.norm2(src + self._feed(src))

    def _feed(self, x: Any) -> Any:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerDecoderLayer(Module):
    """Self-attention, attention to the encoder's memory, then two linear layers."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        given = {"device": device, "dtype": dtype}
        heads = {"batch_first": batch_first, **given}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, **heads)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias, **heads)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **given)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **given)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **given)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **given)
        self.norm3 = LayerNorm(d_model, layer_norm_eps, bias=bias, **given)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = _activation(activation)

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:
        def own(x: Any) -> Any:
            return self.dropout1(self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask)[0])

        def other(x: Any) -> Any:
            found = self.multihead_attn(
                x, memory, memory, memory_key_padding_mask, False, memory_mask
            )
            return self.dropout2(found[0])

        if self.norm_first:
            tgt = tgt + own(self.norm1(tgt))
            tgt = tgt + other(self.norm2(tgt))
            return tgt + self._feed(self.norm3(tgt))
        tgt = self.norm1(tgt + own(tgt))
        tgt = self.norm2(tgt + other(tgt))
        return self.norm3(tgt + self._feed(tgt))

    def _feed(self, x: Any) -> Any:
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))


def _copies(layer: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


class TransformerEncoder(Module):
    """Copies of an encoder layer, one after the other."""

    def __init__(
        self,
        encoder_layer: Any,
        num_layers: int,
        norm: Any = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ):
        super().__init__()
        self.layers, self.num_layers = _copies(encoder_layer, num_layers), num_layers
        self.norm = norm

    def forward(
        self,
        src: Any,
        mask: Any = None,
        src_key_padding_mask: Any = None,
        is_causal: bool | None = None,
    ) -> Any:
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """Copies of a decoder layer, one after the other."""

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None):
        super().__init__()
        self.layers, self.num_layers = _copies(decoder_layer, num_layers), num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        for layer in self.layers:
            tgt = layer(
                tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder, and a decoder that looks at what it made."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        given = {"device": device, "dtype": dtype}
        settings = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, bias,
        )  # fmt: skip
        if custom_encoder is None:
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, **given)
            layer: Any = TransformerEncoderLayer(*settings, **given)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        self.encoder = custom_encoder
        if custom_decoder is None:
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, **given)
            layer = TransformerDecoderLayer(*settings, **given)
            custom_decoder = TransformerDecoder(layer, num_decoder_layers, norm)
        self.decoder = custom_decoder
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src: Any,
        tgt: Any,
        src_mask: Any = None,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        src_key_padding_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        memory = self.encoder(src, src_mask, src_key_padding_mask)
        return self.decoder(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
        """A mask that is added: -inf above the diagonal, so that nothing looks ahead."""
        return full((sz, sz), float("-inf"), dtype=dtype, device=device).triu(1)

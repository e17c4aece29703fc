"""16-bit floats in memory, f32 in registers: widen after a load, narrow before a store.

In: u16 bits of a float16 or bfloat16, or an f32. Out: the f32, or the u16 nearest to it (ties to
even, overflow to inf, NaN stays NaN).

>>> import numpy as np
>>> widen_bf16(np.uint16(0x3FC0)), hex(narrow_f16(np.float32(1.5)))
(np.float32(1.5), '0x3e00')

Source: F. Giesen, "Half to float done quick" (2012), public domain.
"""

from typing import Any

from minitorch2.kernels.vecmath import primitives as p
from minitorch2.kernels.vecmath.helpers import helper


@helper(accepts=("u16",), returns="f32")
def widen_bf16(x: Any) -> Any:
    """The f32 equal to these bfloat16 bits."""
    return p.from_bits(p.cast(x, "i32") << 16)


@helper(accepts=("f32",), returns="u16")
def narrow_bf16(x: Any) -> Any:
    """The bits of the bfloat16 nearest to x."""
    raw = p.bits(x)
    rounded = (raw + (((raw >> 16) & 1) + 0x7FFF)) >> 16
    return p.cast(p.select(x != x, (raw >> 16) | 0x40, rounded), "u16")


@helper(accepts=("u16",), returns="f32")
def widen_f16(x: Any) -> Any:
    """The f32 equal to these float16 bits."""
    if isinstance(x, p.Symbolic) and x.converts():
        return x.from_half()
    wide = p.cast(x, "i32")
    sign = (wide & 0x8000) << 16
    shifted = (wide & 0x7FFF) << 13
    exponent = shifted & 0x0F800000
    normal = shifted + (112 << 23)
    special = normal + (112 << 23)
    magic = 2.0**-14
    tiny = p.bits(p.from_bits(normal + (1 << 23)) - magic)
    result = p.select(exponent == 0x0F800000, special, p.select(exponent == 0, tiny, normal))
    return p.from_bits(result | sign)


@helper(accepts=("f32",), returns="u16")
def narrow_f16(x: Any) -> Any:
    """The bits of the float16 nearest to x."""
    if isinstance(x, p.Symbolic) and x.converts():
        return x.to_half()
    size = p.fabs(x)
    raw = p.bits(size)
    sign = (p.bits(x) >> 16) & 0x8000
    tiny = p.bits(size + 0.5) - 0x3F000000
    normal = ((raw - (112 << 23)) + (((raw >> 13) & 1) + 0xFFF)) >> 13
    result = p.select(size < 2.0**-14, tiny, normal)
    result = p.select(size >= 65520.0, 0x7C00, result)
    result = p.select(x != x, ((raw >> 13) & 0x1FF) | 0x7E00, result)
    return p.cast(result | sign, "u16")

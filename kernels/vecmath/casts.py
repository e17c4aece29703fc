"""The casts that kernels call by a type's short name: `f32(x)`, `i64(x)`, `b1(x)` ...

In: a number of any type. Out: the number as the type that the name says. Floats truncate towards
zero; one that does not fit (or NaN) gives the smallest integer, as NumPy does on x86.

>>> f32(1), i64(-2.75), u8(300), b1(0.0)
(np.float32(1.0), np.int64(-2), np.uint8(44), np.False_)

Source: https://llvm.org/docs/LangRef.html#conversion-operations
"""

from collections.abc import Callable
from typing import Any

from minitorch2.kernels.vecmath import primitives as p
from minitorch2.kernels.vecmath.helpers import ANY, helper


def _cast(name: str, short: str) -> Callable[[Any], Any]:
    def cast(x: Any) -> Any:
        return p.cast(x, short)

    cast.__doc__ = f"The value as {short}."
    cast.__name__ = cast.__qualname__ = name
    return helper(accepts=ANY, returns=short)(cast)


f32 = _cast("f32", "f32")
f64 = _cast("f64", "f64")
i64 = _cast("i64", "i64")
i32 = _cast("i32", "i32")
i16 = _cast("i16", "i16")
i8 = _cast("i8", "i8")
u64 = _cast("u64", "u64")
u32 = _cast("u32", "u32")
u16 = _cast("u16", "u16")
u8 = _cast("u8", "u8")
b1 = _cast("b1", "bool")

"""Eager's transcendental functions, from the same scalar functions that the kernels use.

In: a name such as 'exp'. Out: a function of a numpy array, in f32, f64 or a 16-bit float (computed
in f32 and rounded once). Eager and compiled code therefore agree bit for bit on elementwise code.
Machine code comes from the disk cache where it is there.

    exp = primitive("exp")
    exp(numpy.ones(3, numpy.float32))

Source: `minitorch2.backends.primitives` asks for this file by name; the functions are vecmath's.
"""

from collections.abc import Callable
from functools import cache

import numpy

from minitorch2.kernels.runtime.compile import compile_kernel
from minitorch2.kernels.runtime.launcher import Launch
from minitorch2.kernels.runtime.signature import KernelSignature

COST = 2.0  # nanoseconds an element: enough to decide when a second thread pays


@cache
def _launch(name: str, short: str) -> Launch:
    source = (
        "def primitive(lo, hi, x, y, status):\n"
        "    for i in range(lo, hi):\n"
        f"        y[i] = {name}(x[i])\n"
    )
    kernel = compile_kernel(source, KernelSignature(arrays=(short, short)))
    return kernel.direct()


def primitive(name: str) -> Callable[[numpy.ndarray], numpy.ndarray]:
    """The function `name` of vecmath over whole arrays."""

    def function(array: numpy.ndarray) -> numpy.ndarray:
        if array.dtype != numpy.float32 and array.dtype != numpy.float64:
            wide = numpy.asarray(array, numpy.float32)
            return function(wide).astype(array.dtype)
        dense = numpy.asarray(array)
        dense = dense if _is_dense(dense) else numpy.ascontiguousarray(dense)
        result = numpy.empty_like(dense)
        if dense.size:
            launch = _launch(name, "f32" if dense.dtype == numpy.float32 else "f64")
            launch(dense.size, (dense, result), (), (), COST)
        return result

    function.__name__ = name
    return function


def _is_dense(array: numpy.ndarray) -> bool:
    """Whether the elements fill their memory in some order (then `empty_like` has the same)."""
    return bool(array.flags.c_contiguous or array.flags.f_contiguous)


@cache
def _drawing(body: str, short: str) -> Launch:
    source = (
        "def draw(lo, hi, y, seed, first, status):\n"
        "    for i in range(lo, hi):\n"
        f"        y[i] = {body}\n"
    )
    signature = KernelSignature(arrays=(short,), scalars=("i64", "i64"))
    kernel = compile_kernel(source, signature)
    return kernel.direct()


def _drawer(body: str, short: str, kind: type) -> Callable[[int, int, int], numpy.ndarray]:
    def function(seed: int, counter: int, count: int) -> numpy.ndarray:
        result: numpy.ndarray = numpy.empty(count, kind)
        if count:
            signed = (seed + (1 << 63)) % (1 << 64) - (1 << 63)  # the same 64 bits
            _drawing(body, short)(count, (result,), (), (signed, 4 * counter), DRAW_COST)
        return result

    return function


DRAW_COST = 8.0
# Functions of (seed, first block, count): the numbers that compiled code draws.
draw_words = _drawer("random_word(seed, first + i64(i))", "i64", numpy.int64)
draw_floats = _drawer(
    "f32(random_word(seed, first + i64(i)) >> i64(8)) * f32(5.9604644775390625e-08)",
    "f32",
    numpy.float32,
)

"""Three ways to run one kernel: compiled, as plain Python, by the loop-IR interpreter.

In: a Kernel and its source. Out: a function `run(total, arrays, sizes, numbers, cost)` over numpy
arrays whose first element is element 0 of the buffer. All three give the same bits, but for the
order of sums in "loops".

    numba    machine code, on all threads (from the translator; from Numba, if config says so)
    python   the same source under plain Python: set a breakpoint in it
    loops    the loop IR before any source was made

Source: the design's rule that every stage runs.
"""

from collections.abc import Sequence
from typing import Any

import numpy

from minitorch2.kernels.codegen.source import KernelSource
from minitorch2.kernels.host import Run
from minitorch2.kernels.interpreter import interpret_kernel
from minitorch2.kernels.loop_ir import Kernel
from minitorch2.kernels.runtime.buffers import flat
from minitorch2.kernels.runtime.compile import compile_kernel, plain_kernel
from minitorch2.phases import phase


def executor(name: str, kernel: Kernel, source: KernelSource) -> Run:
    """The function that runs a kernel under an executor ("numba", "python" or "loops")."""
    return {"numba": _numba, "python": _python, "loops": _loops}[name](kernel, source)


def _numba(kernel: Kernel, source: KernelSource) -> Run:
    with phase("machine code"):
        return compile_kernel(source.text, source.signature).direct()


def _python(kernel: Kernel, source: KernelSource) -> Run:
    body = plain_kernel(source.text)

    def run(
        total: int, arrays: Sequence[Any], sizes: Sequence[int], numbers: Sequence[Any], cost: float
    ) -> None:
        flats = [_bits(flat(array)) for array in arrays]
        body(total, flats, sizes, _typed(kernel, numbers))

    return run


def _loops(kernel: Kernel, source: KernelSource) -> Run:
    def run(
        total: int, arrays: Sequence[Any], sizes: Sequence[int], numbers: Sequence[Any], cost: float
    ) -> None:
        interpret_kernel(kernel, [flat(array) for array in arrays], sizes, _typed(kernel, numbers))

    return run


def _typed(kernel: Kernel, numbers: Sequence[Any]) -> list[Any]:
    pairs = zip(kernel.scalars, numbers, strict=True)
    return [scalar.dtype.numpy.type(number) for scalar, number in pairs]


def _bits(array: numpy.ndarray) -> numpy.ndarray:
    """16-bit floats as the words the source works on."""
    if array.dtype.itemsize == 2 and array.dtype.kind in "fV":
        return array.view(numpy.uint16)
    return array

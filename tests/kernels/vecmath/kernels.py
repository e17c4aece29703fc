"""One-line kernels over a helper, for the tests of this folder.

In: a helper's name, its argument types and arrays. Out: what the compiled helper gives on them.
"""

import numpy as np

from minitorch2.kernels.runtime.compile import CompiledKernel, compile_kernel
from minitorch2.kernels.runtime.signature import KernelSignature
from minitorch2.kernels.vecmath.primitives import DTYPES, SHORT_NAMES
from minitorch2.kernels.vecmath.scalars import HELPERS


def elementwise(name: str, types: tuple[str, ...]) -> tuple[CompiledKernel, np.dtype]:
    """A kernel that applies the helper to each element, and the dtype of its output."""
    inputs = [f"x{i}" for i in range(len(types))]
    returns = HELPERS[name].result_type(types)
    source = (
        f"def apply(lo, hi, {', '.join(inputs)}, y, status):\n"
        f"    for i in range(lo, hi):\n"
        f"        y[i] = {name}({', '.join(f'{x}[i]' for x in inputs)})\n"
    )
    return compile_kernel(source, KernelSignature((*types, returns))), DTYPES[returns]


def compiled(name: str, *arrays: np.ndarray) -> np.ndarray:
    """The helper, compiled, on whole arrays."""
    kernel, dtype = elementwise(name, tuple(SHORT_NAMES[array.dtype] for array in arrays))
    result = np.empty(arrays[0].shape, dtype)
    kernel.launch(result.size, (*arrays, result))
    return result

"""Every helper as plain Python: the names a kernel's source may use, ready to import.

In and out: NumPy scalars (or arrays) of one type. The twin file of a cached kernel imports its
names from here, so that it runs, unchanged, under a debugger.

>>> import numpy as np
>>> exp(np.float32(1)), floor_divide(np.int64(-7), np.int64(2))
(np.float32(2.7182817), np.int64(-4))

Source: minitorch2.kernels.vecmath.helpers.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch2.kernels.vecmath import (
    arithmetic,
    casts,
    error_function,
    exponential,
    halves,
    hyperbolic,
    inverse_trigonometric,
    logarithm,
    philox,
    power,
    trigonometric,
)
from minitorch2.kernels.vecmath.helpers import HELPERS
from minitorch2.kernels.vecmath.primitives import DTYPES

_MODULES = (casts, arithmetic, exponential, hyperbolic, logarithm, error_function,
            trigonometric, inverse_trigonometric, power, halves, philox)  # fmt: skip


def _local(short: str) -> Callable[[int], np.ndarray]:
    def local(n: int) -> np.ndarray:
        return np.empty(n, DTYPES[short])

    local.__doc__ = f"An uninitialised array of n {short} elements, private to the chunk."
    return local


def plain_names() -> dict[str, Any]:
    """The namespace in which a kernel's source runs as plain Python."""
    found = {name: getattr(module, name) for module in _MODULES for name in dir(module)
             if name in HELPERS and hasattr(getattr(module, name), "__wrapped__")}  # fmt: skip
    found["streamed"] = range  # whose stores need not stay in a cache
    return found | {f"local_{short}": _local(short) for short in DTYPES}


__all__ = sorted(plain_names())
globals().update(plain_names())

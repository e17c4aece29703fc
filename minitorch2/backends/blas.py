"""Matrix products on the BLAS inside numpy, small ones on one of its threads.

In: numpy arrays, and an array for the result. Out: the product. A small product is done before a
second thread has woken up; where other processes share the machine, waiting for that thread costs
milliseconds. So below `SERIAL_LIMIT` multiplications BLAS is told to use one thread for the call.
Eager and compiled code call the same function, as another thread count gives other bits.

    >>> import numpy
    >>> product(numpy.ones((2, 3)), numpy.ones((3, 2)))[0, 0].item()
    3.0

Source: OpenBLAS's `openblas_set_num_threads`; the limit was measured (tests/bench/overhead.py).
"""

import ctypes
import glob
import os
from collections.abc import Callable

import numpy

SERIAL_LIMIT = 4_000_000  # multiplications: about 0.1 ms on one core

_NAMES = (
    "scipy_openblas_set_num_threads64_",
    "openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "openblas_set_num_threads",
)


def _find(names: tuple[str, ...]) -> Callable | None:
    """A function of the OpenBLAS that numpy has loaded; None where numpy uses another library."""
    folders = (os.path.dirname(numpy.__file__) + ".libs", os.path.dirname(numpy.__file__))
    for folder in folders:
        for path in glob.glob(os.path.join(folder, "*openblas*")):
            try:
                library = ctypes.CDLL(path, mode=getattr(os, "RTLD_NOLOAD", 4))
            except OSError:
                continue
            for name in names:
                if hasattr(library, name):
                    return getattr(library, name)
    return None


_set_threads = _find(_NAMES)
_get_threads = _find(tuple(name.replace("_set_", "_get_") for name in _NAMES))


def product(a: numpy.ndarray, b: numpy.ndarray, out: numpy.ndarray | None = None) -> numpy.ndarray:
    """numpy.matmul with the number of BLAS threads chosen by the size of the product."""
    work = a.size * (b.shape[-1] if b.ndim > 1 else 1)
    if work > SERIAL_LIMIT or _set_threads is None or _get_threads is None:
        return numpy.matmul(a, b, out=out)
    threads = _get_threads()
    if threads == 1:
        return numpy.matmul(a, b, out=out)
    _set_threads(1)
    try:
        return numpy.matmul(a, b, out=out)
    finally:
        _set_threads(threads)

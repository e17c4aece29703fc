"""Matrix products: small ones on one thread of the BLAS inside numpy, large ones in pieces.

In: numpy arrays, and an array for the result. Out: the product. BLAS runs on one thread: a small
product is done before a second one has woken up, and the jobs of a large one wait for each other,
which takes tenfold as long where other processes need a CPU. Large products, and batches, are cut
into pieces for the threads of the kernels' room (kernels/runtime/products.py, imported at the first
use), so that the bits do not depend on the number of threads. Eager and compiled code call the same
function. What cannot be cut, such as a large product with a vector, is left to BLAS's own ways.

    >>> import numpy
    >>> product(numpy.ones((2, 3)), numpy.ones((3, 2)))[0, 0].item()
    3.0

Source: OpenBLAS's `openblas_set_num_threads` and `openblas_set_threads_callback_function`; the
limits were measured (tests/bench/threads.py).
"""

import ctypes
import glob
import importlib
import os
import re
import threading
from collections.abc import Callable
from functools import cache
from types import ModuleType

import numpy

from minitorch2 import forks
from minitorch2.config import config

SERIAL_LIMIT = 4_000_000  # multiplications: about 0.1 ms on one core
PIECES_FROM = 1_000_000
TINY = 4_000  # multiplications that OpenBLAS does on one thread by itself

# What wheels, distributions and numpy's own builds put around OpenBLAS's names.
_NAMES = ("scipy_openblas_{}64_", "openblas_{}64_", "scipy_openblas_{}", "openblas_{}")


def _libraries() -> list[ctypes.CDLL]:
    """The OpenBLAS that numpy has loaded; none where numpy uses another library."""
    found = []
    for folder in (os.path.dirname(numpy.__file__) + ".libs", os.path.dirname(numpy.__file__)):
        for path in glob.glob(os.path.join(folder, "*openblas*")):
            try:
                found.append(ctypes.CDLL(path, mode=getattr(os, "RTLD_NOLOAD", 4)))
            except OSError:
                continue
    return found


_loaded = _libraries()


def find(name: str, patterns: tuple[str, ...] = _NAMES) -> Callable | None:
    """A function of the BLAS inside numpy, under whatever name it has; None if it has none."""
    for library in _loaded:
        for pattern in patterns:
            if hasattr(library, pattern.format(name)):
                return getattr(library, pattern.format(name))
    return None


_set_threads = find("set_num_threads")
_get_threads = find("get_num_threads")
_set_callback = find("set_threads_callback_function")
_default_threads = _get_threads() if _get_threads is not None else 1

large = threading.RLock()  # held during a product on several threads; a fork waits for it
_guard = threading.Lock()
_serial = 0  # how many products on one thread are running


def threads() -> int:
    """How many threads a large product uses."""
    return _default_threads


def set_threads(count: int) -> None:
    """Let large products use `count` threads."""
    global _default_threads
    with _guard:
        _default_threads = count
        if _set_threads is not None and not _serial:
            _set_threads(count)


def most_threads() -> int:
    """How many threads this OpenBLAS was built for; 0 if it does not say."""
    config = find("get_config")
    if config is None:
        return 0
    config.restype = ctypes.c_char_p  # type: ignore[attr-defined]
    found = re.search(rb"MAX_THREADS=(\d+)", config())
    return int(found[1]) if found else 0


def set_callback(address: int | None) -> bool:
    """Have OpenBLAS give its jobs to the function at `address` (None: to its own threads)."""
    if _set_callback is None or _set_threads is None:
        return False
    if address is not None and not _serial:
        _set_threads(_default_threads)  # starts OpenBLAS anew if a fork has ended its threads
    _set_callback(ctypes.c_void_p(address))
    return True


@cache
def _in_pieces() -> Callable[[numpy.ndarray, numpy.ndarray, numpy.ndarray], bool] | None:
    """The function that cuts products, found by name; None where numpy is to do everything."""
    if config.primitives == "numpy" or _set_threads is None:
        return None
    return importlib.import_module("minitorch2.kernels.runtime.products").multiply


@cache
def convolutions() -> ModuleType | None:
    """The kernels' room's convolutions, found by name; None where numpy is to do everything.

    Its functions take what the rows of convolutions take, and return None where numpy has to.
    """
    if config.primitives == "numpy":
        return None
    return importlib.import_module("minitorch2.kernels.runtime.convolutions")


def product(a: numpy.ndarray, b: numpy.ndarray, out: numpy.ndarray | None = None) -> numpy.ndarray:
    """numpy.matmul, with threads chosen by the amount of work."""
    work = a.size * (b.shape[-1] if b.ndim > 1 else 1)
    if not (a.flags.c_contiguous and b.flags.c_contiguous):
        a, b = _as_matrices(a), _as_matrices(b)
        if a.strides[-2:] == b.strides[:-3:-1] and numpy.may_share_memory(a, b):
            b = b.copy(order="K")  # for x @ x.mT numpy takes another way, with other bits
    if work <= TINY:
        return numpy.matmul(a, b, out=out)
    if work > PIECES_FROM and a.ndim > 1 and b.ndim > 1:
        return _large_product(a, b, out, work)
    with one_thread():
        return numpy.matmul(a, b, out=out)


def _as_matrices(array: numpy.ndarray) -> numpy.ndarray:
    """An operand as BLAS takes it: its rows or its columns are stretches of memory, and a vector
    is one. numpy multiplies others without BLAS, at a fraction of the speed and with other bits."""
    if array.flags.forc:
        return array
    size, steps = array.itemsize, array.strides
    rows, columns = steps[-2:], array.shape[-2:]
    if array.ndim == 1 and steps[0] == size:
        return array
    if array.ndim > 1 and size in rows:
        other = rows[0] if rows[1] == size else rows[1]
        length = columns[1] if rows[1] == size else columns[0]
        if other >= size * length and other % size == 0:
            return array
    if array.ndim > 1 and 0 < steps[-2] < steps[-1]:
        return numpy.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)
    return numpy.ascontiguousarray(array)


def _large_product(
    a: numpy.ndarray, b: numpy.ndarray, out: numpy.ndarray | None, work: int
) -> numpy.ndarray:
    if b.ndim == 2 < a.ndim and a.flags.c_contiguous and (out is None or out.flags.c_contiguous):
        shape = (*a.shape[:-1], b.shape[-1])  # many products with one matrix: one with more rows
        rows = out if out is None else out.reshape(-1, shape[-1])
        return _large_product(a.reshape(-1, a.shape[-1]), b, rows, work).reshape(shape)
    cut = _in_pieces()
    if cut is not None and a.shape[:-2] == b.shape[:-2]:
        if out is None:
            out = numpy.empty((*a.shape[:-1], b.shape[-1]), numpy.result_type(a, b))
        if cut(a, b, out):
            return out
    if work // max(1, a.size // (a.shape[-2] * a.shape[-1])) <= SERIAL_LIMIT:
        with one_thread():
            return numpy.matmul(a, b, out=out)
    with large:
        return numpy.matmul(a, b, out=out)


class one_thread:
    """`with one_thread():` OpenBLAS is set to one thread; the last one out sets it back."""

    __slots__ = ()

    def __enter__(self) -> None:
        global _serial
        with _guard:
            _serial += 1
            if _serial == 1 and _set_threads is not None:
                _set_threads(1)

    def __exit__(self, *_: object) -> None:
        global _serial
        with _guard:
            _serial -= 1
            if not _serial and _set_threads is not None:
                _set_threads(_default_threads)


def _child() -> None:
    """In a forked child no other product is running."""
    global _serial
    _serial = 0
    _guard.release()


forks.around(_guard.acquire, _guard.release, _child)

"""Matrix products on the BLAS inside numpy, small ones on one of its threads.

In: numpy arrays, and an array for the result. Out: the product. A small product is done before a
second thread has woken up; where other processes share the machine, waiting for that thread costs
milliseconds. So a product of at most SERIAL_LIMIT multiplications, each one of a batch alike, runs
on one BLAS thread. Eager and compiled code call the same function, as another thread count gives
other bits. A batch may be spread over threads by whoever registers for it.

    >>> import numpy
    >>> product(numpy.ones((2, 3)), numpy.ones((3, 2)))[0, 0].item()
    3.0

Source: OpenBLAS's `openblas_set_num_threads` and `openblas_set_threads_callback_function`; the
limits were measured (tests/bench/overhead.py, tests/bench/threads.py).
"""

import ctypes
import glob
import os
import re
import threading
from collections.abc import Callable

import numpy

SERIAL_LIMIT = 4_000_000  # multiplications: about 0.1 ms on one core
SPREAD_FROM = 1_000_000

# What wheels, distributions and numpy's own builds put around OpenBLAS's names.
_NAMES = ("scipy_openblas_{}64_", "openblas_{}64_", "scipy_openblas_{}", "openblas_{}")
Spread = Callable[[numpy.ndarray, numpy.ndarray, numpy.ndarray], bool]


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
_spread: list[Spread] = []


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


def register_spread(spread: Spread) -> None:
    """Offer `spread(a, b, out)`: a batch of small products on several threads, or False."""
    _spread[:] = [spread]


def product(a: numpy.ndarray, b: numpy.ndarray, out: numpy.ndarray | None = None) -> numpy.ndarray:
    """numpy.matmul with the number of BLAS threads chosen by the size of one product."""
    columns = b.shape[-1] if b.ndim > 1 else 1
    total = a.size * columns
    each = total if a.ndim < 3 else a.shape[-2] * a.shape[-1] * columns
    if _set_threads is None or _default_threads == 1:
        return numpy.matmul(a, b, out=out)
    if each > SERIAL_LIMIT:
        with large:
            return numpy.matmul(a, b, out=out)
    if total > SPREAD_FROM and _spread and a.shape[:-2] == b.shape[:-2] != ():
        if out is None:
            out = numpy.empty((*a.shape[:-1], columns), numpy.result_type(a, b))
        if _spread[0](a, b, out):
            return out
    with one_thread():
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


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_guard.acquire, after_in_parent=_guard.release, after_in_child=_child
    )

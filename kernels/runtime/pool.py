"""The thread pool: Python threads inside native code, shared by kernels and BLAS.

In: a native kernel, its argument block and a number of parts. Out: nothing; the parts have run, and
their status rows say how it went. The threads start at the first launch in several parts and stop
before a fork and at exit; parent and child start them again when they need them. While they live,
OpenBLAS runs its jobs on them too, see Note [Why one set of threads].

    pool.grow(2)                     # have a thread beside the caller's
    pool.run(kernel.native, block, 2)

Source: prototypes are in the native half, pool_code.py and pool_blas.py.
"""

import atexit
import ctypes
import hashlib
import platform
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import llvmlite

from minitorch2 import forks
from minitorch2.backends import blas
from minitorch2.kernels.runtime import (
    block_code,
    built_in,
    native,
    pool_blas,
    pool_code,
    pool_launch,
    tensor_code,
)
from minitorch2.kernels.runtime import cache as disk
from minitorch2.kernels.runtime.machine import cpu, load_symbols
from minitorch2.kernels.runtime.queue_pool import QueuePool

# The number of the futex call, and the instruction for a CPU that spins.
ARCHITECTURES: dict[str, tuple[int, tuple[str, tuple[int, ...]]]] = {
    "x86_64": (202, ("llvm.x86.sse2.pause", ())),
    "aarch64": (98, ("llvm.aarch64.isb", (15,))),
}
WORD, SHORT = ctypes.c_int64, ctypes.c_int32
Native = Callable[[bytes, int, int], int]
FUNCTIONS: dict[str, tuple[type | None, tuple[type, ...]]] = {
    "work": (None, ()),
    "run": (WORD, (WORD, ctypes.c_char_p, WORD)),
    "hold": (None, ()),
    "release": (None, ()),
    "wake": (None, (SHORT,)),
    "alive": (SHORT, ()),
    "reset": (None, (SHORT,)),
    "blocks_clear": (None, ()),
    "blocks_state": (WORD, ()),
}
ADDRESSES = ("blas", "gemm_f32", "gemm_f64", "launch", "take", "arrays", "tensor")


def supported() -> bool:
    """Whether this system has futexes where this file knows them."""
    return sys.platform == "linux" and platform.machine() in ARCHITECTURES


def _build() -> bytes:
    code = pool_code.PoolCode(*ARCHITECTURES[platform.machine()])
    pool_blas.add_all(code)
    pool_launch.add_launch(code)
    block_code.BlockCode(code)
    tensor_code.TensorCode(code)
    return native.compile_module(code)


def _object() -> bytes:
    """The native half, compiled or from the disk."""
    layout = built_in.ITEMS, built_in.ARRAY_DATA, built_in.BYTES_DATA
    digest = hashlib.sha256(repr((cpu(), layout, llvmlite.__version__)).encode())
    for module in (native, pool_code, pool_blas, pool_launch, block_code, tensor_code, built_in):
        digest.update(Path(str(module.__file__)).read_bytes())
    key = digest.hexdigest()
    data = disk.load(key)
    if data is None:
        data = _build()
        disk.store(key, data, '"""The native half of the thread pool."""\n')
    return data


class Code:
    """The native half, loaded: its functions, callable, and the addresses of the others."""

    def __init__(self) -> None:
        names = (*FUNCTIONS, *ADDRESSES)
        self.address, self._loaded = load_symbols(_object(), names)
        for name, (result, arguments) in FUNCTIONS.items():
            kind = ctypes.CFUNCTYPE(result, *arguments)
            setattr(self, name, kind(self.address[name]))
        self.reset(blas.most_threads())

    work: Callable[[], None]
    run: Callable[[int, bytes, int], int]
    hold: Callable[[], None]
    release: Callable[[], None]
    wake: Callable[[int], None]
    alive: Callable[[], int]
    reset: Callable[[int], None]
    blocks_clear: Callable[[], None]
    blocks_state: Callable[[], int]


@cache
def code() -> Code:
    """The native half; loaded at the first use."""
    return Code()


class NativePool:
    """The pool's threads, and when they live. `run` is native; nothing else is on its way."""

    def __init__(self) -> None:
        self.guard = threading.RLock()
        self.threads: list[threading.Thread] = []
        self.size = 1  # with the caller's
        self.closed = False

    def run(self, kernel: Native, block: bytes, parts: int) -> None:
        """Run all parts of a kernel, on the pool's threads if nobody else uses them."""
        address = ctypes.cast(kernel, ctypes.c_void_p).value  # type: ignore[arg-type]
        code().run(address or 0, block, parts)

    def grow(self, size: int) -> None:
        """Have at least `size` threads, the caller's among them, and take BLAS's jobs."""
        with self.guard:
            if self.closed:
                return
            native_half = code()
            native_half.wake(0)
            for number in range(self.size, max(size, blas.threads())):
                name = f"minitorch2-{number}"
                thread = threading.Thread(target=native_half.work, name=name, daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # Python is exiting, or there are too many threads
                    break
                self.threads.append(thread)
            while native_half.alive() < len(self.threads):
                time.sleep(0)
            self.size = 1 + len(self.threads)
            if self.threads:
                blas.set_callback(native_half.address["blas"])

    def stop(self) -> None:
        """Take pool and BLAS from everybody, end the threads and wait for them."""
        self.guard.acquire()
        blas.large.acquire()
        if not self.threads:
            return
        native_half = code()
        native_half.hold()
        blas.set_callback(None)
        native_half.wake(1)
        for thread in self.threads:
            thread.join()
        native_half.wake(0)

    def resume(self) -> None:
        """Give pool and BLAS back after `stop`."""
        if self.threads:
            code().release()
        self._forget()

    def reset(self) -> None:
        """After `stop`, in a forked child: nothing is held, nobody waits."""
        if self.threads:
            code().reset(blas.most_threads())
        self._forget()

    def _forget(self) -> None:
        self.threads, self.size = [], 1
        blas.large.release()
        self.guard.release()

    def close(self) -> None:
        """At exit: end the threads, for good."""
        self.stop()
        self.closed = True
        self.resume()


pool: NativePool | QueuePool = NativePool() if supported() else QueuePool()
atexit.register(pool.close)
forks.around(pool.stop, pool.resume, pool.reset)

"""From a kernel's source to something that runs: dictionary, then disk, then LLVM.

In: the source of one kernel function (see kernels/__init__.py) and its KernelSignature. Out: a
CompiledKernel, whose `launch` runs it over arrays. Kernels with the same canonical text and
signature are one kernel; comments and the function's name do not count.

    kernel = compile_kernel(source, KernelSignature(arrays=("f32", "f32")))
    kernel.launch(x.size, (x, y))

The source becomes LLVM by our own translator ("direct") or by Numba ("numba"); both give the same
bits, and MT2_KERNEL_FRONTEND chooses where the caller does not.

Source: minitorch2.kernels.runtime.cache for the disk, build for the compiler.
"""

import ctypes
import hashlib
import re
import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numpy as np

from minitorch2 import forks
from minitorch2.config import config
from minitorch2.kernels import vecmath
from minitorch2.kernels.runtime import cache as disk
from minitorch2.kernels.runtime import launcher
from minitorch2.kernels.runtime.machine import cpu, load_object
from minitorch2.kernels.runtime.signature import KernelFailure, KernelSignature

NativeKernel = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64)
Operand = np.ndarray | int
# Those that somebody holds; the others are on the disk.
_kernels: weakref.WeakValueDictionary[str, "CompiledKernel"] = weakref.WeakValueDictionary()
_locks: dict[str, Any] = {}
_guard = forks.lock()


class CompiledKernel:
    """Machine code of one kernel, and how to call it. The code goes when the kernel does."""

    __slots__ = (
        "key", "source", "signature", "frontend", "address", "native", "_layout", "_loaded",
        "__weakref__",
    )  # fmt: skip

    def __init__(
        self, key: str, source: str, signature: KernelSignature, frontend: str, data: bytes
    ):
        self.key, self.source, self.signature = key, source, signature
        self.frontend = frontend
        self.address, self._loaded = load_object(data, symbol_of(key))
        self.native = NativeKernel(self.address)
        self._layout = signature.layout()

    def __repr__(self) -> str:
        return f"<CompiledKernel {self.key[:12]} {self.signature.text()}>"

    def launch(
        self,
        total: int,
        arrays: Sequence[Operand],
        sizes: Sequence[int] = (),
        scalars: Sequence[float] = (),
        cost: float = 1.0,
    ) -> None:
        """Run the kernel over `range(total)`, each step about `cost` nanoseconds of work.

        Arrays are NumPy arrays (element 0 of a view comes first) or addresses. Raises
        KernelFailure when the kernel sets its status.
        """
        addresses = [a if type(a) is int else address_of(a) for a in arrays]  # type: ignore
        launcher.run(self.native, self._layout, (total, addresses, sizes, scalars), cost)

    def direct(self) -> launcher.Launch:
        """The launch as it is quickest to call: a built-in function, which keeps the kernel."""
        return launcher.direct(self.address, self.signature, self) or self.launch

    def assembly(self) -> str:
        """The machine code as text (compiles the kernel again)."""
        from minitorch2.kernels.runtime.build import build_assembly

        return build_assembly(self.source, self.signature, symbol_of(self.key), self.frontend)


def address_of(array: np.ndarray) -> int:
    """Where the first element of an array lies."""
    return array.__array_interface__["data"][0]


def symbol_of(key: str) -> str:
    """The name that a kernel's object exports."""
    return f"mt2_{key[:32]}"


def canonical(source: str) -> str:
    """The source as it counts: no comments, no blank lines, and the function named `kernel`."""
    lines = [line.split("#", 1)[0].rstrip() for line in source.splitlines()]
    text = "\n".join(line for line in lines if line)
    return re.sub(r"^def\s+\w+\(", "def kernel(", text, count=1, flags=re.M) + "\n"


@cache
def environment(frontend: str) -> str:
    """Everything beside source and signature that machine code depends on."""
    here = Path(__file__).parent
    names = [
        "build.py",
        "machine.py",
        "set_names.py",
        "signature.py",
        "integers.py",
        "streams.py",
        "translate.py",
    ]
    versions = [f"llvmlite={llvmlite.__version__}"]
    if frontend == "numba":
        from importlib.metadata import version

        names.append("numba_frontend.py")
        versions.append(f"numba={version('numba')}")
    digest = hashlib.sha256()
    for file in [*sorted(Path(vecmath.__file__).parent.glob("*.py")), *map(here.joinpath, names)]:
        digest.update(file.read_bytes())
    return f"{frontend} {' '.join(versions)} code={digest.hexdigest()} cpu={'/'.join(cpu())}"


def kernel_key(source: str, signature: KernelSignature, frontend: str = "") -> str:
    """The name of a kernel in the dictionary and on disk."""
    chosen = frontend or config.kernel_frontend
    level = f"level {config.kernel_level}"
    text = "\n".join((canonical(source), signature.text(), environment(chosen), level))
    return hashlib.sha256(text.encode()).hexdigest()


def compile_kernel(
    source: str, signature: KernelSignature, frontend: str = "", key: str = ""
) -> CompiledKernel:
    """The kernel for this source and signature, compiled at most once.

    `frontend` is "direct" or "numba" (default: config.kernel_frontend); `key` is the `kernel_key`,
    for those who know it. Raises KernelSourceError when the source is no kernel (or, by Numba,
    TypingError).
    """
    frontend = frontend or config.kernel_frontend
    key = key or kernel_key(source, signature, frontend)
    found = _kernels.get(key)
    if found is not None:
        return found
    with _guard:
        lock = _locks.setdefault(key, forks.lock())
    try:
        with lock:
            found = _kernels.get(key)
            if found is None:
                found = _kernels[key] = _from_disk(key, source, signature, frontend) or _build(
                    key, source, signature, frontend
                )
    finally:
        with _guard:
            _locks.pop(key, None)
    return found


def compile_kernels(requests: Iterable[tuple[str, KernelSignature]]) -> list[CompiledKernel]:
    """Compile the kernels that are not there yet side by side: `compile_kernel` finds them as long
    as the list is kept."""
    missing = {kernel_key(*each): each for each in requests}
    missing = {key: each for key, each in missing.items() if key not in _kernels}
    count = min(len(missing), launcher.thread_count())
    if count <= 1:
        return []
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(count, "minitorch2-compile") as threads:
        return list(threads.map(lambda each: compile_kernel(*each), missing.values()))


def _from_disk(
    key: str, source: str, signature: KernelSignature, frontend: str
) -> CompiledKernel | None:
    data = disk.load(key)
    if data is None:
        return None
    try:
        return CompiledKernel(key, source, signature, frontend, data)
    except RuntimeError:
        disk.forget(key)
        return None


def _build(key: str, source: str, signature: KernelSignature, frontend: str) -> CompiledKernel:
    from minitorch2.kernels.runtime.build import build_object

    data = build_object(source, signature, symbol_of(key), frontend)
    kernel = CompiledKernel(key, source, signature, frontend, data)
    disk.store(key, data, twin(source, signature))
    return kernel


def twin(source: str, signature: KernelSignature) -> str:
    """The kernel as a Python file that runs by itself, under a debugger if you like."""
    return (
        f'"""A kernel of minitorch2: {signature.text()}."""\n\n'
        "from minitorch2.kernels.vecmath.scalars import *  # noqa: F403\n\n\n"
        f"{source.strip()}\n"
    )


def plain_kernel(source: str) -> Callable[..., None]:
    """The kernel as plain Python: `run(total, arrays, sizes=(), scalars=())`, as `launch`."""
    from minitorch2.kernels.vecmath import scalars

    namespace: dict[str, Any] = scalars.plain_names()
    exec(compile(source, "<minitorch2 kernel>", "exec"), namespace)
    name = re.search(r"^def\s+(\w+)\(", source, re.M)[1]  # type: ignore[index]
    body = namespace[name]

    def run(
        total: int,
        arrays: Sequence[np.ndarray],
        sizes: Sequence[int] = (),
        scalars: Sequence[Any] = (),
    ) -> None:
        status = np.zeros(2, np.int64)
        words = [np.uint64(size) for size in sizes]
        with np.errstate(all="ignore"):
            body(np.uint64(0), np.uint64(total), *arrays, *words, *scalars, status)
        if status[0]:
            raise KernelFailure(int(status[0]), int(status[1]))

    return run

"""Kernels written straight in LLVM: compiled at the first use, then from the disk.

In: what writes the Module, the files that its code depends on, the names it exports. Out: the
addresses of those names.

    addresses = kernel_addresses(lambda: PoolCode(202, pause), [pool_code], "pool", ["launch"])

Source: minitorch2.kernels.runtime.cache for what lies on the disk.
"""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import llvmlite

from minitorch2.kernels.runtime import cache as disk
from minitorch2.kernels.runtime import native
from minitorch2.kernels.runtime.machine import cpu, load_symbols
from minitorch2.kernels.runtime.native import Module, compile_module

_loaded: list[object] = []  # machine code that must stay


def kernel_addresses(
    make: Callable[[], Module], sources: Sequence[ModuleType], title: str, names: Sequence[str]
) -> dict[str, int]:
    """Where the exported functions are; `title` tells apart what the same files write."""
    digest = hashlib.sha256(repr((cpu(), llvmlite.__version__, title)).encode())
    for source in (native, *sources):
        digest.update(Path(str(source.__file__)).read_bytes())
    key = digest.hexdigest()
    data = disk.load(key)
    if data is None:
        data = compile_module(make())
        disk.store(key, data, f'"""{title}"""\n')
    found, loaded = load_symbols(data, list(names))
    _loaded.append(loaded)
    return found

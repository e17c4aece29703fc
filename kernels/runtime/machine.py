"""This computer's CPU as LLVM sees it, and loading of object code into the process.

In: relocatable object code that exports one function. Out: the function's address. Numba is not
imported: a warm start needs llvmlite alone. Outside functions (libm) are found by name, so an
object holds no address of the process that made it.

Example: `load_object(data, "mt2_1f...")["mt2_1f..."]` is an int, callable through ctypes.

Source: https://llvmlite.readthedocs.io/en/latest/user-guide/binding/orcjit.html
"""

import itertools
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm
from llvmlite.binding import ffi

from minitorch2 import forks

_lock = threading.Lock()
_serial = itertools.count()


def _hold() -> None:
    """Nobody is inside LLVM or the linker during a fork: see Note [Locks and forks]."""
    _lock.acquire()
    ffi.lib._lock.__enter__()


def _release() -> None:
    ffi.lib._lock.__exit__()
    _lock.release()


forks.around(_hold, _release, _release)


@cache
def cpu() -> tuple[str, str]:
    """The CPU's name and its features as LLVM writes them."""
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def has(feature: str) -> bool:
    """Whether the CPU has a feature, such as avx512f, by LLVM's name."""
    return f"+{feature}" in cpu()[1].split(",")


@cache
def scales_by_powers() -> bool:
    """Whether x * 2^n is one instruction in vector code: LLVM before 21 has it for scalars only."""
    return has("avx512f") and llvm.llvm_version_info >= (21,)


@cache
def cache_bytes() -> int:
    """The size of the largest cache; 32 MiB where the system does not say."""
    sizes = [32 << 20]
    for file in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = file.read_text().strip()
        if text.endswith(("K", "M")) and text[:-1].isdigit():
            sizes.append(int(text[:-1]) << (10 if text[-1] == "K" else 20))
    return max(sizes[1:] or sizes)


@cache
def _initialized() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def target_machine(level: int = 3) -> llvm.TargetMachine:
    """A code generator for this CPU: position independent, no fused or reordered arithmetic.

    `level`: how hard it tries, 0 to 3.
    """
    _initialized()
    name, features = cpu()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(
        cpu=name, features=features, opt=level, reloc="pic", codemodel="small"
    )


@cache
def _linker() -> llvm.orcjit.LLJIT:
    return llvm.create_lljit_compiler(target_machine(), use_jit_link=True, suppress_errors=True)


def load_object(data: bytes, symbol: str) -> tuple[int, object]:
    """The address of `symbol` in the object, and what must stay alive while it is called.

    Raises RuntimeError when the object is no object of this platform or lacks a symbol.
    """
    addresses, loaded = load_symbols(data, (symbol,))
    return addresses[symbol], loaded


def load_symbols(data: bytes, symbols: Sequence[str]) -> tuple[dict[str, int], object]:
    """`load_object` for several symbols of one object."""
    with _lock:
        library = llvm.JITLibraryBuilder().add_object_img(data).add_current_process()
        for symbol in symbols:
            library = library.export_symbol(symbol)
        loaded = library.link(_linker(), f"{symbols[0]}_{next(_serial)}")
    return {symbol: loaded[symbol] for symbol in symbols}, loaded

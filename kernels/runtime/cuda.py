"""From a CUDA kernel's source to PTX, and to what ptxas makes of it, on a machine without a GPU.

In: source text as codegen/cuda.py writes it, and its signature. Out: PTX text; for an architecture
such as (9, 0), a Report: registers, spills, shared memory, and the 16-byte accesses.

    ptx = compile_ptx(source.text, source.signature, (9, 0))
    assemble(ptx, (9, 0)).registers

Both need the extra: pip install 'minitorch2[cuda]'. Nothing of it is imported before. Products and
sums are not contracted, denormals are kept: the same rounding as on the CPU.

Source: CUDA Binary Utilities and PTX ISA, https://docs.nvidia.com/cuda/parallel-thread-execution/
"""

import importlib
import importlib.util
import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from minitorch2.errors import Mt2Error
from minitorch2.kernels.runtime.signature import KernelSignature

ARCHITECTURES = ((8, 0), (9, 0))
INSTALL = "pip install 'minitorch2[cuda]'"


class MissingCuda(Mt2Error, ImportError):
    """Compiling for a GPU was asked for, and the extra that can do it is not installed."""

    code = "MT2-0904"
    remedy = f"Install the extra: {INSTALL}"


@dataclass(frozen=True, slots=True)
class Report:
    """What ptxas says about a kernel, and what its PTX loads and stores 16 bytes at a time."""

    architecture: str
    registers: int
    spilled_bytes: int
    stack_bytes: int
    shared_bytes: int
    wide_loads: int
    wide_stores: int
    narrow_loads: int

    def __str__(self) -> str:
        return (
            f"{self.architecture}: {self.registers} registers, {self.spilled_bytes} bytes spilled, "
            f"{self.shared_bytes} bytes shared, global accesses of 16 bytes: {self.wide_loads} "
            f"loads, {self.wide_stores} stores"
        )


def available() -> bool:
    """Whether the extra is installed."""
    return importlib.util.find_spec("numba_cuda") is not None and _ptxas() is not None


def compile_ptx(source: str, signature: KernelSignature, architecture: tuple[int, int]) -> str:
    """The PTX of a kernel. Raises MissingCuda without the extra."""
    if not available():
        raise MissingCuda("compiling a kernel for CUDA", "numba-cuda is not installed")
    compiler = importlib.import_module("numba.cuda.compiler")
    made = importlib.import_module("minitorch2.kernels.vecmath.cuda_intrinsics")
    function = _function(source, made.cuda_intrinsics)
    pointer, kinds = made.Pointer, made.NUMBA_TYPES
    arguments = [pointer(kinds[short]) for short in signature.storage_types()]
    arguments += [kinds["u64"]] * signature.sizes
    arguments += [kinds[short] for short in signature.scalars]
    arguments.append(pointer(kinds["i64"]))
    compiled = compiler.compile_cuda(
        function, made.types.void, tuple(arguments), cc=architecture,
        nvvm_options={"opt": 3, "fma": False, "ftz": False, "prec_div": True, "prec_sqrt": True},
    )  # fmt: skip
    library = compiled.library
    kernel = library.get_function(compiled.fndesc.llvm_func_name)
    library._entry_name = kernel.name
    compiler.kernel_fixup(kernel, False)
    return _renamed(library.get_asm_str(cc=architecture), kernel.name, function.__name__)


def _function(source: str, namespace: Callable[[Any], dict[str, Any]]) -> Any:
    """The source as a Python function, its helpers in sight."""
    code = compile(source, "<cuda kernel>", "exec")
    names = next(const.co_names for const in code.co_consts if hasattr(const, "co_names"))
    found = namespace(names)
    exec(code, found)
    return found[source[4 : source.index("(")]]


def _renamed(ptx: str, mangled: str, name: str) -> str:
    """PTX whose entry has the kernel's own name, without comments and Numba's unused variable."""
    text = ptx.replace(mangled, name)
    unused = "//", "\t// .globl", ".common .global .align 8 .u64 _ZN08NumbaEnv"
    kept = [line for line in text.split("\n") if not line.startswith(unused)]
    return "\n".join(kept).strip() + "\n"


def _ptxas() -> str | None:
    """The assembler of the toolkit's wheel."""
    found = importlib.util.find_spec("nvidia")
    for folder in (found.submodule_search_locations or ()) if found else ():
        path = os.path.join(folder, "cu13", "bin", "ptxas")
        if os.path.exists(path):
            return path
    return None


def assemble(ptx: str, architecture: tuple[int, int]) -> Report:
    """Run ptxas over PTX and read its report."""
    tool = _ptxas()
    if tool is None:
        raise MissingCuda("assembling PTX", "ptxas is not installed")
    arch = f"sm_{architecture[0]}{architecture[1]}"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.ptx")
        with open(path, "w", encoding="utf-8") as file:
            file.write(ptx)
        output = os.path.join(folder, "kernel.cubin")
        run = subprocess.run(
            [tool, "-v", f"-arch={arch}", path, "-o", output], capture_output=True, text=True
        )
    if run.returncode:
        raise Mt2Error(f"ptxas -arch={arch}", run.stderr.strip())

    def number(pattern: str) -> int:
        found = re.search(pattern, run.stderr)
        return int(found[1]) if found else 0

    spills = number(r"(\d+) bytes spill stores") + number(r"(\d+) bytes spill loads")
    wide = {kind: _wide_accesses(ptx, kind) for kind in ("ld", "st")}
    return Report(
        arch,
        number(r"Used (\d+) registers"),
        spills,
        number(r"(\d+) bytes stack frame"),
        number(r"(\d+) bytes smem"),
        wide["ld"],
        wide["st"],
        len(re.findall(r"\bld\.global\S*", ptx)) - wide["ld"],
    )


_BITS = re.compile(r"\b(ld|st)\.global(?:\.nc)?(?:\.v(\d))?\.[busf](\d+)")


def _wide_accesses(ptx: str, kind: str) -> int:
    """How many instructions move 16 bytes."""
    return sum(
        int(count or 1) * int(bits) == 128
        for found, count, bits in _BITS.findall(ptx)
        if found == kind
    )

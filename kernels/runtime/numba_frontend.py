"""The other way from a kernel's source to LLVM: Numba, the judge of translate.py.

In: the source of one kernel function and its KernelSignature. Out: the module that Numba lowers it
to, and how to call its function. Numba reads and types the function and writes LLVM; its own JIT
engine is never used. This file and vecmath/intrinsics.py are the only ones that import Numba, and
nothing imports them unless MT2_KERNEL_FRONTEND=numba asks for it.

Example: `module, call = numba_module(source, KernelSignature(("f32", "f32")))`.

Source: https://numba.readthedocs.io/en/stable/developer/architecture.html
"""

from types import FunctionType
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from minitorch2.kernels.runtime.signature import KernelSignature
from minitorch2.kernels.runtime.translate import Call
from minitorch2.kernels.vecmath.intrinsics import NUMBA_TYPES, array_value, intrinsics

# Numba stops after lowering, and leaves out its wrappers, reference counts and exceptions.
FLAGS = {
    "no_compile": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "nrt": False,
    "boundscheck": False,
    "error_model": "numpy",
}
STATUS_WORDS = 2


class KernelLibrary(CPUCodeLibrary):
    """Keeps the module that Numba lowers instead of optimizing and loading it."""

    def add_ir_module(self, ir_module: ir.Module) -> None:
        self.lowered = ir_module

    def _finalize_specific(self) -> None:
        raise AssertionError("a kernel's module is compiled by build_object")


class KernelCompiler(CompilerBase):
    """Numba's front half: bytecode to typed, lowered LLVM."""

    def define_pipelines(self) -> list[Any]:
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]


def _flags(signature: KernelSignature) -> Flags:
    flags = Flags()
    for name, value in FLAGS.items():
        setattr(flags, name, value)
    setattr(flags, "noalias", signature.noalias)  # noqa: B010 (numba makes the fields at run time)
    return flags


def function_of(source: str) -> FunctionType:
    """The kernel as a Python function whose names are Numba intrinsics."""
    code = compile(source, "<minitorch2 kernel>", "exec")
    body = next(item for item in code.co_consts if hasattr(item, "co_names"))
    namespace: dict[str, Any] = dict(intrinsics(body.co_names)) | {"streamed": range}
    exec(code, namespace)
    return namespace[body.co_name]


def _argument_types(signature: KernelSignature) -> tuple[Any, ...]:
    size = types.uint64
    arrays = [types.Array(NUMBA_TYPES[short], 1, "C") for short in signature.storage_types()]
    scalars = [NUMBA_TYPES[short] for short in signature.scalars]
    status = types.Array(types.int64, 1, "C")
    return (size, size, *arrays, *[size] * signature.sizes, *scalars, status)


@global_compiler_lock
def numba_module(source: str, signature: KernelSignature) -> tuple[ir.Module, Call]:
    """The lowered module, and a function that writes a call of the kernel in it.

    Raises numba's TypingError when the source does not type.
    """
    function = function_of(source)  # first: making an intrinsic registers it with Numba
    kinds = _argument_types(signature)
    typing_context, context = cpu_target.typing_context, cpu_target.target_context
    library = KernelLibrary(context.codegen(), "kernel")
    compiler = KernelCompiler(
        typing_context, context, library, kinds, types.none, _flags(signature), {}
    )
    result = compiler.compile_extra(function)
    kernel = library.lowered.get_global(result.fndesc.llvm_func_name)

    def call(builder: ir.IRBuilder, values: list[ir.Value]) -> None:
        given = [
            array_value(context, builder, kind, value, STATUS_WORDS if at == len(kinds) - 1 else 0)
            if isinstance(kind, types.Array)
            else value
            for at, (kind, value) in enumerate(zip(kinds, values, strict=True))
        ]
        context.call_conv.call_function(builder, kernel, types.none, kinds, given)

    return library.lowered, call

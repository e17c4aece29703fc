"""Kernel source in, relocatable object code out: the cold path, and the only one with Numba.

Numba reads and types the function and lowers it to LLVM; a wrapper that unpacks the argument
block is added; LLVM optimizes both as one module and writes an object that exports the wrapper
alone. Numba's own JIT engine is never used.

Example: `build_object(source, signature, "mt2_1f...")` is the bytes of an object file.

Source: https://numba.readthedocs.io/en/stable/developer/architecture.html
"""

from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import types
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from minitorch2.kernels.runtime.machine import target_machine
from minitorch2.kernels.runtime.signature import KernelSignature
from minitorch2.kernels.vecmath.intrinsics import NUMBA_TYPES, array_value, intrinsics

WORD = ir.IntType(64)
# Numba stops after lowering, and leaves out its wrappers, reference counts and exceptions.
FLAGS = {
    "no_compile": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "nrt": False,
    "boundscheck": False,
    "error_model": "numpy",
}


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
    namespace: dict[str, Any] = dict(intrinsics(body.co_names))
    exec(code, namespace)
    return namespace[body.co_name]


def _argument_types(signature: KernelSignature) -> tuple[Any, ...]:
    size = types.uint64
    arrays = [types.Array(NUMBA_TYPES[short], 1, "C") for short in signature.storage_types()]
    scalars = [NUMBA_TYPES[short] for short in signature.scalars]
    status = types.Array(types.int64, 1, "C")
    return (size, size, *arrays, *[size] * signature.sizes, *scalars, status)


def _chunk(builder: ir.IRBuilder, total: ir.Value, i: ir.Value, n: ir.Value, grain: int) -> Any:
    """Bounds of chunk i of n: whole grains, the last one cut at `total`."""
    unit = WORD(grain)
    grains = builder.udiv(builder.add(total, WORD(grain - 1)), unit)

    def bound(index: ir.Value) -> ir.Value:
        first = builder.mul(builder.udiv(builder.mul(grains, index), n), unit)
        return builder.select(builder.icmp_unsigned("<", first, total), first, total)

    return bound(i), bound(builder.add(i, WORD(1)))


def _add_wrapper(context: Any, module: ir.Module, descriptor: Any, signature: KernelSignature,
                 symbol: str) -> None:  # fmt: skip
    """Define `symbol(block, i, n) -> status`, which calls the lowered kernel on one chunk."""
    argument_types = _argument_types(signature)
    kernel = module.get_global(descriptor.llvm_func_name)
    wrapper = ir.Function(module, ir.FunctionType(WORD, [WORD] * 3), symbol)
    builder = ir.IRBuilder(wrapper.append_basic_block())
    block, i, n = wrapper.args
    slots = builder.inttoptr(block, WORD.as_pointer())

    def slot(index: int, kind: ir.Type = WORD) -> ir.Value:
        place = builder.gep(slots, [WORD(index)])
        return builder.load(builder.bitcast(place, kind.as_pointer()))

    lo, hi = _chunk(builder, slot(0), i, n, signature.grain)
    row = builder.add(slot(1), builder.mul(i, WORD(16)))
    values = [lo, hi]
    for index, kind in enumerate(argument_types[2:-1], start=2):
        if isinstance(kind, types.Array):
            pointer = builder.inttoptr(slot(index), ir.IntType(8).as_pointer())
            values.append(array_value(context, builder, kind, pointer, 0))
        elif kind is types.boolean:
            values.append(builder.trunc(slot(index, ir.IntType(8)), ir.IntType(1)))
        else:
            values.append(slot(index, context.get_value_type(kind)))
    row_pointer = builder.inttoptr(row, WORD.as_pointer())
    values.append(array_value(context, builder, argument_types[-1], row_pointer, 2))
    context.call_conv.call_function(builder, kernel, types.none, argument_types, values)
    builder.ret(builder.load(row_pointer))


def _optimized(module: ir.Module, symbol: str, machine: llvm.TargetMachine) -> llvm.ModuleRef:
    """The module after LLVM's passes, with `symbol` as its only public name."""
    parsed = llvm.parse_assembly(str(module))
    parsed.data_layout = str(machine.target_data)
    for function in parsed.functions:
        if not function.is_declaration:
            function.linkage = "external" if function.name == symbol else "internal"
    for variable in parsed.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = options.loop_interleaving = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(parsed, builder)
    return parsed


@global_compiler_lock
def _compiled(source: str, signature: KernelSignature, symbol: str) -> Any:
    function = function_of(source)  # first: making an intrinsic registers it with Numba
    typing_context, context = cpu_target.typing_context, cpu_target.target_context
    library = KernelLibrary(context.codegen(), symbol)
    compiler = KernelCompiler(
        typing_context, context, library, _argument_types(signature), types.none,
        _flags(signature), {},
    )  # fmt: skip
    result = compiler.compile_extra(function)
    _add_wrapper(context, library.lowered, result.fndesc, signature, symbol)
    machine = target_machine()
    return machine, _optimized(library.lowered, symbol, machine)


def build_object(source: str, signature: KernelSignature, symbol: str) -> bytes:
    """Compile one kernel; raises numba's TypingError when its source does not type."""
    machine, module = _compiled(source, signature, symbol)
    return machine.emit_object(module)


def build_assembly(source: str, signature: KernelSignature, symbol: str) -> str:
    """The assembly of what `build_object` gives."""
    machine, module = _compiled(source, signature, symbol)
    return machine.emit_assembly(module)

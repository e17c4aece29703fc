"""Kernel source in, relocatable object code out: the cold path.

A frontend turns the source into an LLVM module (translate.py, or Numba as its judge); a wrapper
that unpacks the argument block is added; LLVM optimizes both as one module and writes an object
that exports the wrapper alone.

Example: `build_object(source, signature, "mt2_1f...")` is the bytes of an object file.

Source: https://llvmlite.readthedocs.io/en/latest/user-guide/binding/optimization-passes.html
"""

import ctypes
from functools import cache

import llvmlite.binding as llvm
from llvmlite import ir
from llvmlite.binding import ffi
from llvmlite.binding.context import create_context

from minitorch2.config import config
from minitorch2.kernels.runtime.machine import target_machine
from minitorch2.kernels.runtime.signature import KernelSignature
from minitorch2.kernels.runtime.translate import Call, parameter_types, translate

WORD = ir.IntType(64)
BYTE = ir.IntType(8)
STATUS_BYTES = 16
FULL = 2  # the most of config.kernel_level; 3 unrolls first: twice as long, and no faster to run


def lowered(
    source: str, signature: KernelSignature, frontend: str, with_lines: bool = False
) -> tuple[ir.Module, Call]:
    """The source as LLVM by "direct" or "numba", and how to write a call of its kernel."""
    if frontend == "direct":
        return translate(source, signature, with_lines)
    from minitorch2.kernels.runtime.numba_frontend import numba_module

    return numba_module(source, signature)


def _chunk(
    builder: ir.IRBuilder, total: ir.Value, i: ir.Value, n: ir.Value, grain: int
) -> list[ir.Value]:
    """Bounds of chunk i of n: whole grains, the last one cut at `total`."""
    unit = WORD(grain)
    grains = builder.udiv(builder.add(total, WORD(grain - 1)), unit)
    share = builder.udiv(grains, n)
    longer = builder.sub(grains, builder.mul(share, n))  # so many chunks have one grain more

    def bound(index: ir.Value) -> ir.Value:
        before = builder.select(builder.icmp_unsigned("<", index, longer), index, longer)
        first = builder.mul(builder.add(builder.mul(share, index), before), unit)
        return builder.select(builder.icmp_unsigned("<", first, total), first, total)

    return [bound(i), bound(builder.add(i, WORD(1)))]


def _add_wrapper(module: ir.Module, signature: KernelSignature, symbol: str, call: Call) -> None:
    """Define `symbol(block, i, n) -> status`, which calls the kernel on one chunk."""
    wrapper = ir.Function(module, ir.FunctionType(WORD, [WORD] * 3), symbol)
    wrapper.attributes.add("nounwind")
    builder = ir.IRBuilder(wrapper.append_basic_block())
    block, i, n = wrapper.args
    slots = builder.inttoptr(block, WORD.as_pointer())

    def slot(index: int, kind: ir.Type = WORD) -> ir.Value:
        place = builder.gep(slots, [WORD(index)])
        return builder.load(builder.bitcast(place, kind.as_pointer()))

    values = _chunk(builder, slot(0), i, n, signature.grain)
    row = builder.add(slot(1), builder.mul(i, WORD(STATUS_BYTES)))
    for index, (kind, short) in enumerate(parameter_types(signature)[2:-1], start=2):
        if isinstance(kind, ir.PointerType):
            values.append(builder.inttoptr(slot(index), kind))
        elif short == "bool":
            values.append(builder.trunc(slot(index, BYTE), kind))
        else:
            values.append(slot(index, kind))
    status = builder.inttoptr(row, WORD.as_pointer())
    call(builder, [*values, status])
    builder.ret(builder.load(status))


@cache
def _unlocked() -> ctypes.CDLL:
    """LLVM's two long calls without the lock that llvmlite puts around every call.

    LLVM itself only asks that each thread stays in a context of its own, as `_compiled` does.
    """
    library = ctypes.CDLL(ffi.lib._name)
    for name in ("LLVMPY_RunNewModulePassManager", "LLVMPY_TargetMachineEmitToMemory"):
        function, locked = getattr(library, name), getattr(ffi.lib, name)
        function.argtypes, function.restype = locked.argtypes, locked.restype
    return library


def _machine() -> llvm.TargetMachine:
    """The code generator for the level that was asked for."""
    return target_machine(3 if config.kernel_level >= FULL else config.kernel_level)


def _optimize(module: llvm.ModuleRef, symbol: str, machine: llvm.TargetMachine) -> None:
    """Run LLVM's passes, with `symbol` as the only public name."""
    module.data_layout = str(machine.target_data)
    for function in module.functions:
        if not function.is_declaration:
            function.linkage = "external" if function.name == symbol else "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    options = llvm.create_pipeline_tuning_options(speed_level=config.kernel_level)
    vectors = config.kernel_level > 1
    options.loop_vectorization = options.slp_vectorization = options.loop_interleaving = vectors
    builder = llvm.create_pass_builder(machine, options)
    run = _unlocked().LLVMPY_RunNewModulePassManager
    run(builder.getModulePassManager(), module, builder)
    if not config.kernel_level:
        return
    again = llvm.create_new_module_pass_manager()  # the lanes of several sums, in registers
    again.add_loop_unroll_pass()
    again.add_sroa_pass()
    run(again, module, builder)


def _emit(module: llvm.ModuleRef, machine: llvm.TargetMachine, as_object: bool) -> bytes:
    """Object code, or assembly text."""
    with ffi.OutputString() as error:
        buffer = _unlocked().LLVMPY_TargetMachineEmitToMemory(machine, module, as_object, error)
        if not buffer:
            raise RuntimeError(str(error))
    try:
        size = ffi.lib.LLVMPY_GetBufferSize(buffer)
        return ctypes.string_at(ffi.lib.LLVMPY_GetBufferStart(buffer), size)
    finally:
        ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


def _compiled(
    source: str, signature: KernelSignature, symbol: str, frontend: str, as_object: bool
) -> bytes:
    module, call = lowered(source, signature, frontend)
    _add_wrapper(module, signature, symbol, call)
    machine = _machine()
    with create_context() as context, llvm.parse_assembly(str(module), context) as parsed:
        _optimize(parsed, symbol, machine)
        return _emit(parsed, machine, as_object)


def build_object(
    source: str, signature: KernelSignature, symbol: str, frontend: str = "direct"
) -> bytes:
    """Compile one kernel; raises KernelSourceError when its source is no kernel."""
    return _compiled(source, signature, symbol, frontend, as_object=True)


def build_assembly(
    source: str, signature: KernelSignature, symbol: str, frontend: str = "direct"
) -> str:
    """The assembly of what `build_object` gives."""
    return _compiled(source, signature, symbol, frontend, as_object=False).decode()


def build_texts(
    source: str, signature: KernelSignature, symbol: str, frontend: str = "direct"
) -> tuple[str, str]:
    """The optimized LLVM and the assembly of what `build_object` gives.

    By "direct" both name the line of the source that each instruction comes from.
    """
    module, call = lowered(source, signature, frontend, with_lines=True)
    _add_wrapper(module, signature, symbol, call)
    machine = _machine()
    with create_context() as context, llvm.parse_assembly(str(module), context) as parsed:
        _optimize(parsed, symbol, machine)
        return str(parsed), _emit(parsed, machine, as_object=False).decode()

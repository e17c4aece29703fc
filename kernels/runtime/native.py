"""Writes small native functions straight in LLVM: variables, loops, atomics, calls.

In: a name and types; then one method call per instruction. Out: LLVM text, to be compiled by
`compile_module`. Words that threads share are globals of the module, each on a cache line of its
own, read and written with sequential consistency: the strongest order, and here the easiest to
reason about.

    >>> module = Module("counting")
    >>> step = module.function("step", I32, [])
    >>> step.ret(step.add_to(module.word("counter"), 1))
    >>> "atomicrmw add" in str(module.ir)
    True

Source: https://llvm.org/docs/Atomics.html
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from minitorch2.kernels.runtime.machine import target_machine

I1, I8, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 32, 64))
VOID = ir.VoidType()
F32, F64 = ir.FloatType(), ir.DoubleType()
CACHE_LINE = 64
ORDER = "seq_cst"
Number = Any  # an ir.Value, or an int for a constant


class Module:
    """One LLVM module: its shared words, outside functions and own functions."""

    def __init__(self, name: str) -> None:
        self.ir = ir.Module(name)
        self.ir.triple = llvm.get_process_triple()

    def word(self, name: str, kind: ir.Type = I32) -> ir.GlobalVariable:
        """A global, zero at first, on a cache line of its own."""
        made = ir.GlobalVariable(self.ir, kind, name)
        made.initializer = ir.Constant(kind, None)
        made.linkage, made.align = "internal", CACHE_LINE
        return made

    def row(self, name: str, count: int) -> ir.GlobalVariable:
        """So many 8-byte words in a row, zero at first, for one thread at a time."""
        kind = ir.ArrayType(I64, count)
        made = ir.GlobalVariable(self.ir, kind, name)
        made.initializer = ir.Constant(kind, None)
        made.linkage, made.align = "internal", CACHE_LINE
        return made

    def outside(
        self, name: str, result: ir.Type, arguments: Sequence[ir.Type], more: bool = False
    ) -> ir.Function:
        """A function of the process (libc, Python), found by name when the code is loaded."""
        known = self.ir.globals.get(name)
        if known is not None:
            return known
        return ir.Function(self.ir, ir.FunctionType(result, arguments, var_arg=more), name)

    def function(
        self, name: str, result: ir.Type, arguments: Sequence[ir.Type], export: bool = False
    ) -> "Function":
        """A new function to write; only exported ones have a name outside."""
        made = ir.Function(self.ir, ir.FunctionType(result, arguments), name)
        made.linkage = "external" if export else "internal"
        return Function(made)


class Function:
    """Writes one function, from top to bottom."""

    def __init__(self, function: ir.Function) -> None:
        self.ir, self.arguments = function, function.args
        self.builder = ir.IRBuilder(function.append_basic_block())
        self._exits: list[ir.Block] = []

    def value(self, number: Number, kind: ir.Type) -> ir.Value:
        """A constant, unless it is a value already."""
        return kind(number) if isinstance(number, int) else number

    def variable(self, first: Number, kind: ir.Type = I64) -> ir.AllocaInstr:
        """A local variable."""
        with self.builder.goto_entry_block():
            place = self.builder.alloca(kind)
        self.builder.store(self.value(first, kind), place)
        return place

    def get(self, place: ir.Value) -> ir.Value:
        """What a variable, or a word that nobody changes now, holds."""
        return self.builder.load(place)

    def put(self, place: ir.Value, number: Number) -> None:
        """Change a variable, or a word that nobody reads now."""
        self.builder.store(self.value(number, place.type.pointee), place)

    def read(self, word: ir.Value) -> ir.Value:
        """Read a shared word."""
        return self.builder.load_atomic(word, ORDER, word.type.pointee.width // 8)

    def swap(self, word: ir.Value, number: Number) -> ir.Value:
        """Write a shared word; the value before. On x86 a plain store could be overtaken."""
        new = self.value(number, word.type.pointee)
        return self.builder.atomic_rmw("xchg", word, new, ORDER)

    def add_to(self, word: ir.Value, number: Number) -> ir.Value:
        """Add to a shared word; the value before."""
        new = self.value(number, word.type.pointee)
        return self.builder.atomic_rmw("add", word, new, ORDER)

    def replace(self, word: ir.Value, old: Number, new: Number) -> ir.Value:
        """Write a shared word if it holds `old`; whether it did."""
        kind = word.type.pointee
        found = self.builder.cmpxchg(word, self.value(old, kind), self.value(new, kind), ORDER)
        return self.builder.extract_value(found, 1)

    def test(self, left: ir.Value, operator: str, right: Number) -> ir.Value:
        """A signed comparison."""
        return self.builder.icmp_signed(operator, left, self.value(right, left.type))

    def pointer(self, address: ir.Value) -> ir.Value:
        """An address as a pointer to words."""
        return self.builder.inttoptr(address, I64.as_pointer())

    def slot(self, block: ir.Value, index: Number, kind: ir.Type = I64) -> ir.Value:
        """The address of word `index` of a block of 8-byte words, as a pointer to `kind`."""
        words = self.builder.bitcast(block, I64.as_pointer())
        place = self.builder.gep(words, [self.value(index, I64)])
        return self.builder.bitcast(place, kind.as_pointer())

    def call(self, function: "Function | ir.Function", *arguments: Number) -> ir.Value:
        """Call a function of this module or of the process."""
        target = function.ir if isinstance(function, Function) else function
        kinds = [*target.function_type.args, *[I32] * len(arguments)]
        values = [self.value(a, kind) for a, kind in zip(arguments, kinds, strict=False)]
        return self.builder.call(target, values)

    def call_at(
        self, address: ir.Value, result: ir.Type, kinds: Sequence[ir.Type], *arguments: Number
    ) -> ir.Value:
        """Call the function at an address."""
        kind = ir.FunctionType(result, kinds).as_pointer()
        values = [self.value(a, k) for a, k in zip(arguments, kinds, strict=True)]
        return self.builder.call(self.builder.inttoptr(address, kind), values)

    @contextmanager
    def when(self, condition: ir.Value) -> Iterator[None]:
        """Instructions to run if the condition holds."""
        with self.builder.if_then(condition):
            yield

    @contextmanager
    def loop(self) -> Iterator[None]:
        """Instructions to repeat, until `leave` or `ret`."""
        body, after = self.ir.append_basic_block(), self.ir.append_basic_block()
        self.builder.branch(body)
        self.builder.position_at_end(body)
        self._exits.append(after)
        yield
        self._exits.pop()
        if not self.builder.block.is_terminated:
            self.builder.branch(body)
        self.builder.position_at_end(after)

    @contextmanager
    def count(self, first: Number, end: ir.Value) -> Iterator[ir.Value]:
        """Repeat for each number from `first` to before `end`; gives the number."""
        place = self.variable(first, end.type)
        with self.loop():
            number = self.get(place)
            self.leave(self.test(number, ">=", end))
            yield number
            self.put(place, self.builder.add(number, end.type(1)))

    def leave(self, condition: ir.Value) -> None:
        """End the loop if the condition holds."""
        more = self.ir.append_basic_block()
        self.builder.cbranch(condition, self._exits[-1], more)
        self.builder.position_at_end(more)

    def ret(self, number: Number | None = None) -> None:
        """Return."""
        if number is None:
            self.builder.ret_void()
        else:
            self.builder.ret(self.value(number, self.ir.function_type.return_type))


def compile_module(module: Module) -> bytes:
    """The module as object code for this CPU."""
    machine = target_machine()
    parsed = llvm.parse_assembly(str(module.ir))
    parsed.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(parsed, builder)
    return machine.emit_object(parsed)

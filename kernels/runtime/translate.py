"""A kernel's source straight to LLVM: one walk over its Python syntax tree, without Numba.

In: the source of one kernel function and its KernelSignature. Out: an llvmlite module that holds
the function. Every name has one type, known where it is first set, so nothing is inferred; the
helpers of vecmath write their own instructions (vecmath/lanes.py). What is not the kernel dialect
is refused with its line.

The dialect: `for NAME in range(u64 [, u64])`, `NAME = expression`, `array[u64] = expression`, `if`,
`return`, `pass`; the operators of the table below between values of one type; calls of helpers;
`local_f32(64)` for an array on the stack; `streamed` instead of `range` for a loop that copies
neighbours and whose stores need not stay in a cache. A name set inside a loop or an `if` ends with
it, unless it was set before: then it is a variable in memory, which LLVM turns into registers.

>>> from minitorch2.kernels.runtime.signature import KernelSignature
>>> module, call = translate(
...     '''def double(lo, hi, x, status):
...     for i in range(lo, hi):
...         x[i] = x[i] + x[i]''',
...     KernelSignature(("f32",)),
... )
>>> "fadd float" in str(module)
True

Source: the plain twin's rules (NumPy scalars of one type) are the meaning of every operator.

# Note [Twice around a rare case]
A sine of 2^45 or more (in f32: of 2^18) needs many times the work, and a loop that branches has no
vector code. So the first function leaves that case out and returns whether it met one; then a
second one, with nothing left out, does the whole chunk again. A kernel that writes over what it
reads has the second only.
"""

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from llvmlite import ir

from minitorch2.jit import syntax
from minitorch2.kernels.runtime import streams
from minitorch2.kernels.runtime.integers import constant_of, quotient, rest, shifted
from minitorch2.kernels.runtime.line_info import LineInfo
from minitorch2.kernels.runtime.machine import has, scales_by_powers
from minitorch2.kernels.runtime.set_names import read_and_written, set_again
from minitorch2.kernels.runtime.signature import KernelSignature
from minitorch2.kernels.vecmath.helpers import HELPERS, INTEGERS, NUMBERS
from minitorch2.kernels.vecmath.lanes import LLVM_TYPES, Builder, Lane, is_float
from minitorch2.kernels.vecmath.primitives import SHORT_NAMES, cast, type_of
from minitorch2.kernels.vecmath.scalars import __all__ as HELPER_NAMES

FUNCTION, WHOLE = "kernel", "kernel_whole"
CASTS = (*NUMBERS, "b1")
LOCAL_PREFIX = "local_"
LOCAL_ALIGNMENT = 64
WORD = ir.IntType(64)
MEMORY_TYPES = LLVM_TYPES | {
    "bool": ir.IntType(8),  # a bool is a byte in memory
    "c64": ir.LiteralStructType([ir.FloatType()] * 2),  # complex numbers are only moved
    "c128": ir.LiteralStructType([ir.DoubleType()] * 2),
}


class KernelSourceError(TypeError):
    """A kernel's source is not the kernel dialect, or its types do not fit."""


@dataclass(frozen=True, slots=True)
class Array:
    """Elements of one type from an address on."""

    address: ir.Value
    type: str


@dataclass(frozen=True, slots=True)
class Variable:
    """A name that is set again inside a loop or an `if`: a place in memory."""

    place: ir.Value
    type: str


Meaning = Lane | Array | Variable
Call = Callable[[ir.IRBuilder, list[ir.Value]], Any]
BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
INSTEAD = {
    ast.BoolOp: "`and` and `or` branch: write & and |",
    ast.IfExp: "a conditional expression branches: write select(c, a, b)",
    ast.AugAssign: "write `a = a + b`",
    ast.While: "the only loop is `for NAME in range(...)`",
}


def translate(
    source: str, signature: KernelSignature, with_lines: bool = False
) -> tuple[ir.Module, Call]:
    """A module with the source's function, and a function that writes a call of it.

    `with_lines`: every instruction says which line it comes from. Raises KernelSourceError with
    the line that is not understood.
    """
    tree = syntax.module(source)
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        raise KernelSourceError("a kernel's source is one function")
    definition = tree.body[0]
    kinds = parameter_types(signature)
    if len(definition.args.args) != len(kinds):
        found = len(definition.args.args)
        raise KernelSourceError(f"{definition.name} has {found} parameters, not {len(kinds)}")
    module = ir.Module()
    may_run_again = signature.noalias and not read_and_written(definition)
    part = _Part(definition, signature, source)
    function, left_out = part.written(module, FUNCTION, may_run_again, with_lines)
    if not left_out:
        return module, lambda builder, values: builder.call(function, values)
    whole, _ = part.written(module, WHOLE, False, False)
    for attribute in ("optnone", "cold"):
        whole.attributes.add(attribute)

    def call(builder: ir.IRBuilder, values: list[ir.Value]) -> None:
        noted = builder.call(function, values)
        with builder.if_then(builder.icmp_unsigned("!=", noted, WORD(0)), likely=False):
            builder.call(whole, values)

    return module, call


@dataclass(frozen=True, slots=True)
class _Part:
    """A kernel's syntax tree, to be written as a function, once or twice."""

    definition: ast.FunctionDef
    signature: KernelSignature
    source: str

    def written(
        self, module: ir.Module, name: str, may_leave_out: bool, with_lines: bool
    ) -> tuple[ir.Function, bool]:
        """The function, and whether it leaves a rare case out.

        It returns 0, or not 0 after it met what it leaves out: see Note [Twice around a rare case].
        """
        kinds = parameter_types(self.signature)
        function = ir.Function(module, ir.FunctionType(WORD, [llvm for llvm, _ in kinds]), name)
        function.linkage = "internal"
        # Inlined into its wrapper, "noalias" would become metadata, which costs LLVM a half more.
        for attribute in ("noinline", "nounwind"):
            function.attributes.add(attribute)
        line_info = LineInfo(module, function) if with_lines else None
        writer = _Writer(function, self.source, line_info, may_leave_out)
        scope: dict[str, Meaning] = {}
        names = [parameter.arg for parameter in self.definition.args.args]
        for parameter, value, (llvm, short) in zip(names, function.args, kinds, strict=True):
            if isinstance(llvm, ir.PointerType):
                if self.signature.noalias:
                    value.add_attribute("noalias")
                scope[parameter] = Array(value, short)
            else:
                scope[parameter] = Lane(writer.builder, value, short)
        writer.function(self.definition, scope)
        return function, writer.builder.left_out


def parameter_types(signature: KernelSignature) -> list[tuple[ir.Type, str]]:
    """LLVM type and short name of each parameter; arrays are pointers to their elements."""
    arrays = [(MEMORY_TYPES[short].as_pointer(), short) for short in signature.storage_types()]
    scalars = [(LLVM_TYPES[short], short) for short in signature.scalars]
    sizes = [(WORD, "u64")] * signature.sizes
    return [(WORD, "u64")] * 2 + arrays + sizes + scalars + [(WORD.as_pointer(), "i64")]


class _Writer:
    """Writes the body of one function; `scopes` holds what names mean, innermost block last."""

    def __init__(
        self, function: ir.Function, source: str, line_info: LineInfo | None,
        may_leave_out: bool,
    ):  # fmt: skip
        self.llvm, self.lines, self.line_info = function, source.splitlines(), line_info
        self.entry = function.append_basic_block()  # stack space; the body follows it
        self.stack = ir.IRBuilder(self.entry)
        stack = self.stack if may_leave_out else None
        body = function.append_basic_block()
        self.builder = Builder(body, stack, scales=scales_by_powers(), converts=has("f16c"))
        self.scopes: list[dict[str, Meaning]] = []
        self.in_memory: set[str] = set()

    def function(self, definition: ast.FunctionDef, parameters: dict[str, Meaning]) -> None:
        self.in_memory = set(set_again(definition.body, frozenset(parameters)))
        body = self.builder.block
        self.scopes.append(parameters)
        self.block(definition.body)
        if not self.builder.block.is_terminated:
            streams.fence(self.builder)
            self.builder.ret(self.builder.noted())
        self.stack.branch(body)

    def block(self, body: list[ast.stmt]) -> None:
        """Statements with a scope of their own."""
        self.scopes.append({})
        for statement in body:
            if self.builder.block.is_terminated:
                break  # after a return
            self.statement(statement)
        self.scopes.pop()

    def statement(self, node: ast.stmt) -> None:
        """Translate a statement; one the dialect lacks fails with its line."""
        self.mark(node)
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.assign(node, name, value)
            case ast.Assign(targets=[ast.Subscript() as place], value=value):
                pointer, short = self.element(place)
                self.store(node, self.lane(value), pointer, short)
            case ast.For(target=ast.Name(), iter=ast.Call(func=ast.Name(id="streamed"))):
                self.streamed(node)
            case ast.For(target=ast.Name(), orelse=[]):
                self.loop(node)
            case ast.If():
                self.branch(node)
            case ast.Return(value=None):
                streams.fence(self.builder)
                self.builder.ret(self.builder.noted())
            case ast.Pass():
                pass
            case _:
                self.refuse(node)

    def mark(self, node: ast.stmt) -> None:
        """What is written next comes from this statement."""
        if self.line_info is not None:
            self.builder.debug_metadata = self.line_info.at(node.lineno)

    def assign(self, node: ast.stmt, name: str, value: ast.expr) -> None:
        array = self.local_array(value)
        if array is not None:
            if name in self.in_memory:
                self.fail(node, f"{name} is an array: it cannot be set again inside a block")
            self.scopes[-1][name] = array
            return
        self.bind(node, name, self.lane(value))

    def bind(self, node: ast.AST, name: str, value: Lane) -> None:
        """Let a name mean a value from here on."""
        if name not in self.in_memory:
            self.scopes[-1][name] = value
            return
        old = self.meaning(name)
        if old is None:
            old = Variable(self.stack.alloca(LLVM_TYPES[value.type]), value.type)
            self.scopes[-1][name] = old
        if not isinstance(old, Variable):
            self.fail(node, f"the parameter {name} cannot be set")
        if old.type != value.type:
            self.fail(node, f"{name} was {old.type} and cannot become {value.type}")
        self.builder.store(value.value, old.place)

    def meaning(self, name: str) -> Meaning | None:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def loop(self, node: ast.For) -> None:
        """A loop that tests at its end, behind one test whether it runs at all."""
        assert isinstance(node.target, ast.Name)
        start, stop = self.bounds(node)
        builder = self.builder
        body, after = self.llvm.append_basic_block(), self.llvm.append_basic_block()
        first, last = constant_of(start), constant_of(stop)
        if first is not None and last is not None and first < last:
            builder.branch(body)
        else:
            builder.cbranch((start < stop).value, body, after)
        before = builder.block
        builder.position_at_end(body)
        index = builder.phi(WORD)
        index.add_incoming(start.value, before)
        self.scopes.append({})
        self.bind(node, node.target.id, start.new(index))
        self.block(node.body)
        self.scopes.pop()
        self.mark(node)
        if not builder.block.is_terminated:
            following = builder.add(index, WORD(1), flags=("nuw",))
            index.add_incoming(following, builder.block)
            builder.cbranch((start.new(following) < stop).value, body, after)
        builder.position_at_end(after)

    def streamed(self, node: ast.For) -> None:
        """A loop that copies neighbours of one array to another, past the caches."""
        match node:
            case ast.For(
                target=ast.Name(id=name),
                iter=ast.Call(args=[count], keywords=[]),
                body=[*before, ast.Assign(targets=[ast.Subscript() as place],
                                          value=ast.Subscript() as source)],
            ):  # fmt: skip
                number = self.lane(count)
                self.scopes.append({name: number.constant(0)})
                for statement in before:
                    self.statement(statement)
                (to, short), (start, other) = self.element(place), self.element(source)
                self.scopes.pop()
                if short != other:
                    self.fail(node, f"{other} is copied to {short}")
                streams.write_copy(self.builder, to, start, number.value)
            case _:
                self.fail(node, "a streamed loop copies elements of one array to another")

    def bounds(self, node: ast.For) -> tuple[Lane, Lane]:
        match node.iter:
            case ast.Call(func=ast.Name(id="range"), args=[stop], keywords=[]):
                last = self.lane(stop)
                first = last.constant(0)
            case ast.Call(func=ast.Name(id="range"), args=[start, stop], keywords=[]):
                first, last = self.lane(start), self.lane(stop)
            case _:
                self.fail(node, "a loop goes over range(stop) or range(start, stop)")
        for bound in (first, last):
            if bound.type != "u64":
                self.fail(node, f"a bound is {bound.type}: loops count in u64")
        return first, last

    def branch(self, node: ast.If) -> None:
        """Translate an `if`; its sides meet behind it."""
        test = self.lane(node.test)
        if test.type != "bool":
            self.fail(node.test, f"the condition is {test.type}, not bool")
        builder = self.builder
        then, otherwise = self.llvm.append_basic_block(), self.llvm.append_basic_block()
        after = self.llvm.append_basic_block() if node.orelse else otherwise
        builder.cbranch(test.value, then, otherwise)
        for block, body in ((then, node.body), (otherwise, node.orelse)):
            if block is after:
                continue
            builder.position_at_end(block)
            self.block(body)
            if not builder.block.is_terminated:
                builder.branch(after)
        builder.position_at_end(after)

    def lane(self, node: ast.expr) -> Lane:
        """The value of an expression."""
        match node:
            case ast.Name(id=name):
                return self.name(node, name)
            case ast.Constant(value=bool() | int() | float()):
                return self.literal(cast(node.value, type_of(node.value)))
            case ast.Subscript():
                pointer, short = self.element(node)
                value = self.builder.load(pointer)
                if short == "bool":
                    value = self.builder.trunc(value, LLVM_TYPES[short])
                return Lane(self.builder, value, short)
            case ast.BinOp():
                return self.operation(node)
            case ast.Compare(ops=[sign], comparators=[right]) if type(sign) in COMPARISONS:
                left, other = self.pair(node, node.left, right)
                return COMPARISONS[type(sign)](left, other)
            case ast.UnaryOp():
                return self.unary(node)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self.call(node, name, arguments)
        self.refuse(node)

    def name(self, node: ast.expr, name: str) -> Lane:
        match self.meaning(name):
            case Lane() as lane:
                return lane
            case Variable(place, short):
                return Lane(self.builder, self.builder.load(place), short)
            case Array():
                self.fail(node, f"{name} is an array: take an element of it")
        self.fail(node, f"{name} is not set here on every way")

    def literal(self, number: Any) -> Lane:
        """A NumPy scalar as a constant."""
        short = SHORT_NAMES[number.dtype]
        value = float(number) if is_float(short) else int(number)
        return Lane(self.builder, ir.Constant(LLVM_TYPES[short], value), short)

    def pair(self, node: ast.expr, left: ast.expr, right: ast.expr) -> tuple[Lane, Lane]:
        a, b = self.lane(left), self.lane(right)
        if a.type != b.type:
            self.fail(node, f"{a.type} and {b.type} in one operation: cast first")
        return a, b

    def operation(self, node: ast.BinOp) -> Lane:
        """Translate an arithmetic or bitwise operation on two lanes of one type."""
        left, right = self.pair(node, node.left, node.right)
        kind, short = type(node.op), left.type
        logical = kind in (ast.BitAnd, ast.BitOr, ast.BitXor)
        if short == "bool" and not logical or is_float(short) and logical:
            self.fail(node, f"no such operation on {short}")
        if kind in BINARY:
            return BINARY[kind](left, right)
        if kind is ast.Div and is_float(short):
            return left / right
        if kind in (ast.FloorDiv, ast.Mod) and short in INTEGERS:
            return quotient(left, right) if kind is ast.FloorDiv else rest(left, right)
        if kind in (ast.LShift, ast.RShift) and short in INTEGERS:
            return shifted(left, right, kind is ast.LShift)
        self.fail(node, f"no such operation on {short}")

    def unary(self, node: ast.UnaryOp) -> Lane:
        number = _literal(node)
        if number is not None:
            return self.literal(cast(number, type_of(number)))
        value = self.lane(node.operand)
        if isinstance(node.op, ast.USub) and value.type != "bool":
            return -value
        if isinstance(node.op, ast.Invert) and value.type in INTEGERS:
            return ~value
        self.fail(node, f"no such operation on {value.type}; for a bool, write logical_not(b)")

    def call(self, node: ast.expr, name: str, arguments: list[ast.expr]) -> Lane:
        if name not in HELPERS or name not in HELPER_NAMES:
            self.fail(node, f"{name} is no helper of minitorch2.kernels.vecmath")
        record = HELPERS[name]
        number = _literal(arguments[0]) if name in CASTS and arguments else None
        if number is not None:
            return self.literal(cast(number, record.returns))
        lanes = [self.lane(argument) for argument in arguments]
        try:
            record.result_type(tuple(lane.type for lane in lanes))
        except (TypeError, IndexError) as problem:
            self.fail(node, str(problem))
        return record.body(*lanes)

    def local_array(self, node: ast.expr) -> Array | None:
        """The array that `local_f32(64)` makes; None for any other expression."""
        match node:
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=int() as length)]):
                short = name.removeprefix(LOCAL_PREFIX)
                if name.startswith(LOCAL_PREFIX) and short in MEMORY_TYPES:
                    element = MEMORY_TYPES[short]
                    space = self.stack.alloca(ir.ArrayType(element, length))
                    space.align = LOCAL_ALIGNMENT
                    return Array(self.stack.bitcast(space, element.as_pointer()), short)
        return None

    def element(self, node: ast.Subscript) -> tuple[ir.Value, str]:
        """Where an element of an array lies, and its type."""
        array = self.meaning(node.value.id) if isinstance(node.value, ast.Name) else None
        if not isinstance(array, Array):
            self.fail(node, f"{ast.unparse(node.value)} is no array")
        index = self.lane(node.slice)
        if index.type != "u64":
            self.fail(node, f"the index is {index.type}: indices are u64")
        return self.builder.gep(array.address, [index.value], inbounds=True), array.type

    def store(self, node: ast.stmt, lane: Lane, pointer: ir.Value, short: str) -> None:
        if lane.type != short:
            self.fail(node, f"a value of {lane.type} for an array of {short}: cast first")
        value = lane.value
        if short == "bool":
            value = self.builder.zext(value, MEMORY_TYPES[short])
        self.builder.store(value, pointer)

    def refuse(self, node: ast.stmt | ast.expr) -> NoReturn:
        self.fail(node, INSTEAD.get(type(node), "this is not the kernel dialect"))

    def fail(self, node: Any, problem: str) -> NoReturn:
        line = self.lines[node.lineno - 1].strip()
        raise KernelSourceError(f"{problem}\n  line {node.lineno} of the kernel: {line}")


def _literal(node: ast.expr) -> float | None:
    """The number that a literal, or minus a literal, stands for; None for anything else."""
    match node:
        case ast.Constant(value=bool() | int() | float() as number):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
    return None

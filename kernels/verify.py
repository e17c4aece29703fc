"""The loop IR's rules, checked: names, types, where stores and parallel loops may stand.

In: a Kernel. Out: nothing, or a LoopVerifyError that names the statement and prints the kernel.

Source: xDSL's verifiers; the list of rules follows loop_ir.py's grammar.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from minitorch2.dtypes import bool as bool_dtype
from minitorch2.dtypes import dtype, int64
from minitorch2.errors import VerificationError
from minitorch2.kernels.functions import FUNCTIONS, REDUCERS, accumulator_dtype, result_dtype
from minitorch2.kernels.index import Index
from minitorch2.kernels.loop_ir import (
    Accumulator,
    Buffer,
    Call,
    Cast,
    Check,
    Constant,
    Expression,
    IndexValue,
    Kernel,
    Let,
    LetIndex,
    Load,
    Loop,
    Name,
    Reduce,
    Require,
    Statement,
    Store,
    Window,
)
from minitorch2.kernels.printer import print_expression, print_kernel


class LoopVerifyError(VerificationError, ValueError):
    """A kernel that breaks a rule of the loop IR."""

    code = "MT2-0902"
    remedy = "This is a mistake in lower/ or schedule/: see the kernel below the message."


def verify_kernel(kernel: Kernel) -> None:
    """Raise LoopVerifyError unless the kernel follows the rules."""
    _Verifier(kernel).run()


OUTER = ("blocks", "warps", "threads")
VECTORS = (2, 4, 8, 16)
PLAIN = Let | LetIndex | Window | Check | Require | Store


@dataclass(frozen=True, slots=True)
class SpreadRules:
    """Where loops may be dealt to blocks, warps, threads and vectors; `gpu`: whether at all."""

    gpu: bool

    def complaint(self, statement: Statement, outer: tuple[str, ...]) -> str:
        """What is wrong with a statement inside loops with these spreads; "" if nothing is."""
        if self.gpu and not outer and getattr(statement, "spread", "") not in OUTER:
            return "a statement of a GPU kernel stands outside blocks, warps and threads"
        if isinstance(statement, PLAIN):
            return ""
        inside = outer
        for variable, extent, word in self._axes(statement):
            wrong = self._word(word, extent, inside)
            if wrong:
                return f"{variable} in {extent} {word}: {wrong}"
            inside = (*inside, word) if word else inside
        if inside[-1:] == ("vector",) and not all(isinstance(s, PLAIN) for s in statement.body):
            return "a loop inside a vector"
        return next(filter(None, (self.complaint(s, inside) for s in statement.body)), "")

    def _axes(self, statement: "Loop | Reduce") -> tuple[tuple[str, Index, str], ...]:
        if isinstance(statement, Reduce):
            return statement.axes()
        return ((statement.variable, statement.extent, statement.spread),)

    def _word(self, word: str, extent: Index, outer: tuple[str, ...]) -> str:
        """What is wrong with a word in this place."""
        if not word:
            return ""
        if not self.gpu:
            return "the kernel has no threads"
        if "vector" in outer:
            return "no loop may stand in a vector"
        if word == "vector":
            return "" if extent.as_int() in VECTORS else f"a vector has {VECTORS} turns"
        if word in ("blocks", "warps"):
            return "not the outermost loop" if outer else ""
        return "threads in threads" if "threads" in outer else ""


class _Verifier:
    """`values` holds the dtype of each name in sight, `indices` the index names."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel
        self.buffers: dict[str, Buffer] = {b.name: b for b in kernel.buffers}
        self.values: dict[str, dtype] = {s.name: s.dtype for s in kernel.scalars}
        self.indices = set(kernel.sizes)

    def fail(self, what: str) -> None:
        raise LoopVerifyError(f"kernel {self.kernel.name}: {what}\n{print_kernel(self.kernel)}")

    def run(self) -> None:
        """Raise LoopVerifyError at the first rule that the kernel breaks."""
        names = [*self.buffers, *self.values, *self.indices]
        parameters = (*self.kernel.buffers, *self.kernel.sizes, *self.kernel.scalars)
        if len(set(names)) != len(parameters):
            self.fail("two parameters have the same name")
        for buffer in self.kernel.buffers:
            if buffer.mode not in ("in", "out", "inout"):
                self.fail(f"buffer {buffer.name} has mode {buffer.mode!r}")
            self.index(buffer.size)
        self.block(self.kernel.body, depth=0, reducing=False, parallel=False)
        spread = SpreadRules(self.kernel.threads > 0)
        for statement in self.kernel.body:
            complaint = spread.complaint(statement, ())
            if complaint:
                self.fail(complaint)

    def block(self, body: Sequence[Statement], depth: int, reducing: bool, parallel: bool) -> None:
        values, indices = dict(self.values), set(self.indices)
        for statement in body:
            self.statement(statement, depth, reducing, parallel)
        if depth:
            self.values, self.indices = values, indices

    def statement(self, statement: Statement, depth: int, reducing: bool, parallel: bool) -> None:
        """Check a statement and what it contains."""
        match statement:
            case Let(name, value):
                self.expression(value)
                self.define(name, value.dtype)
            case LetIndex(name, index):
                self.index(index)
                self.indices.add(name)
            case Window(name, inside, index, size):
                self.index(index)
                self.index(size)
                self.indices.add(name)
                self.define(inside, bool_dtype)
            case Check(name, value, size):
                self.expression(value)
                if value.dtype is not int64:
                    self.fail(f"check {name}: the index is {value.dtype}, not int64")
                self.index(size)
                self.indices.add(name)
            case Require(condition):
                self.expression(condition)
                if condition.dtype is not bool_dtype:
                    self.fail("require: the condition is no bool")
            case Store():
                if reducing:
                    self.fail(f"a store to {statement.buffer} inside a reduction")
                self.store(statement)
            case Loop(variable, extent, body, is_parallel):
                if is_parallel and (depth or len(self.kernel.body) != 1):
                    self.fail(f"the parallel loop over {variable} is not the only outer statement")
                if reducing:
                    self.fail(f"a loop over {variable} inside a reduction")
                self.index(extent)
                outer = set(self.indices)
                self.indices.add(variable)
                self.block(body, depth + 1, reducing, parallel or is_parallel)
                self.indices = outer
            case Reduce(domain, body, accumulators):
                self.reduction(domain, body, accumulators, depth)

    def reduction(
        self,
        domain: Sequence[tuple[str, Index]],
        body: Sequence[Statement],
        accumulators: Sequence[Accumulator],
        depth: int,
    ) -> None:
        """Check the loops of a reduction, and that its accumulators fit their values."""
        values, indices = dict(self.values), set(self.indices)
        for variable, extent in domain:
            self.index(extent)
            self.indices.add(variable)
        for statement in body:
            self.statement(statement, depth + 1, True, False)
        for accumulator in accumulators:
            self.expression(accumulator.value)
            if accumulator.reducer not in REDUCERS:
                self.fail(f"no reducer {accumulator.reducer!r}")
            expected = accumulator_dtype(accumulator.reducer, accumulator.value.dtype)
            if accumulator.dtype is not expected:
                self.fail(f"{accumulator.name} is {accumulator.dtype}, not {expected}")
        self.values, self.indices = values, indices
        for accumulator in accumulators:
            self.define(accumulator.name, accumulator.dtype)

    def store(self, store: Store) -> None:
        buffer = self.buffers.get(store.buffer)
        if buffer is None or buffer.mode == "in":
            self.fail(f"a store to {store.buffer}, which is no output")
            return
        self.index(store.index)
        self.expression(store.value)
        if buffer.mode == "out" and store.accumulate:
            self.fail(f"+= into {store.buffer}, whose elements are not given")
        if store.value.dtype is not buffer.dtype:
            self.fail(f"a store of {store.value.dtype} into {store.buffer}: {buffer.dtype}")

    def define(self, name: str, element: dtype) -> None:
        if name in self.values or name in self.buffers:
            self.fail(f"{name} is defined twice")
        self.values[name] = element

    def index(self, index: Index) -> None:
        unknown = index.symbols() - self.indices
        if unknown:
            self.fail(f"index {index} uses unknown {', '.join(sorted(unknown))}")

    def expression(self, expression: Expression) -> None:
        """Check that names and loads have the types an expression says."""
        match expression:
            case Name(name, element):
                if self.values.get(name) is not element:
                    self.fail(f"{name} is {self.values.get(name)}, used as {element}")
            case Load(buffer, index, element):
                if buffer not in self.buffers or self.buffers[buffer].dtype is not element:
                    self.fail(f"a load of {element} from {buffer}")
                self.index(index)
            case IndexValue(index, element):
                self.index(index)
                if element is not int64:
                    self.fail(f"index({index}) is {element}")
            case Cast(value):
                self.expression(value)
            case Call():
                self.call(expression)
            case Constant():
                pass

    def call(self, call: Call) -> None:
        """Check a call: that the function exists, how many arguments it has, and their types."""
        for argument in call.args:
            self.expression(argument)
        if call.function not in FUNCTIONS:
            self.fail(f"no function {call.function!r}")
        count, _, categories = FUNCTIONS[call.function]
        types = [argument.dtype for argument in call.args]
        if len(types) != count or result_dtype(call.function, types) is not call.dtype:
            self.fail(f"{print_expression(call)} has wrong arguments or is no {call.dtype}")
        checked = types[1:] if call.function == "select" else types
        if any(each is not checked[0] for each in checked):
            self.fail(f"{print_expression(call)} mixes types {types}")
        if any(each.category not in categories for each in checked):
            self.fail(f"{print_expression(call)} is not defined for {checked[0]}")
        if any(each.short in ("f16", "bf16") for each in checked) and call.function != "select":
            self.fail(f"{print_expression(call)} computes in 16 bits: cast to float32 first")

"""What one launch of a step must move and compute, read off the loop IR before anything runs.

In: a step of a plan. Out: its Cost: bytes read, bytes written, flops, each a number or, for sizes
that are not known before, an expression of them. None for a step that runs eagerly.

    kernel_0 reads 4*s0 + 512 bytes, writes 4*s0 bytes, computes 3*s0 flops

Bytes are those that must cross the bus once: every element that is touched counts once, however
often it is read, and caches are taken to keep what is read again. A buffer that is read through
tables counts one element for each look-up. A flop is one arithmetic operation on floats, whatever
it takes (an exp is one); conversions, comparisons, choices and integer arithmetic are none.

Source: the roofline model (Williams, Waterman, Patterson, CACM 2009).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from minitorch2.artifacts import Origin
from minitorch2.kernels.index import Index, constant, evaluate, product, substitute, symbol
from minitorch2.kernels.loop_ir import (
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
from minitorch2.kernels.lower.nests import arguments, shape_of, tensor_type
from minitorch2.kernels.schedule.plan import (
    ChainStep,
    KernelStep,
    Plan,
    PlanStep,
    ProductStep,
    step_origins,
)

NO_FLOPS = frozenset({"select"})
NOTHING = constant(0)


@dataclass(frozen=True, slots=True)
class Cost:
    """Bytes read, bytes written and flops of one launch."""

    read: Index
    written: Index
    flops: Index

    def at(self, sizes: Mapping[str, int]) -> tuple[int, int, int]:
        """The three numbers, for the sizes of one launch."""
        read, written, flops = (
            evaluate(each, sizes) for each in (self.read, self.written, self.flops)
        )
        return read, written, flops

    def facts(self) -> dict[str, int | str]:
        """The numbers, as text where they are expressions."""
        named = {"bytes_read": self.read, "bytes_written": self.written, "flops": self.flops}
        numbers = {name: (each.as_int(), str(each)) for name, each in named.items()}
        return {
            name: text if number is None else number for name, (number, text) in numbers.items()
        }

    def __str__(self) -> str:
        return f"reads {self.read} bytes, writes {self.written} bytes, computes {self.flops} flops"


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs of all steps of a plan, by name: an event's payload."""

    rows: tuple[tuple[str, Cost | None, Origin], ...]

    def __str__(self) -> str:
        return "\n".join(
            f"{name} {cost or 'is left to the dispatcher'}  # {origin}"
            for name, cost, origin in self.rows
        )

    def facts(self) -> list[dict[str, Any]]:
        """The rows as an event's fact; numbers are text where sizes are not known."""
        return [
            {"name": name, "lines": list(dict.fromkeys(map(str, origin.spans))),
             **({} if cost is None else cost.facts())}
            for name, cost, origin in self.rows
        ]  # fmt: skip


def plan_costs(plan: Plan) -> Costs:
    """What one launch of each step must move and compute."""
    steps = zip(plan.names(), plan.steps, strict=True)
    return Costs(tuple((name, step_cost(step), step_origins(step)) for name, step in steps))


def step_cost(step: PlanStep) -> Cost | None:
    """The cost of one launch; None where the dispatcher decides what runs."""
    if isinstance(step, KernelStep):
        return kernel_cost(step.kernel)
    if isinstance(step, ChainStep):
        return _chain_cost(step)
    if not isinstance(step, ProductStep):
        return None
    left, right = arguments(step.node)
    result = product(shape_of(step.result))
    sizes = [product(shape_of(value)) * tensor_type(value).dtype.itemsize
             for value in (left, right)]  # fmt: skip
    written = result * tensor_type(step.result).dtype.itemsize
    return Cost(sizes[0] + sizes[1], written, result * shape_of(left)[-1] * 2)


def _chain_cost(step: ChainStep) -> Cost:
    """The members' flops, and their bytes but for those that stay inside."""
    read, written, flops = NOTHING, NOTHING, NOTHING
    for member in step.members:
        cost = step_cost(member)
        assert cost is not None
        values = [value for value in member.uses() if value in step.inside]
        sizes = {v: product(shape_of(v)) * tensor_type(v).dtype.itemsize for v in values}
        made = member.makes if isinstance(member, KernelStep) else (member.result,)
        written += cost.written - sum((sizes[v] for v in values if v in made), NOTHING)
        read += cost.read - sum((sizes[v] for v in values if v not in made), NOTHING)
        flops += cost.flops
    return Cost(read, written, flops)


def kernel_cost(kernel: Kernel) -> Cost:
    """The cost of one launch of a kernel."""
    count = _Count()
    count.block(kernel.body, ())
    read, written = NOTHING, NOTHING
    for buffer in kernel.buffers:
        size = buffer.dtype.itemsize
        read += touched(count.loads.get(buffer.name, {}), buffer.size) * size
        written += touched(count.stores.get(buffer.name, {}), buffer.size) * size
    return Cost(read, written, count.flops)


def touched(patterns: Mapping[Index, Index], size: Index) -> Index:
    """How many elements of a buffer are touched, given those of each access pattern.

    Patterns of one buffer may overlap: together they touch no more than all of it.
    """
    total = sum(patterns.values(), NOTHING)
    known, most = total.as_int(), size.as_int()
    if known is not None and most is not None:
        return constant(min(known, most))
    return total if len(patterns) <= 1 else size


Loops = tuple[tuple[str, Index], ...]


class _Count:
    """Walks a kernel; `loops` are the variables around a statement with their extents.

    `loads` and `stores` map a buffer to its access patterns: an index in which each loop variable
    is named by its extent, so that two loops over the same elements are one pattern.
    """

    def __init__(self) -> None:
        self.flops = NOTHING
        self.loads: dict[str, dict[Index, Index]] = {}
        self.stores: dict[str, dict[Index, Index]] = {}
        self.depends: dict[str, frozenset[str]] = {}  # name -> loop variables it changes with

    def block(self, body: tuple[Statement, ...], loops: Loops) -> None:
        for statement in body:
            self.statement(statement, loops)

    def statement(self, statement: Statement, loops: Loops) -> None:
        """Count what a statement does, as often as the loops around it run it."""
        match statement:
            case Let(name, value):
                self.define(name, self.expression(value, loops))
            case Check(name, value):
                self.define(name, self.expression(value, loops))
            case LetIndex(name, index):
                self.define(name, self.variables(index, loops))
            case Window(name, inside, index):
                self.define(name, self.variables(index, loops))
                self.define(inside, self.variables(index, loops))
            case Require(condition):
                self.expression(condition, loops)
            case Store(buffer, index, value, accumulate):
                self.expression(value, loops)
                self.touch(self.stores, buffer, index, loops)
                if accumulate:
                    self.touch(self.loads, buffer, index, loops)
                    self.add_flops(value.dtype.is_floating_point, loops)
            case Loop(variable, extent, body):
                self.block(body, (*loops, (variable, extent)))
            case Reduce():
                self.reduction(statement, loops)

    def reduction(self, reduce: Reduce, loops: Loops) -> None:
        inside = (*loops, *reduce.domain)
        self.block(reduce.body, inside)
        for each in reduce.accumulators:
            self.expression(each.value, inside)
            self.add_flops(each.value.dtype.is_floating_point, inside)
            self.define(each.name, frozenset(variable for variable, _ in loops))

    def define(self, name: str, variables: frozenset[str]) -> None:
        self.depends[name] = variables

    def expression(self, expression: Expression, loops: Loops) -> frozenset[str]:
        """Count an expression once for each turn; the loop variables it changes with."""
        found: frozenset[str] = frozenset()
        for part in parts_of(expression):
            match part:
                case Load(buffer, index):
                    self.touch(self.loads, buffer, index, loops)
                    found |= self.variables(index, loops)
                case IndexValue(index):
                    found |= self.variables(index, loops)
                case Name(name):
                    found |= self.depends.get(name, frozenset())
                case Call(function, _, dtype):
                    self.add_flops(dtype.is_floating_point and function not in NO_FLOPS, loops)
        return found

    def variables(self, index: Index, loops: Loops) -> frozenset[str]:
        """The loop variables that an index changes with, those behind names included."""
        around = dict(loops)
        found: set[str] = set()
        for name in index.symbols():
            found |= {name} if name in around else self.depends.get(name, frozenset())
        return frozenset(found)

    def touch(
        self, table: dict[str, dict[Index, Index]], buffer: str, index: Index, loops: Loops
    ) -> None:
        variables = self.variables(index, loops)
        elements = product(extent for variable, extent in loops if variable in variables)
        renamed = {variable: symbol(f"<{extent}>") for variable, extent in loops}
        table.setdefault(buffer, {})[substitute(index, renamed, {})] = elements

    def add_flops(self, counts: bool, loops: Loops) -> None:
        if counts:
            self.flops += product(extent for _, extent in loops)


def parts_of(expression: Expression) -> Iterator[Expression]:
    """The expression and all expressions inside it."""
    yield expression
    match expression:
        case Cast(value):
            yield from parts_of(value)
        case Call(_, args):
            for argument in args:
                yield from parts_of(argument)
        case Name() | Constant() | Load() | IndexValue():
            pass

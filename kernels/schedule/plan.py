"""The whole graph as a list of steps: kernels, matrix products, eager calls, chains of those.

In: a Program and its groups. Out: a Plan: steps in order, each with the values it reads and writes.
Memory follows from it: a value gets memory when its step begins and gives it back after the last
step that reads it, to a pool that hands the same warm pages to the next step: see lifetimes.py.

Source: reference-counted pools instead of a static memory plan, as measured in the design.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

from minitorch2.artifacts import Origin
from minitorch2.jit.ir.graph import Node, Value
from minitorch2.kernels.functions import EXPENSIVE
from minitorch2.kernels.index import Index, constant, symbol
from minitorch2.kernels.loop_ir import Check, Kernel, Let, Loop, Reduce, Require, Statement
from minitorch2.kernels.lower.gathers import clone
from minitorch2.kernels.lower.nests import HostStep, Nest, Product, Scatter, functions_in
from minitorch2.kernels.schedule.assemble import Assembled, assemble, assemble_scatter
from minitorch2.kernels.schedule.frames import frame_of
from minitorch2.kernels.schedule.fusion import Fusion, unit_of
from minitorch2.kernels.schedule.loops import collapse, interchange, parallelize
from minitorch2.kernels.schedule.program import Program
from minitorch2.kernels.schedule.split_loops import split_loops


@dataclass(frozen=True, slots=True)
class KernelStep:
    """Launch a kernel over the memory of values.

    `takes` are results in the memory of an operand, with the operand: see in_place.py.
    """

    kernel: Kernel
    buffers: tuple[Value, ...]
    scalars: tuple[Value, ...]
    makes: tuple[Value, ...]
    cost: Index
    takes: tuple[tuple[Value, Value], ...] = ()

    def uses(self) -> tuple[Value, ...]:
        """The values whose memory it touches."""
        return (*self.buffers, *(result for result, _ in self.takes))

    def writes(self, value: Value) -> bool:
        """Whether the kernel stores into the memory of one of its values."""
        return self.kernel.buffers[self.buffers.index(value)].mode != "in"


@dataclass(frozen=True, slots=True)
class ProductStep:
    """numpy.matmul of two strided views into a value's memory."""

    node: Node
    result: Value
    roots: tuple[Value, ...]

    def uses(self) -> tuple[Value, ...]:
        """The values whose memory it touches."""
        return (*self.roots, self.result)


@dataclass(frozen=True, slots=True)
class EagerStep:
    """Run a node through the dispatcher."""

    node: Node
    reason: str
    roots: tuple[Value, ...]

    def uses(self) -> tuple[Value, ...]:
        """The values whose memory it touches."""
        return (*self.roots, *self.node.results)


@dataclass(frozen=True, slots=True)
class ChainStep:
    """Run some steps together, unit by unit: see chains.py.

    What is `inside` only members touch, and there is no memory for all of it. `places` says for
    each array that a member is given which of these values it is, -1 for others. `whole`: a unit
    is a whole matrix of each value. If it is some rows, the products `in_sums` add up what one unit
    after the other gives.
    """

    members: tuple[KernelStep | ProductStep, ...]
    inside: tuple[Value, ...]
    places: tuple[tuple[int, ...], ...]
    whole: bool
    in_sums: tuple[bool, ...]

    def uses(self) -> tuple[Value, ...]:
        """The values whose memory it touches."""
        touched = dict.fromkeys(value for each in self.members for value in each.uses())
        return tuple(value for value in touched if value not in self.inside)


PlanStep = KernelStep | ProductStep | EagerStep | ChainStep


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in order, for a program."""

    program: Program
    steps: tuple[PlanStep, ...]

    def names(self) -> tuple[str, ...]:
        """What the host function calls each step: its kernel's name, matmul_0, eager_0, ..."""
        numbers = {"matmul": count(), "eager": count(), "chain": count()}
        return tuple(_name(step, numbers) for step in self.steps)

    def members(self) -> Iterator[KernelStep | ProductStep | EagerStep]:
        """The steps in order, with those of a chain in its place."""
        for step in self.steps:
            if isinstance(step, ChainStep):
                yield from step.members
            else:
                yield step

    def kernels(self) -> Iterator[KernelStep]:
        """The launches of kernels in order, those in chains too."""
        return (step for step in self.members() if isinstance(step, KernelStep))


STEMS = {ProductStep: "matmul", EagerStep: "eager", ChainStep: "chain"}


def _name(step: PlanStep, numbers: "dict[str, count[int]]") -> str:
    if isinstance(step, KernelStep):
        return step.kernel.name
    stem = STEMS[type(step)]
    return f"{stem}_{next(numbers[stem])}"


def build_plan(program: Program, fusion: Fusion) -> Plan:
    """The steps of all groups."""
    steps: list[PlanStep] = []
    names = (f"kernel_{number}" for number in range(10**9))
    for group in fusion.run():
        if group.frame is not None:
            if not fusion.stored(group.units):
                continue  # nothing reads it
            steps.append(kernel_step(program, fusion.assembled(group, next(names))))
            continue
        unit = unit_of(program, group)
        roots = tuple(program.targets.get(v, v) for v in program.operands(unit.node))
        if isinstance(unit, Scatter):
            steps += _scatter_steps(program, unit, lambda: next(names))
        elif isinstance(unit, Product):
            steps.append(ProductStep(unit.node, unit.result, roots))
        else:
            assert isinstance(unit, HostStep)
            steps.append(EagerStep(unit.node, unit.reason, roots))
    return Plan(program, tuple(steps))


def _scatter_steps(
    program: Program, scatter: Scatter, name: Callable[[], str]
) -> Iterator[KernelStep]:
    """A copy of the base into the result's memory, then the writes into it.

    Where they go into an input, there is nothing to copy.
    """
    origin = scatter.node.origin
    copy = clone(Node("clone", (scatter.base,), (scatter.result,), True, origin))
    nests = [copy]
    made = program.made.get(program.root(scatter.base))
    if isinstance(made, Nest) and made.result in program.inline:
        nests.insert(0, made)
    if scatter.result not in program.targets:
        yield kernel_step(program, assemble(program, frame_of(copy), nests, [copy], name()))
    own = scatter.axes[0][0] if scatter.axes else ""
    apart = symbol(own) in scatter.target  # each turn of the outer loop has a part of its own
    yield kernel_step(program, assemble_scatter(program, scatter, name()), 1 if apart else 0)


def kernel_step(program: Program, assembled: Assembled, most: int | None = None) -> KernelStep:
    """The step that launches an assembled kernel; at most so many outer loops are parallel."""
    kernel = split_loops(collapse(interchange(assembled.kernel)))
    kernel = kernel if most == 0 else parallelize(kernel, most)
    made = tuple(
        value
        for value, buffer in zip(assembled.buffers, kernel.buffers, strict=True)
        if buffer.mode == "out"
    )
    cost = body_cost(kernel.body)
    extent = kernel.parallel_extent
    if extent is not None:
        assert isinstance(kernel.body[0], Loop)
        cost = body_cost(kernel.body[0].body)
    return KernelStep(kernel, assembled.buffers, assembled.scalars, made, cost)


def body_cost(body: tuple[Statement, ...]) -> Index:
    """About how many tenths of a nanosecond statements take."""
    total = constant(1)
    for statement in body:
        if isinstance(statement, Loop):
            total = total + statement.extent * body_cost(statement.body)
        elif isinstance(statement, Reduce):
            inner = body_cost(statement.body)
            for _, extent in statement.domain:
                inner = inner * extent
            total = total + inner
        elif isinstance(statement, Let):
            slow = len(EXPENSIVE & set(functions_in(statement.value)))
            total = total + 1 + 8 * slow
        elif isinstance(statement, Check | Require):
            total = total + 10
        else:
            total = total + 2
    return total


def step_origins(step: PlanStep) -> Origin:
    """The user lines a step comes from."""
    if isinstance(step, KernelStep):
        return Origin.union(list(_origins(step.kernel.body)), "fusion")
    if isinstance(step, ChainStep):
        return Origin.union([step_origins(each) for each in step.members], "chain")
    return step.node.origin or Origin()


def _origins(body: tuple[Statement, ...]) -> Iterator[Origin]:
    """The user lines of statements and of all that stands inside them."""
    for statement in body:
        yield statement.origin
        yield from _origins(getattr(statement, "body", ()))

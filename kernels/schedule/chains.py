"""Batched products and the kernels between them as one step: matrix by matrix, not value by value.

In: a Plan. Out: the same Plan with chains of its steps as ChainSteps. A chain runs all its members
on one unit of the work (some rows of each matrix of the batch, or a whole one) before it goes on to
the next unit; what a member leaves for the next one is still in the cache, and if nobody else wants
it there is no memory for all of it. Attention is such a chain: the scores, their softmax, the
average. Each member computes what it computes alone, so the bits are the same, but for the order of
sums that go over units.

    chain_0((q, k, scores), (512, (scores, weights), (), (), 9.6), (weights, v, result))

A member may read what the chain makes only in its own unit: the same rows, or (as a right operand)
the same matrices. A left operand that is turned has its rows as terms of the sums: where matrices
are large, each unit adds its terms to the result. What cannot join and does not need the chain runs
before it.

Source: fusion of loops by blocks; FlashAttention (Dao et al., 2022) is the case with one more idea,
the sums of a softmax that are corrected later, which would change its bits.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from minitorch2.jit.ir.graph import Value
from minitorch2.kernels.index import (
    Index,
    constant,
    exact_quotient,
    less,
    nonnegative,
    product,
    recombine,
    substitute,
    symbol,
)
from minitorch2.kernels.loop_ir import (
    Check,
    Kernel,
    LetIndex,
    Loop,
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
)
from minitorch2.kernels.schedule.program import Program, row_major
from minitorch2.kernels.schedule.rewrite import loads_of

# What a member needs of a unit: some rows; some terms of all its sums; whole matrices.
ROWS, SUMS, MATRICES = "rows", "sums", "matrices"
SMALL, LARGE = 1 << 18, 1 << 22  # bytes of a matrix: always whole in a unit, never


def chain(plan: Plan) -> tuple[Plan, tuple[str, ...]]:
    """The plan with its chains, and a line about each."""
    steps: list[PlanStep] = []
    notes: list[str] = []
    rest = list(plan.steps)
    while rest:
        found = _longest(plan, rest)
        if found is None:
            steps.append(rest.pop(0))
            continue
        before, made, rest = found
        steps += [*before, made]
        notes.append(_note(made))
    return replace(plan, steps=tuple(steps)), tuple(notes)


def _note(step: ChainStep) -> str:
    nodes = [each.node for each in step.members if isinstance(each, ProductStep)]
    products = " and ".join(f"%{node.results[0].id} ({node.op})" for node in nodes)
    inside = ", ".join(f"%{value.id}" for value in step.inside)
    unit = "a matrix" if step.whole else "some rows"
    unit += ", added up," if any(step.in_sums) and not step.whole else ""
    return f"{products}  one launch, {unit} at a time, with no memory for all of {inside}"


def _longest(
    plan: Plan, rest: list[PlanStep]
) -> tuple[list[PlanStep], ChainStep, list[PlanStep]] | None:
    """The chain that begins with the first step: what runs before it, it, and what is left."""
    first = rest[0]
    if not isinstance(first, ProductStep) or not _is_batched(plan.program, first):
        return None
    growing = _Growing(plan.program, shape_of(first.result)[:-2])
    before: list[PlanStep] = []
    best = None
    for number, step in enumerate(rest):
        if growing.joins(step):
            found = growing.step(rest[number + 1 :], plan)
            best = (list(before), found, number) if found is not None else best
        elif growing.is_apart(step):
            before.append(step)
        else:
            break
    if best is None:
        return None
    ahead, made, last = best
    return ahead, made, rest[last + 1 :]


def _is_batched(program: Program, step: ProductStep) -> bool:
    """Whether it multiplies pairs of matrices of BLAS's floats, into memory of its own."""
    shape = shape_of(step.result)
    operands = arguments(step.node)
    return (
        len(shape) > 2
        and all(shape_of(each)[:-2] == shape[:-2] for each in operands)
        and tensor_type(step.result).dtype.short in ("f32", "f64")
        and step.result not in program.targets
        and program.layout(step.result) == row_major(shape)
    )


@dataclass(slots=True)
class _Growing:
    """A chain while it grows. `made` says what its members make, with the unit each value has."""

    program: Program
    batch: tuple[Index, ...]
    members: list[KernelStep | ProductStep] = field(default_factory=list)
    made: dict[Value, bool] = field(default_factory=dict)  # may members read it in their unit?
    in_sums: list[bool] = field(default_factory=list)
    whole: bool = False

    def joins(self, step: PlanStep) -> bool:
        """Add a step, if it can be a member."""
        if isinstance(step, ProductStep):
            need = self.product(step)
        elif isinstance(step, KernelStep):
            need = self.kernel(step)
        else:
            return False
        if need is None:
            return False
        self.members.append(step)
        self.in_sums.append(need == SUMS)
        self.whole = self.whole or need == MATRICES
        return True

    def product(self, step: ProductStep) -> str | None:
        """What a unit must be for a product to join; None if it cannot."""
        if not _is_batched(self.program, step) or shape_of(step.result)[:-2] != self.batch:
            return None
        kinds = [
            self.part(value, is_left) if self.root(value) in self.made else ""
            for value, is_left in zip(arguments(step.node), (True, False), strict=True)
        ]
        if None in kinds:
            return None
        need = MATRICES if MATRICES in kinds else SUMS if SUMS in kinds else ROWS
        if need == SUMS and ROWS in kinds:  # rows of one, terms of the other
            return None
        self.made[step.result] = need != SUMS
        return need

    def part(self, value: Value, is_left: bool) -> str | None:
        """What a unit must be for a product that reads a value of the chain; None: it cannot."""
        view = self.program.host_view(value)
        if not self.made[self.root(value)] or view is None or view.offset.terms:
            return None
        inner, plain = view.shape[-2:], row_major(view.shape)
        if product(view.shape) != self.program.layout(view.root).size():
            return None
        if view.strides[:-2] != plain.strides[:-2]:
            return None
        is_plain = view.strides == plain.strides
        if not is_plain and view.strides[-2:] != (constant(1), inner[0]):
            return None
        if is_plain and is_left:
            return ROWS
        bytes = (product(inner) * tensor_type(value).dtype.itemsize).as_int()
        if is_plain != is_left and not self.is_small(bytes):
            return SUMS
        return None if bytes is not None and bytes > LARGE else MATRICES

    def is_small(self, bytes: int | None) -> bool:
        """Whether a unit has whole matrices of so many bytes."""
        return self.whole or bytes is not None and bytes <= SMALL

    def kernel(self, step: KernelStep) -> str | None:
        """The same for a kernel: it reads something of the chain, and that in its own unit."""
        kernel = step.kernel
        extent = kernel.parallel_extent
        touched = [value for value in step.buffers if value in self.made]
        if extent is None or not touched or not all(self.made[value] for value in touched):
            return None
        if _writes_outside(self.program, step) or _may_fail(kernel.body):
            return None
        places = _places(kernel)
        for value, buffer in zip(step.buffers, kernel.buffers, strict=True):
            if value in self.made and not _in_step(places[buffer.name], buffer.size, kernel):
                return None
        for value, buffer in zip(step.buffers, kernel.buffers, strict=True):
            if buffer.mode == "out":
                plain = self.program.layout(value) == row_major(shape_of(value))
                inside = _in_step(places[buffer.name], buffer.size, kernel)
                self.made[value] = plain and inside
        return ROWS

    def is_apart(self, step: PlanStep) -> bool:
        """Whether a step can run before the chain: it needs nothing of it and disturbs nothing."""
        if not isinstance(step, ProductStep | KernelStep):
            return False
        if any(value in self.made for value in step.uses()):
            return False
        if isinstance(step, ProductStep):
            return step.result not in self.program.targets
        return not _writes_outside(self.program, step) and not _may_fail(step.kernel.body)

    def step(self, after: list[PlanStep], plan: Plan) -> ChainStep | None:
        """The chain as it is now; None if it does not pay: nothing stays inside."""
        if len(self.members) < 2:
            return None
        outside = {value for step in after for value in step.uses()}
        outside |= {
            plan.program.root(each.value)
            for each in plan.program.returned
            if each.value is not None
        }
        sums = {m.result for m, added in zip(self.members, self.in_sums, strict=True)
                if added and isinstance(m, ProductStep)}  # fmt: skip
        inside = tuple(v for v in self.made if v not in outside | sums)
        last = self.members[-1]
        if not inside or not any(value in self.made for value in _read(last)):
            return None
        places = tuple(
            tuple(inside.index(v) if v in inside else -1 for v in self.arrays(each))
            for each in self.members
        )
        return ChainStep(tuple(self.members), inside, places, self.whole, tuple(self.in_sums))

    def arrays(self, step: KernelStep | ProductStep) -> tuple[Value, ...]:
        """The values whose memory a member is given, in the order in which it is."""
        if isinstance(step, KernelStep):
            return step.buffers
        return (*map(self.root, arguments(step.node)), step.result)

    def root(self, value: Value) -> Value:
        """The value in whose memory an operand lies."""
        return self.program.root(self.program.copies.get(value, value))


def _read(step: KernelStep | ProductStep) -> tuple[Value, ...]:
    return step.roots if isinstance(step, ProductStep) else step.buffers


def _writes_outside(program: Program, step: KernelStep) -> bool:
    """Whether a kernel writes into an input, or changes what it is given."""
    pairs = zip(step.buffers, step.kernel.buffers, strict=True)
    inputs = {given.value for given in program.graph.inputs}
    return any(
        buffer.mode != "in" and (buffer.mode == "inout" or value in inputs)
        for value, buffer in pairs
    )


def _may_fail(body: tuple[Statement, ...]) -> bool:
    return any(
        isinstance(each, Check | Require | Window)
        or isinstance(each, Loop | Reduce)
        and _may_fail(each.body)
        for each in body
    )


def _places(kernel: Kernel) -> dict[str, list[tuple[Index, Mapping[str, Index]]]]:
    """Where each buffer is touched, in terms of loop variables, with their extents."""
    found: dict[str, list[tuple[Index, Mapping[str, Index]]]] = {
        buffer.name: [] for buffer in kernel.buffers
    }

    def walk(body: tuple[Statement, ...], names: dict[str, Index], ranges: dict) -> None:
        for statement in body:
            if isinstance(statement, LetIndex):
                names[statement.name] = substitute(statement.index, names, ranges)
            for load in loads_of(statement):
                found[load.buffer].append((substitute(load.index, names, ranges), dict(ranges)))
            if isinstance(statement, Store):
                place = substitute(statement.index, names, ranges)
                found[statement.buffer].append((place, dict(ranges)))
            if isinstance(statement, Loop | Reduce):
                own = dict(_domain(statement))
                walk(statement.body, dict(names), ranges | own)
            if isinstance(statement, Reduce):
                own = dict(statement.domain)
                for each in statement.accumulators:
                    for load in loads_of(each.value):
                        place = substitute(load.index, names, ranges | own)
                        found[load.buffer].append((place, ranges | own))

    walk(kernel.body, {}, {})
    return found


def _domain(statement: Loop | Reduce) -> Iterator[tuple[str, Index]]:
    if isinstance(statement, Loop):
        yield statement.variable, statement.extent
    else:
        yield from statement.domain


def _in_step(places: list[tuple[Index, Mapping[str, Index]]], size: Index, kernel: Kernel) -> bool:
    """Whether turn p of the parallel loop touches elements p*c .. (p + 1)*c of a buffer only."""
    loop = kernel.body[0]
    assert isinstance(loop, Loop)
    stretch = exact_quotient(size, loop.extent)
    if stretch is None:
        return False
    for place, ranges in places:
        inside = recombine(place) - stretch * symbol(loop.variable)
        if not nonnegative(inside, ranges) or not less(inside, stretch, ranges):
            return False
    return True

"""A group of nests as one kernel of loop IR.

In: a Program, the group's nests and its Frame. Out: an Assembled kernel and the values behind its
parameters. A value that is needed at some index is computed there, once in each loop body, by
pulling it through the nests of the group until a buffer or a finished reduction is reached; what
does not depend on an inner loop is put outside it.

    rows:     for i0 { reduce j { ... } into m;  for j { ... store } }
    no fold:  for i0 { for i1 { ... store } }

Raises Refused where the group cannot be one kernel: fusion asks trial.py, which tells it without
building one.

Source: pulling with a memo is Halide's compute_inline / compute_at, decided bottom-up.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from minitorch2.artifacts import Origin
from minitorch2.dtypes import bool as bool_dtype
from minitorch2.jit.ir.graph import Value
from minitorch2.jit.ir.types import ScalarType
from minitorch2.kernels.functions import accumulator_dtype
from minitorch2.kernels.index import Index, constant, recombine, substitute, symbol
from minitorch2.kernels.loop_ir import (
    Accumulator,
    Buffer,
    Cast,
    Check,
    Constant,
    Expression,
    IndexValue,
    Kernel,
    Let,
    Load,
    Loop,
    Name,
    Reduce,
    Require,
    Scalar,
    Statement,
    Store,
    Window,
)
from minitorch2.kernels.lower.expressions import cast, widened
from minitorch2.kernels.lower.nests import (
    Nest,
    NestExpression,
    Read,
    Scatter,
    Step,
    map_expression,
    tensor_type,
)
from minitorch2.kernels.lower.pointwise import SCALAR_DTYPES
from minitorch2.kernels.schedule.frames import (
    OTHER_ROW,
    Frame,
    Place,
    Refused,
    placed,
    variable,
)
from minitorch2.kernels.schedule.program import Program
from minitorch2.kernels.schedule.rewrite import every_index


@dataclass(frozen=True, slots=True)
class Assembled:
    """A kernel and the values its parameters stand for, in order."""

    kernel: Kernel
    buffers: tuple[Value, ...]
    scalars: tuple[Value, ...]


@dataclass(slots=True)
class _Scope:
    """One loop body: what was computed in it, and the statements that compute it."""

    statements: list[Statement] = field(default_factory=list)
    memo: dict[tuple, Expression] = field(default_factory=dict)


class Assembler:
    """Builds one kernel. `depths` says in which scope each name was made."""

    def __init__(self, program: Program, frame: Frame, nests: Iterable[Nest]):
        self.program, self.frame = program, frame
        self.nests = {nest.result: nest for nest in nests}
        self.scopes = [_Scope()]
        self.depths: dict[str, int] = {}
        self.ranges: dict[str, Index] = {}
        self.origins: dict[str, Origin] = {}
        self.buffers: dict[Value, str] = {}
        self.written: set[Value] = set()
        self.loaded: set[Value] = set()
        self.scalars: dict[Value, str] = {}
        self.counters: dict[str, int] = {}
        self.floor = 0  # the outermost scope for statements: the first loop, if there is one

    # names and scopes

    def fresh(self, stem: str) -> str:
        """A name with a number of its own."""
        number = self.counters.get(stem, 0)
        self.counters[stem] = number + 1
        return f"{stem}{number}"

    def open(self, *variables: tuple[str, Index]) -> None:
        """Enter the body of a loop over variables."""
        self.scopes.append(_Scope())
        for name, extent in variables:
            self.depths[name] = len(self.scopes) - 1
            self.ranges[name] = extent

    def close(self) -> tuple[Statement, ...]:
        """Leave a loop body: its statements."""
        return tuple(self.scopes.pop().statements)

    def depth_of(self, *indices: Index) -> int:
        """The innermost scope whose variables the indices use."""
        used = (self.depths.get(n, 0) for i in indices for n in i.symbols())
        return max(used, default=0)

    def add(self, depth: int, statement: Statement) -> None:
        """Put a statement at the end of a scope."""
        self.scopes[depth].statements.append(statement)

    def let(self, depth: int, key: tuple, value: Expression, origin: Origin) -> Name:
        """Name a value in a scope and remember it there."""
        depth = max(depth, self.floor)
        name = self.fresh("v")
        self.add(depth, Let(name, value, origin))
        self.depths[name] = depth
        made = Name(name, value.dtype)
        self.scopes[depth].memo[key] = made
        return made

    def remembered(self, key: tuple) -> Expression | None:
        """A value computed before in a scope that is still open."""
        for scope in self.scopes:
            if key in scope.memo:
                return scope.memo[key]
        return None

    # values

    def element(self, value: Value, index: tuple[Index, ...], origin: Origin) -> Expression:
        """One element of a value: remembered, computed here, or loaded."""
        if isinstance(value.type, ScalarType):
            return self.scalar(value)
        root, at = self.program.resolve(value, index, self.ranges)
        key = (root, at)
        found = self.remembered(key)
        if found is not None:
            return found
        nest = self.nests.get(root)
        if nest is None:
            element = tensor_type(root).dtype
            place = recombine(self.program.layout(root).at(at), self.ranges)
            self.loaded.add(root)
            load = Load(self.buffer(root), place, element)
            return self.let(self.depth_of(place), key, load, origin)
        if nest.reducer:
            raise Refused(OTHER_ROW)
        names = [name for name, _ in nest.axes]
        return self.computed(nest, dict(zip(names, at, strict=True)), key)

    def computed(self, nest: Nest, place: dict[str, Index], key: tuple) -> Expression:
        """The value of a pointwise nest at a place, as a name (or a constant)."""
        expression = self.body(nest, place)
        if isinstance(expression, Name | Constant):
            depth = self.depths.get(expression.name, 0) if isinstance(expression, Name) else 0
            self.scopes[depth].memo[key] = expression
            return expression
        return self.let(self.expression_depth(expression), key, expression, nest.origin)

    def body(self, nest: "Nest | Scatter", place: dict[str, Index]) -> Expression:
        """The steps of a nest, written out, and its expression over names."""
        names: dict[str, str] = {}
        at = dict(place)
        for step in nest.steps:
            self.step(nest, step, at, names)
        return self.instantiate(nest, nest.value, at, names)

    def step(
        self, nest: "Nest | Scatter", step: Step, at: dict[str, Index], names: dict[str, str]
    ) -> None:
        """One step of a nest with its names made fresh; shared with equal steps before it."""
        match step:
            case Window(name, inside, index, size, origin):
                index = self.moved(index, at)
                key: tuple = ("window", index, size)
                depth = max(self.depth_of(index, size), self.floor)
                found = self.remembered(key)
                if found is None:
                    fresh, flag = self.fresh("w"), self.fresh("inside")
                    self.add(depth, Window(fresh, flag, index, size, origin))
                    self.depths[fresh] = self.depths[flag] = depth
                    self.ranges[fresh] = size
                    self.scopes[depth].memo[key] = Name(flag, bool_dtype)
                    self.scopes[depth].memo[(*key, "place")] = Name(fresh, bool_dtype)
                flag_name, place = self.remembered(key), self.remembered((*key, "place"))
                assert isinstance(flag_name, Name) and isinstance(place, Name)
                names[inside], at[name] = flag_name.name, symbol(place.name)
            case Check(name, value, size, message, origin):
                checked = self.instantiate(nest, value, at, names)
                key = ("check", checked, size)
                found = self.remembered(key)
                if found is None:
                    depth = max(self.expression_depth(checked), self.depth_of(size), self.floor)
                    fresh = self.fresh("g")
                    self.add(depth, Check(fresh, checked, size, message, origin))
                    self.depths[fresh], self.ranges[fresh] = depth, size
                    found = self.scopes[depth].memo[key] = Name(fresh, bool_dtype)
                assert isinstance(found, Name)
                at[name] = symbol(found.name)
            case Require(condition, message, origin):
                needed = self.instantiate(nest, condition, at, names)
                depth = max(self.expression_depth(needed), self.floor)
                self.add(depth, Require(needed, message, origin))
            case Let(name, value, origin):
                made = self.instantiate(nest, value, at, names)
                key = ("let", made)
                named = self.let(self.expression_depth(made), key, made, origin)
                names[name] = named.name

    def instantiate(
        self,
        nest: "Nest | Scatter",
        expression: NestExpression,
        at: dict[str, Index],
        names: dict[str, str],
    ) -> Expression:
        """A nest's expression with its reads pulled and its axes replaced by indices."""

        def leaf(part: NestExpression) -> NestExpression:
            match part:
                case Read(value, index):
                    moved = tuple(self.moved(i, at) for i in index)
                    return self.element(value, moved, nest.origin)
                case Name(name, element):
                    return Name(names[name], element)
                case IndexValue(index, element):
                    return IndexValue(self.moved(index, at), element)
            return part

        return map_expression(expression, leaf)  # type: ignore[return-value]

    def moved(self, index: Index, at: dict[str, Index]) -> Index:
        """An index of a nest in the kernel's variables."""
        return substitute(index, at, self.ranges)

    def expression_depth(self, expression: Expression) -> int:
        """The innermost scope an expression depends on."""
        match expression:
            case Name(name):
                return self.depths.get(name, 0)
            case Load(_, index) | IndexValue(index):
                return self.depth_of(index)
            case Cast(value):
                return self.expression_depth(value)
            case Constant():
                return 0
        return max((self.expression_depth(each) for each in expression.args), default=0)

    # parameters

    def buffer(self, value: Value) -> str:
        """The parameter that stands for a value's memory."""
        target = self.program.targets.get(value, value)
        return self.buffers.setdefault(target, f"t{len(self.buffers)}")

    def scalar(self, value: Value) -> Name:
        """The parameter that stands for a number given to the graph."""
        element = SCALAR_DTYPES[value.type.kind]  # type: ignore[union-attr]
        return Name(self.scalars.setdefault(value, f"c{len(self.scalars)}"), element)

    def store(self, nests: Iterable[Nest], frame: Frame) -> list[Store]:
        """Compute nests' values at their places and store them. Stores into inputs are returned
        instead: they come when nothing more is computed, which may read what those held."""
        late = []
        for nest in nests:
            place = placed(frame.place(nest))
            index = tuple(self.moved(part, place.axes) for part in nest.output)
            value = self.element(nest.result, index, nest.origin)
            where = self.program.layout(nest.result).at(index)
            made = Store(self.buffer(nest.result), where, value, False, nest.origin)
            self.written.add(self.program.targets.get(nest.result, nest.result))
            if nest.result in self.program.targets:
                late.append(made)
            else:
                self.add(len(self.scopes) - 1, made)
        return late

    def add_all(self, statements: Iterable[Statement]) -> None:
        """Put statements at the end of the innermost scope."""
        self.scopes[-1].statements += statements

    def fold(self, nests: list[tuple[Nest, Place]], columns: tuple[tuple[str, Index], ...]) -> None:
        """One Reduce statement for several reductions of the same columns."""
        self.open(*columns)
        accumulators = []
        known: dict[tuple[str, Expression], Accumulator] = {}  # a mean beside a variance: one sum
        for nest, place in nests:
            value = self.body(nest, place.axes)
            value = cast(value, widened(value.dtype))  # type: ignore[assignment]
            each = known.get((nest.reducer, value))
            if each is None:
                element = accumulator_dtype(nest.reducer, value.dtype)
                each = Accumulator(self.fresh("r"), nest.reducer, value, element)
                known[nest.reducer, value] = each
            accumulators.append(each)
        body = self.close()
        origin = Origin.union([nest.origin for nest, _ in nests], "fusion")
        depth = len(self.scopes) - 1
        self.add(depth, Reduce(columns, body, tuple(known.values()), origin))
        for (nest, place), each in zip(nests, accumulators, strict=True):
            self.depths[each.name] = depth
            index = tuple(self.moved(part, place.axes) for part in nest.output)
            result: Expression = Name(each.name, each.dtype)
            wanted = tensor_type(nest.result).dtype
            key = (nest.result, index)
            if wanted is not each.dtype:
                self.let(depth, key, Cast(result, wanted), nest.origin)
            else:
                self.scopes[depth].memo[key] = result

    def finished(self, name: str, body: tuple[Statement, ...]) -> Assembled:
        """The kernel with its parameters."""
        buffers = []
        for value, buffer in self.buffers.items():
            mode = "inout" if value in self.loaded else "out"
            mode = mode if value in self.written else "in"
            size = self.program.layout(value).size()
            buffers.append(Buffer(buffer, tensor_type(value).dtype, size, mode))
        kernel = Kernel(name, tuple(buffers), (), tuple(
            Scalar(parameter, SCALAR_DTYPES[value.type.kind])  # type: ignore[union-attr]
            for value, parameter in self.scalars.items()), body)  # fmt: skip
        kernel = replace(kernel, sizes=_sizes(kernel, self.depths))
        return Assembled(kernel, tuple(self.buffers), tuple(self.scalars))


def assemble(
    program: Program, frame: Frame, nests: list[Nest], stored: list[Nest], name: str
) -> Assembled:
    """The kernel of a group; `stored` are the nests whose results need memory."""
    build = Assembler(program, frame, nests)
    rows = frame.row_loops()
    for axis in rows:
        build.open(axis)
        build.floor = 1
    if frame.reduced:
        columns = frame.column_loops()
        for level in _levels(program, nests):
            places = [(nest, placed(frame.place(nest))) for nest in level]
            build.fold(places, columns)
        wide = [n for n in stored if not n.reducer and placed(frame.place(n)).level == "full"]
        last = {nest.result for nest in wide}
        late = build.store((nest for nest in stored if nest.result not in last), frame)
        if wide:
            fresh = {name: build.fresh("l") for name, _ in columns}
            again = tuple((fresh[name], extent) for name, extent in columns)
            build_wide(build, frame.renamed(fresh), wide, again)
    else:
        late = build.store(stored, frame)
    build.add_all(late)
    body: tuple[Statement, ...] = ()
    for axis in reversed(rows):
        inner = build.close()
        build.scopes[-1].statements.append(Loop(*axis, inner, False, _union(inner)))
    body = tuple(build.scopes[0].statements)
    return build.finished(name, body)


def build_wide(
    build: Assembler, frame: Frame, stored: list[Nest], columns: tuple[tuple[str, Index], ...]
) -> None:
    """The last loop over the columns, which stores every element of the row."""
    for axis in columns:
        build.open(axis)
    build.add_all(build.store(stored, frame))
    for axis in reversed(columns):
        inner = build.close()
        build.add(len(build.scopes) - 1, Loop(*axis, inner, False, _union(inner)))


def assemble_scatter(program: Program, scatter: Scatter, name: str) -> Assembled:
    """The kernel that writes a scatter's elements, one after the other, into the copied base."""
    build = Assembler(program, Frame(scatter.axes), [])
    named = [(f"i{at}", extent) for at, (_, extent) in enumerate(scatter.axes)]
    place = {own: variable(axis) for (own, _), axis in zip(scatter.axes, named, strict=True)}
    axes = [axis for axis in named if axis[1] != constant(1)]
    for axis in axes:
        build.open(axis)
        build.floor = 1
    names: dict[str, str] = {}
    at = dict(place)
    for step in scatter.steps:
        build.step(scatter, step, at, names)
    value = build.instantiate(scatter, scatter.value, at, names)
    target = tuple(build.moved(part, at) for part in scatter.target)
    where = program.layout(scatter.result).at(target)
    memory = program.targets.get(scatter.result, scatter.result)
    build.loaded.add(memory)
    build.written.add(memory)
    buffer = build.buffer(scatter.result)
    depth = len(build.scopes) - 1
    build.add(depth, Store(buffer, where, value, scatter.accumulate, scatter.origin))
    for axis in reversed(axes):
        inner = build.close()
        build.scopes[-1].statements.append(Loop(*axis, inner, False, scatter.origin))
    return build.finished(name, tuple(build.scopes[0].statements))


def _levels(program: Program, nests: list[Nest]) -> list[list[Nest]]:
    """The reductions in the order they have to be done; those of one level share a loop."""
    depth: dict[Value, int] = {}
    levels: dict[int, list[Nest]] = {}
    for nest in nests:
        sources = [depth.get(program.root(read.value), 0) for read in nest.reads()]
        own = max(sources, default=0) + (1 if nest.reducer else 0)
        depth[nest.result] = own
        if nest.reducer:
            levels.setdefault(own, []).append(nest)
    return [levels[level] for level in sorted(levels)]


def _union(statements: tuple[Statement, ...]) -> Origin:
    return Origin.union([statement.origin for statement in statements], "fusion")


def _sizes(kernel: Kernel, made: dict[str, int]) -> tuple[str, ...]:
    """The graph's sizes that a kernel mentions."""
    used: set[str] = set()
    for buffer in kernel.buffers:
        used |= buffer.size.symbols()
    for index in every_index(kernel.body):
        used |= index.symbols()
    return tuple(sorted(used - made.keys()))

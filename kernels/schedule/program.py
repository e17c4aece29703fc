"""The lowered graph as units of work with their dependencies, views resolved.

In: a Graph and its lowered records. Out: a Program: the units in order, where each value lies in
memory if it has to lie in memory at all, and which unit reads which other one's result. Outputs
that need their own layout, writes into inputs, and operands that a library call cannot read in
place become copies: nests like any other, which fusion usually merges into their producer.

Source: Inductor's scheduler makes the same split of computing and realizing a value.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from minitorch2.jit.ir.eager_orders import Order, strides_in
from minitorch2.jit.ir.graph import Graph, Node, Output, Value, values_in
from minitorch2.jit.ir.types import TensorType
from minitorch2.kernels.index import (
    Index,
    as_index,
    coefficient,
    constant,
    recombine,
    symbol,
)
from minitorch2.kernels.lower.gathers import clone
from minitorch2.kernels.lower.nests import (
    HostStep,
    Lowered,
    Nest,
    Product,
    Scatter,
    View,
    axis_names,
    shape_of,
    size_index,
    tensor_type,
)
from minitorch2.kernels.lower.split import split_reduction
from minitorch2.kernels.positions import linearize
from minitorch2.layouts import contiguous_strides

Unit = Nest | Scatter | Product | HostStep


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the elements of a value lie: strides in elements, from element 0 of its memory."""

    shape: tuple[Index, ...]
    strides: tuple[Index, ...]

    def size(self) -> Index:
        """How many elements the memory spans."""
        if constant(0) in self.shape:
            return constant(0)
        last = constant(1)
        for size, stride in zip(self.shape, self.strides, strict=True):
            last = last + (size - 1) * stride
        return last

    def at(self, index: tuple[Index, ...]) -> Index:
        """The place of an element."""
        place = constant(0)
        for part, stride in zip(index, self.strides, strict=True):
            place = place + part * stride
        return recombine(place)


def row_major(shape: tuple[Index, ...]) -> Layout:
    """The layout of a value that nothing else decides about."""
    strides = contiguous_strides(shape)  # type: ignore[arg-type]
    return Layout(shape, tuple(as_index(stride) for stride in strides))


@dataclass(frozen=True, slots=True)
class HostView:
    """A strided view of a value's memory, as library calls take it."""

    root: Value
    shape: tuple[Index, ...]
    strides: tuple[Index, ...]
    offset: Index


@dataclass(slots=True)
class Program:
    """Units in program order. `made` maps each value to the unit or view that defines it."""

    graph: Graph
    units: list[Unit] = field(default_factory=list)
    made: dict[Value, Lowered] = field(default_factory=dict)
    layouts: dict[Value, Layout] = field(default_factory=dict)
    orders: Mapping[Value, Order] = field(default_factory=dict)  # of results in other than rows
    targets: dict[Value, Value] = field(default_factory=dict)  # write results -> inputs
    kept: set[Value] = field(default_factory=set)  # values that outputs need in memory
    inline: set[Value] = field(default_factory=set)  # scatter bases that read nothing
    copies: dict[Value, Value] = field(default_factory=dict)  # operands copied for library calls
    returned: list["Returned"] = field(default_factory=list)

    def resolve(
        self, value: Value, index: tuple[Index, ...], ranges: dict[str, Index]
    ) -> tuple[Value, tuple[Index, ...]]:
        """The value behind all views, and the index into it."""
        while isinstance(self.made.get(value), View):
            view = self.made[value]
            assert isinstance(view, View)
            index = view.read(index, ranges)
            value = view.base
        return value, index

    def root(self, value: Value) -> Value:
        """The value behind all views."""
        while isinstance(self.made.get(value), View):
            view = self.made[value]
            assert isinstance(view, View)
            value = view.base
        return value

    def layout(self, value: Value) -> Layout:
        """The layout of a root value's memory."""
        target = self.targets.get(value, value)
        if target not in self.layouts:
            self.layouts[target] = row_major(shape_of(target))
        return self.layouts[target]

    def host_view(self, value: Value) -> HostView | None:
        """The value as a strided view of its root's memory; None where strides cannot say it."""
        value = self.copies.get(value, value)
        names = axis_names(len(shape_of(value)), "h")
        ranges = dict(zip(names, shape_of(value), strict=True))
        root, index = self.resolve(value, tuple(symbol(name) for name in names), ranges)
        place = recombine(self.layout(root).at(index), ranges)
        strides, rest = [], place
        for name in names:
            factor = coefficient(place, name)
            if factor is None or factor.symbols() & ranges.keys():
                return None
            strides.append(factor)
            rest = rest - factor * symbol(name)
        return HostView(self.targets.get(root, root), shape_of(value), tuple(strides), rest)

    def reads(self, unit: Unit) -> set[Value]:
        """The root values a unit reads."""
        if isinstance(unit, Nest | Scatter):
            found = {self.root(read.value) for read in unit.reads()}
            if isinstance(unit, Scatter) and self.root(unit.base) not in self.inline:
                found.add(self.root(unit.base))
            return {value for value in found if isinstance(value.type, TensorType)}
        return set(self.operands(unit.node))

    def waits(self, unit: Unit) -> set[Value]:
        """The root values that must be there before a unit runs, though it does not read them."""
        read = [r.value for r in unit.reads()] if isinstance(unit, Nest | Scatter) else list(
            values_in(unit.node.args))  # fmt: skip
        found = set()
        for value in read:
            while isinstance(view := self.made.get(self.copies.get(value, value)), View):
                found |= {self.root(view.after)} if view.after is not None else set()
                value = view.base
        return found

    def operands(self, node: Node) -> list[Value]:
        """The root values whose memory a library call or eager step reads."""
        tensors = (v for v in values_in(node.args) if isinstance(v.type, TensorType))
        return list(dict.fromkeys(self.root(self.copies.get(v, v)) for v in tensors))


@dataclass(frozen=True, slots=True)
class Returned:
    """How an output is made at the end: from a value's memory, an input's memory or a constant."""

    output: Output
    value: Value | None
    shape: tuple[Index, ...]
    strides: tuple[Index, ...]


def results(unit: Unit) -> tuple[Value, ...]:
    """The values a unit makes."""
    return unit.node.results if isinstance(unit, HostStep) else (unit.result,)


def build_program(
    graph: Graph, lowered: tuple[Lowered, ...], orders: Mapping[Value, Order] | None = None
) -> Program:
    """The program of a graph; `orders`: those of dimensions in memory that are asked for."""
    program = Program(graph, orders=orders or {})
    for given in graph.inputs:
        if given.strides is not None:
            strides = tuple(size_index(stride) for stride in given.strides)
            program.layouts[given.value] = Layout(shape_of(given.value), strides)
    for record in lowered:
        made = record.node.results if isinstance(record, HostStep) else (record.result,)
        program.made |= dict.fromkeys(made, record)
        for value in () if isinstance(record, View) else program.orders.keys() & set(made):
            strides = strides_in(program.orders[value], shape_of(value))
            program.layouts[value] = Layout(shape_of(value), tuple(map(as_index, strides)))
    copies = [_return(program, number, output) for number, output in enumerate(graph.outputs)]
    for record in lowered:
        _add_record(program, record)
    for copy in copies:
        if copy is not None:
            _add(program, copy)
    _add_writes(program)
    return program


def _add_writes(program: Program) -> None:
    """The writes into inputs. What one reads of another, or elsewhere in its own memory, is copied
    first: in a swap no write can be the first.
    """
    targets = [(program.graph.inputs[place].value, value) for place, value in program.graph.writes]
    written = {target for target, _ in targets}
    sources = [value for _, value in targets]
    for number, (target, value) in enumerate(targets):
        if program.root(value) in written and value != target:
            held = _copy(program, value, f"held{number}")
            _add(program, held)
            sources[number] = held.result
    for (place, _), (target, _), source in zip(program.graph.writes, targets, sources, strict=True):
        _add(program, _copy(program, source, f"write{place}"))
        program.targets[Value(f"write{place}", source.type)] = target


def _add_record(program: Program, record: Lowered) -> None:
    """The units of one lowered record."""
    match record:
        case View():
            return
        case Product() | HostStep():
            _copy_operands(program, record)
        case Scatter():
            base = program.made.get(program.root(record.base))
            if isinstance(base, Nest) and not base.steps and not any(base.reads()):
                program.inline.add(base.result)
        case Nest():
            for unit in split_reduction(record):
                _add(program, unit)
            return
    _add(program, record)


def _add(program: Program, unit: Unit) -> None:
    program.units.append(unit)
    for value in results(unit):
        program.made[value] = unit


def _copy(program: Program, value: Value, name: str) -> Nest:
    """A copy of a value, for the same user lines as the value."""
    made = program.made.get(value)
    origin = made.node.origin if made is not None else None
    return clone(Node("clone", (value,), (Value(name, value.type),), True, origin))


def _copy_operands(program: Program, record: Product | HostStep) -> None:
    """Give an operand memory of its own where no strides describe it."""
    for value in dict.fromkeys(values_in(record.node.args)):
        if not isinstance(value.type, TensorType) or not isinstance(program.made.get(value), View):
            continue
        if program.host_view(value) is None:
            copy = _copy(program, value, f"copy{value.id}")
            if copy.result not in program.made:
                _add(program, copy)
            program.copies[value] = copy.result


def _return(program: Program, number: int, output: Output) -> Nest | None:
    """Decide how an output comes to be; the copy that gives it its own memory, if it needs one."""
    found, copy = _returned(program, number, output)
    program.returned.append(found)
    return copy


def _returned(program: Program, number: int, output: Output) -> tuple["Returned", Nest | None]:
    """How an output comes to be, and the copy it needs."""
    value = output.argument
    if not isinstance(value, Value) or not isinstance(value.type, TensorType):
        return Returned(output, None, (), ()), None
    shape = shape_of(value)
    wanted = row_major(shape)
    if output.strides is not None:
        wanted = Layout(shape, tuple(size_index(stride) for stride in output.strides))
    if output.alias is not None:
        return Returned(output, None, shape, wanted.strides), None
    inputs = {given.value for given in program.graph.inputs}
    root = program.root(value)
    plain = root if _is_reshape(program, value, root) else None
    if value in inputs and output.strides is None:
        return Returned(output, value, shape, program.layout(value).strides), None
    free = plain is not None and plain not in inputs and plain not in program.kept
    of_host = plain is not None and isinstance(program.made.get(plain), HostStep)
    rows = wanted == row_major(shape) and plain not in program.layouts
    if free and (rows or (plain == value and not of_host)):
        assert plain is not None
        if plain == value and not of_host:
            program.layouts[plain] = wanted
        program.kept.add(plain)
        return Returned(output, plain, shape, wanted.strides), None
    order = _permutation(program, value, root)
    if order is not None and root not in program.kept | program.layouts.keys():
        strides = tuple(wanted.strides[axis] for axis in order)
        program.layouts[root] = Layout(shape_of(root), strides)
        program.kept.add(root)
        return Returned(output, root, shape, wanted.strides), None
    copy = _copy(program, value, f"out{number}")
    program.layouts[copy.result] = wanted
    program.kept.add(copy.result)
    return Returned(output, copy.result, shape, wanted.strides), copy


def _permutation(program: Program, value: Value, root: Value) -> tuple[int, ...] | None:
    """For each axis of a matrix product its axis in `value`, if that is a permuted view of it.

    The product can then be written in the order in which it is returned.
    """
    if not isinstance(program.made.get(root), Product) or len(shape_of(root)) != 2:
        return None
    names = axis_names(len(shape_of(value)), "h")
    ranges = dict(zip(names, shape_of(value), strict=True))
    index = tuple(symbol(name) for name in names)
    _, place = program.resolve(value, index, ranges)
    if set(place) != set(index) or len(place) != len(index):
        return None
    order = tuple(index.index(part) for part in place)
    # A slice from the first element on has the place of the whole, but not its sizes.
    whole = tuple(shape_of(value)[axis] for axis in order) == shape_of(root)
    return order if whole else None


def _is_reshape(program: Program, value: Value, root: Value) -> bool:
    """Whether a value is its root, perhaps in another shape, element for element."""
    if value == root:
        return True
    names = axis_names(len(shape_of(value)), "h")
    ranges = dict(zip(names, shape_of(value), strict=True))
    index = tuple(symbol(name) for name in names)
    _, place = program.resolve(value, index, ranges)
    count = recombine(linearize(place, shape_of(root)), ranges)
    whole = linearize(index, shape_of(value))
    same_size = row_major(shape_of(value)).size() == row_major(shape_of(root)).size()
    return count == whole and same_size and tensor_type(value).dtype is tensor_type(root).dtype

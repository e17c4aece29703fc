"""The host function of a compiled graph: a flat Python function that launches its steps in order.

In: a Plan. Out: the source of a function of a list of tensors, and the values its free names stand
for. It allocates memory, launches kernels, calls matrix products, and wraps the results:

    layout_0 = row_major((4, 4))

    def run_loss(inputs):
        in_x, in_w = arrays(inputs, b'rr')
        s0 = in_x.shape[0]
        v_0 = empty((s0, 4), f32, 16*s0)
        kernel_0(s0, (in_x, v_0), (s0,), (), 1.2)
        v_1 = empty((4, 4), f32, 64)
        kernel_1(4, (in_w, v_0, v_1), (), (), 1.2)
        return [tensor(v_0, row_major((s0, 4)), F32, 16*s0), tensor(v_1, layout_0, F32, 64)]

When a value gets memory and gives it back is decided by schedule/lifetimes.py.

Source: Inductor's wrapper code.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from types import CodeType

from minitorch2.jit.ir.graph import Input, Node, Value, values_in
from minitorch2.jit.ir.hidden_sizes import symbols_of
from minitorch2.jit.ir.types import ScalarType, TensorType
from minitorch2.jit.shapes.size_expression import Size, SizeExpression, Symbol, size_symbols
from minitorch2.kernels.index import Index, constant, product
from minitorch2.kernels.lower.nests import arguments, shape_of, size_index, tensor_type
from minitorch2.kernels.schedule.lifetimes import last_uses
from minitorch2.kernels.schedule.plan import (
    ChainStep,
    EagerStep,
    KernelStep,
    Plan,
    PlanStep,
    ProductStep,
)
from minitorch2.kernels.schedule.program import HostView, Returned, row_major


def host_source(plan: Plan, name: str) -> str:
    """The source of the host function."""
    return _HostWriter(plan, name).text()


def host_code(source: str, name: str) -> CodeType:
    """The source as Python runs it."""
    return compile(source, f"<minitorch2 host {name}>", "exec")


def is_plain(plan: Plan) -> bool:
    """Whether it has kernels and products only, and each result has memory of its own."""
    values = [each.value for each in plan.program.returned]
    inputs = [given.value for given in plan.program.graph.inputs]
    return (
        not any(isinstance(step, EagerStep) for step in plan.steps)
        and all(each.output.alias is None for each in plan.program.returned)
        and None not in values
        and len(set(values)) == len(values)
        and not set(values) & set(inputs)
    )


def tuple_text(parts: Sequence[object]) -> str:
    """A Python tuple of expressions."""
    return f"({', '.join(map(str, parts))}{',' if len(parts) == 1 else ''})"


def identifier(stem: str, text: str) -> str:
    """A Python name for a value."""
    return f"{stem}_{re.sub(r'[^0-9A-Za-z_]', '_', text)}"


class _HostWriter:
    """Writes the function line by line; `alive` are the values that have memory now."""

    def __init__(self, plan: Plan, name: str):
        self.plan, self.program, self.name = plan, plan.program, name
        self.lines: list[str] = []
        self.constants: dict[str, str] = {}
        self.inputs = [given.value for given in plan.program.graph.inputs]
        self.names: dict[Value, str] = {value: identifier("in", value.id) for value in self.inputs}
        self.alive: set[Value] = set()
        self.shaped = set(self.inputs)  # values whose arrays have their shape

    def line(self, text: str) -> None:
        self.lines.append(f"    {text}")

    def text(self) -> str:
        """The host function's text: arrays, then steps, each followed by what it frees."""
        self.lines.append(f"def {identifier('run', self.name)}(inputs):")
        self.prologue()
        last = last_uses(self.plan)
        for number, (name, step) in enumerate(zip(self.plan.names(), self.plan.steps, strict=True)):
            self.step(name, step)
            dead = [v for v in step.uses() if last.get(v) == number and v in self.alive]
            if dead:
                self.line(f"del {', '.join(self.names[v] for v in dict.fromkeys(dead))}")
                self.alive -= set(dead)
        for place, _ in self.program.graph.writes:
            self.line(f"written(inputs[{place}], {self.names[self.inputs[place]]})")
        returned = [self.returned(each) for each in self.program.returned]
        self.line(f"return [{', '.join(returned)}]")
        constants = [f"{name} = {text}" for text, name in self.constants.items()]
        return "\n".join([*constants, *self.lines]) + "\n"

    def prologue(self) -> None:
        """Arrays of the inputs, and the sizes that are not known before."""
        kinds = "".join(map(_kind, self.program.graph.inputs))
        if kinds:
            names = ", ".join(self.names[value] for value in self.inputs)
            comma = "," if len(kinds) == 1 else ""
            self.line(f"{names}{comma} = arrays(inputs, b'{kinds}')")
        known: set[str] = set()
        for source, size in self.declared_sizes():
            for symbol in size_symbols(size):
                solved = _solved(size, symbol, source)
                if symbol not in known and solved is not None:
                    known.add(symbol)
                    self.line(f"{symbol} = {solved}")

    def declared_sizes(self) -> list[tuple[str, Size]]:
        """Where each input's sizes are found; plain symbols first."""
        found: list[tuple[str, Size]] = []
        for value in self.inputs:
            name = self.names[value]
            if isinstance(value.type, TensorType):
                sizes = enumerate(value.type.shape)
                found += [(f"{name}.shape[{at}]", size) for at, size in sizes]
            elif value.type.size is not None:
                found.append((name, value.type.size))
        return sorted(found, key=lambda pair: len(str(pair[1])))

    def allocate(self, value: Value, how: str = "empty") -> None:
        """Memory for a value, unless it lies in an input; or, with "room", what stands for it."""
        if value in self.names:
            return
        self.names[value] = identifier("v", value.id)
        self.alive.add(value)
        layout, element = self.program.layout(value), tensor_type(value).dtype
        size = layout.size()
        shape: tuple[Index, ...] = (size,)
        if _is_row_major(layout.shape, layout.strides):
            self.shaped.add(value)
            shape = layout.shape
        self.line(f"{self.names[value]} = {how}({tuple_text(shape)}, {element.short}, "
                  f"{size * element.itemsize})")  # fmt: skip

    def step(self, name: str, step: PlanStep) -> None:
        match step:
            case KernelStep() | ProductStep():
                callee = step.kernel.name if isinstance(step, KernelStep) else name
                self.line(callee + self.arguments(step))
            case ChainStep(members, inside):
                for value in inside:
                    self.allocate(value, "room")
                self.line(f"{name}({', '.join(map(self.arguments, members))})")
            case EagerStep(node):
                self.eager(name, node)

    def arguments(self, step: KernelStep | ProductStep) -> str:
        """What a step is given, in parentheses; its results get memory."""
        if isinstance(step, ProductStep):
            self.allocate(step.result)
            return self.product(step)
        for value in step.buffers:
            self.allocate(value)
        for result, operand in step.takes:
            self.take(result, operand)
        return self.kernel(step)

    def take(self, result: Value, operand: Value) -> None:
        """A result is the array of an operand that nobody reads afterwards."""
        self.names[result] = identifier("v", result.id)
        self.alive.add(result)
        self.shaped |= {result} if operand in self.shaped else set()
        self.line(f"{self.names[result]} = {self.names[operand]}")

    def product(self, step: ProductStep) -> str:
        """The operands of matmul; many products with one matrix are one of all their rows."""
        values = (*arguments(step.node), step.result)
        views = [self.program.host_view(value) for value in values]
        a, b, c = (view for view in views if view is not None)
        if len(a.shape) > 2 and len(b.shape) == 2:
            a, c = _rows_merged(a, c)
        return f"({self.strided(a)}, {self.strided(b)}, {self.strided(c)})"

    def kernel(self, step: KernelStep) -> str:
        """What a kernel is launched with."""
        extent = step.kernel.parallel_extent
        total = constant(1) if extent is None else extent
        arrays = tuple_text([self.names[value] for value in step.buffers])
        numbers = tuple_text([self.names[value] for value in step.scalars])
        sizes = tuple_text(step.kernel.sizes)
        cost = f"{float(number) / 10:g}" if (number := step.cost.as_int()) is not None else (
            f"({step.cost}) / 10")  # fmt: skip
        return f"({total}, {arrays}, {sizes}, {numbers}, {cost})"

    def eager(self, name: str, node: Node) -> None:
        """Run a node through the dispatcher; its results are copied to memory in their order."""
        values = list(dict.fromkeys(values_in(node.args)))
        given = [self.view(v) if isinstance(v.type, TensorType) else self.names[v] for v in values]
        symbols = sorted({name for argument in node.args for name in symbols_of(argument)})
        sizes = "{" + ", ".join(f"'{name}': {name}" for name in symbols) + "}"
        for value in node.results:
            self.names[value] = identifier("v", value.id)
            self.alive.add(value)
        results = tuple_text([self.names[value] for value in node.results])
        orders = [self.program.orders.get(value) for value in node.results]
        others = f", {tuple_text(orders)}" if any(orders) else ""
        self.line(f"{results} = {name}({tuple_text(given)}, {sizes}{others})")

    def view(self, value: Value) -> str:
        """A value as a numpy array of its own shape."""
        found = self.program.host_view(value)
        assert found is not None, value
        return self.strided(found)

    def strided(self, view: HostView) -> str:
        name, layout = self.names[view.root], self.program.layout(view.root)
        whole = view.shape == shape_of(view.root) and view.strides == layout.strides
        if whole and not view.offset.terms and view.root in self.shaped:
            return name
        shape, strides = tuple_text(view.shape), tuple_text(view.strides)
        return f"strided({name}, {shape}, {strides}, {view.offset})"

    def returned(self, each: Returned) -> str:
        """The expression of one output."""
        output = each.output
        if output.alias is not None:
            place, offset = output.alias
            same = output.argument == self.inputs[place] and output.strides is None
            if same:
                return f"inputs[{place}]"
            shape, strides = tuple_text(each.shape), tuple_text(each.strides)
            return f"alias(inputs[{place}], {shape}, {strides}, {size_index(offset)})"
        argument = output.argument
        if each.value is None:
            if isinstance(argument, Value):
                return self.names[argument]
            return str(argument) if isinstance(argument, SizeExpression) else repr(argument)
        if each.value in self.inputs:
            return f"inputs[{self.inputs.index(each.value)}]"
        name, shape = self.names[each.value], tuple_text(each.shape)
        if each.value in self.shaped and _is_row_major(each.shape, each.strides):
            element = tensor_type(each.value).dtype
            size = product(each.shape) * element.itemsize
            if self.program.layout(each.value).shape != each.shape:
                name = f"{name}.reshape({shape})"
            layout = f"row_major({shape})"
            if all(size.as_int() is not None for size in each.shape):
                layout = self.constants.setdefault(layout, f"layout_{len(self.constants)}")
            return f"tensor({name}, {layout}, {element.short.upper()}, {size})"
        return f"laid_out({name}, {shape}, {tuple_text(each.strides)})"


def _kind(given: Input) -> str:
    """The letter that says what `arrays` makes of an input."""
    if isinstance(given.value.type, ScalarType):
        return "n"
    return "r" if given.strides is None else "s"


def _is_row_major(shape: tuple[Index, ...], strides: tuple[Index, ...]) -> bool:
    return strides == row_major(shape).strides


def _rows_merged(a: HostView, c: HostView) -> tuple[HostView, HostView]:
    """Both views as matrices, if the leading dimensions of both are one stretch of rows."""
    for view in (a, c):
        for at in range(len(view.shape) - 2):
            if view.strides[at] != view.strides[at + 1] * view.shape[at + 1]:
                return a, c
    merged = [
        replace(
            view,
            shape=(product(view.shape[:-1]), view.shape[-1]),
            strides=view.strides[-2:],
        )
        for view in (a, c)
    ]
    return merged[0], merged[1]


def _solved(size: Size, symbol: str, source: str) -> str | None:
    """The value of a symbol from `factor * symbol + rest` found at `source`."""
    if not isinstance(size, SizeExpression):
        return None
    factor, rest = 0, 0
    for count, atoms in size.terms:
        if atoms == (Symbol(symbol),):
            factor = count
        elif not atoms:
            rest = count
        else:
            return None
    if not factor:
        return None
    text = source if not rest else f"({source} - {rest})"
    return text if factor == 1 else f"{text} // {factor}"

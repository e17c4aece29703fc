"""The tracer: stands where the backends stand, and turns every primitive into a node of a graph.

In: fake tensors made by `input`, and ordinary code on them: composites, views, writes, vjps. Out: a
functional graph. The dispatcher has taken composites apart, but for those that have a derivative of
their own: they are one node until nobody differentiates any more (jit/passes/decompose.py).
Autograd's recorder runs above, so histories come out as in eager.

Writes disappear: each storage has a current value, that of its base tensor. A view is the base's
value seen through the view's steps; a write through a view computes a new value of the base
(`inverse` in the view's row), and every other view of the storage reads from that from then on.

    tracer = Tracer("f")
    x = tracer.input("x", TensorType(float32, (2, 3)))
    with tracer:
        x[0].mul_(2)          # nodes: select, mul, select_scatter

Source: PyTorch's functionalization pass; JAX's tracers.
"""

from dataclasses import dataclass
from typing import Any

from minitorch2.artifacts import Origin
from minitorch2.autograd.views import write_back
from minitorch2.backends import meta
from minitorch2.devices import CPU, as_device
from minitorch2.dispatch import state
from minitorch2.errors import CompileError
from minitorch2.jit.ir.graph import GraphBuilder, Value
from minitorch2.jit.ir.types import ScalarType, TensorType, Type
from minitorch2.jit.shapes.environment import ShapeEnvironment
from minitorch2.jit.shapes.symbolic_size import SymbolicSize, as_size
from minitorch2.layouts import Layout, contiguous, contiguous_strides
from minitorch2.ops.infer import infer, shown_dtype, stride_order
from minitorch2.ops.table import CREATION, INPLACE, RANDOM, Meta, Op
from minitorch2.tensors import Tensor, fake_tensor


@dataclass(slots=True)
class Cell:
    """A storage: its base tensor, the base's current value, and how often it was written."""

    base: Tensor
    value: Value
    version: int = 0
    input_index: int | None = None


@dataclass(slots=True)
class Place:
    """A tensor: the view steps from its base, and its value as of a version of the cell."""

    tensor: Tensor
    steps: tuple
    value: Value
    version: int


class Tracer:
    """Records primitives into `builder`; entered as a context manager."""

    def __init__(
        self, name: str, environment: ShapeEnvironment, made_by: str, keep_modes: bool = True
    ):
        self.builder = GraphBuilder(name, environment)
        self.environment = environment
        self.made_by = made_by
        self.keep_modes = keep_modes  # whether nodes remember that gradients were off
        self.cells: dict[int, Cell] = {}
        self.places: dict[int, Place] = {}
        self.random_inputs: tuple[Value, Value] | None = None
        self.counter: Any = None  # the next unused random counter, a symbolic size
        self.random_start: Any = None
        self._before: list[tuple] = []

    def __enter__(self) -> "Tracer":
        self._before.append((state.tracer, state.modes, state.saved_hooks))
        state.tracer, state.modes, state.saved_hooks = self, (), ()
        return self

    def __exit__(self, *exc: object) -> None:
        state.tracer, state.modes, state.saved_hooks = self._before.pop()

    # ---- inputs ------------------------------------------------------------------------------

    def input(self, name: str, type: Type, strides: tuple | None = None) -> Any:
        """Declare an input; a fake tensor for a tensor type, the value itself for a number."""
        value = self.builder.input(name, type, strides)
        if isinstance(type, ScalarType):
            return value if type.size is None else self.environment.wrap(type.size)
        shape = tuple(self.environment.wrap(size) for size in type.shape)
        steps = contiguous_strides(shape)
        if strides is not None:
            steps = tuple(self.environment.wrap(stride) for stride in strides)
        fake = fake_tensor(shape, type.dtype, Layout(shape, steps, 0), type.device)
        self.bind(fake, value).input_index = len(self.builder.inputs) - 1
        return fake

    def take_counters(self, count: Any, generator: Any = None) -> tuple[Any, Any]:
        """Random numbers come from two inputs: a seed, and the first counter of the whole call."""
        if generator is not None:
            raise CompileError("a random op with its own generator", "cannot be traced",
                               "use the default generator")  # fmt: skip
        if self.counter is None:
            self.declare_random()
        first = self.counter
        self.counter = first + (count + 3) // 4
        assert self.random_inputs is not None
        return self.random_inputs[0], first

    def declare_random(self) -> None:
        """Declare the two inputs that random numbers are made of."""
        start = self.environment.new_size(1 << 20, low=0)
        self.random_start = self.counter = start
        self.random_inputs = (
            self.builder.input("seed", ScalarType("int")),
            self.builder.input("counter", ScalarType("int", as_size(start))),
        )

    def random_count(self) -> Any:
        """How many counters the traced code used, as a size; None when it drew nothing."""
        return None if self.counter is None else as_size(self.counter - self.random_start)

    # ---- tensors and values ------------------------------------------------------------------

    def bind(self, tensor: Tensor, value: Value) -> Cell:
        """Let a fresh fake tensor stand for a value."""
        cell = self.cells[id(tensor.storage)] = Cell(tensor, value)
        self.places[id(tensor)] = Place(tensor, (), value, 0)
        return cell

    def tensor(self, value: Value, layout: Layout | None = None) -> Tensor:
        """A fresh fake tensor for a value."""
        type = value.type
        assert isinstance(type, TensorType)
        shape = tuple(self.environment.wrap(size) for size in type.shape)
        fake = fake_tensor(shape, type.dtype, layout or contiguous(shape), type.device)
        self.bind(fake, value)
        return fake

    def cell_of(self, tensor: Tensor) -> Cell:
        """The storage behind a tensor."""
        return self.cells[id(tensor.storage)]

    def value_of(self, tensor: Tensor) -> Value:
        """The value a tensor has now: writes to its storage included."""
        place = self.places.get(id(tensor))
        if place is None:
            place = self._adopt(tensor)
        cell = self.cell_of(tensor)
        if place.version != cell.version:
            value = cell.value
            # The view keeps the history it was made with, whatever mode holds where it is read.
            grad = tensor.requires_grad if cell.base.requires_grad else None
            for op, rest in place.steps:
                (value,) = self._add(op.name, (value, *rest), grad)
            place.value, place.version = value, cell.version
        return place.value

    def _adopt(self, tensor: Tensor) -> Place:
        """A plain alias made without the dispatcher (a saved result, `.data`)."""
        cell = self.cells.get(id(tensor.storage))
        if cell is None:
            raise CompileError(
                "a tensor from outside in the traced code",
                "it is neither an input nor computed from one",
                "pass it to the compiled function as an argument",
            )
        for place in self.places.values():
            same = place.tensor.storage is tensor.storage
            if same and place.tensor.layout is tensor.layout:
                found = Place(tensor, place.steps, place.value, place.version)
                self.places[id(tensor)] = found
                return found
        raise CompileError("an alias of a traced tensor", "its view is unknown", "clone() it")

    # ---- operations --------------------------------------------------------------------------

    def run(self, op: Op, args: tuple) -> Any:
        """Carry out one primitive: a node, and fake results that stand for its values."""
        if op.view is not None:
            return self._view(op, args[0], args[1:])
        if op.kind == INPLACE:
            return self._write(args[0], args[1])
        if op.slope:
            (value,) = self._add(op.name, tuple(self._plain(argument) for argument in args))
            return self.tensor(value)
        fakes = self._fakes(op, args)
        values = self._add(op.name, tuple(self._plain(argument) for argument in args))
        many = isinstance(fakes, tuple)
        for fake, value in zip(fakes if many else (fakes,), values, strict=True):
            self.bind(fake, value)
        return fakes

    def _fakes(self, op: Op, args: tuple) -> Any:
        if op.kind not in (CREATION, RANDOM):
            return meta.run(op, args)
        found = infer(op, args)
        assert isinstance(found, Meta)
        where = CPU
        for parameter, argument in zip(op.signature.parameters, args, strict=True):
            if parameter.type == "device" and argument is not None:
                where = as_device(argument)
        return fake_tensor(found.shape, found.dtype, None, where)

    def _view(self, op: Op, source: Tensor, rest: tuple) -> Tensor:
        assert op.view is not None
        value = self.value_of(source)
        element = shown_dtype(op, source.dtype, rest)
        result = Tensor(source.storage, op.view(source.layout, *rest), element)
        steps = self.places[id(source)].steps
        plain = tuple(self._plain(argument) for argument in rest)
        if op.name == "as_strided":
            steps, value, plain, rest = self._restride(source, rest)
        (seen,) = self._add(op.name, (value, *plain))
        version = self.cell_of(source).version
        self.places[id(result)] = Place(result, (*steps, (op, rest)), seen, version)
        return result

    def _restride(self, source: Tensor, rest: tuple) -> tuple:
        """as_strided sees the whole storage, so it starts again from the base."""
        cell = self.cell_of(source)
        base = cell.base.layout
        if not base.is_contiguous():
            raise CompileError("as_strided", "of a tensor whose base is not contiguous",
                               "call .contiguous() on the base first")  # fmt: skip
        size, stride, offset = rest
        start = source.layout.offset if offset is None else offset
        rest = (tuple(size), tuple(stride), start - base.offset)
        return (), cell.value, tuple(self._plain(argument) for argument in rest), rest

    def _write(self, target: Tensor, source: Tensor) -> Tensor:
        value = self.value_of(source)
        if source.dtype is not target.dtype:
            (value,) = self._add("convert", (value, target.dtype))
        if source.layout.shape != target.layout.shape:
            (value,) = self._add("expand", (value, tuple(map(as_size, target.layout.shape))))
        value = self._laid_out(value, source.layout, target.layout)
        self.value_of(target)  # so that its place is known
        place, cell = self.places[id(target)], self.cell_of(target)
        before = cell.value
        if place.steps:
            _check_apart(cell.base.layout, place.steps)
            base, part = self.tensor(cell.value), self.tensor(value)
            cell.value = self.value_of(write_back(base, place.steps, part))
        else:
            cell.value = value
        cell.version += 1
        differentiable = source.requires_grad or cell.base.grad_fn is not None
        if differentiable and not _is_recorded(target, cell):
            # Only the data changed: gradients flow to what the base was before.
            (cell.value,) = self._add("rebase", (before, cell.value), True)
        if state.grad_enabled or not differentiable:
            place.value, place.version = value, cell.version
        target.storage.version += 1
        return target

    def _laid_out(self, value: Value, source: Layout, target: Layout) -> Value:
        """A value that is written into memory in another order, as a copy in that order: where
        eager's bits are wanted, sums go through memory as it lies (ir/eager_orders.py)."""
        same = source.shape == target.shape and source.strides == target.strides
        if same or (source.row_major and target.row_major) or len(target.shape) < 2:
            return value
        orders = [stride_order(each.shape, [list(each.strides)]) for each in (source, target)]
        if source.shape == target.shape and orders[0] == orders[1]:
            return value
        order = tuple(reversed(orders[1]))
        back = tuple(order.index(dim) for dim in range(len(order)))
        (seen,) = self._add("permute", (value, order))
        (copied,) = self._add("contiguous_copy", (seen,))
        return self._add("permute", (copied, back))[0]

    def _add(self, op: str, args: tuple, grad: bool | None = None) -> tuple[Value, ...]:
        origin = state.origin
        grad = not self.keep_modes or (state.grad_enabled if grad is None else grad)
        return self.builder.add(op, args, origin or Origin((), made_by=self.made_by), grad)

    def _plain(self, argument: Any) -> Any:
        if isinstance(argument, Tensor):
            return self.value_of(argument)
        if isinstance(argument, SymbolicSize):
            return as_size(argument)
        if type(argument) in (tuple, list):
            return tuple(self._plain(item) for item in argument)
        return argument

    def steps_of(self, tensor: Tensor) -> tuple:
        """The views that lead from the tensor's base to it: (op, arguments), sizes as sizes."""
        self.value_of(tensor)  # so that its place is known
        return tuple(
            (op, tuple(self._plain(argument) for argument in rest))
            for op, rest in self.places[id(tensor)].steps
        )

    def owner_of(self, tensor: Tensor) -> int | None:
        """The index of the input whose memory a tensor shares, or None."""
        return self.cell_of(tensor).input_index


def _check_apart(layout: Layout, steps: tuple) -> None:
    """Refuse a write through a view of windows that overlap: each would have a part of it only."""
    for op, rest in steps[:-1]:
        layout = op.view(layout, *rest)
        if op.name in ("unfold", "as_strided") and layout.overlaps_itself():
            raise CompileError(
                "a write into a view of overlapping windows",
                f"the result of {op.name} shows one element of memory in several places",
                "write into the tensor that the windows show",
            )


def _is_recorded(target: Tensor, cell: Cell) -> bool:
    """Whether a write to `target` becomes part of its base's history: not through a detach()."""
    root = target if target._view is None else target._view.base
    return state.grad_enabled and root is cell.base

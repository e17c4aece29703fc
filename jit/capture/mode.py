"""The dispatch mode under which captured code runs its operations on fake tensors.

In: an operation and its arguments, among them fakes. Out: one node in the graph, with the user's
place, and fake results. The layers below (composites, autograd's recorder, the meta backend) see
the same fakes, so layouts, aliases, version counters and `requires_grad` come out as eager has
them.

    with CaptureMode(state):
        fake_x + 1        # adds  %0: f32[3] = add(%x, 1)  to state.builder

Source: FakeTensorMode and ProxyTorchDispatchMode of PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch2 import dispatch
from minitorch2.artifacts import Origin
from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.state import CaptureState
from minitorch2.jit.ir.fakes import FakeMode
from minitorch2.jit.ir.graph import Graph, Node, complete_arguments
from minitorch2.jit.ir.graph import Value as GraphValue
from minitorch2.jit.ir.interpreter import as_function
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.shapes.symbolic_size import as_size
from minitorch2.ops.table import INPLACE, Op
from minitorch2.random import Generator
from minitorch2.storages import NO_VERSION, births
from minitorch2.tensors import Tensor, is_fake


class GraphFunction:
    """A captured function as an argument of an operation: called like it, recorded as its graph."""

    __slots__ = ("graph",)

    def __init__(self, graph: Graph):
        self.graph = graph

    def __call__(self, *inputs: Any) -> tuple:
        return as_function(self.graph)(*inputs)


class CaptureMode(dispatch.Mode):
    """Writes each operation into the graph of `state`; `lift` makes a real tensor an input."""

    def __init__(self, state: CaptureState, lift: Callable[[Tensor], Tensor]):
        self.state = state
        self.lift = lift
        self.below = FakeMode()

    def handle(self, op: Op, args: tuple) -> Any:
        """Record `op` and return fake results."""
        state = self.state
        if op.effects == "data_dependent":
            raise GraphBreak("data-dependent", f"{op.name}(), whose result has an unknown size")
        args = tuple(self._fake(argument) for argument in args)
        if op.effects == "random" and (state.seeded is not None or _generator(args) is not None):
            assert op.decomp is not None
            with self:  # as what it is made of, numbers of a seed and a counter
                return op.decomp(*args)
        with self.below:
            result = dispatch.call(op, args)
        fakes = tuple(result) if isinstance(result, (tuple, list)) else (result,)
        if op.effects == "may_fail" and not fakes[0].dtype.is_floating_point:
            state.may_fail(op.name)
        written = _written(op, args)
        if not written and {id(fake) for fake in fakes} <= {id(given) for given in args}:
            return result  # nothing was done: a dropout in eval mode, a contiguous() that was
        state.picking.recorded(op, args, fakes, written)
        state.twins.written(written)
        state.written.update(id(tensor.storage) for tensor in written)
        plain = complete_arguments(op, tuple(self._plain(argument) for argument in args))
        values = tuple(state.builder.value(tensor_type(fake)) for fake in fakes)
        node = Node(op.name, plain, values, dispatch.state.grad_enabled, dispatch.current_origin())
        state.builder.nodes.append(node)
        if births.inference:
            _born(fakes, args)
        for fake, value in zip(fakes, values, strict=True):
            if id(fake) not in state.graph_values:
                self.name(fake, value)
        return result

    def take_counters(self, count: Any, generator: Generator | None) -> tuple[Any, Any]:
        """The seed and the first counter of numbers of a generator that is followed here."""
        state = self.state
        known: Any = state.seeded if generator is None else state.by_id.get(id(generator))
        if known is None:
            raise GraphBreak("random-generator", "random numbers outside of an operation")
        return known.take(state, count)

    def name(self, fake: Tensor, value: GraphValue) -> None:
        """From now on `fake` stands for `value` of the graph."""
        self.state.graph_values[id(fake)] = value
        self.state.fakes.append(fake)

    def replaced(self, fake: Tensor, seen: Tensor) -> None:
        """`fake` becomes another view of its memory: it stands for the value of `seen`."""
        if any(fake is item.fake for item in self.state.inputs):
            raise GraphBreak("unknown-call", "an input is given another shape in place")
        self.name(fake, self.state.graph_values[id(seen)])

    def _fake(self, argument: Any) -> Any:
        if isinstance(argument, Tensor):
            if id(argument) in self.state.graph_values:
                return argument
            if is_fake(argument):
                raise GraphBreak("internal", "a tensor without a place in the graph")
            return self.lift(argument)
        if type(argument) in (tuple, list):
            return tuple(self._fake(item) for item in argument)
        return argument

    def _plain(self, argument: Any) -> Any:
        if isinstance(argument, GraphFunction):
            return argument.graph
        if isinstance(argument, Tensor):
            return self.state.graph_values[id(argument)]
        if type(argument) in (tuple, list):
            return tuple(self._plain(item) for item in argument)
        if isinstance(argument, slice):
            raise GraphBreak("internal", "a slice among the arguments of an operation")
        return argument


def _born(fakes: tuple[Tensor, ...], args: tuple) -> None:
    """Memory made in inference mode has no version (Note [Inference tensors])."""
    known = {id(given.storage) for given in args if isinstance(given, Tensor)}
    for fake in fakes:
        if id(fake.storage) not in known:
            fake.storage.version = NO_VERSION


def _generator(args: tuple) -> Generator | None:
    return next((argument for argument in args if isinstance(argument, Generator)), None)


def _written(op: Op, args: tuple) -> list[Tensor]:
    """The tensors an operation writes into."""
    if op.kind == INPLACE or op.effects == "writes":
        return [args[0]]
    pairs = zip(op.signature.parameters, args, strict=True)
    return [argument for parameter, argument in pairs if parameter.alias == "a!"]


def tensor_type(fake: Tensor) -> TensorType:
    """The graph type of a fake."""
    return TensorType(fake.dtype, tuple(map(as_size, fake.layout.shape)), fake.device)


def capture_origin(state: CaptureState) -> Origin:
    """The Origin of what is recorded now: the user's innermost place, offset and step."""
    span = state.span()
    spans = (span,) if span is not None else ()
    return Origin(spans, state.offset(), state.step, "capture")

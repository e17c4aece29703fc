"""In which order eager keeps the elements of a graph's values in memory.

In: a functional graph, whose inputs have strides. Out: for each value that eager does not keep
row-major, its dimensions from the slowest to the fastest. Values of a graph have no strides; but
floats are added up as they lie in memory, so that who wants eager's bits has to know.

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> graph = parse_graph('''
    ... graph f(%x: f32[4,3], %y: f32[3,4]) {
    ...   %0: f32[3,4] = permute(%x, (1, 0))
    ...   %1: f32[3,4] = mul(%0, %y)
    ...   %2: f32[3,4] = mul(%y, %0)
    ...   return %1, %2
    ... }''')
    >>> {str(value): order for value, order in eager_orders(graph).items()}
    {'%0': (1, 0), '%1': (1, 0)}

Source: the rules are those of eager: the graph is run on tensors without memory.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from minitorch2 import dispatch
from minitorch2.errors import Mt2Error
from minitorch2.jit.ir.examples import environment_of
from minitorch2.jit.ir.fakes import FakeMode, outside_modes
from minitorch2.jit.ir.graph import Argument, Graph, Node, Value
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.shapes.environment import ShapeEnvironment
from minitorch2.jit.shapes.size_expression import SizeExpression
from minitorch2.layouts import Layout, contiguous_strides
from minitorch2.ops.infer import stride_order
from minitorch2.ops.table import CONTROL, lookup
from minitorch2.tensors import Tensor, fake_tensor

Order = tuple[int, ...]


def eager_orders(graph: Graph) -> dict[Value, Order]:
    """The order of each value's dimensions in memory, where it is not the row-major one."""
    environment = environment_of(graph)
    fakes: dict[Value, Any] = {}
    for given in graph.inputs:
        fakes[given.value] = _fake(given.value, environment, given.strides)
    with outside_modes(), FakeMode():
        for node in graph.nodes:
            fakes |= zip(node.results, _results(node, environment, fakes), strict=True)
    orders = {v: _order(fake) for v, fake in fakes.items() if isinstance(fake, Tensor)}
    return {value: order for value, order in orders.items() if order != tuple(range(len(order)))}


def strides_in(order: Order, shape: Sequence[Any]) -> tuple[Any, ...]:
    """The strides of a dense tensor whose dimensions lie in an order.

    >>> strides_in((2, 0, 1), (2, 3, 4))
    (3, 1, 6)
    """
    steps = contiguous_strides([shape[dim] for dim in order])
    return tuple(steps[order.index(dim)] for dim in range(len(order)))


def _results(
    node: Node, environment: ShapeEnvironment, fakes: Mapping[Value, Any]
) -> Sequence[Any]:
    """What a node gives on fakes; where it cannot be asked, row-major results."""
    plain = [_fake(value, environment, None) for value in node.results]
    if lookup(node.op).kind == CONTROL:
        return plain
    try:
        found = dispatch.call(
            lookup(node.op), tuple(_actual(each, environment, fakes) for each in node.args)
        )
    except Mt2Error:  # a view that needs a copy here, as values have no strides
        return plain
    found = found if isinstance(found, tuple) else (found,)
    return found if len(found) == len(plain) else plain


def _actual(argument: Argument, environment: ShapeEnvironment, fakes: Mapping[Value, Any]) -> Any:
    match argument:
        case Value():
            return fakes[argument]
        case SizeExpression():
            return environment.wrap(argument)
        case tuple():
            return tuple(_actual(each, environment, fakes) for each in argument)
    return argument


def _fake(value: Value, environment: ShapeEnvironment, strides: Sequence[Any] | None) -> Any:
    """A tensor without memory; a number that stands for itself."""
    type = value.type
    if not isinstance(type, TensorType):
        return value if type.size is None else environment.wrap(type.size)
    shape: Any = tuple(map(environment.wrap, type.shape))
    layout = None if strides is None else Layout(shape, tuple(map(environment.wrap, strides)), 0)
    return fake_tensor(shape, type.dtype, layout, type.device)


def _order(fake: Tensor) -> Order:
    shape, strides = fake.layout.shape, fake.layout.strides
    return tuple(reversed(stride_order(shape, [list(strides)])))

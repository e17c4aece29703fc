"""Takes apart what was kept whole because it has a derivative of its own.

In: a functional graph that nobody differentiates any more. Out: the same graph in primitives: a
call of a row such as `softmax` is replaced by the steps of the row's definition, which is run on
fakes. The derivative stands in the row (`slope` in ops/table.py) and is in the graph by now, if
somebody wanted it; that of the steps is never made.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from minitorch2.jit.ir.eager_orders import Order, eager_orders, strides_in
from minitorch2.jit.ir.fakes import FakeMode, outside_modes
from minitorch2.jit.ir.graph import Argument, Graph, Node, Value
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.passes.notes import note
from minitorch2.jit.passes.options import PassOptions
from minitorch2.jit.passes.rebuild import Rebuilder, rebuild
from minitorch2.jit.shapes.size_expression import SizeExpression
from minitorch2.jit.shapes.symbolic_size import SymbolicSize, as_size
from minitorch2.layouts import Layout
from minitorch2.ops.table import INPLACE, Op, lookup
from minitorch2.tensors import Tensor, fake_tensor

MADE_BY = "pass decompose"


def decompose(graph: Graph, options: PassOptions) -> Graph:
    """Rows with a derivative of their own become the steps of their definition.

    Before:

    >>> before = '''
    ... graph f(%x: f32[s0,3]) {
    ...   %0: f32[s0,3] = softmax(%x, -1)
    ...   return %0
    ... }'''

    After:

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> print(decompose(parse_graph(before), PassOptions()))
    graph f(%x: f32[s0,3]) {
      %0: f32[s0,3] = detach(%x)
      %1: f32[s0,1] = amax(%0, (-1,), True)
      %2: f32[s0,3] = sub(%x, %1)
      %3: f32[s0,3] = exp(%2)
      %4: f32[s0,1] = sum(%3, (-1,), True)
      %5: f32[s0,3] = true_divide(%3, %4)
      return %5
    }

    Exact: it is what eager runs where it runs the row step by step; under numerics="eager" also if
    an operand lies in memory in another order than the row-major one.

    Complexity: linear in the steps. Source: PyTorch's decompositions.
    """

    # A step may depend on how an operand lies in memory: softmax wants rows.
    orders = eager_orders(graph) if options.numerics == "eager" else {}

    def step(rebuilder: Rebuilder, node: Node) -> Sequence[Value] | None:
        row = lookup(node.op)
        if not row.slope:
            return None
        found = _Steps(rebuilder, node, orders).run(row)
        pairs = zip(node.results, found, strict=True)
        orders.update((new, orders[old]) for old, new in pairs if old in orders)
        return found

    return rebuild(graph, step, lambda inner: decompose(inner, options))


class _Steps(FakeMode):
    """Runs a row's definition on fakes of a node's operands; each primitive becomes a node."""

    def __init__(self, rebuilder: Rebuilder, node: Node, orders: Mapping[Value, Order]):
        self.rebuilder, self.node, self.orders = rebuilder, node, orders
        self.names: list[str] = []
        self.values: dict[int, Value] = {}  # by the id of the fake that stands for it
        self.fakes: list[Tensor] = []  # held, so that no id comes twice

    def run(self, row: Op) -> tuple[Value, ...]:
        """The values that take the place of the node's results."""
        assert row.decomp is not None
        args = tuple(map(self._fake, self.node.args))
        with outside_modes(), self:
            found = row.decomp(*args)
        note(f"{str(self.node).partition(' = ')[2]} => {', '.join(self.names)}", self.node)
        results = found if isinstance(found, tuple) else (found,)
        return tuple(self.values[id(each)] for each in results)

    def handle(self, op: Op, args: tuple) -> Any:
        """Run on fakes, and note down what is no composite."""
        found = super().handle(op, args)
        if op.decomp is None:
            assert op.kind != INPLACE, f"the definition of {self.node.op} writes"
            plain = tuple(map(self._plain, args))
            made = self.rebuilder.keep(self.rebuilder.node(op.name, plain, self.node, MADE_BY))
            self.names.append(op.name)
            results = found if isinstance(found, tuple) else (found,)
            for fake, value in zip(results, made, strict=True):
                self._name(fake, value)
        return found

    def _name(self, fake: Tensor, value: Value) -> Tensor:
        self.values[id(fake)] = value
        self.fakes.append(fake)
        return fake

    def _fake(self, argument: Argument) -> Any:
        wrap = self.rebuilder.environment.wrap
        match argument:
            case Value(type=TensorType() as type):
                shape: Any = tuple(map(wrap, type.shape))
                order = self.orders.get(argument)
                layout = None if order is None else Layout(shape, strides_in(order, shape), 0)
                return self._name(fake_tensor(shape, type.dtype, layout, type.device), argument)
            case SizeExpression():
                return wrap(argument)
            case tuple():
                return tuple(map(self._fake, argument))
        return argument

    def _plain(self, argument: Any) -> Any:
        if isinstance(argument, Tensor):
            return self.values[id(argument)]
        if isinstance(argument, SymbolicSize):
            return as_size(argument)
        if isinstance(argument, tuple | list):
            return tuple(map(self._plain, argument))
        return argument

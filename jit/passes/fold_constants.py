"""Computes what does not depend on any input.

In: a functional graph. Out: the same graph in which a pointwise call on constant tensors is a
constant tensor, a view of one too, and a constant operand of another call is a plain number. A
constant tensor is a call of `full` with a literal.

The value is computed by the op's own eager code, so it has the bits that eager gives.
"""

from collections.abc import Sequence
from typing import Any

from minitorch2 import dtypes
from minitorch2.dispatch import below_modes
from minitorch2.dtypes import dtype
from minitorch2.errors import Mt2Error
from minitorch2.jit.ir.graph import Argument, Graph, Node, Value, abstract, values_in
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.passes.options import PassOptions
from minitorch2.jit.passes.rebuild import Rebuilder, rebuild
from minitorch2.jit.shapes.size_expression import SizeExpression
from minitorch2.ops.infer import pointwise_dtypes
from minitorch2.ops.table import POINTWISE, VIEW, lookup
from minitorch2.tensors import Tensor

MADE_BY = "pass fold_constants"


def fold_constants(graph: Graph, options: PassOptions) -> Graph:
    """Evaluate constant pointwise calls; hand constants to other calls as numbers.

    Before:

    >>> before = '''
    ... graph f(%x: f32[4]) {
    ...   %0: f32[4] = full((4,), 2.0, dtype=f32)
    ...   %1: f32[4] = mul(%0, 3.0)
    ...   %2: f32[4] = add(%x, %1)
    ...   return %2
    ... }'''

    After (the calls that nobody uses any more are left to eliminate_dead_code):

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> print(fold_constants(parse_graph(before), PassOptions()))
    graph f(%x: f32[4]) {
      %0: f32[4] = full((4,), 2.0, dtype=f32)
      %1: f32[4] = full((4,), 6.0, dtype=f32)
      %2: f32[4] = add(%x, 6.0)
      return %2
    }

    Complexity: linear in the nodes. Source: any compiler text.
    """

    def step(rebuilder: Rebuilder, node: Node) -> Sequence[Value] | None:
        row = lookup(node.op)
        if row.kind == POINTWISE:
            return _fold_pointwise(rebuilder, node)
        if row.kind == VIEW and row.element is None and len(node.results) == 1:
            number = _number(rebuilder, node.args[0])
            if number is not None:
                return (_full(rebuilder, node, number),)
        return None

    return rebuild(graph, step, lambda inner: fold_constants(inner, options))


def _fold_pointwise(rebuilder: Rebuilder, node: Node) -> Sequence[Value] | None:
    sources = [rebuilder.definition(value) for value in values_in(node.args)]
    numbers = {
        value: number
        for value in values_in(node.args)
        if (number := _number(rebuilder, value)) is not None
    }
    if not numbers:
        return None
    covered = [node, *(source for source in sources if source is not None)]
    if not _is_open(node.args, numbers):
        result = _evaluate(node, numbers)
        return None if result is None else (_full(rebuilder, node, result, covered),)
    args = tuple(_as_number(node, index, numbers) for index in range(len(node.args)))
    if args == node.args or _computes_in(node, args) != _computes_in(node, node.args):
        return None
    if rebuilder.types(node.op, args) != (node.results[0].type,):
        return None
    return (rebuilder.add(node.op, args, covered, MADE_BY),)


def _is_open(argument: Argument, numbers: dict[Value, Any]) -> bool:
    """Whether an argument is known only when the graph runs."""
    match argument:
        case Value():
            return argument not in numbers
        case tuple():
            return any(_is_open(item, numbers) for item in argument)
    return isinstance(argument, SizeExpression | Graph)


def _number(rebuilder: Rebuilder, argument: Argument) -> Any:
    """The number a constant tensor is filled with, as its dtype holds it; None for others."""
    node = rebuilder.definition(argument)
    if node is None or node.op != "full" or not isinstance(node.args[1], int | float):
        return None
    type = node.results[0].type
    assert isinstance(type, TensorType)
    if type.dtype.is_complex:
        return None
    try:
        return _element(_constant(node.args[1], type.dtype))
    except (Mt2Error, OverflowError):
        return None


def _evaluate(node: Node, numbers: dict[Value, Any]) -> Any:
    """The call's result for one element, computed eagerly; None when it raises."""
    args: list[Any] = []
    for argument in node.args:
        if isinstance(argument, Value):
            assert isinstance(argument.type, TensorType)
            args.append(_constant(numbers[argument], argument.type.dtype))
        else:
            args.append(argument)
    try:
        found = below_modes(lookup(node.op), tuple(args))
        return None if found.dtype.is_complex else _element(found)
    except (Mt2Error, ArithmeticError):
        return None


def _constant(number: Any, dtype: dtype) -> Tensor:
    """A tensor without dimensions that holds the number."""
    return below_modes(lookup("full"), ((), number, dtype, None))


def _element(tensor: Tensor) -> bool | int | float:
    """The one element of a tensor without dimensions."""
    kind = {dtypes.BOOL: bool, dtypes.INTEGER: int, dtypes.FLOATING: float}
    return kind[tensor.dtype.category](tensor.array)


def _as_number(node: Node, index: int, numbers: dict[Value, Any]) -> Argument:
    """The argument, or the number it is filled with where the row takes numbers."""
    argument = node.args[index]
    takes_numbers = lookup(node.op).signature.parameters[index].type == "Operand"
    if takes_numbers and isinstance(argument, Value):
        return numbers.get(argument, argument)
    return argument


def _computes_in(node: Node, args: tuple[Argument, ...]) -> Any:
    """The dtype the call computes in: a number instead of a tensor may change it."""
    return pointwise_dtypes(lookup(node.op), tuple(map(abstract, args)))[0]


def _full(rebuilder: Rebuilder, node: Node, number: Any, covered: Sequence[Node] = ()) -> Value:
    return rebuilder.keep(rebuilder.full(node.results[0].type, number, covered or node, MADE_BY))[0]

"""Pointwise nodes: one loop nest over the broadcast shape, its body from the op row's `expr`.

In: a pointwise node. Out: a Nest.

    %2: f32[4,3] = add(%0: f32[4,3], %1: f32[3])     result[a0, a1] = add(%0[a0, a1], %1[a1])

Source: torch's type promotion; one rounding for each op, as eager has it.
"""

from minitorch2.dtypes import FLOATING, float64, int64
from minitorch2.dtypes import bool as bool_dtype
from minitorch2.jit.ir.graph import Argument, Node, Value
from minitorch2.jit.ir.types import ScalarType, TensorType
from minitorch2.jit.shapes.size_expression import SizeExpression
from minitorch2.kernels.index import Index, symbol
from minitorch2.kernels.loop_ir import NOWHERE, Call, Constant, IndexValue, Require
from minitorch2.kernels.lower.expressions import (
    Operand,
    cast,
    lower_expression,
    number_of,
    widened,
)
from minitorch2.kernels.lower.nests import (
    Nest,
    NotLowered,
    Read,
    Step,
    axis_names,
    broadcast_read,
    shape_of,
    size_index,
    tensor_type,
)
from minitorch2.ops.infer import keeps_digits, pointwise_dtypes
from minitorch2.ops.table import Op

SCALAR_DTYPES = {"int": int64, "float": float64, "bool": bool_dtype}
DIVISIONS = ("floor_divide", "trunc_divide", "remainder", "fmod")


def lower_pointwise(node: Node, op: Op) -> Nest:
    """The nest of a pointwise node. Raises NotLowered where its expression has no kernel."""
    result = node.results[0]
    names = axis_names(len(shape_of(result)))
    index = tuple(symbol(name) for name in names)
    axes = tuple(zip(names, shape_of(result), strict=True))
    if op.promote == "convert":
        source = _operand(node.args[0], index)
        assert not isinstance(source, int | float)
        value = cast(source, tensor_type(result).dtype)
        return Nest(node, result, axes, value, index)
    if not op.expr:
        raise NotLowered(f"op {op.name} has no scalar expression")
    typed = tuple(a.type if isinstance(a, Value) else a for a in node.args)
    compute, _ = pointwise_dtypes(op, typed)
    operands: dict[str, Operand] = {}
    work = widened(compute)
    for parameter, argument, given in zip(op.signature.parameters, node.args, typed, strict=True):
        operand = _operand(argument, index)
        first = work if keeps_digits(op, parameter.name, given) else compute
        if parameter.type != "Tensor" and not isinstance(operand, int | float):
            operand = cast(cast(operand, first), work)
        elif parameter.type == "Operand" and isinstance(operand, int | float):
            operand = Constant(number_of(operand, first), work)
        operands[parameter.name] = operand
    steps: tuple[Step, ...] = ()
    if op.name in DIVISIONS and compute.category != FLOATING:
        divisor = operands["other"]
        assert not isinstance(divisor, int | float)
        zero = Constant(number_of(0, compute), compute)
        fine = Call("not_equal", (divisor, zero), bool_dtype)  # type: ignore[arg-type]
        message = "ZeroDivisionError: integer division by zero"
        steps = (Require(fine, message, node.origin or NOWHERE),)
    value = lower_expression(op.expr, operands, compute)
    return Nest(node, result, axes, cast(value, tensor_type(result).dtype), index, steps)


def _operand(argument: Argument, index: tuple[Index, ...]) -> Operand:
    if isinstance(argument, Value) and isinstance(argument.type, TensorType):
        return broadcast_read(argument, index)
    return scalar_operand(argument)


def scalar_operand(argument: Argument) -> Operand:
    """A number among a node's arguments: known, a size, or given when the graph runs."""
    match argument:
        case Value(_, ScalarType(_, SizeExpression() as size)):
            return IndexValue(size_index(size), int64)
        case Value(_, ScalarType(kind)):
            return Read(argument, (), SCALAR_DTYPES[kind])
        case SizeExpression():
            return IndexValue(size_index(argument), int64)
        case bool() | int() | float():
            return argument
    raise NotLowered(f"the argument {argument} is no number")

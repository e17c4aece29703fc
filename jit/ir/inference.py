"""The types of an op's results, asked from its row.

In: an op row and one operand for each parameter: types where values stand, literals elsewhere.
Out: the result types. Rows are written for tensors with int sizes; a symbolic size goes in as a
SymbolicSize of a ShapeEnvironment, which answers what the row asks about it, and comes out as
plain data. The definition of a composite row without a rule is run on fakes.

Source: jax.eval_shape and torch's meta tensors.
"""

from dataclasses import replace
from typing import Any

from minitorch2.devices import device
from minitorch2.errors import VerificationError
from minitorch2.jit.ir.fakes import device_of, run_fake
from minitorch2.jit.ir.types import SCALAR_KINDS, ScalarType, TensorType, Type
from minitorch2.jit.shapes.environment import ShapeEnvironment
from minitorch2.jit.shapes.size_expression import SizeExpression
from minitorch2.jit.shapes.symbolic_size import as_size
from minitorch2.ops.infer import infer
from minitorch2.ops.table import Meta, Op
from minitorch2.tensors import Tensor


def infer_types(op: Op, operands: tuple, environment: ShapeEnvironment) -> tuple[Type, ...]:
    """The result types. Raises what the row raises (ShapeError, ...) for operands it refuses."""
    lifted = tuple(_lift(operand, environment) for operand in operands)
    has_rule = op.infer is not None or op.decomp is None
    found = infer(op, lifted) if has_rule else run_fake(op, lifted)
    results = found if _is_several(found) else (found,)
    where = device_of(op, operands)
    return tuple(_plain(result, where) for result in results)


def _is_several(found: Any) -> bool:
    return isinstance(found, tuple | list) and not isinstance(found, Meta)


def _lift(operand: Any, environment: ShapeEnvironment) -> Any:
    """An operand as the row's functions take it."""
    match operand:
        case TensorType():
            if not operand.symbols():
                return operand
            return replace(operand, shape=tuple(environment.wrap(s) for s in operand.shape))
        case ScalarType(size=SizeExpression() as size):
            return environment.wrap(size)
        case SizeExpression():
            return environment.wrap(operand)
        case tuple():
            return tuple(_lift(item, environment) for item in operand)
        case _:
            return operand


def _plain(result: Any, where: device) -> Type:
    """A row's answer as a type: a Meta, a fake, a type, or a scalar's kind."""
    match result:
        case Meta():
            return TensorType(result.dtype, tuple(map(as_size, result.shape)), where)
        case Tensor():
            return TensorType(result.dtype, tuple(map(as_size, result.shape)), where)
        case TensorType():
            shape: Any = result.shape
            return replace(result, shape=tuple(map(as_size, shape)))
        case ScalarType():
            return result
        case str() if result in SCALAR_KINDS:
            return ScalarType(result)
    raise VerificationError("the type of a result", f"`infer` returned {result!r}")

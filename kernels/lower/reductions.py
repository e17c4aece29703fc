"""Reduction nodes: one loop nest over all dimensions of the operand, some of them folded.

In: a node such as sum(%x, dim=(1,), keepdim=True). Out: a Nest whose `reduced` axes are those
dimensions. A sum of 16-bit floats is kept in f32 and rounded at the end; integers add up in the
type of the result.

Source: torch's reductions; the folding order is written down in codegen/reductions.py.
"""

from minitorch2.dtypes import bool as bool_dtype
from minitorch2.dtypes import dtype
from minitorch2.jit.ir.graph import Node, Value
from minitorch2.kernels.functions import REDUCERS
from minitorch2.kernels.index import constant, symbol
from minitorch2.kernels.lower.expressions import cast
from minitorch2.kernels.lower.nests import (
    Nest,
    NestExpression,
    NotLowered,
    Read,
    axis_names,
    shape_of,
    tensor_type,
)
from minitorch2.layouts import normalize_dims
from minitorch2.ops.table import Op

OF_BOOLS = {"sum": "any", "prod": "all"}  # what adding and multiplying comes to


def lower_reduction(node: Node, op: Op) -> Nest:
    """The nest of a reduction node. Raises NotLowered for reducers that kernels do not know."""
    if op.expr not in REDUCERS:
        raise NotLowered(f"{op.name} is no fold of independent elements")
    arguments = dict(zip(op.signature.names, node.args, strict=True))
    source, result = arguments["self"], node.results[0]
    assert isinstance(source, Value)
    sizes = shape_of(source)
    dims = normalize_dims(arguments.get("dim"), len(sizes))  # type: ignore[arg-type]
    names = axis_names(len(sizes))
    axes = tuple(zip(names, sizes, strict=True))
    index = tuple(symbol(name) for name in names)
    element = tensor_type(result).dtype
    value = reduced_value(Read(source, index, tensor_type(source).dtype), op.expr, element)
    if arguments.get("keepdim"):
        output = tuple(constant(0) if at in dims else index[at] for at in range(len(names)))
    else:
        output = tuple(index[at] for at in range(len(names)) if at not in dims)
    reduced = frozenset(names[at] for at in dims)
    if not reduced:
        raise NotLowered(f"{op.name} over no dimension")
    reducer = OF_BOOLS.get(op.expr, op.expr) if element is bool_dtype else op.expr
    return Nest(node, result, axes, value, output, (), reducer, reduced)


def reduced_value(read: NestExpression, reducer: str, result: dtype) -> NestExpression:
    """The operand of a fold, in the type the fold is done in."""
    return cast(read, result) if reducer in ("sum", "prod") else read

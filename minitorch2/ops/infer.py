"""Shape, dtype and layout rules shared by many rows.

In: operands (anything with shape, dtype and ndim: tensors, IR types) and numbers. Out: Metas and
Layouts. The same functions serve eager, fakes, the verifier and the kernels, so their errors are
identical everywhere.

Source: torch's "Broadcasting semantics", "Type promotion" and TensorIterator's documented stride
rules.
"""

from collections.abc import Sequence
from typing import Any

import numpy

from minitorch2 import dtypes
from minitorch2.dispatch import call, state
from minitorch2.errors import (
    ArgumentTypeError,
    NumberTooLarge,
    OperationError,
    UnsupportedDtype,
    name_calls,
)
from minitorch2.layouts import Layout, broadcast_shapes, column_major, contiguous, normalize_dims
from minitorch2.ops.signature import must_be_tensor
from minitorch2.ops.table import Meta, Op

LEAST, MOST = -(2**63), 2**64 - 1  # what a plain whole number may be


def describe(op: Op, args: Sequence[Any]) -> str:
    """A call as an error message names it, defaults left out: `add(f32[2,3], f32[4])`."""
    parts, skipped = [], False
    for parameter, value in zip(op.signature.parameters, args, strict=False):
        if value is None or (_is_plain(value) and value == parameter.default):
            skipped = True
            continue
        named = f"{parameter.name}=" if skipped or parameter.keyword_only else ""
        parts.append(named + describe_value(value))
    return f"{op.name}({', '.join(parts)})"


def _is_plain(value: Any) -> bool:
    """Whether it may be compared with a default: no tensor, no size that is still a symbol."""
    if type(value) in (tuple, list):
        return all(map(_is_plain, value))
    return type(value) in (bool, int, float, str)


def describe_value(value: Any) -> str:
    """One argument as an error message names it."""
    if is_tensor_like(value) and hasattr(value, "shape"):
        return f"{value.dtype.short}[{','.join(str(size) for size in value.shape)}]"
    if type(value) in (tuple, list):
        return "[" + ", ".join(describe_value(item) for item in value) + "]"
    return repr(value)


def check_element(name: str, at: int, value: Any) -> None:
    """ArgumentTypeError where a value among several tensors is none."""
    if not is_tensor_like(value):
        raise ArgumentTypeError(
            f"{name}()",
            f"expected Tensor as element {at} in argument 0, but got {type(value).__name__}",
            "make a tensor of it: torch.tensor(value)",
        )


def can_be_read(value: Any) -> bool:
    """Whether it is a tensor whose elements can be looked at: it has memory, nothing is traced."""
    elements = getattr(value, "has_elements", False) and value.storage.block is not None
    return elements and not state.capturing and state.tracer is None


def under_batches(value: Any) -> Any:
    """The tensor that holds the elements of all samples, where vmap shows one of them."""
    while getattr(value, "has_elements", True) is False:
        value = value.value
    return value


def is_tensor_like(value: Any) -> bool:
    """Whether a value has a shape and a dtype of ours (a tensor or a tensor type)."""
    return isinstance(getattr(value, "dtype", None), dtypes.dtype)


def pointwise_operands(op: Op, args: Sequence[Any]) -> list[Any]:
    """The arguments that take part in type promotion: those of type Operand."""
    parameters = op.signature.parameters
    return [
        argument
        for parameter, argument in zip(parameters, args, strict=True)
        if parameter.type == "Operand" and argument is not None
    ]


def unsupported(name: str, element: dtypes.dtype) -> str:
    """What is wrong where an operation has no meaning for a dtype, with torch's words."""
    return f"{name} is not defined for {element}: \"{name}\" not implemented for '{element.title}'"


def pointwise_dtypes(op: Op, args: Sequence[Any]) -> tuple[dtypes.dtype, dtypes.dtype]:
    """The dtype a pointwise op computes in, and the dtype of its result."""
    if op.promote == "convert":
        return args[0].dtype, args[1]
    if op.promote == "rebase":
        return args[1].dtype, args[1].dtype
    operands = pointwise_operands(op, args)
    for each in operands:
        if type(each) is int:
            check_size(each)
    compute = dtypes.result_type(*operands)
    if compute.letter not in op.accepts:
        wrong = op.refuses.get(compute.letter) or unsupported(op.name, compute)
        raise UnsupportedDtype(describe(op, args), wrong, "convert an operand first")
    if op.check is not None:
        op.check(op, args)
    if op.promote in ("float", "real float") and compute.category < dtypes.FLOATING:
        compute = dtypes.get_default_dtype()
    if op.promote in ("real", "real float"):
        return compute, compute.to_real()
    return compute, dtypes.bool if op.promote == "bool" else compute


def keeps_digits(op: Op, parameter: str, operand: Any) -> bool:
    """Whether an operand is not rounded to the 16 bits its row computes in (see `Op.wide`)."""
    name, _, numbers = op.wide.partition(":")
    if parameter != name or not is_tensor_like(operand):
        return parameter == name
    return not numbers and all(type(size) is int and size == 1 for size in operand.shape)


def rounded_number(value: float, element: dtypes.dtype) -> float:
    """A number as 16-bit floats hold it, by way of float32 as an operand goes."""
    with numpy.errstate(all="ignore"):
        return float(numpy.float32(value).astype(element.numpy))


def pointwise_tensors(op: Op, args: Sequence[Any]) -> list[Any]:
    """The tensor arguments of a pointwise op, promoted or not."""
    return [args[position] for position in op.tensor_positions if is_tensor_like(args[position])]


def infer_pointwise(op: Op, args: Sequence[Any]) -> Meta:
    """Broadcast shape and promoted dtype of a pointwise op."""
    for position in op.tensor_positions:
        check_operand(op, args, position)
    shapes = [tensor.shape for tensor in pointwise_tensors(op, args)] or [()]
    first = shapes[0]
    if any(shape is not first and tuple(shape) != tuple(first) for shape in shapes):
        shape = broadcast_shapes(*shapes, asked=describe(op, args))
    else:
        shape = tuple(first)
    return Meta(shape, pointwise_dtypes(op, args)[1])


def check_operand(op: Op, args: Sequence[Any], position: int) -> None:
    """ArgumentTypeError unless an argument is a tensor, or a number where one may stand."""
    value, parameter = args[position], op.signature.parameters[position]
    if is_tensor_like(value) or (value is None and parameter.optional):
        return
    if parameter.type == "Operand" and is_number(value):
        return
    raise ArgumentTypeError(
        describe(op, args),
        f"argument '{parameter.name}' must be a Tensor"
        f"{' or a number' if parameter.type == 'Operand' else ''}, not {type(value).__name__}",
        "make a tensor of it first: torch.tensor(value)",
    )


def admit_argument(op: Op, position: int, args: Sequence[Any]) -> Any:
    """What is no tensor, where a number may stand: the number, a scalar of numpy's made plain.

    Anything else raises ArgumentTypeError.
    """
    parameter, value = op.signature.parameters[position], args[position]
    numbers = not must_be_tensor(op, parameter)
    if numbers and is_number(value) or hasattr(type(value), "__torch_function__"):
        return value.item() if isinstance(value, numpy.generic) else value
    raise ArgumentTypeError(
        describe(op, args),
        f"argument '{parameter.name}' (position {position + 1}) must be Tensor"
        f"{' or a number' if numbers else ''}, not {type(value).__name__}",
        "make a tensor of it first: torch.tensor(value)",
    )


def check_size(value: int) -> None:
    """NumberTooLarge for a plain number that takes more than 64 bits."""
    if not LEAST <= value <= MOST:
        raise NumberTooLarge(f"the number {value}", "int too big to convert: it takes over 64 bits")


def held(value: Any, element: dtypes.dtype, single: bool = False) -> Any:
    """A number as a dtype has it: a complex one without its imaginary part among real ones.

    OperationError for a plain number that is too large for the dtype, or has an imaginary part.
    `single`: for one element, which torch converts by way of a double: small floats then overflow
    to what stands for infinity.
    """
    if type(value) is int:
        check_size(value)
    elif type(value) not in (float, complex):
        return value
    small = element.is_floating_point and element.itemsize <= 2
    checked = dtypes.float64 if single and small else element
    if not dtypes.can_hold(checked, value):
        raise OperationError(
            f"{value} in a tensor of dtype {element}",
            f"value cannot be converted to type {checked.in_words_of_c} without overflow",
            "choose a number that the dtype holds",
        )
    if type(value) is complex and not element.is_complex:
        return value != 0 if element is dtypes.bool else value.real
    return value


def is_number(value: Any) -> bool:
    """Whether a value can stand as a number in a pointwise op (symbolic ones included)."""
    if isinstance(value, numpy.ndarray):
        return False
    return (
        isinstance(value, (bool, int, float, complex, numpy.generic))
        or hasattr(value, "scalar_kind")
        or (hasattr(value, "__float__") and hasattr(value, "item") and not is_tensor_like(value))
    )


def pointwise_layout(shape: tuple[int, ...], layouts: Sequence[Layout]) -> Layout:
    """The layout of a pointwise result: dense, its dimensions ordered like the operands'.

    Row-major operands give a row-major result, dense ones with the same strides those strides;
    otherwise dimensions are sorted by the operands' strides.
    """
    if all(layout.row_major for layout in layouts):
        return contiguous(shape)
    if all(layout.shape == shape for layout in layouts):
        if all(layout.is_contiguous() for layout in layouts):
            return contiguous(shape)
        first = layouts[0]
        if first.is_dense() and all(layout.strides == first.strides for layout in layouts):
            return Layout(shape, first.strides, 0)
    order = stride_order(shape, [_broadcast_strides(layout, shape) for layout in layouts])
    strides: list[int] = [0] * len(shape)
    running: int = 1
    for dim in order:
        strides[dim] = running
        running = running * shape[dim]
    return Layout(shape, tuple(strides), 0)


def _broadcast_strides(layout: Layout, shape: tuple[int, ...]) -> list[int]:
    added = len(shape) - len(layout.shape)
    triples = zip(layout.shape, layout.strides, shape[added:], strict=True)
    return [0] * added + [0 if size == 1 != whole else stride for size, stride, whole in triples]


def own_layout(op: Op, args: Sequence[Any], shape: Sequence[int], at: int = 0) -> Layout | None:
    """The layout that a row gives its result `at`; None where the row says nothing of it."""
    if at in op.columns:
        return column_major(tuple(shape))
    if op.lays is not None:
        return op.lays(args[0].layout, shape, *args[1:])
    return pointwise_layout(tuple(shape), [args[0].layout]) if op.keeps else None


def stride_order(shape: tuple[int, ...], operands: list[list[int]]) -> list[int]:
    """Dimensions from fastest to slowest, by insertion as TensorIterator sorts them."""
    order = list(range(len(shape) - 1, -1, -1))

    def should_swap(a: int, b: int) -> int:
        for strides in operands:
            if strides[a] == 0 or strides[b] == 0:
                continue
            if strides[a] != strides[b]:
                return 1 if strides[a] > strides[b] else -1
            if shape[a] > shape[b]:
                return 1
        return 0

    for index in range(1, len(order)):
        at = index
        for before in range(index - 1, -1, -1):
            verdict = should_swap(order[before], order[at])
            if verdict > 0:
                order[before], order[at] = order[at], order[before]
                at = before
            elif verdict < 0:
                break
    return order


def reduced_shape(shape: Sequence[int], dims: Sequence[int], keepdim: bool) -> tuple[int, ...]:
    """The shape after reducing `dims` (non-negative)."""
    if keepdim:
        return tuple(1 if index in dims else size for index, size in enumerate(shape))
    return tuple(size for index, size in enumerate(shape) if index not in dims)


def infer_reduction(self: Any, dim: Any, keepdim: bool, result: dtypes.dtype) -> Meta:
    """The Meta of a reduction over `dim` (an int, several, or None for all).

    UnsupportedDtype where it would compute with floats of eight bits.
    """
    if result.is_stored_only:
        raise UnsupportedDtype(
            f"a reduction to {result}",
            f"there is no such kernel: \"sum_cpu\" not implemented for '{result.title}'",
            "convert to float32 first",
        )
    dims = normalize_dims(dim, self.ndim)
    return Meta(reduced_shape(self.shape, dims, keepdim), result)


def sum_dtype(self: Any, dtype: dtypes.dtype | None) -> dtypes.dtype:
    """The dtype of a sum or product: integers and bools add up in int64."""
    if dtype is not None:
        return dtype
    return self.dtype if self.dtype.differentiable else dtypes.int64


def shown_dtype(op: Op, base: dtypes.dtype, rest: Sequence[Any] = ()) -> dtypes.dtype:
    """The dtype of a view of a tensor of dtype `base`, with the view's other arguments."""
    return base if op.element is None else op.element(base, *rest)


def infer(op: Op, args: Sequence[Any]) -> Any:
    """The Meta (or tuple of Metas) of any primitive's results, from its arguments."""
    if op.infer is not None:
        return op.infer(*args)
    if op.kind == "pointwise":
        return infer_pointwise(op, args)
    if op.view is not None:
        layout = op.view(contiguous(tuple(args[0].shape)), *args[1:])
        return Meta(layout.shape, shown_dtype(op, args[0].dtype, args[1:]))
    raise TypeError(f"op {op.name} has no rule that gives its result's type")


name_calls(call.__code__, describe)

"""Nested Python values as a numpy array: what `tensor(data)` makes of numbers, lists and arrays.

In: numbers, nested lists and tuples, arrays, tensors of one element among them, and the dtype that
is wanted, or None. Out: a fresh array of that dtype; without one, floats become the default dtype,
integers int64, bools bool.

    >>> array_of([[1, 2], [3, 4]], dtypes.float64).tolist()
    [[1.0, 2.0], [3.0, 4.0]]

Source: torch.tensor, whose refusals are said in its words.
"""

from typing import Any

import numpy

from minitorch2 import dtypes
from minitorch2.backends.quiet import restore, silence
from minitorch2.errors import ArgumentTypeError, ArgumentValueError, OperationError
from minitorch2.ops.conversions import converted
from minitorch2.tensors import Tensor


def array_of(data: Any, wanted: dtypes.dtype | None) -> numpy.ndarray:
    """A fresh numpy array with the elements of nested Python values.

    ArgumentValueError for uneven lists, OperationError for what is no number or does not fit.
    """
    if isinstance(data, numpy.ndarray | numpy.generic):
        array = numpy.array(data)
        dtypes.from_numpy_dtype(array.dtype)
    else:
        data = _plain(data)
        try:
            array = numpy.array(data)
        except (ValueError, OverflowError) as problem:
            array = _uneven(data, str(problem))
        if array.dtype.kind not in "bifc":
            raise _no_elements(data)
        if wanted is not None:
            _check_held(array, wanted)
        elif array.size and isinstance(_first_leaf(data), numpy.generic):
            dtypes.from_numpy_dtype(array.dtype)  # numpy's numbers keep their dtype
        elif array.dtype.kind == "c":
            wanted = dtypes.get_default_dtype().to_complex()
        elif array.dtype.kind == "f" or array.size == 0:
            wanted = dtypes.get_default_dtype()
    if wanted is None:
        return array
    token = silence()
    try:
        return converted(array, wanted.numpy)
    finally:
        restore(token)


def _uneven(data: Any, problem: str) -> numpy.ndarray:
    """What lists of several lengths are: none, where the first of them are empty; else an error."""
    sizes: list[int] = []
    level, rows = data, [data]
    while isinstance(level, list):
        sizes.append(len(level))
        for row in rows:
            if not isinstance(row, list) or len(row) != sizes[-1]:
                held = f"(got {len(row)})" if isinstance(row, list) else "(got no sequence)"
                raise ArgumentValueError(
                    "tensor(nested lists)",
                    f"expected sequence of length {sizes[-1]} at dim {len(sizes) - 1} {held}",
                    "make all rows the same length",
                )
        if not level:
            return numpy.zeros(sizes)
        rows = [each for row in rows for each in row]
        level = level[0]
        if isinstance(level, list) and not level:
            return numpy.zeros([*sizes, 0])
    raise ArgumentValueError("tensor(nested lists)", problem, "make all rows the same length")


def _first_leaf(data: Any) -> Any:
    while isinstance(data, list) and data:
        data = data[0]
    return data


def _no_elements(data: Any) -> Exception:
    """The error for what no dtype holds: texts, objects, whole numbers of more than 64 bits."""
    asked, fix = (
        f"tensor({type(data).__name__})",
        "give numbers, lists of numbers, or arrays",
    )
    leaf = _first_leaf(data)
    if isinstance(leaf, int):
        return ArgumentValueError(asked, "Overflow when unpacking long long", "use floats")
    if isinstance(data, str):
        return ArgumentTypeError(asked, "new(): invalid data type 'str'", fix)
    if isinstance(leaf, str):
        return ArgumentValueError(asked, "too many dimensions 'str'", fix)
    return OperationError(asked, f"Could not infer dtype of {type(leaf).__name__}", fix)


def _check_held(array: numpy.ndarray, wanted: dtypes.dtype) -> None:
    """OperationError for numbers that an integer dtype cannot hold; TypeError for lost parts."""
    if array.dtype.kind == "c" and not wanted.is_complex and wanted is not dtypes.bool:
        whole = wanted.category == dtypes.INTEGER
        raise ArgumentTypeError(
            f"tensor(complex numbers, dtype={wanted})",
            "'complex' object cannot be interpreted as an integer"
            if whole
            else "must be real number, not complex",
        )
    if wanted.category != dtypes.INTEGER or not array.size or array.dtype.kind == "b":
        return
    for value in (array.min().item(), array.max().item()):
        if not dtypes.can_hold(wanted, value):
            raise OperationError(
                f"tensor({value}, dtype={wanted})",
                f"value cannot be converted to type {wanted.name} without overflow",
                "use a wider dtype",
            )


def _plain(data: Any) -> Any:
    """Nested sequences with tensors inside replaced by their values."""
    if isinstance(data, Tensor):
        if data.numel() != 1:
            raise ArgumentValueError(
                f"tensor([a tensor of shape {list(data.shape)}, ...])",
                "only one element tensors can be converted to Python scalars",
                "use torch.stack(tensors)",
            )
        return data.item()
    if isinstance(data, (list, tuple, range)):
        return [_plain(part) for part in data]
    if hasattr(data, "__array__") and not isinstance(data, numpy.generic):
        return numpy.asarray(data)
    return data

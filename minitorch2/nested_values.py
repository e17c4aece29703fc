"""Nested Python values as a numpy array: what `tensor(data)` makes of numbers, lists and arrays.

In: numbers, nested lists and tuples, arrays, tensors of one element among them, and the dtype that
is wanted, or None. Out: a fresh array of that dtype; without one, floats become the default dtype,
integers int64, bools bool; tensors, arrays and numpy's numbers among them count with their own.

    >>> array_of([[1, 2], [3, 4]], dtypes.float64).tolist()
    [[1.0, 2.0], [3.0, 4.0]]

Source: torch.tensor, whose refusals are said in its words.
"""

import functools
from collections.abc import Iterator
from typing import Any

import numpy

from minitorch2 import dtypes
from minitorch2.backends.quiet import restore, silence
from minitorch2.errors import ArgumentTypeError, ArgumentValueError, NumberTooLarge, OperationError
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
        array, wanted = _of_values(data, wanted)
    if wanted is None:
        return array
    token = silence()
    try:
        return converted(array, wanted.numpy)
    finally:
        restore(token)


def _of_values(data: Any, wanted: dtypes.dtype | None) -> tuple[numpy.ndarray, dtypes.dtype | None]:
    """The elements of nested Python values, and the dtype they are to have, if another."""
    found: set[dtypes.dtype | type] = set()
    data = _plain(data, found)
    typed = {each if isinstance(each, dtypes.dtype) else _kind(each) for each in found}
    long = wanted is dtypes.uint64 and typed <= {bool, int}  # some are too large for int64
    try:
        array = numpy.array(data, numpy.uint64 if long else None)
    except (OverflowError, TypeError) as problem:
        raise _no_elements(data, wanted) from problem
    except ValueError as problem:
        array = _uneven(data, str(problem))
    own = any(isinstance(each, dtypes.dtype) for each in typed)
    numbers = all(isinstance(each, dtypes.dtype) or each in _NUMBERS for each in typed)
    if array.size and numbers and not long and array.dtype.kind in "Ouf":
        array = _with_long_integers(data, array, typed, wanted)
    if array.dtype.kind not in "biufc":
        raise _no_elements(data, wanted)
    if wanted is not None:
        _check_held(array, wanted)
    elif own:
        wanted = functools.reduce(dtypes.promote_types, map(_dtype_of_leaf, typed))
    elif array.dtype.kind == "c":
        wanted = dtypes.get_default_dtype().to_complex()
    elif array.dtype.kind == "f" or array.size == 0:
        wanted = dtypes.get_default_dtype()
    return array, wanted


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


def _leaves(data: Any) -> Iterator[Any]:
    if not isinstance(data, list):
        yield data
        return
    for part in data:
        yield from _leaves(part)


def _no_elements(data: Any, wanted: dtypes.dtype | None) -> Exception:
    """The error for what no dtype holds: texts, objects, whole numbers of more than 64 bits."""
    asked = f"tensor({type(data).__name__}{'' if wanted is None else f', dtype={wanted}'})"
    fix = "give numbers, lists of numbers, or arrays"
    leaves = list(_leaves(data))
    strange = [
        each
        for each in leaves
        if _kind(type(each)) not in _NUMBERS and not isinstance(each, numpy.generic | numpy.ndarray)
    ]
    if not strange:
        return _too_long(asked, leaves, wanted)
    leaf, kind = strange[0], type(strange[0]).__name__
    if isinstance(leaf, str) and isinstance(data, list) and leaf is leaves[0]:
        return ArgumentValueError(asked, "too many dimensions 'str'", fix)
    if wanted is not None and not isinstance(data, str):
        whole = wanted.category == dtypes.INTEGER
        wrong = f"'{kind}' object cannot be interpreted as an integer"
        return ArgumentTypeError(asked, wrong if whole else f"must be real number, not {kind}", fix)
    if isinstance(leaf, str):
        return ArgumentTypeError(asked, "new(): invalid data type 'str'", fix)
    return OperationError(asked, f"Could not infer dtype of {kind}", fix)


def _too_long(asked: str, leaves: list[Any], wanted: dtypes.dtype | None) -> Exception:
    """The error for whole numbers that 64 bits do not hold."""
    if wanted is not dtypes.uint64:
        return ArgumentValueError(asked, "Overflow when unpacking long long", "use floats")
    if next(each for each in leaves if not 0 <= each < 2**64) < 0:
        fix = "give numbers from 0 on, or convert: torch.tensor(data).to(torch.uint64)"
        return NumberTooLarge(asked, "can't convert negative int to unsigned", fix)
    return NumberTooLarge(asked, "int too big to convert", "use floats")


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
    if wanted is dtypes.uint64 and array.size and array.dtype.kind == "f":
        raise ArgumentTypeError(f"tensor(floats, dtype={wanted})", "an integer is required")
    if wanted.category != dtypes.INTEGER or not array.size or array.dtype.kind == "b":
        return
    for value in (array.min().item(), array.max().item()):
        _check_one_held(value, wanted)


def _check_one_held(value: Any, wanted: dtypes.dtype) -> None:
    if not dtypes.can_hold(wanted, value):
        raise OperationError(
            f"tensor({value}, dtype={wanted})",
            f"value cannot be converted to type {wanted.name} without overflow",
            "use a wider dtype",
        )


def _with_long_integers(
    data: Any, array: numpy.ndarray, typed: set, wanted: dtypes.dtype | None
) -> numpy.ndarray:
    """The array, with whole numbers that float64 or int64 lacks as what is wanted takes them."""
    parts = [each if isinstance(each, dtypes.dtype) else _DTYPES[each] for each in typed]
    whole_parts = int in typed or any(each.category == dtypes.INTEGER for each in parts)
    if not whole_parts or (array.dtype.kind == "u" and int not in typed):
        return array
    if wanted is None:
        whole = functools.reduce(dtypes.promote_types, parts).category <= dtypes.INTEGER
    else:
        whole = wanted.category == dtypes.INTEGER
    if not whole:
        if array.dtype.kind == "f":
            return array
        return numpy.array(data, numpy.complex128 if complex in typed else numpy.float64)
    if wanted is dtypes.uint64:  # which takes no floats: said where what does not fit is
        return array
    values = numpy.array(data, object)
    numbers = [each.item() if isinstance(each, numpy.generic) else each for each in values.flat]
    for each in numbers:
        if isinstance(each, int) and not dtypes.can_hold(dtypes.int64, each):
            raise _no_elements(data, wanted)
        _check_one_held(each, wanted or dtypes.int64)
    return numpy.array(list(map(int, numbers)), numpy.int64).reshape(values.shape)


_NUMBERS = (bool, int, float, complex)
_DTYPES = {bool: dtypes.bool, int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128}


def _kind(leaf: type) -> type:
    """The type of Python's numbers that a type derives from, or itself."""
    return next((each for each in _NUMBERS if issubclass(leaf, each)), leaf)


def _dtype_of_leaf(leaf: dtypes.dtype | type) -> dtypes.dtype:
    """What a tensor's dtype, or a type of Python's numbers, counts as."""
    return leaf if isinstance(leaf, dtypes.dtype) else dtypes.dtype_of_number(leaf())


def _plain(data: Any, typed: set[dtypes.dtype | type]) -> Any:
    """Nested sequences with tensors inside replaced by their values.

    `typed` gets the dtypes of what has one, and the types of other leaves.
    """
    if isinstance(data, Tensor):
        if data.numel() != 1:
            raise ArgumentValueError(
                f"tensor([a tensor of shape {list(data.shape)}, ...])",
                "only one element tensors can be converted to Python scalars",
                "use torch.stack(tensors)",
            )
        typed.add(data.dtype)
        return data.item()
    if isinstance(data, (list, tuple, range)):
        return [_plain(part, typed) for part in data]
    if hasattr(data, "__array__"):
        if not isinstance(data, numpy.generic):
            data = numpy.asarray(data)
        if data.dtype.kind in "biufcV":
            typed.add(dtypes.from_numpy_dtype(data.dtype))
        return data
    typed.add(type(data))
    return data

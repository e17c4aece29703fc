"""Functions of the package that are no rows of the op table: queries, extrema, comparisons, grids.

In: tensors. Out: tensors, numbers or truth values. Everything here is made of rows.

    >>> from minitorch2 import tensor
    >>> allclose(tensor([1.0]), tensor([1.0 + 1e-9]))
    True

Source: torch's documentation of each function.
"""

import os
from typing import Any

from minitorch2 import dtypes
from minitorch2.backends import blas
from minitorch2.config import config
from minitorch2.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DtypeError,
    OperationError,
    ShapeError,
)
from minitorch2.layouts import broadcast_shapes
from minitorch2.ops.infer import check_element
from minitorch2.ops.outputs import into
from minitorch2.ops.signature import as_tensors
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor

_minimum, _maximum = lookup("minimum").public, lookup("maximum").public
_stack = lookup("stack").public


def is_tensor(obj: Any) -> bool:
    """Whether an object is a Tensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input: Any) -> bool:
    """Whether a tensor's dtype is floating."""
    return input.dtype.is_floating_point


def is_complex(input: Any) -> bool:
    """Whether a tensor's dtype is complex."""
    return input.dtype.is_complex


def is_conj(input: Any) -> bool:
    """Whether a conjugate is put off: never."""
    return False


def numel(input: Any) -> int:
    """The number of elements."""
    return input.numel()


def max(
    input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None, out: Any = None
) -> Any:
    """The largest element; along `dim` (values, indices); or the larger of two tensors."""
    if out is not None and (other is not None or is_tensor(dim)):
        return _maximum(input, dim if other is None else other, out=out)
    return into("max", out, input.max(dim, keepdim, other=other), True)


def min(
    input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None, out: Any = None
) -> Any:
    """The smallest element; along `dim` (values, indices); or the smaller of two tensors."""
    if out is not None and (other is not None or is_tensor(dim)):
        return _minimum(input, dim if other is None else other, out=out)
    return into("min", out, input.min(dim, keepdim, other=other), True)


def sort(
    input: Any, dim: int = -1, descending: bool = False, stable: bool = False, *, out: Any = None
) -> Any:
    """The elements of a dimension in order, and where they were."""
    return into("sort", out, input.sort(dim, descending, stable=stable), True)


def topk(
    input: Any,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    out: Any = None,
) -> Any:
    """The k largest (or smallest) elements of a dimension, and where they are."""
    return into("topk", out, input.topk(k, dim, largest, sorted), True)


def isclose(
    input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Whether |input - other| <= atol + rtol * |other|, element by element."""
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value < 0:
            raise OperationError(
                f"isclose({name}={value})",
                f"{name} must be greater than or equal to zero, but got {value}",
            )
    if input.dtype is not other.dtype:
        raise DtypeError(
            f"isclose({input.dtype}, {other.dtype})",
            f"{input.dtype.title} did not match {other.dtype.title}",
            "convert one first",
        )
    same = input == other
    if equal_nan and input.dtype.is_floating_point:
        same = same | (input.isnan() & other.isnan())
    if rtol == 0 and atol == 0:
        return same
    if input.dtype is dtypes.bool:
        return same
    if input.dtype.letter == "u":  # which has no difference
        input, other = input.double(), other.double()
    gap = (input - other).abs()
    near = (gap <= other.abs() * rtol + atol) & gap.isfinite()
    return same | near


def allclose(
    input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Whether all elements are close, as in `isclose`."""
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


def equal(input: Any, other: Any) -> bool:
    """Whether two tensors have the same shape and the same elements."""
    if not is_tensor(other):
        kind = type(other).__name__
        raise ArgumentTypeError(
            f"equal(..., {kind})",
            f"equal(): argument 'other' (position 2) must be Tensor, not {kind}",
        )
    return tuple(input.shape) == tuple(other.shape) and bool((input == other).all())


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple:
    """Coordinates of a grid, one tensor for each vector; 'xy' exchanges the first two."""
    vectors = list(tensors[0]) if len(tensors) == 1 and not is_tensor(tensors[0]) else list(tensors)
    _check_vectors(vectors)
    if indexing not in ("ij", "xy"):
        raise OperationError(
            f"meshgrid(indexing={indexing!r})",
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}',
            "use 'ij' for matrix order",
        )
    exchanged = indexing == "xy" and len(vectors) >= 2
    if exchanged:
        vectors[0], vectors[1] = vectors[1], vectors[0]
    sizes = tuple(vector.numel() for vector in vectors)
    grids = [
        vector.reshape((1,) * at + (-1,) + (1,) * (len(sizes) - at - 1)).expand(sizes)
        for at, vector in enumerate(vectors)
    ]
    if exchanged:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


def _check_vectors(vectors: list[Any]) -> None:
    """OperationError unless meshgrid's tensors are one or more vectors or numbers of one dtype."""
    wrong = ""
    if not vectors:
        wrong = "meshgrid expects a non-empty TensorList"
    elif any(vector.dtype is not vectors[0].dtype for vector in vectors):
        wrong = "meshgrid expects all tensors to have the same dtype"
    elif any(vector.ndim > 1 for vector in vectors):
        shapes = [list(vector.shape) for vector in vectors]
        wrong = f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {shapes}"
    if wrong:
        raise OperationError("meshgrid()", wrong, "give vectors of one dtype")


def some_tensors(name: str, tensors: Any) -> list[Any]:
    """The tensors to be stacked, at least one."""
    given = as_tensors(tensors, "tensors", name)
    if not given:
        wrong = f"{name} expects a non-empty TensorList"
        raise OperationError(f"{name}()", wrong, "give a list of tensors")
    for at, each in enumerate(given):
        check_element(name, at, each)
    return list(given)


def broadcast_tensors(*tensors: Any) -> tuple:
    """The tensors, each expanded to their common shape."""
    for at, each in enumerate(tensors):
        check_element("broadcast_tensors", at, each)
    shape = broadcast_shapes(*(tuple(tensor.shape) for tensor in tensors))
    return tuple(tensor.expand(shape) for tensor in tensors)


def broadcast_to(input: Any, shape: Any) -> Any:
    """The tensor expanded to a shape."""
    return input.expand(tuple(shape))


def hstack(tensors: Any, *, out: Any = None) -> Any:
    """Tensors side by side: along dimension 1, or 0 for vectors."""
    given = some_tensors("hstack", tensors)
    parts = [tensor.reshape(1) if tensor.ndim == 0 else tensor for tensor in given]
    return lookup("cat").public(parts, 0 if parts[0].ndim == 1 else 1, out=out)


def vstack(tensors: Any, *, out: Any = None) -> Any:
    """Tensors one below the other: along dimension 0, vectors as rows."""
    given = some_tensors("vstack", tensors)
    parts = [tensor.reshape(1, -1) if tensor.ndim < 2 else tensor for tensor in given]
    return lookup("cat").public(parts, 0, out=out)


def _from_sublists(*parts: Any) -> list[Any]:
    """The equation and the operands of `einsum(a, [0, 1], b, [1, 2], [0, 2])`."""
    if not is_tensor(parts[0]):
        raise ArgumentValueError("einsum()", "einsum(): the first argument must be an equation")
    operands, lists = list(parts[: len(parts) // 2 * 2 : 2]), list(parts[1::2])
    names = []
    for subscripts in (*lists, *([parts[-1]] if len(parts) % 2 else [])):
        for each in subscripts:
            if each is not Ellipsis and not 0 <= each < 52:
                raise OperationError(
                    "einsum()",
                    f"not in accepted range of subscripts [0, 52), but found {each}",
                )
        letters = ("..." if each is Ellipsis else _LETTERS[each] for each in subscripts)
        names.append("".join(letters))
    arrow = "->" + names.pop() if len(parts) % 2 else ""
    return [",".join(names) + arrow, *operands]


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _check_subscripts(equation: str, inputs: list[str], output: str | None, count: int) -> None:
    """What torch refuses of an equation before it looks at shapes."""
    wrong = ""
    if len(inputs) != count:
        few = "fewer operands were provided" if len(inputs) > count else "more operands were given"
        wrong = f"einsum(): {few} than specified in the equation"
    for text in (*inputs, output or ""):
        for letter in text.replace("...", ""):
            if letter not in _LETTERS:
                wrong = wrong or (
                    f"einsum(): invalid subscript given at index {equation.find(letter)} in the "
                    "equation string, subscripts must be in [a-zA-Z]"
                )
    for letter in (output or "").replace("...", ""):
        if letter not in "".join(inputs):
            wrong = wrong or (
                f"einsum(): output subscript {letter} does not appear in the equation for any "
                "input operand"
            )
        elif (output or "").count(letter) > 1:
            wrong = wrong or (
                f"einsum(): output subscript {letter} appears more than once in the output"
            )
    if wrong:
        raise OperationError(f"einsum({equation!r}) of {count} operands", wrong)


def einsum(equation: Any, *operands: Any) -> Any:
    """Sums of products by Einstein's notation: `einsum('bij,bjk->bik', a, b)`.

    Operands are taken in from the left, two at a time: letters that nothing further needs are
    summed at once, by a batched matrix product where both have them.
    """
    if not isinstance(equation, str):
        equation, *given = _from_sublists(equation, *operands)
        operands = tuple(given)
    tensors = list(operands[0]) if len(operands) == 1 and not is_tensor(operands[0]) else operands
    inputs, output = _parse_einsum(equation, tensors)
    _check_sizes(equation, inputs, tensors)
    left, letters = _only_once(tensors[0], inputs[0])
    for at in range(1, len(inputs)):
        right, others = _only_once(tensors[at], inputs[at])
        needed = set(output).union(*inputs[at + 1 :])
        left, letters = _contract(left, letters, right, others, needed)
    left, letters = _summed(left, letters, set(output))
    return left.permute(*[letters.index(letter) for letter in output]) if output else left


def _check_sizes(equation: str, inputs: list[str], operands: Any) -> None:
    """ShapeError where a letter's sizes do not broadcast, or differ within one operand."""
    seen: dict[str, int] = {}
    for at, (part, operand) in enumerate(zip(inputs, operands, strict=True)):
        own: dict[str, int] = {}
        for letter, size in zip(part, operand.shape, strict=True):
            wrong = ""
            if own.setdefault(letter, size) != size:
                wrong = (
                    f"einsum(): subscript {letter} is repeated for operand {at} but the sizes "
                    f"don't match, {size} != {own[letter]}"
                )
            elif seen.get(letter, 1) != 1 and size != 1 and seen[letter] != size:
                wrong = (
                    f"einsum(): subscript {letter} has size {size} for operand {at} which does not "
                    f"broadcast with previously seen size {seen[letter]}"
                )
            if wrong:
                raise ShapeError(f"einsum({equation!r})", wrong)
            if seen.get(letter, 1) == 1:
                seen[letter] = size


def _parse_einsum(equation: str, operands: Any) -> tuple[list[str], str]:
    """The letters of each operand and of the result; an ellipsis becomes capital letters."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    inputs = left.split(",")
    _check_subscripts(equation, inputs, right if arrow else None, len(operands))
    spare = [chr(code) for code in range(0x391, 0x3C0)]  # Greek letters stand for '...'
    widths = [
        operand.ndim - len(part.replace("...", "")) if "..." in part else 0
        for part, operand in zip(inputs, operands, strict=True)
    ]
    most = sorted(widths)[-1]
    full = [
        part.replace("...", "".join(spare[most - width : most]))
        for part, width in zip(inputs, widths, strict=True)
    ]
    for at, (part, operand) in enumerate(zip(full, operands, strict=True)):
        if len(part) != operand.ndim:
            raise ShapeError(
                f"einsum({equation!r})",
                f"einsum(): the number of subscripts in the equation ({len(part)}) does not match "
                f"the number of dimensions ({operand.ndim}) for operand {at} and no ellipsis was "
                "given",
                "write one letter for each dimension, or '...'",
            )
    if arrow:
        return full, right.replace("...", "".join(spare[:most]))
    joined = "".join(full)
    once = sorted(letter for letter in set(joined) if joined.count(letter) == 1)
    once = [letter for letter in once if letter not in spare]
    return full, "".join(spare[:most]) + "".join(once)


def _only_once(tensor: Any, letters: str) -> tuple[Any, str]:
    """A repeated letter takes the diagonal."""
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            tensor = tensor.diagonal(0, first, second)
            letters = letters[:first] + letters[first + 1 : second] + letters[second + 1 :]
            letters += letter
    return tensor, letters


def _summed(tensor: Any, letters: str, needed: set[str]) -> tuple[Any, str]:
    """Sum over the letters that are not needed."""
    gone = [at for at, letter in enumerate(letters) if letter not in needed]
    if not gone:
        return tensor, letters
    return tensor.sum(gone), "".join(letter for letter in letters if letter in needed)


def _contract(a: Any, x: str, b: Any, y: str, needed: set[str]) -> tuple[Any, str]:
    """Multiply two operands and sum the letters both have and nothing else needs."""
    a, x = _summed(a, x, needed | set(y))
    b, y = _summed(b, y, needed | set(x))
    both = [letter for letter in x if letter in y]
    batch = [letter for letter in both if letter in needed]
    inner = [letter for letter in both if letter not in needed]
    rows = [letter for letter in x if letter not in y]
    columns = [letter for letter in y if letter not in x]
    a = a.permute(*[x.index(letter) for letter in batch + rows + inner])
    b = b.permute(*[y.index(letter) for letter in batch + inner + columns])
    size: dict[str, Any] = {}
    for letters, tensor in ((batch + rows + inner, a), (batch + inner + columns, b)):
        for letter, length in zip(letters, tensor.shape, strict=True):
            if size.get(letter, 1) == 1:
                size[letter] = length
    shape = [size[letter] for letter in batch]
    a = a.expand([size[letter] for letter in batch + rows + inner])
    b = b.expand([size[letter] for letter in batch + inner + columns])
    k = _product(size, inner)
    product = a.reshape(*shape, _product(size, rows), k) @ b.reshape(
        *shape, k, _product(size, columns)
    )
    letters = batch + rows + columns
    return product.reshape([size[letter] for letter in letters]), "".join(letters)


def _product(size: dict[str, Any], letters: list[str]) -> Any:
    count = 1
    for letter in letters:
        count = count * size[letter]
    return count


def set_num_threads(count: int) -> None:
    """Use at most `count` threads for compiled kernels and for large matrix products."""
    if not isinstance(count, int) or count < 1:
        kind = type(count).__name__
        wrong = "a positive integer" if isinstance(count, int) else f"an int, but got {kind}"
        raise OperationError(
            f"set_num_threads({count})", f"set_num_threads expects {wrong}", "give 1 or more"
        )
    config.threads = count
    blas.set_threads(count)


def get_num_threads() -> int:
    """How many threads compiled kernels use at most."""
    return config.threads or os.cpu_count() or 1

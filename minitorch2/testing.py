"""torch.testing: whether values are close enough, in words where they are not; tensors to try.

In: tensors, numbers, arrays, or lists, tuples and dicts of them. Out: nothing, or AssertionError
that says how many elements differ, by how much and where.

    >>> import minitorch2 as torch
    >>> assert_close(torch.tensor([1.0]), torch.tensor([1.0 + 1e-7]))

Source: torch.testing.assert_close.
"""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from minitorch2 import dtypes, formats
from minitorch2.creation import from_numpy, rand, randint, tensor
from minitorch2.errors import ArgumentTypeError, ArgumentValueError
from minitorch2.functions import isclose
from minitorch2.tensors import Tensor

# (rtol, atol) by dtype; 0 for integers and bools.
TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raise AssertionError unless |actual - expected| <= atol + rtol * |expected| everywhere.

    Both tolerances come from the dtypes unless both are given. nan is close to nan only with
    `equal_nan`. Shapes, and what the `check_` switches say, must agree.
    """
    if (rtol is None) != (atol is None):
        raise ArgumentValueError(
            "assert_close(rtol, atol)",
            "rtol and atol must both be specified or both be unspecified",
            "give both",
        )
    checks = {
        "dtype": check_dtype, "device": check_device, "layout": check_layout, "stride": check_stride
    }  # fmt: skip
    problem = _difference(actual, expected, rtol, atol, equal_nan, checks)
    if problem:
        text = msg(problem) if callable(msg) else problem if msg is None else msg
        raise AssertionError(text)


# The bounds that make_tensor draws from, where none are given.
RANGES = {dtypes.bool: (0, 2), dtypes.uint8: (0, 10)}


def make_tensor(
    *shape: Any,
    dtype: dtypes.dtype,
    device: Any = None,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Any:
    """A tensor of numbers drawn uniformly from [low, high), integers or not as the dtype says.

    Both parts of complex numbers are drawn. With `noncontiguous` every other element of the memory
    is used; with `exclude_zero` zeros become the smallest positive number.
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    whole = dtype.category <= dtypes.INTEGER
    usual = RANGES.get(dtype, (-9, 10) if whole else (-9, 9))
    low, high = (
        given if given is not None else use for given, use in zip((low, high), usual, strict=True)
    )
    if low >= high and not (low == high and not whole):
        raise ArgumentValueError(
            f"make_tensor(low={low}, high={high})",
            f"`low` must be less than `high`, but got {low} >= {high}",
        )
    wide = sizes if not noncontiguous or not sizes else (*sizes[:-1], 2 * sizes[-1])
    if whole:
        made = randint(math.floor(low), math.ceil(high), wide, device=device).to(dtype)
    else:
        part = dtypes.float64 if dtype.itemsize >= 8 and dtype is not dtypes.complex64 else None
        made = rand(wide, dtype=part, device=device) * (high - low) + low
        if dtype.is_complex:
            made = made + (rand(wide, dtype=part, device=device) * (high - low) + low) * 1j
        made = made.to(dtype)
    if noncontiguous and sizes:
        made = made[..., ::2]
    if memory_format is not None:
        made = made.clone(memory_format=memory_format)
    if exclude_zero:
        made[made == 0] = 1 if whole else dtypes.finfo(dtype).tiny
    return made.requires_grad_() if requires_grad else made


def _difference(
    actual: Any, expected: Any, rtol: Any, atol: Any, equal_nan: bool, checks: dict, path: str = ""
) -> str:
    """What differs, in words; empty where nothing does."""
    given = (rtol, atol, equal_nan, checks)
    where = f"\n\nThe failure occurred for item {path}" if path else ""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            return (
                f"The keys of the mappings do not match:\n{list(actual)}, {list(expected)}{where}"
            )
        pairs = [(key, actual[key], expected[key]) for key in sorted(expected, key=str)]
    elif _is_list(actual) and _is_list(expected):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{where}"
        pairs = [(at, a, b) for at, (a, b) in enumerate(zip(actual, expected, strict=True))]
    else:
        return _tensor_difference(actual, expected, *given, where)
    for key, a, b in pairs:
        found = _difference(a, b, *given, f"{path}[{key!r}]")
        if found:
            return found
    return ""


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _as_tensor(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach()
    if isinstance(value, numpy.ndarray):
        return from_numpy(value.copy())
    if isinstance(value, bool | int | float | complex):
        wide = dtypes.float64 if isinstance(value, float) else None
        return tensor(value, dtype=dtypes.complex128 if isinstance(value, complex) else wide)
    return None


def _tensor_difference(
    actual: Any, expected: Any, rtol: Any, atol: Any, equal_nan: bool, checks: dict, where: str
) -> str:
    a, b = _as_tensor(actual), _as_tensor(expected)
    if a is None or b is None or isinstance(actual, Tensor) != isinstance(expected, Tensor):
        if actual is None and expected is None:
            return ""
        if actual is None or expected is None:
            return f"None mismatch: {actual} is not {expected}{where}"
        raise ArgumentTypeError(
            "assert_close()",
            f"No comparison pair was able to handle inputs of type {type(actual)} and "
            f"{type(expected)}.{where}",
            "compare tensors, arrays or numbers of one kind",
        )
    if tuple(a.shape) != tuple(b.shape):
        return f"The values for attribute 'shape' do not match: {a.shape} != {b.shape}.{where}"
    for name, wanted in checks.items():
        if not wanted or (name == "stride" and (a.is_sparse or b.is_sparse)):
            continue
        x, y = (_attribute(each, name) for each in (a, b))
        if x != y:
            return f"The values for attribute '{name}' do not match: {x} != {y}.{where}"
    a, b = (each.to_dense() if each.is_sparse or each.is_sparse_csr else each for each in (a, b))
    if rtol is None:
        pair = [TOLERANCES.get(t.dtype.name, (0.0, 0.0)) for t in (a, b)]
        rtol, atol = (max(each) for each in zip(*pair, strict=True))
    a, b = (each.float() if each.dtype.is_stored_only else each for each in (a, b))
    common = dtypes.promote_types(dtypes.promote_types(a.dtype, b.dtype), dtypes.uint8)
    a, b = a.to(common), b.to(common)
    close = isclose(a, b, rtol, atol, equal_nan)
    if bool(close.all()):
        return ""
    return _in_words(a, b, close, rtol, atol) + where


def _attribute(tensor: Any, name: str) -> Any:
    if name == "stride":
        return tensor.stride()
    if name != "layout":
        return getattr(tensor, name)
    kinds = {formats.sparse_coo: tensor.is_sparse, formats.sparse_csr: tensor.is_sparse_csr}
    return next((kind for kind, is_it in kinds.items() if is_it), formats.strided)


def _in_words(a: Any, b: Any, close: Any, rtol: float, atol: float) -> str:
    """What assert_close says of two tensors: how many elements differ, by how much and where."""
    exact = rtol == atol == 0
    kind = "Tensor-likes" if a.ndim else "Scalars"
    allowed = ["" if exact else f" (up to {each} allowed)" for each in (atol, rtol)]
    text = f"{kind} are not {'equal' if exact else 'close'}!\n\n"
    if not a.ndim:
        x, y = a.item(), b.item()
        gap = abs(x - y)
        ratio = gap / abs(y) if y else math.inf
        return text + (
            f"Expected {y} but got {x}.\nAbsolute difference: {gap}{allowed[0]}\n"
            f"Relative difference: {ratio}{allowed[1]}"
        )
    gaps, ratios = _differences(a, b, wrong := ~numpy.asarray(close.numpy()))
    text += f"Mismatched elements: {wrong.sum()} / {wrong.size} ({100 * wrong.mean():.1f}%)"
    for name, values, most in zip(("absolute", "relative"), (gaps, ratios), allowed, strict=True):
        place = numpy.unravel_index(numpy.nanargmax(numpy.nan_to_num(values, nan=-1)), values.shape)
        index = tuple(int(each) for each in place)
        text += f"\nGreatest {name} difference: {values[place].item()} at index {index}{most}"
    return text


def _differences(a: Any, b: Any, wrong: Any) -> tuple[Any, Any]:
    """How far apart the wrong elements are, and that by the expected ones, in floats of the dtype.

    Whole numbers are told as such, and their ratios in the default dtype.
    """
    if not (a.dtype.is_floating_point or a.dtype.is_complex):
        a, b = a.to(dtypes.int64), b.to(dtypes.int64)
    with numpy.errstate(all="ignore"):
        gaps = numpy.where(wrong, (a - b).abs().numpy(), 0)
        ratios = numpy.where(wrong, ((a - b).abs() / b.abs()).numpy(), 0)
    return gaps, ratios


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """assert_close without its checks of dtypes, with wider tolerances; deprecated, as in torch."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a "
        "future release. Please use `torch.testing.assert_close()` instead.",
        FutureWarning,
        stacklevel=2,
    )
    actual = actual if isinstance(actual, Tensor) else tensor(actual)
    expected = expected if isinstance(expected, Tensor) else tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        wider = {dtypes.float16: (1e-3, 1e-3), dtypes.float32: (1e-4, 1e-5)}
        wider[dtypes.float64] = (1e-5, 1e-8)
        pairs = [wider.get(each.dtype, (0.0, 0.0)) for each in (actual, expected)]
        rtol, atol = max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)
    checks = {"check_device": True, "check_dtype": False, "check_stride": False}
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, msg=msg or None, **checks
    )

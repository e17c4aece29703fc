"""Brackets judged by torch: mixes of integers and arrays, where numpy has other rules."""

from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.minitorch2.indices import indexed  # noqa: E402


@st.composite
def mixed(draw: Any) -> tuple:
    """As `indexed`, with some arrays turned into integers, also out of range."""
    shape, index = draw(indexed())
    parts = list(index) if isinstance(index, tuple) else [index]
    for at, part in enumerate(parts):
        if isinstance(part, numpy.ndarray) and part.dtype != bool and draw(st.booleans()):
            first = part.reshape(-1)[0]
            parts[at] = draw(st.sampled_from([int(first), numpy.asarray(first)]))
        elif isinstance(part, slice) and draw(st.integers(0, 9)) == 0:
            parts[at] = draw(st.integers(-5, 5))
        elif part is None and draw(st.integers(0, 5)) == 0:
            parts[at] = draw(st.booleans())
    return shape, tuple(parts)


def converted(index: Any, library: Any) -> Any:
    """The index with a library's tensors for arrays."""
    if isinstance(index, tuple):
        return tuple(converted(part, library) for part in index)
    return library.from_numpy(index) if isinstance(index, numpy.ndarray) else index


def outcome(library: Any, array: numpy.ndarray, index: Any, value: Any) -> Any:
    """What reading, the gradient, and writing give; or the kind of error."""
    x = library.from_numpy(array.copy()).requires_grad_()
    try:
        picked = x[converted(index, library)]
    except (IndexError, RuntimeError, ValueError) as error:
        return "error", isinstance(error, IndexError)
    (picked * picked).sum().backward()
    written = library.from_numpy(array.copy())
    try:
        written[converted(index, library)] = value
        after = written.tolist()
    except (IndexError, RuntimeError) as error:
        after = ["error", isinstance(error, IndexError)]
    return tuple(picked.shape), picked.tolist(), x.grad.tolist(), after


@given(mixed())
@settings(max_examples=500)
def test_brackets(case: tuple) -> None:
    """Values, shapes, gradients, writes and refusals."""
    shape, index = case
    array = numpy.arange(1.0, 1 + int(numpy.prod(shape))).reshape(shape)
    assert outcome(minitorch2, array, index, -1.0) == outcome(torch, array, index, -1.0)


@pytest.mark.parametrize("value", [2, 2.7, True, [1, 2, 3], [[5.5], [6.5]]])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "bfloat16", "uint8"])
def test_written_values_are_converted(value: Any, dtype: str) -> None:
    """Numbers and tensors of other dtypes, broadcast."""
    results = []
    for library in (minitorch2, torch):
        x = library.zeros(2, 3, dtype=getattr(library, dtype))
        x[:] = library.tensor(value) if isinstance(value, list) else value
        results.append(x.to(library.float32).tolist())
    assert results[0] == results[1]

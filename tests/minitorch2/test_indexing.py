"""Brackets: what they pick and write, beside numpy."""

from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minitorch2 as torch
from minitorch2.errors import ArgumentValueError, IndexOutOfRange
from tests.minitorch2.indices import indexed


def filled(shape: tuple) -> numpy.ndarray:
    """1, 2, 3 ... in a shape."""
    return numpy.arange(1, 1 + int(numpy.prod(shape)), dtype=numpy.float64).reshape(shape)


def converted(index: Any) -> Any:
    """The index with tensors for arrays."""
    if isinstance(index, tuple):
        return tuple(converted(part) for part in index)
    return torch.from_numpy(index) if isinstance(index, numpy.ndarray) else index


@given(indexed(), st.booleans())
@settings(max_examples=300)
def test_reading(case: tuple, as_tensors: bool) -> None:
    """Any mix of basic and advanced parts."""
    shape, index = case
    array = filled(shape)
    try:
        expected = array[index]
    except IndexError:
        return
    found = torch.from_numpy(array.copy())[converted(index) if as_tensors else index]
    assert tuple(found.shape) == numpy.shape(expected)
    assert found.tolist() == numpy.asarray(expected).tolist()


@given(indexed())
@settings(max_examples=300)
def test_writing(case: tuple) -> None:
    """A number, a full value, and one that is broadcast."""
    shape, index = case
    array = filled(shape)
    try:
        picked = numpy.shape(array[index])
    except IndexError:
        return
    for value in (-1.0, -filled(picked), -filled(picked[-1:])):
        expected, tensor = array.copy(), torch.from_numpy(array.copy())
        expected[index] = value
        tensor[converted(index)] = torch.tensor(value, dtype=torch.float64)
        if len(set(numpy.ravel(value).tolist())) == 1 or distinct(array, index):
            assert tensor.tolist() == expected.tolist()


def distinct(array: numpy.ndarray, index: Any) -> bool:
    """Whether no element is named twice (else the last write wins, in an open order)."""
    picked = numpy.ravel(array[index])
    return len(set(picked.tolist())) == picked.size


@given(indexed(advanced=False))
@settings(max_examples=200)
def test_basic_indices_are_views(case: tuple) -> None:
    """A write into what integers, slices, None and ... give reaches the tensor."""
    shape, index = case
    expected = filled(shape)
    try:
        expected[index] = 0.0
    except IndexError:
        return
    tensor = torch.from_numpy(filled(shape))
    view = tensor[index]
    view.fill_(0.0)
    assert tensor.tolist() == expected.tolist()
    assert view.storage is tensor.storage


@given(indexed())
@settings(max_examples=100)
def test_gradients_count_how_often_an_element_was_picked(case: tuple) -> None:
    """The gradient of a sum of picked elements."""
    shape, index = case
    array = filled(shape)
    try:
        picked = array[index]
    except IndexError:
        return
    x = torch.from_numpy(array).requires_grad_()
    x[converted(index)].sum().backward()
    counts = numpy.zeros(array.size)
    numpy.add.at(counts, numpy.ravel(picked).astype(int) - 1, 1)
    assert x.grad.tolist() == counts.reshape(shape).tolist()


def test_bad_indices() -> None:
    """The error names the index, the dimension and its size."""
    x = torch.zeros(2, 3)
    with pytest.raises(
        IndexOutOfRange, match="index 3 is out of bounds for dimension 1 with size 3"
    ):
        x[0, 3]
    with pytest.raises(IndexOutOfRange, match="out of bounds"):
        x[torch.tensor([0, 2])]
    with pytest.raises(IndexOutOfRange, match="too many indices"):
        x[0, 0, 0]
    with pytest.raises(IndexOutOfRange, match="mask"):
        x[torch.tensor([True, False, True])]
    with pytest.raises(ArgumentValueError, match="step must be greater than zero"):
        x[::-1]
    with pytest.raises(IndexOutOfRange, match="0-dim"):
        torch.tensor(1.0)[0]
    with pytest.raises(RuntimeError):
        x[0] = torch.zeros(4)


def test_masks() -> None:
    """Masks of one and of all dimensions, read and written."""
    x = torch.arange(6).reshape(2, 3)
    assert x[x > 2].tolist() == [3, 4, 5]
    x[x > 2] = 0
    assert x.tolist() == [[0, 1, 2], [0, 0, 0]]
    x[torch.tensor([True, False])] = torch.tensor([7, 8, 9])
    assert x.tolist() == [[7, 8, 9], [0, 0, 0]]
    x[x == 0] = torch.tensor([1, 2, 3])
    assert x.tolist() == [[7, 8, 9], [1, 2, 3]]
    assert x[torch.tensor(True)].tolist() == [[[7, 8, 9], [1, 2, 3]]]
    assert tuple(x[torch.tensor(False)].shape) == (0, 2, 3)


def test_overlapping_copies() -> None:
    """A write that would change part of what it reads is refused, however it is spelled."""
    x, z = torch.arange(6), torch.arange(4).reshape(2, 2)
    refused = [
        lambda: x[1:].copy_(x[:-1]),
        lambda: x[:-1].add_(x[1:]),
        lambda: x[1:].__imul__(x[:-1]),
        lambda: z.copy_(z.t()),
        lambda: z.add_(z.t()),
        lambda: z.clamp_(z[0]),
        lambda: x.index_add_(0, torch.tensor([0]), x[1:2]),
    ]
    for write in refused:
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            write()
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        x[1:] = x[:-1]
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    assert x.copy_(x).add_(x).tolist() == [0, 2, 4, 6, 8, 10]
    x[1:] = x[:-1].clone()
    assert x.tolist() == [0, 0, 2, 4, 6, 8]
    z[0, :] = z[1, :]
    assert z.tolist() == [[2, 3], [2, 3]]
    assert z.copy_(2.5).tolist() == [[2, 2], [2, 2]]

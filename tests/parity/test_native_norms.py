"""torch.native_layer_norm and its like: results, statistics and gradients beside torch's."""

from typing import Any

import numpy
import pytest
import torch

import minitorch2

SHAPE = (4, 6, 5)


def tensor(library: Any, *shape: int) -> Any:
    """Numbers without a pattern, which require gradients."""
    values = numpy.sin(numpy.arange(numpy.prod(shape)) * 1.7).reshape(shape) + 1.5
    return library.tensor(values.tolist(), dtype=library.float64, requires_grad=True)


def call(library: Any, name: str, kind: str) -> tuple[Any, list[Any]]:
    """The function's results, and what they were made from."""
    x, w, b = tensor(library, *SHAPE), tensor(library, 6), tensor(library, 6)
    if name == "native_layer_norm":
        size = [6, 5] if kind == "two" else [5]
        scale = (tensor(library, *size), tensor(library, *size)) if kind != "bare" else (None, None)
        return library.native_layer_norm(x, size, *scale, 1e-3), [x]
    if name == "native_group_norm":
        scale = (None, None) if kind == "bare" else (w, b)
        return library.native_group_norm(x, *scale, 4, 6, 5, 3, 1e-3), [x]
    running = tensor(library, 6).detach(), tensor(library, 6).detach()
    scale = (None, None) if kind == "bare" else (w, b)
    found = library.native_batch_norm(x, *scale, *running, kind != "two", 0.1, 1e-3)
    return (*found, *running), [x]


@pytest.mark.parametrize("name", ["native_layer_norm", "native_group_norm", "native_batch_norm"])
@pytest.mark.parametrize("kind", ["usual", "two", "bare"])
def test_results_and_gradients(name: str, kind: str) -> None:
    """Over one or two dimensions, with and without scales, trained and not."""
    ours, [our_x] = call(minitorch2, name, kind)
    theirs, [their_x] = call(torch, name, kind)
    for found, wanted in zip(ours, theirs, strict=True):
        assert found.requires_grad == (wanted.requires_grad and wanted.numel() > 0)
        assert numpy.allclose(found.detach().numpy(), wanted.detach().numpy())
        assert tuple(found.shape) == tuple(wanted.shape)
    for results in (ours, theirs):
        sum((each**2).sum() for each in results if each.requires_grad).backward()
    assert numpy.allclose(our_x.grad.numpy(), their_x.grad.numpy())


def test_constant_pad_nd() -> None:
    """pad by another name; negative sizes cut off."""
    for pad, value in (([1, 2], 0), ([-1, 2, 0, 1], 3.5)):
        ours = minitorch2.constant_pad_nd(tensor(minitorch2, 2, 4), pad, value)
        theirs = torch.constant_pad_nd(tensor(torch, 2, 4), pad, value)
        assert numpy.allclose(ours.detach().numpy(), theirs.detach().numpy())

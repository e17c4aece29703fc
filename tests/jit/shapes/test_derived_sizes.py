"""Sizes computed from sizes that vary: gradients are those of eager for every value.

A stage after capture decides by sizes of its own; none may take a quotient for 1 or a difference
for less than it is.
"""

import pytest

import minitorch2 as torch
from minitorch2.nn import functional as F


def windows(x, d):
    return x.unfold(0, d, 2).exp()


def windows_of_grown_size(x, d):
    return x.unfold(0, d + 1, d).exp()


def zeroed_windows(x, d):
    y = x * 1
    y.unfold(0, d, d + 1).zero_()
    return y


def means_of_parts(x, d):
    return x.reshape(d, 12 // d).mean(1).exp()


def sums_of_parts(x, d):
    return x.reshape(d, 12 // d).sum(1)


def pooled(x, d):
    return F.adaptive_avg_pool2d(x.reshape(1, 1, 3, 4).repeat(1, 1, 4, 3), d).exp()


def dilated(x, d):
    return F.conv1d(x.reshape(1, 1, 12), torch.ones(1, 1, 3), dilation=d).relu()


PROGRAMS = (
    windows,
    windows_of_grown_size,
    zeroed_windows,
    means_of_parts,
    sums_of_parts,
    pooled,
    dilated,
)


@pytest.mark.parametrize("backend", ["interpreter", "numba"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients(program, backend):
    compiled = torch.compile(program, backend=backend)
    for d in (2, 3, 4, 1):
        found = []
        for run in (program, compiled):
            x = torch.linspace(0.0, 1.1, 12).requires_grad_()
            result = run(x, d)
            result.sum().backward()
            found.append((result.detach(), x.grad))
        for one, other in zip(*found, strict=True):
            assert torch.allclose(one, other, rtol=1e-5, atol=1e-6), d


@pytest.mark.parametrize("backend", ["interpreter", "numba"])
def test_a_size_that_only_a_missing_tangent_shows(backend):
    """Only the gradient of the written input has its last size, and there may be none."""

    def fn(x, y):
        part = x.transpose(0, 2)[:2]
        part.relu_()
        return y.sin(), part.exp2().norm()

    compiled = torch.compile(fn, dynamic=True, fullgraph=True, backend=backend)
    for size in (5, 7, 9):
        for written in (False, True):
            found = []
            for run in (fn, compiled):
                leaf = torch.linspace(-1.0, 1.0, 12 * size).view(3, 4, size).requires_grad_()
                x, y = leaf * 1, torch.ones(size - 1, requires_grad=True)
                first, second = run(x, y)
                (first.sum() + (x.sum() + second if written else 0)).backward()
                found.append((leaf.grad, y.grad))
            for have, expected in zip(found[1], found[0], strict=True):
                assert (have is None) == (expected is None)
                assert have is None or torch.allclose(have, expected)


@pytest.mark.parametrize("backend", ["interpreter", "numba"])
@pytest.mark.parametrize("rows", [2, 3])
def test_sizes_whose_product_is_known(backend, rows):
    """Neither is taken for 1, whatever else is known of them."""

    def fn(x, index, flat):
        found = x.index_select(0, index)
        found.view(4, 3)
        if flat and x.numel() != x.shape[1]:
            return found, x
        return (found,)

    compiled = torch.compile(fn, dynamic=True, fullgraph=True, backend=backend)
    for flat in (False, True):
        grads = []
        for run in (fn, compiled):
            x = torch.arange(24.0).reshape(-1, 12 // rows).requires_grad_()
            found = run(x, torch.arange(rows), flat)
            sum((each * each).sum() for each in found).backward()
            grads.append(x.grad)
        assert torch.equal(*grads)

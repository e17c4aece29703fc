"""Losses whose terms are divided by a size: one graph for every size, with eager's bits."""

import pytest

import minitorch2 as torch
import minitorch2.nn.functional as functional
from minitorch2.artifacts import subscribe

KINDS = {
    "one row of probabilities": lambda n: (torch.rand(n), torch.rand(n).softmax(0)),
    "classes that vary": lambda n: (torch.rand(4, n), torch.randint(0, n, (4,))),
    "rows that vary": lambda n: (torch.rand(n, 3), torch.randint(0, 3, (n,))),
    "places": lambda n: (torch.rand(2, n, 5), torch.rand(2, n, 5)),
}


@pytest.mark.numba
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_smoothed_labels(kind, weighted):
    def function(x, target, weight):
        return functional.cross_entropy(x, target, weight=weight, label_smoothing=0.3)

    events, run = [], torch.compile(function, dynamic=True, options={"numerics": "eager"})
    for size in (5, 7, 33, 9):
        x, target = KINDS[kind](size)
        x.requires_grad_()
        weight = torch.rand(x.shape[1 if x.ndim > 1 else 0]) if weighted else None
        with subscribe(events.append):
            one, other = function(x, target, weight), run(x, target, weight)
        assert one.dtype is other.dtype and torch.equal(one, other)
        slopes = [torch.autograd.grad(each, x)[0] for each in (one, other)]
        assert torch.equal(*slopes)
    assert sum(event.stage == "capture.graph" for event in events) == 1

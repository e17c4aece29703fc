"""Writes into views of memory that shows elements in several places: never other than eager's.

Each function writes through a view of overlapping windows, of strides given by hand or of an
expanded tensor, into an input or into memory of its own. What one graph cannot do runs op by op,
with the reason.
"""

import warnings

import pytest

import minitorch2 as torch


def _one_window(x):
    x.unfold(0, 2, 1)[1].mul_(10)


def _one_place_in_each(x):
    x.unfold(0, 3, 2)[:, 2].add_(100)


def _windows_the_other_way(x):
    x.unfold(0, 2, 1).transpose(0, 1)[0].exp_()


def _windows_of_windows(x):
    x.unfold(0, 3, 1).unfold(0, 2, 1)[0, 1].mul_(-1)


def _strides_by_hand(x):
    x.as_strided((3, 2), (1, 1))[1].copy_(torch.ones(2))


def _expanded(x):
    x.expand(3, 7)[1].mul_(10)


def _expanded_columns(x):
    x.unsqueeze(1).expand(7, 3)[2:, 1].add_(1)


def _apart(x):
    x.unfold(0, 2, 2)[1].mul_(10)


WRITES = [
    _one_window, _one_place_in_each, _windows_the_other_way, _windows_of_windows, _strides_by_hand,
    _expanded, _expanded_columns, _apart,
]  # fmt: skip


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("write", WRITES)
def test_the_memory_is_what_eager_makes_of_it(write, own):
    def function(x):
        x = x * 2 if own else x
        seen = x.unfold(0, 2, 1)
        write(x)
        return seen * 1, x.sum()

    def outcome(run):
        x = torch.arange(7.0)
        windows, total = run(x)
        return windows.tolist(), total.item(), x.tolist()

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = outcome(torch.compile(function))
    assert found == outcome(function)
    words = [str(each.message) for each in told]
    assert all("overlapping windows" in each or "a single memory" in each for each in words)
    assert not (words and write is _apart)


@pytest.mark.parametrize("write", [w for w in WRITES if not w.__name__.startswith("_expanded")])
def test_gradients_are_eager_s(write):
    def gradient(run):
        x = torch.arange(7.0, requires_grad=True)
        (run(x) * torch.arange(1.0, 8.0)).sum().backward()
        return x.grad.tolist()

    def function(x):
        y = x + 1
        write(y)
        return y

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert gradient(torch.compile(function)) == gradient(function)

"""unsqueeze_, squeeze_, transpose_, t_: the same object in another shape, with its history."""

import pytest

import minitorch2
from minitorch2.errors import InPlaceError


def test_a_result_keeps_its_history():
    x = minitorch2.ones(2, 3, requires_grad=True)
    y = x * 2
    assert y.unsqueeze_(1) is y and tuple(y.shape) == (2, 1, 3)
    y.mul_(3)
    y.transpose_(0, 2).squeeze_(1)
    assert tuple(y.shape) == (3, 2) and y.stride() == (1, 3)
    (y * y).sum().backward()
    assert x.grad.tolist() == [[72.0] * 3] * 2


def test_a_plain_tensor_takes_a_written_history():
    x = minitorch2.ones(3, requires_grad=True)
    b = minitorch2.zeros(3).unsqueeze_(0)
    b.add_(x * 2)
    b.sum().backward()
    assert x.grad.tolist() == [2.0] * 3


def test_a_view_of_a_result():
    x = minitorch2.ones(2, 3, requires_grad=True)
    row = (x * 1)[0].unsqueeze_(0)
    row.mul_(5)
    row.sum().backward()
    assert x.grad.tolist() == [[5.0] * 3, [0.0] * 3]


def test_a_leaf_is_refused():
    with pytest.raises(InPlaceError):
        minitorch2.ones(2, requires_grad=True).unsqueeze_(0)


def test_compiled():
    @minitorch2.compile
    def run(x):
        y = x * 2
        y.t_()
        y.unsqueeze_(0)
        y.mul_(2)
        return y

    x = minitorch2.ones(2, 3, requires_grad=True)
    out = run(x)
    assert tuple(out.shape) == (1, 3, 2)
    out.sum().backward()
    assert x.grad.tolist() == [[4.0] * 3] * 2


def test_compiled_with_an_input():
    x = minitorch2.ones(3)
    minitorch2.compile(lambda x: x.unsqueeze_(0) + 1)(x)
    assert tuple(x.shape) == (1, 3)

"""Functions of hundreds of pointwise operations, one after the other: kernels of bounded length."""

import sys

import pytest

import minitorch2 as torch
from minitorch2.kernels.schedule.fusion import LONGEST_LINE


def straight(x, n):
    for _ in range(n):
        x = x * 1.001
    return x


def through_functions(x, n):
    for i in range(n):
        x = torch.sin(x) + i * 0.25
    return x


def side_by_side(x, n):
    rows = [x + i for i in range(n)]
    return sum(rows, x)


def over_rows(x, n):
    for _ in range(n // 4):
        x = x - x.mean(-1, keepdim=True) * 0.5
        x = torch.tanh(x) * 2
    return x


@pytest.mark.parametrize("n", [LONGEST_LINE // 2, LONGEST_LINE, LONGEST_LINE + 1, 200])
@pytest.mark.parametrize("fn", [straight, through_functions, side_by_side, over_rows])
def test_long_lines(fn, n):
    wanted_input = torch.linspace(-1, 1, 12).view(3, 4).requires_grad_()
    got_input = wanted_input.detach().clone().requires_grad_()
    wanted = fn(wanted_input, n)
    got = torch.compile(fn)(got_input, n)
    torch.testing.assert_close(got, wanted)
    wanted.sum().backward()
    got.sum().backward()
    torch.testing.assert_close(got_input.grad, wanted_input.grad)


def test_from_deep_inside_a_program():
    """A program that is deep in calls itself leaves less of Python's stack to the compiler."""

    def down(levels, x):
        if levels == 0:
            return torch.compile(straight)(x, 200)
        return down(levels - 1, x)

    x = torch.ones(3)
    levels = sys.getrecursionlimit() // 4
    torch.testing.assert_close(down(levels, x), straight(x, 200))

"""Inputs that are written with what others held: swaps, rotations, through views, in part.

No write can be the first one there; each function is compared with eager.
"""

import itertools

import pytest

import minitorch2 as torch


def _swap(x, y, z):
    kept = x.clone()
    x.copy_(y)
    y.copy_(kept)


def _swap_as_tuple(x, y, z):
    x[:], y[:] = y.clone(), x.clone()


def _rotate(x, y, z):
    kept = x.clone()
    x.copy_(y)
    y.copy_(z)
    z.copy_(kept)


def _turned(x, y, z):
    kept = x.t().clone()
    x.copy_(y.t())
    y.copy_(kept)


def _rows(x, y, z):
    kept = x[0].clone()
    x[0] = y[1]
    y[1] = kept


def _own_rows(x, y, z):
    kept = x[0].clone()
    x[0] = x[1]
    x[1] = kept
    y.copy_(x)


def _turned_onto_itself(x, y, z):
    x.copy_(x.t().clone())
    y.copy_(x.flip(0))


def _computed(x, y, z):
    kept = x * 1
    x.copy_(y + 1)
    y.copy_(kept * 2)
    z.add_(x)


def _chain_of_copies(x, y, z):
    z.copy_(y)
    y.copy_(x)
    x.zero_()


def _one_for_two(x, y, z):
    kept = z.clone()
    z.copy_(x)
    x.copy_(kept)
    y.copy_(kept)


WRITES = [
    _swap, _swap_as_tuple, _rotate, _turned, _rows, _own_rows, _turned_onto_itself, _computed,
    _chain_of_copies, _one_for_two,
]  # fmt: skip
OPTIONS = [{}, {"fuse": False}, {"numerics": "eager"}, {"disable_passes": ["reinplace"]}]


@pytest.mark.numba
@pytest.mark.parametrize("write, options", [*itertools.product(WRITES, OPTIONS)])
def test_each_holds_what_the_others_held(write, options):
    def given():
        return [torch.arange(9.0).reshape(3, 3) + 10 * number for number in range(3)]

    expected, found = given(), given()

    def function(x, y, z):
        write(x, y, z)
        return x.sum(), y * 2

    results = function(*expected)
    again = torch.compile(function, options=options, fullgraph=True)(*found)
    for one, other in zip([*results, *expected], [*again, *found], strict=True):
        assert torch.equal(one, other)

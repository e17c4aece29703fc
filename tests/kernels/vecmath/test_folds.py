"""Folds across threads: every reducer, type and number of warps gives what numpy gives."""

import numpy
import pytest

from minitorch2.kernels.vecmath.folds import STEPS, WARP, ArrayTeam, fold, start

NUMBERS = ("f4", "f8", "i8", "i4", "u1")
LOGICAL, ARITHMETIC = ("any", "all"), ("sum", "prod")
PAIRS = [(reducer, kind) for reducer in STEPS if reducer not in LOGICAL for kind in NUMBERS]
PAIRS += [(reducer, "?") for reducer in STEPS if reducer not in ARITHMETIC]
WANTED = {
    "sum": numpy.sum, "prod": numpy.prod, "max": numpy.max, "min": numpy.min, "any": numpy.any,
    "all": numpy.all, "argmax": numpy.argmax, "argmin": numpy.argmin,
}  # fmt: skip


def folded(reducer, values, warps, threads):
    """The fold of one value a thread; positions are the thread's own."""
    team = ArrayTeam(numpy.arange(values.size), threads)
    given = (values, numpy.arange(values.size)) if reducer.startswith("arg") else (values,)
    return fold(team, reducer, given, warps)[-1]


@pytest.mark.parametrize("warps", [1, 2, 8, 32])
@pytest.mark.parametrize("reducer, kind", PAIRS)
def test_a_block(reducer, kind, warps):
    random = numpy.random.RandomState(warps)
    values = random.randint(1, 3, WARP * warps) if reducer == "prod" else random.randint(
        0, 50, WARP * warps)  # fmt: skip
    values = (values > 20 if kind == "?" else values).astype(kind)
    with numpy.errstate(over="ignore"):
        found = folded(reducer, values, warps, values.size)
        wanted = WANTED[reducer](values, **({"dtype": kind} if reducer in ("sum", "prod") else {}))
    assert (found == wanted).all()


def test_warps_and_blocks_keep_to_themselves():
    values = numpy.arange(4 * WARP).astype("f4")
    warps = folded("sum", values, 0, 2 * WARP)
    assert list(warps[::WARP]) == list(values.reshape(4, WARP).sum(1))
    blocks = folded("sum", values, 2, 2 * WARP)
    assert list(blocks[:: 2 * WARP]) == list(values.reshape(2, 2 * WARP).sum(1))


@pytest.mark.parametrize("reducer", ["max", "min", "argmax", "argmin"])
def test_nan_wins_and_the_first_one_is_the_position(reducer):
    values = numpy.zeros(2 * WARP, "f4")
    values[[40, 50]] = numpy.nan
    found = folded(reducer, values, 2, 2 * WARP)
    assert (found == 40).all() if reducer.startswith("arg") else numpy.isnan(found).all()


@pytest.mark.parametrize("reducer", STEPS)
def test_threads_without_elements_change_nothing(reducer):
    kind = numpy.dtype(bool if reducer in ("any", "all") else "f4")
    for value in (kind.type(0), kind.type(1), kind.type(-numpy.inf)):
        given = (value, numpy.int64(7)) if reducer.startswith("arg") else (value,)
        arrays = tuple(numpy.array([each]) for each in given)
        empty = tuple(numpy.array([each]) for each in start(reducer, kind))
        for pair in ((arrays, empty), (empty, arrays)):
            assert STEPS[reducer](*pair) == arrays

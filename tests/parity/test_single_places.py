"""Gathers and scatters where a tensor without dimensions stands for a line of one element.

Every way to pick or place with tensors of no and of one dimension beside each other: eager and
compiled, values and gradients, as torch; what torch refuses is refused.
"""

import itertools
import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402

PICKS = {
    "gather": lambda x, i, v: x.gather(0, i),
    "index_select": lambda x, i, v: x.index_select(-1, i),
    "take": lambda x, i, v: x.take(i),
    "index": lambda x, i, v: x[i],
    "scatter": lambda x, i, v: x.scatter(0, i, v),
    "scatter a number": lambda x, i, v: x.scatter(0, i, 2.5),
    "scatter_add": lambda x, i, v: x.scatter_add(-1, i, v),
    "scatter_reduce": lambda x, i, v: x.scatter_reduce(0, i, v, "amax"),
    "scatter_reduce, sums": lambda x, i, v: x.scatter_reduce(0, i, v, "sum"),
    "index_add": lambda x, i, v: x.index_add(0, i, v),
    "index_copy": lambda x, i, v: x.index_copy(0, i, v),
    "index_fill": lambda x, i, v: x.index_fill(0, i, 2.5),
    "index_put": lambda x, i, v: x.index_put((i,), v),
}
TAKEN = ([1.0, 2.0, 3.0], 5.0)
PLACES = (0, 1, [0], [2])
VALUES = (7.0, [7.0])
CASES = [
    case
    for case in itertools.product(PICKS, TAKEN, PLACES, VALUES)
    if case[:2] != ("index", 5.0)  # a tensor without dimensions has no index
]


def _outcome(library: Any, case: tuple, compiled: bool = False) -> Any:
    name, taken, place, value = case
    pick = PICKS[name]
    x, v = (library.tensor(each, requires_grad=True) for each in (taken, value))
    run = library.compile(pick) if compiled else pick
    try:
        found = run(x * 1, library.tensor(place), v * 1)
    except (RuntimeError, IndexError, TypeError):
        return "refused"
    try:
        (found * found).sum().backward()
    except RuntimeError:  # torch's own gradient has the wrong shape there
        return found.tolist(), None, None
    grads = [None if each.grad is None else each.grad.tolist() for each in (x, v)]
    return found.tolist(), *grads


@pytest.mark.parametrize("case", CASES)
def test_eager_and_compiled(case: tuple) -> None:
    """Both give what torch gives, where torch gives gradients those too."""
    expected, found = _outcome(torch, case), _outcome(minitorch2, case)
    if expected != "refused" and expected[1] is None and expected[2] is None:
        assert found[0] == expected[0]
    else:
        assert found == expected
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert _outcome(minitorch2, case, compiled=True) == found

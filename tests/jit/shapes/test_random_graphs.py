"""One compiled artifact for several sizes of random graphs; see tests/graphs/sizes.py."""

import warnings

import numpy
import pytest

import minitorch2 as torch
from minitorch2.jit.ir.parser import parse_graph
from tests.graphs.making import Case, make
from tests.graphs.sizes import SIZES, differences, entries, varied

pytestmark = pytest.mark.numba


def test_each_size_gives_what_eager_gives():
    judged, many = 0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what runs op by op says so
        for seed in range(40):
            free = varied(make(seed))
            if free is None:
                continue
            run = torch.compile(free.function, dynamic=True, backend="interpreter")
            found = list(differences(free, run))
            wrong = [each for each in found if each[1]]
            assert not wrong, f"python -m tests.graphs.sizes 1 --seed {seed}: {wrong}"
            judged += len(found)
            many += len(found) > len(SIZES) // 2 and len(entries(run)) < len(found)
    assert judged > 60 and many > 10  # most graphs take several sizes with fewer artifacts


def test_a_size_that_is_compiled_again_for_nothing_is_wrong():
    """With `dynamic=False` each size is a compilation of its own."""
    graph = parse_graph("graph f(%x: f32[4,3]) { %0: f32[4,3] = exp(%x) return %0 }")
    free = varied(Case(0, graph, (numpy.ones((4, 3), "float32"),), (True,)))
    assert free is not None
    assert not [wrong for _, wrong in differences(free, torch.compile(free.function, dynamic=True))
                if wrong]  # fmt: skip
    fixed = torch.compile(free.function, dynamic=False)
    assert any("compiled" in wrong for _, wrong in differences(free, fixed))

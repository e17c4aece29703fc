"""One compiled artifact for several sizes of random graphs; see tests/graphs/sizes.py."""

import warnings

import pytest

import minitorch2 as torch
from tests.graphs.making import make
from tests.graphs.sizes import SIZES, differences, varied

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
            entries = sum(len(each) for each in run.cache.entries.values())
            many += len(found) > len(SIZES) // 2 and entries < len(found)
    assert judged > 60 and many > 10  # most graphs take several sizes with fewer artifacts

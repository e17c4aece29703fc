"""Compiled programs do what eager ones do: results, gradients, inputs, memory, errors, randomness.

Every program is called for several sizes, so guards, recompilation and symbolic sizes take part.
More of them by hand: `python -m tests.programs 5000 numba`.
"""

import warnings

import pytest

from tests.programs.judging import BACKENDS, complaints

COUNTS = {"eager": 60, "aot_eager": 60, "interpreter": 60, "numba": 8}


@pytest.mark.parametrize("backend", [
    pytest.param(name, marks=pytest.mark.numba if name == "numba" else pytest.mark.pure)
    for name in BACKENDS
])  # fmt: skip
def test_compiled_is_eager(backend):
    first = BACKENDS.index(backend) * 1000
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(first, first + COUNTS[backend]):
            found += complaints(seed, backend)
    assert not found, "\n\n".join(found)

"""A wrong derivative of a row is found by the row's own samples, and bisect names the row."""

import pytest

from tests.planted_compiler_faults import FAULTS, tried, vjp

DERIVATIVES = {name: fault for name, fault in FAULTS.items() if fault.row}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_the_planted_ones(name):
    text, found = tried(DERIVATIVES[name], 0)
    assert found, text


@pytest.mark.parametrize("row", ["exp", "sigmoid", "mul", "matmul", "amax", "permute"])
def test_a_tenth_too_much(row):
    """Of rows with one input and with two, of a sum of products, of a choice, of a view."""

    def more(s, gradients):
        each = gradients if isinstance(gradients, tuple) else (gradients,)
        return tuple(g if g is None else g * 1.1 for g in each)

    text, found = tried(vjp(row, more), 0)
    assert found, text


def test_a_right_derivative_is_not_found():
    text, found = tried(vjp("tanh", lambda s, gradients: gradients), 0)
    assert not found and text.startswith("MISSED")

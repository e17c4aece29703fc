"""Commutativity read off the rows agrees with what eager computes."""

import pytest

import minitorch2 as torch
from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.errors import Mt2Error
from minitorch2.jit.ir.compare import value_difference
from minitorch2.jit.passes.commutative import is_commutative
from minitorch2.ops.signature import REQUIRED
from minitorch2.ops.table import POINTWISE, all_ops
from tests.jit.passes.checking import special_values


def binary_rows():
    """Pointwise rows of two operands, whatever follows having a default."""
    for row in all_ops():
        parameters = row.signature.parameters
        if row.kind == POINTWISE and len(row.tensor_positions) == 2:
            rest = tuple(parameter.default for parameter in parameters[2:])
            if REQUIRED not in rest:
                yield row, rest


COMMUTATIVE = [
    (row, rest) for row, rest in binary_rows() if is_commutative(row.name, (1, 2, *rest))
]


def test_the_usual_ones_are_found():
    names = {row.name for row, _ in COMMUTATIVE}
    assert {"add", "mul", "eq", "ne", "logical_and", "bitwise_xor"} <= names
    assert not {"sub", "true_divide", "pow", "lt", "atan2", "where", "maximum"} & names


@pytest.mark.parametrize("row, rest", COMMUTATIVE, ids=lambda value: getattr(value, "name", ""))
def test_exchanging_gives_the_same_bits(row, rest):
    tried = 0
    for element in dtypes.REAL:
        values = torch.tensor(special_values(element), dtype=element)
        a, b = values.reshape(-1, 1), values.reshape(1, -1)
        try:
            found, exchanged = call(row, (a, b, *rest)), call(row, (b, a, *rest))
        except (Mt2Error, TypeError):
            continue
        assert value_difference(found, exchanged, 0.0, 0.0) is None
        tried += 1
    assert tried

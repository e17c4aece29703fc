"""torch judges the dtype of tensor(lists) of tensors, arrays, numpy's and Python's numbers."""

import itertools

import numpy
import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import check  # noqa: E402

DTYPES = [
    "bool", "uint8", "int8", "int32", "int64", "float16", "bfloat16", "float32", "float64",
    "complex64", "complex128",
]  # fmt: skip
NUMBERS = [True, 2, 2.5, 1j]
OF_NUMPY = [
    numpy.uint8, numpy.int16, numpy.int64, numpy.float16, numpy.float32, numpy.float64,
    numpy.complex64, numpy.complex128,
]  # fmt: skip


def one(t, name):
    return t.tensor(1, dtype=getattr(t, name))


def shown(tensor):
    """The dtype, the shape and the numbers, for dtypes that numpy lacks too."""
    wide = tensor.dtype if tensor.dtype.is_complex else None
    return str(tensor.dtype), list(tensor.shape), (tensor if wide else tensor.double()).tolist()


@pytest.mark.parametrize("name", DTYPES)
def test_tensors_in_lists(name):
    check(lambda t: shown(t.tensor([one(t, name)])))
    for number in NUMBERS:
        check(lambda t, number=number: shown(t.tensor([one(t, name), number])))
        check(lambda t, number=number: shown(t.tensor([[number], [one(t, name)]])))
    for other in DTYPES:
        check(lambda t, other=other: shown(t.tensor([one(t, name), one(t, other).reshape(1)])))


@pytest.mark.parametrize("kind", OF_NUMPY, ids=lambda kind: kind.__name__)
def test_numbers_of_numpy(kind):
    check(lambda t: shown(t.tensor([kind(1)])))
    check(lambda t: shown(t.tensor([numpy.zeros(2, kind), numpy.ones(2, kind)])))
    for number in NUMBERS:
        check(lambda t, number=number: shown(t.tensor([kind(1), number])))
        check(lambda t, number=number: shown(t.tensor([number, kind(1)])))
    for other in OF_NUMPY:
        check(lambda t, other=other: shown(t.tensor([[kind(1)], [other(1)]])))
    for name in DTYPES:
        check(lambda t, name=name: shown(t.tensor([kind(1), one(t, name)])))
        if numpy.issubdtype(kind, numpy.integer):  # of others torch takes some
            check(lambda t, name=name: shown(t.tensor([kind(1)], dtype=getattr(t, name))))


@pytest.mark.parametrize("number", [2**63, 2**64, -(2**63) - 1, 2**63 - 1, 2**70])
def test_long_integers(number):
    check(lambda t: shown(t.tensor([number])))
    check(lambda t: shown(t.tensor([[True, 1.5], [number, 0]])))
    for name, beside in itertools.product(DTYPES, (0, 1.5)):
        if beside == 0 or name[0] in "fb":
            check(lambda t, name=name, beside=beside: shown(
                t.tensor([beside, number], dtype=getattr(t, name))))  # fmt: skip

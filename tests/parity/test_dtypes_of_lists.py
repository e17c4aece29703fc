"""torch judges the dtype of tensor(lists) of tensors, arrays, numpy's and Python's numbers."""

import enum
import itertools
import math

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
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


class Whole(int):
    """A program's own kind of whole numbers."""


class Level(enum.IntEnum):
    LOW = 1


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


LONG = [2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**63, 2**64, 2**70, -(2**70), -1, 300]
BESIDE = [1.0, 2.5, True, 1j, numpy.float64(2), numpy.int32(3), math.nan, 1e30, None, "a"]


def exact(tensor):
    """The dtype and the numbers in all their digits, nan among them."""
    return str(tensor.dtype), repr(tensor.tolist())


def refused(t, data, how):
    try:
        t.tensor(data, **how)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return True
    return False


@pytest.mark.parametrize("name", [None, "uint8", "int32", "int64", "uint64", "bool", "float32"])
def test_long_integers_beside_others(name):
    """Whole numbers keep every digit where the dtype is whole, or are refused in torch's words."""

    def how(t):
        return {} if name is None else {"dtype": getattr(t, name)}

    for number, other in itertools.product(LONG, BESIDE):
        if name == "uint64" and not {type(number), type(other)} <= {int, bool, float}:
            continue  # of numpy's numbers, torch's uint64 takes none
        for data in ([number, other], [[other], [number]]):
            if refused(torch, number, how(torch)) and refused(torch, other, how(torch)):
                assert refused(minitorch2, data, how(minitorch2))  # for either reason
            else:
                check(lambda t, data=data: exact(t.tensor(data, **how(t))))


@pytest.mark.parametrize("number", [5, -1, 2**63 - 1, 2**63, 2**64])
def test_kinds_of_whole_numbers_count_as_whole_numbers(number):
    for dtype in (None, "int64", "uint64", "float64"):
        how = (
            (lambda t: {}) if dtype is None else lambda t, dtype=dtype: {"dtype": getattr(t, dtype)}
        )
        check(lambda t, how=how: exact(t.tensor(Whole(number), **how(t))))
        check(lambda t, how=how: exact(t.tensor([Whole(number), Level.LOW], **how(t))))
    check(lambda t: exact(t.tensor([numpy.float32(1), Level.LOW, Whole(number)])))
    check(lambda t: exact(t.tensor([numpy.int16(1), Level.LOW, Whole(number)])))

"""Normalizations of every mix of dtypes, judged by torch: the numbers, and the words of refusals.

Inputs, weights, biases and running statistics are each of float32, float64, the 16-bit floats,
integers, complex numbers, or not there.
"""

import itertools

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.both import alike  # noqa: E402

KINDS = ("float32", "float64", "float16", "bfloat16", "int64", "complex64", None)
UNITS = {kind: torch.finfo(getattr(torch, kind)).eps for kind in KINDS if kind and kind != "int64"}


def vector(t, kind, values):
    return None if kind is None else t.tensor(values).to(getattr(t, kind))


def outcome(t, call, kind, weight, bias, statistics):
    """Dtypes and numbers of the result and of the statistics it moved; or the refusal."""
    functional = t.nn.functional
    x = t.arange(12.0).reshape(3, 2, 2).to(getattr(t, kind))
    scales = vector(t, weight, [1.0, 2.0]), vector(t, bias, [0.5, 1.0])
    running = vector(t, statistics, [0.0, 1.0]), vector(t, statistics, [1.0, 2.0])
    try:
        made = [call(functional, x, scales, running), *running]
    except RuntimeError as wrong:
        return wrong
    wide = t.complex128
    return [(str(each.dtype), each.to(wide).tolist()) for each in made if each is not None]


def agree(mine, theirs, mix):
    """Whether both are the same to some last bits of the coarsest dtype that takes part.

    torch multiplies by the scale before it subtracts: numbers of up to 22 round there, of 1 here.
    """
    if isinstance(theirs, Exception):
        return alike(mine, theirs)
    close = 16 * max(UNITS.get(kind, 0) for kind in mix)
    return not isinstance(mine, Exception) and len(mine) == len(theirs) and all(
        a[0] == b[0] and numpy.allclose(a[1], b[1], close, close)
        for a, b in zip(mine, theirs, strict=True)
    )  # fmt: skip


def compare(call, statistics=(None,)):
    wrong = []
    for mix in itertools.product(KINDS[:-1], KINDS, KINDS, statistics):
        mine, theirs = (outcome(t, call, *mix) for t in (minitorch2, torch))
        if not agree(mine, theirs, mix):
            wrong.append((mix, mine, theirs))
    assert wrong == []


def test_layer_norm():
    compare(lambda F, x, scales, _: F.layer_norm(x, (2,), *scales))


def test_group_norm():
    compare(lambda F, x, scales, _: F.group_norm(x, 1, *scales))


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(training):
    compare(
        lambda F, x, scales, running: F.batch_norm(x, *running, *scales, training),
        KINDS if training else KINDS[:-1],
    )


@pytest.mark.parametrize("seen", [True, False])
def test_instance_norm(seen):
    compare(
        lambda F, x, scales, running: F.instance_norm(x, *running, *scales, use_input_stats=seen),
        [kind for kind in KINDS if kind != "complex64"],
    )

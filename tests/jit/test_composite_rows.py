"""Every composite and library row, captured whole and compiled, is what it is eagerly.

Values, dtypes, shapes, strides and gradients, on the first samples of each row.
"""

from typing import Any

import numpy
import pytest

import minitorch2
from minitorch2.errors import Mt2Error
from minitorch2.ops.table import COMPOSITE, LIBRARY, PRODUCT, Op
from minitorch2.tensors import Tensor
from tests.op_samples import Sample, build, rows, samples

ROWS = [
    op
    for op in rows()
    if op.kind in (COMPOSITE, LIBRARY, PRODUCT)
    and op.effects not in ("random", "writes", "data_dependent")
    and op.inplace_of is None
]
NUMBERS_INSIDE = ("one_hot", "repeat_interleave")  # sizes that depend on the data


def flat(found: Any) -> list[Tensor]:
    return list(found) if isinstance(found, (tuple, list)) else [found]


def array(tensor: Tensor) -> numpy.ndarray:
    tensor = tensor.detach()
    return numpy.array((tensor.float() if tensor.dtype.itemsize == 2 else tensor).numpy())


def number(output: Tensor) -> Tensor:
    """A real number that every part of an output moves."""
    if output.dtype.is_complex:
        return output.real.double().sum() + 2 * output.imag.double().sum()
    return output.double().sum()


def gradients(results: list[Tensor], args: tuple) -> list[numpy.ndarray]:
    outputs = [r for r in results if r.requires_grad]
    if not outputs:
        return []
    minitorch2.stack([number(o) for o in outputs]).sum().backward()
    leaves = [a for a in args if isinstance(a, Tensor)]
    return [array(leaf.grad) for leaf in leaves if leaf.grad is not None]


def compare(op: Op, sample: Sample) -> None:
    args, kwargs = build((sample.args, sample.kwargs), minitorch2, grad=True)
    try:
        wanted = flat(op.public(*args, **kwargs))
    except (Mt2Error, TypeError):
        return
    run = minitorch2.compile(lambda a, k: op.public(*a, **k), fullgraph=True)
    again, named = build((sample.args, sample.kwargs), minitorch2, grad=True)
    found = flat(run(again, named))
    for a, b in zip(found, wanted, strict=True):
        assert (a.dtype, tuple(a.shape), a.stride()) == (b.dtype, tuple(b.shape), b.stride())
        numpy.testing.assert_allclose(array(a), array(b), 2e-5, 1e-6)
    pairs = zip(gradients(found, again), gradients(wanted, args), strict=True)
    for mine, theirs in pairs:
        numpy.testing.assert_allclose(mine, theirs, 2e-4, 1e-5)


@pytest.mark.slow
@pytest.mark.numba
@pytest.mark.parametrize(
    "op", [op for op in ROWS if op.name not in NUMBERS_INSIDE], ids=lambda op: op.name
)
def test_compiled(op: Op) -> None:
    for sample in [s for s in samples(op) if not s.fails][:2]:
        compare(op, sample)

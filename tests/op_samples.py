"""Samples of every row of the op table: the calls that the generated tests make.

In: a row. Out: a list of Samples (arguments before any library has made tensors of them). Pointwise
rows get theirs from the row itself; the others have a function in tests/samples/. A row without
samples fails a test.

    for sample in samples(lookup("add")):
        add(*build(sample.args, minitorch2), **build(sample.kwargs, minitorch2))
"""

import functools

from minitorch2.ops.table import CONTROL, POINTWISE, RANDOM, Op, all_ops
from tests.samples import (
    complexes,
    matrices,
    movement,
    neural,
    probability,
    rearrangement,
    reductions,
    shapes,
    special,
    statistics,
    whole_numbers,
    windows,
)
from tests.samples.pointwise import pointwise_samples
from tests.samples.specs import Sample, TensorSpec, build, specs_in

OWN = {
    **reductions.OWN,
    **shapes.OWN,
    **movement.OWN,
    **neural.OWN,
    **rearrangement.OWN,
    **windows.OWN,
    **special.OWN,
    **statistics.OWN,
    **matrices.OWN,
    **probability.OWN,
    **complexes.OWN,
    **whole_numbers.OWN,
}

__all__ = ["Sample", "TensorSpec", "build", "rows", "samples", "specs_in"]


OF_FUNCTIONS = ("custom_gradient", "vmapped", "pulled_back", "pushed_forward", "jacobian")


def rows() -> list[Op]:
    """Every row of the table but those that take functions (tests/jit: control flow, language)."""
    return [op for op in all_ops() if op.kind != CONTROL and op.name not in OF_FUNCTIONS]


@functools.cache
def samples(op: Op) -> tuple[Sample, ...]:
    """The samples of a row; those of an in-place form are its out-of-place row's."""
    if op.inplace_of is not None:
        return samples(op.inplace_of)
    own = OWN.get(op.name)
    if own is None and op.kind != POINTWISE:
        return ()
    found = pointwise_samples(op) if own is None else own(op)
    if op.name in complexes.OWN or op.effects == "random" or op.kind == RANDOM:
        return tuple(found)
    return (*found, *complexes.complex_samples(op, found))

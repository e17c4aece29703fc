"""How torch judges tangents: the same call with dual tensors, and every difference in words.

In: a row and a sample. Out: complaints, empty where the tangents agree; None where torch refuses
the call or has no forward formula, or neither has a tangent, so that nothing is compared.

    >>> from minitorch2.ops.table import lookup
    >>> from tests.op_samples import samples
    >>> row = lookup("sin")
    >>> complaints(row, samples(row)[0])
    []

Where both give numbers and these differ, the row itself decides, by differences of its values in
float64: the complaint says with whom they agree.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy
import torch

import minitorch2
from minitorch2.ops.table import RANDOM, Op
from tests.op_samples import Sample, build, samples, specs_in
from tests.parity.judge import (
    TOLERANCES,
    as_numpy,
    compare_errors,
    compare_tensors,
    function_of,
    is_internal,
    name_of,
    ours_of,
)

FLOATS = ("float32", "float64", "complex64", "complex128")
STEP = 1e-6  # of the differences of values, which decide to three digits

# Rows that read one half of their argument: judged where both halves are in step.
HERMITIAN = ("linalg_cholesky",)


def asked(op: Op) -> list[Sample]:
    """The samples that have something to differentiate."""
    if op.effects == "random" or op.kind == RANDOM:
        return []
    return [
        each
        for each in samples(op)
        if not each.fails and any(spec.dtype.name in FLOATS for spec in specs_in(each))
    ]


def complaints(op: Op, sample: Sample) -> list[str] | None:
    """Every difference between the tangents of minitorch2 and of torch on one call."""
    called = ours_of(op), function_of(op)
    if op.inplace_of is not None:
        called = getattr(minitorch2.Tensor, op.name), function_of(op)
    ours, judge = (_prepared(op, each) for each in called)
    with warnings.catch_warnings():  # torch compiles some of its formulas, by deprecated ways
        warnings.simplefilter("ignore")
        try:
            theirs = _tangents(torch, sample, judge)
        except (RuntimeError, TypeError, ValueError, IndexError):
            return None
        try:
            mine = _tangents(minitorch2, sample, ours)
        except Exception as error:
            refused = isinstance(error, minitorch2.errors.Mt2Error)
            return None if refused and is_internal(op) else compare_errors(error, None)
    if len(mine) != len(theirs):
        return [f"{len(mine)} results, torch gives {len(theirs)}"]
    if not any(a is not None or b is not None for (_, a), (_, b) in zip(mine, theirs, strict=True)):
        return None
    found = []
    for index, ((value, a), (_, b)) in enumerate(zip(mine, theirs, strict=True)):
        found += _compare(value, a, b, f"tangent {index}")
    finite = [each for each in found if "values differ" in each and "no finite" not in each]
    verdict = _decided(sample, ours, mine, theirs) if finite else ""
    return [f"{each}; {verdict}" if each in finite else each for each in found]


def _prepared(op: Op, call: Callable) -> Callable:
    if op.name not in HERMITIAN:
        return call
    return lambda x, *rest, **options: call((x + x.mH) / 2, *rest, **options)


def _is_float(library: Any, value: Any) -> bool:
    return isinstance(value, library.Tensor) and name_of(value) in FLOATS


def _with_floats(library: Any, value: Any, change: Callable) -> Any:
    """The arguments with each floating point tensor replaced by `change(tensor, its tangent)`."""
    count = [0]

    def each(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: each(part) for key, part in value.items()}
        if isinstance(value, (tuple, list)):
            return type(value)([each(part) for part in value])
        if not _is_float(library, value):
            return value
        count[0] += 1
        values = numpy.random.RandomState(count[0]).randn(*value.shape)
        if value.dtype.is_complex:
            values = values + 1j * numpy.random.RandomState(count[0] + 99).randn(*value.shape)
        return change(value.detach(), library.tensor(values, dtype=value.dtype))

    return each(value)


def _listed(found: Any) -> list[Any]:
    return list(found) if isinstance(found, (tuple, list)) else [found]


def _tangents(library: Any, sample: Sample, call: Callable) -> list[tuple[Any, Any]]:
    """(result, its tangent) of each result that is a tensor; None where there is no tangent."""
    ad = library.autograd.forward_ad
    with ad.dual_level(), library.no_grad():
        given = build((sample.args, sample.kwargs), library)
        args, kwargs = _with_floats(library, given, ad.make_dual)
        found = [each for each in _listed(call(*args, **kwargs)) if _is_tensor(library, each)]
        return [tuple(ad.unpack_dual(each)) for each in found]


def _is_tensor(library: Any, value: Any) -> bool:
    return isinstance(value, library.Tensor)


def _compare(value: Any, mine: Any, theirs: Any, what: str) -> list[str]:
    """Differences of two tangents: of facts, of numbers, and where there is no finite number."""
    if mine is None or theirs is None:
        given = mine if theirs is None else theirs
        if given is None or not as_numpy(given).any():
            return []
        mine = _zeros(minitorch2, value) if mine is None else mine
        theirs = _zeros(torch, value) if theirs is None else theirs
    relative, absolute = TOLERANCES[name_of(theirs)]
    close = 10 * relative, 10 * absolute
    found = compare_tensors(mine, theirs, what, tolerance=close)
    found = [each for each in found if "strides" not in each]  # nobody's promise
    if not found or "values differ" not in found[0]:
        return found
    arrays = [as_numpy(each) for each in (value, mine, theirs)]
    finite = numpy.logical_and.reduce([numpy.isfinite(each) for each in arrays])
    parts = {"": finite, ", no finite number": ~finite}
    found = []
    for kind, kept in parts.items():
        a, b = (torch.from_numpy(numpy.where(kept, each, 0)) for each in arrays[1:])
        found += compare_tensors(a, b, what + kind, tolerance=close)
    return found


def _zeros(library: Any, value: Any) -> Any:
    return library.zeros(tuple(value.shape), dtype=getattr(library, name_of(value)))


def _decided(sample: Sample, call: Callable, mine: list[Any], theirs: list[Any]) -> str:
    """With whom the differences of the row's values agree, where the tangents differ."""
    before, at, after = (_moved(sample, call, step) for step in (-STEP, 0.0, STEP))
    agree, decisive = [True, True], False
    for index, ((_, a), (_, b)) in enumerate(zip(mine, theirs, strict=True)):
        if a is None and b is None:
            continue
        ends = [as_numpy(moved[index]) for moved in (before, at, after)]
        tangents = [0 * ends[1] if each is None else as_numpy(each) for each in (a, b)]
        with numpy.errstate(all="ignore"):
            left, right = (ends[1] - ends[0]) / STEP, (ends[2] - ends[1]) / STEP
            slope = (left + right) / 2
            noise = 1e-5 + 1e-15 / STEP * abs(ends[1])
            known = abs(right - left) <= 1e-2 * abs(slope) + 8 * noise  # no corner, nor nan
            known &= ~(abs(tangents[0] - tangents[1]) <= 1e-3 * abs(slope) + noise)
            close = [abs(each - slope) <= 1e-3 * abs(slope) + noise for each in tangents]
        decisive |= bool(known.any())
        agree = [held and bool(near[known].all()) for held, near in zip(agree, close, strict=True)]
    if not decisive:
        return "the values have no one slope there"
    kept = [name for name, held in zip(("ours", "torch's"), agree, strict=True) if held]
    return f"differences of the values agree with {' and '.join(kept) or 'neither'}"


def _moved(sample: Sample, call: Callable, step: float) -> list[Any]:
    """The results a step along the tangents away, in float64."""

    def change(value: Any, tangent: Any) -> Any:
        wide = minitorch2.complex128 if value.dtype.is_complex else minitorch2.float64
        return value.to(wide) + step * tangent.to(wide)

    args, kwargs = build((sample.args, sample.kwargs), minitorch2)
    args, kwargs = _with_floats(minitorch2, (args, kwargs), change)
    found = _listed(call(*args, **kwargs))
    return [each for each in found if _is_tensor(minitorch2, each)]

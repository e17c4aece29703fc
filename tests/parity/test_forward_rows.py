"""Tangents of every row of the op table, judged by torch's forward mode, also of in-place forms.

Where torch has no forward formula for an operation, its values alone are compared elsewhere.
The rows that differ from torch are listed, each under the kind of difference.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from minitorch2.ops.table import Op, lookup  # noqa: E402
from tests.op_samples import Sample, build, rows, samples, specs_in  # noqa: E402
from tests.parity.judge import TOLERANCES, function_of, is_internal  # noqa: E402

FLOATS = ("float32", "float64", "complex64", "complex128")
ROWS = [op.name for op in rows() if op.effects != "random" and not is_internal(op)]


def duals(library: Any, value: Any, seed: list[int]) -> Any:
    """The arguments with each floating point tensor replaced by one that has a tangent."""
    if isinstance(value, (tuple, list)):
        return type(value)([duals(library, each, seed) for each in value])
    if not isinstance(value, library.Tensor) or name(value.dtype) not in FLOATS:
        return value
    seed[0] += 1
    values = numpy.random.RandomState(seed[0]).randn(*value.shape)
    if value.dtype.is_complex:
        values = values + 1j * numpy.random.RandomState(seed[0] + 99).randn(*value.shape)
    tangent = library.tensor(values, dtype=value.dtype)
    return library.autograd.forward_ad.make_dual(value.detach(), tangent)


def name(element: Any) -> str:
    """A dtype's name without the library's."""
    return str(element).removeprefix("torch.")


def tangents(library: Any, sample: Sample, call: Callable) -> list[Any]:
    """The results' tangents as arrays, None where there is none."""
    args, kwargs = build((sample.args, sample.kwargs), library)
    ad, seed = library.autograd.forward_ad, [0]
    with ad.dual_level(), library.no_grad():
        args = duals(library, args, seed)
        kwargs = {key: duals(library, each, seed) for key, each in kwargs.items()}
        found = call(*args, **kwargs)
        found = found if isinstance(found, (tuple, list)) else (found,)
        parts = [ad.unpack_dual(t).tangent for t in found if isinstance(t, library.Tensor)]
    return [None if each is None else each for each in parts]


def wide(tensor: Any) -> Any:
    """What numpy can hold: bfloat16 as float32."""
    return tensor.float() if tensor.dtype == torch.bfloat16 else tensor


def complaints(op: Op, sample: Sample) -> str:
    """What differs for a sample; nothing where either refuses it, or torch has no formula."""
    judge = function_of(op)
    theirs_call = judge if op.inplace_of is None else getattr(torch.Tensor, op.name)
    try:
        with warnings.catch_warnings():  # torch compiles some of its formulas, by deprecated ways
            warnings.simplefilter("ignore")
            theirs = tangents(torch, sample, theirs_call)
    except (RuntimeError, TypeError, ValueError, IndexError):  # refused, or no forward formula
        return ""
    mine = tangents(minitorch2, sample, op.public)
    for index, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        got = None if a is None else a.numpy()
        want = None if b is None else b.resolve_conj().resolve_neg()
        want = want if want is None else wide(want).numpy(force=True)
        if got is None or want is None:
            given = got if want is None else want
            if given is not None and numpy.any(given != 0):
                return f"{sample}: result {index}: {got}, torch {want}"
            continue
        rtol, atol = TOLERANCES[name(b.dtype)]
        if got.shape != want.shape or name(a.dtype) != name(b.dtype):
            return f"{sample}: result {index}: {got.shape} {a.dtype}, torch {want.shape} {b.dtype}"
        if not numpy.allclose(got, want, 10 * rtol, 10 * atol, equal_nan=True):
            return f"{sample}: result {index}: {got}, torch {want}"
    return ""


def asked(op: Op) -> list[Sample]:
    """The samples that have something to differentiate."""
    return [
        each
        for each in samples(op)
        if not each.fails and any(spec.dtype.name in FLOATS for spec in specs_in(each))
    ]


# Rows that differ from torch in a sample, by kind; each must go on differing to stay here.
DIFFERENT = {
    "a place where the slope is no number, or has two sides": """entr xlog1py xlogy xlogy_
        true_divide pow pow_ atan2 hypot hypot_ digamma digamma_ sinc sinc_ logit logit_ logaddexp
        logaddexp2 maximum minimum nextafter var var_mean scatter_reduce""",
    "torch leaves out the tangent of weights, or of padding": "nll_loss cross_entropy embedding",
    "torch keeps a tangent that the write has ended, or its dtype": """logical_and_ logical_or_
        logical_xor_ logical_not_ copy_ norm""",
    "factors are determined up to a sign or a symmetric part": """linalg_cholesky linalg_eig
        linalg_svd""",
    "ours refuses a sample that torch takes": """cummax cummin softmax log_softmax index_put
        index_put_ stack""",
    "no tangent, or another, with torch having one": "quantile nanquantile silu",
}
KINDS = {row: kind for kind, rows in DIFFERENT.items() for row in rows.split()}


def marked(row: str) -> Any:
    """The row as a parameter; strictly expected to fail where it is listed."""
    kind = KINDS.get(row)
    marks = [pytest.mark.xfail(reason=kind, strict=True)] if kind else []
    return pytest.param(row, marks=marks)


@pytest.mark.parametrize("row", [marked(row) for row in ROWS])
def test_row(row: str) -> None:
    """No difference in any sample."""
    op = lookup(row)
    found = [said for each in asked(op) if (said := complaints(op, each))]
    assert not found, f"{len(found)} differences\n" + "\n".join(found[:5])

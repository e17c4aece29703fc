"""Samples with complex numbers: of the rows that are about them, and of any row's real samples.

In: a row, and for `complex_samples` its real samples. Out: calls on complex64 and complex128.

Example: `complex_samples(lookup("sum"), real)` has `sum` of c128[3,4] where `real` has it of f64.
"""

import math
from dataclasses import replace
from typing import Any

import numpy

from minitorch2 import dtypes
from minitorch2.ops.table import POINTWISE, Op
from tests.samples.specs import Sample, TensorSpec, call, of, refused, rough, specs_in, t

LAYOUTS = ("contiguous", "transposed", "sliced", "expanded", "permuted", "offset")
COMPLEX = ("c128", "c64")
LIMIT = 8  # complex samples made of a row's real ones


def unary(op: Op) -> list[Sample]:
    """A pointwise row on one complex operand."""
    found = [call(t((3, 4), d, layout)) for d in COMPLEX for layout in LAYOUTS]
    found += [call(t(shape, "c128")) for shape in ((), (0,), (1,), (2, 0, 3), (2, 3, 4))]
    return found


def binary(op: Op) -> list[Sample]:
    """A pointwise row on operands of which at least one is complex."""
    near: dict[str, Any] = {"low": 0.5, "high": 3}  # divisors and bases away from zero
    found = [
        call(t((3, 4), a, x, low=1, seed="a"), t((3, 4), b, y, low=1, seed="b"))
        for a, b, x, y in (
            ("c128", "c128", "contiguous", "contiguous"),
            ("c64", "c64", "transposed", "sliced"),
            ("c64", "c128", "contiguous", "expanded"),
            ("c64", "f32", "contiguous", "contiguous"),
            ("f64", "c64", "contiguous", "contiguous"),
            ("i64", "c64", "offset", "contiguous"),
            ("c64", "bf16", "contiguous", "contiguous"),
        )
    ]
    found += [
        call(t((3, 1), "c128", **near), t((2, 1, 4), "c128", **near)),
        call(t((), "c128", **near), t((3,), "f32", **near)),
        call(t((3,), "f64", **near), t((), "c64", **near)),
        *(call(t((3,), d, **near), n) for d in COMPLEX for n in (2, 0.5, 1 + 2j, -1j)),
        *(call(t((3,), d, **near), 0.5 - 1j) for d in ("f64", "f32", "i64")),
        refused(t((3,), "c64"), t((4,), "c64")),
    ]
    if op.name in ("add", "sub"):
        found += [call(t((3,), "c128"), t((3,), "c128", seed="b"), alpha=a) for a in (2, 0.5, 1j)]
    return found


def _three(op: Op) -> list[Sample]:
    first = t((3, 4), "bool") if op.name == "where" else t((3, 4), "c128", seed="a")
    last = t((3, 4), "c128", seed="c") if op.name == "where" else 0.25
    return [call(first, t((3, 4), "c128", x, seed="b"), last) for x in LAYOUTS]


def pointwise(op: Op) -> list[Sample]:
    """Complex calls of a pointwise row; refusals where it does not take complex numbers."""
    if op.name == "convert":
        pairs = [(a, b) for a in COMPLEX for b in (*COMPLEX, "bool")]
        pairs += [(a, b) for a in ("f64", "f16", "i64", "bool") for b in COMPLEX]
        return [call(t((3,), a), dtypes.from_short(b)) for a, b in pairs if a != b]
    count = sum(parameter.type == "Operand" for parameter in op.signature.parameters)
    if "c" not in op.accepts:
        one = t((3,), "c64")
        return [refused(*([one] * len(op.signature.parameters)))] if count in (1, 2) else []
    if op.name in ("where", "lerp"):
        return _three(op)
    return {1: unary, 2: binary}[count](op)


def complexified(value: Any) -> Any:
    """The same arguments with complex tensors in place of floating-point ones."""
    if isinstance(value, TensorSpec) and value.dtype in (dtypes.float32, dtypes.float64):
        parts = value.flat + 1j * numpy.roll(value.flat, 1)[::-1] * 0.5
        wanted = value.dtype.to_complex()
        return replace(value, flat=parts.astype(wanted.numpy), dtype=wanted)
    if isinstance(value, (tuple, list)):
        return type(value)(complexified(item) for item in value)
    if isinstance(value, dict):
        return {key: complexified(item) for key, item in value.items()}
    return value


def complex_samples(op: Op, real: list[Sample]) -> list[Sample]:
    """Complex calls of a row of any kind, made of its real samples."""
    if op.kind == POINTWISE:
        return pointwise(op)
    usable = [
        each
        for each in real
        if not each.fails
        and each.smooth
        and not any(
            isinstance(given, dtypes.dtype) for given in (*each.args, *each.kwargs.values())
        )
        and any(spec.dtype in (dtypes.float32, dtypes.float64) for spec in specs_in(each))
    ]
    return [
        Sample(complexified(each.args), complexified(each.kwargs), smooth=False)
        for each in usable[:LIMIT]
    ]


# ---- rows about complex numbers ----------------------------------------------------------------


def _any(op: Op) -> list[Sample]:
    """Complex and real tensors of all layouts."""
    found = [call(t((3, 4), d, layout)) for d in (*COMPLEX, "f64") for layout in LAYOUTS]
    found += [call(t(shape, d)) for d in (*COMPLEX, "i64", "bool") for shape in ((), (0,), (2,))]
    return found


def _parts(op: Op) -> list[Sample]:
    found = [call(t((3, 4), d, layout)) for d in COMPLEX for layout in LAYOUTS]
    found += [call(t(shape, "c128")) for shape in ((), (0,), (2, 3, 4))]
    return [*found, refused(t((3,), "f32")), refused(t((3,), "i64"))]


def _from_pairs(op: Op) -> list[Sample]:
    found = [call(t((3, 2), d)) for d in ("f64", "f32")]
    found += [call(t((4, 3, 2), "f64")), call(t((2,), "f64")), call(t((0, 2), "f32"))]
    found += [call(t((3, 2), "f64", "expanded"))]
    return [
        *found,
        refused(t((3, 3), "f64")),
        refused(t((3, 2), "f64", "transposed")),
        refused(t((3, 2), "f64", "offset")),
        refused(t((3, 2), "i64")),
        refused(t((3, 2), "c64")),
        refused(t((), "f64")),
    ]


def _two_reals(op: Op) -> list[Sample]:
    def pair(a: tuple, b: tuple, d: str = "f64", e: str = "", x: str = "contiguous") -> Sample:
        return call(t(a, d, x, low=0.1, seed="a"), t(b, e or d, x, seed="b"))

    found = [pair((3, 4), (3, 4), d) for d in ("f64", "f32")]
    found += [pair((3, 1), (4,)), pair((), ()), pair((0,), (1,)), pair((), (2,))]
    return [
        *found,
        refused(t((3,), "f32"), t((3,), "f64")),
        refused(t((3,), "i64"), t((3,), "i64")),
        refused(t((3,), "f32"), t((4,), "f32")),
    ]


def _phase(op: Op) -> list[Sample]:
    found = [call(t((3, 4), d)) for d in (*COMPLEX, "f64", "f32", "i64", "bool")]
    specials = of([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan], "f64")
    return [*found, rough(specials), rough(of([1j, -1j, -1 + 0j, 1.0], "c128"))]


def _adjoint(op: Op) -> list[Sample]:
    return [call(t((2, 3, 4), d)) for d in (*COMPLEX, "f64")] + [call(t((3, 4), "c64"))]


def _c2c(op: Op) -> list[Sample]:
    found = [call(t((3, 4), d), (1,), "backward", True) for d in COMPLEX]
    found += [call(t((3, 4), "c128"), (0, 1), norm, False) for norm in ("ortho", "forward")]
    found += [call(t((2, 3, 4), "c128", "transposed"), (0, 2), "backward", False)]
    return found


def _r2c(op: Op) -> list[Sample]:
    found = [call(t((3, 5), d), 1, "backward") for d in ("f64", "f32")]
    found += [call(t((4, 3)), 0, norm) for norm in ("ortho", "forward")]
    return [*found, call(t((3, 1)), -1, "backward"), refused(t((3,), "c64"), 0, "backward")]


def _c2r(op: Op) -> list[Sample]:
    found = [call(t((3, 4), d), 1, n, "backward") for d in COMPLEX for n in (6, 7)]
    found += [call(t((4, 3), "c128"), 0, 6, norm) for norm in ("ortho", "forward")]
    return found


OWN = {
    "fft_c2c": _c2c,
    "fft_r2c": _r2c,
    "fft_c2r": _c2r,
    "view_as_real": _parts,
    "view_as_complex": _from_pairs,
    "imag": _parts,
    "conjugate": lambda op: unary(op),
    **dict.fromkeys(
        ("real", "conj", "conj_physical", "resolve_conj", "resolve_neg", "isreal", "angle"), _any
    ),
    "phase": _phase,
    "complex": _two_reals,
    "polar": _two_reals,
    "adjoint": _adjoint,
}

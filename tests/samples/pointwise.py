"""Samples of pointwise rows, derived from the rows: a new pointwise row needs nothing here.

In: a row whose operands are all of type Operand. Out: calls over dtypes, shapes, layouts, mixed
dtypes, Python numbers and special values. DOMAINS keeps smooth samples inside a function's domain.
"""

from minitorch2 import dtypes
from minitorch2.ops.table import Op
from tests.samples.specs import NON_FINITE, SPECIALS, Sample, call, of, refused, rough, t

# Where the function is smooth: (low, high) of each operand; usually (-3, 3).
DOMAINS: dict[str, tuple[tuple[float, float], ...]] = {
    "log": ((0.2, 5),),
    "log2": ((0.2, 5),),
    "log10": ((0.2, 5),),
    "log1p": ((-0.8, 5),),
    "sqrt": ((0.2, 5),),
    "rsqrt": ((0.2, 5),),
    "reciprocal": ((0.3, 4),),
    "asin": ((-0.9, 0.9),),
    "acos": ((-0.9, 0.9),),
    "tan": ((-1.2, 1.2),),
    "true_divide": ((-3, 3), (0.5, 4)),
    "div": ((-3, 3), (0.5, 4)),
    "floor_divide": ((-9, 9), (1, 4)),
    "trunc_divide": ((-9, 9), (1, 4)),
    "remainder": ((-9, 9), (1, 4)),
    "fmod": ((-9, 9), (1, 4)),
    "pow": ((0.3, 3), (-2, 3)),
    "bitwise_left_shift": ((-9, 9), (0, 6)),
    "bitwise_right_shift": ((-99, 99), (0, 6)),
    "lerp": ((-3, 3), (-3, 3), (-1, 2)),
}
NO_SPECIALS = ("bitwise_left_shift", "bitwise_right_shift")
INT_DIVISIONS = ("floor_divide", "trunc_divide", "remainder", "fmod")
ALL = ("f64", "f32", "i64", "i32", "i16", "i8", "u8", "bool", "bf16", "f16")
MIXED = (
    ("f32", (3,), "i64", (3,)),
    ("i64", (3,), "f32", ()),
    ("f32", (3,), "f64", ()),
    ("f32", (), "f64", ()),
    ("f32", (3,), "f64", (3,)),
    ("bf16", (3,), "f16", (3,)),
    ("bf16", (3,), "f32", ()),
    ("f16", (2, 3), "i64", (3,)),
    ("u8", (3,), "i8", (3,)),
    ("u8", (3,), "i16", ()),
    ("i32", (3,), "i64", (3,)),
    ("i8", (3,), "i64", ()),
    ("bool", (3,), "i32", (3,)),
    ("bool", (3,), "i64", ()),
    ("bool", (3,), "f32", (3,)),
    ("i64", (), "bool", (2,)),
)
SHAPES: tuple[tuple[tuple, tuple], ...] = (
    ((3, 4), (3, 4)),
    ((3, 4), (4,)),
    ((2, 1, 4), (3, 1)),
    ((), (3,)),
    ((3,), ()),
    ((), ()),
    ((1,), (2, 3)),
    ((0, 3), (1, 3)),
    ((2, 3, 4), (3, 4)),
)
LAYOUT_PAIRS = (
    ("transposed", "transposed"),
    ("transposed", "contiguous"),
    ("contiguous", "transposed"),
    ("sliced", "contiguous"),
    ("sliced", "sliced"),
    ("expanded", "contiguous"),
    ("permuted", "permuted"),
    ("permuted", "transposed"),
    ("offset", "contiguous"),
)


def _domain(op: Op, index: int) -> tuple[float, float]:
    found = DOMAINS.get(op.name, ())
    return found[index] if index < len(found) else (-3, 3)


def unary(op: Op) -> list[Sample]:
    """Calls of a row with one operand."""
    low, high = _domain(op, 0)
    found = [call(t((3, 4), dtype, low=low, high=high)) for dtype in ALL]
    plain: tuple[tuple, ...] = ((), (0,), (2, 0, 3), (1,), (2, 3, 4))
    for shape in plain:
        found.append(call(t(shape, "f64", low=low, high=high)))
        found.append(call(t(shape, "i64", low=low, high=high)))
    for layout in ("transposed", "sliced", "expanded", "permuted", "offset"):
        for shape in ((3, 4), (2, 3, 4)):
            found.append(call(t(shape, "f32", layout, low, high)))
    specials = (*SPECIALS, *NON_FINITE)
    found += [rough(of(specials, dtype)) for dtype in ("f64", "f32", "bf16", "f16")]
    found += [rough(of([-128, -1, 0, 1, 127], "i8")), rough(of([0, 1, 255], "u8"))]
    found += [rough(of([-(2**63), -1, 0, 2**63 - 1], "i64"))]
    return found


def binary(op: Op) -> list[Sample]:
    """Calls of a row with two operands."""
    (la, ha), (lb, hb) = _domain(op, 0), _domain(op, 1)

    def pair(da: str, sa: tuple, db: str, sb: tuple, x: str = "contiguous", y: str = "contiguous"):
        return call(t(sa, da, x, la, ha, seed="a"), t(sb, db, y, lb, hb, seed="b"))

    found = [pair(dtype, (3, 4), dtype, (3, 4)) for dtype in ALL]
    for sa, sb in SHAPES:
        found += [pair("f64", sa, "f64", sb), pair("i64", sa, "i64", sb)]
    for x, y in LAYOUT_PAIRS:
        found.append(pair("f32", (3, 4), "f32", (3, 4), x, y))
        found.append(pair("f32", (2, 3, 4), "f32", (2, 3, 4), x, y))
        found.append(pair("f64", (3, 4), "f64", (4,), x, "contiguous"))
    for da, sa, db, sb in MIXED:
        found += [pair(da, sa, db, sb), pair(db, sb, da, sa)]
    for dtype in ("f64", "f32", "i64", "u8", "bool", "bf16"):
        for number in (2, 2.5, True):
            found.append(call(t((3,), dtype, low=la, high=ha), number))
        found.append(call(t((), dtype, low=la, high=ha), 1.5))
    if op.name not in NO_SPECIALS:
        found += binary_specials(op)
    found.append(refused(t((3,), "f32"), t((4,), "f32")))
    found.append(refused(t((3,), "f32"), "text"))
    found.append(refused(t((3,), "f32"), None))
    return found


def binary_specials(op: Op) -> list[Sample]:
    """Every pair of special values, and integers at their limits."""
    found = []
    values = (*SPECIALS, *NON_FINITE)
    for dtype in ("f64", "f32", "bf16"):
        found.append(rough(of([[v] for v in values], dtype), of(values, dtype)))
    found += [rough(of(values, "f32"), number) for number in (0, 0.0, -0.0, float("nan"), 3, 0.5)]
    ints = [-128, -7, -1, 1, 2, 7, 127]
    for dtype in ("i8", "i64", "u8"):
        some = [abs(v) for v in ints] if dtype == "u8" else ints
        found.append(rough(of([[v] for v in some], dtype), of([1, 2, 3, 5], dtype)))
        if dtype != "u8" and op.name != "pow":
            found.append(rough(of([[v] for v in some[1:]], dtype), of([-1, -2, -3], dtype)))
    if op.name in INT_DIVISIONS:
        found.append(refused(of([1, 2], "i64"), of([1, 0], "i64")))
        found.append(refused(of([1, 2], "i32"), 0))
    if op.name == "pow":
        found += [rough(of([1, -1, 2, -2], "i64"), of([-1, -2, -3, 2], "i64"))]
        found += [rough(of([-1.5, 2.0, 0.0], "f64"), n) for n in (-2, 2, 3, 0, 1, 0.5, -0.5)]
        found.append(refused(of([1, 2], "i64"), -1))
    if op.name in ("add", "sub"):
        for alpha in (2, 0.5, 0, -1):
            found.append(call(t((3,), "f64"), t((3,), "f64"), alpha=alpha))
        found += [call(t((3,), "i64"), t((3,), "i64"), alpha=3), call(t((3,), "f32"), 2, alpha=3)]
        found.append(refused(t((3,), "i64"), t((3,), "i64"), alpha=1.5))
        found.append(call(t((3,), "i64"), t((3,), "f32"), alpha=1.5))
    return found


def three(op: Op) -> list[Sample]:
    """Calls of a row with three operands (lerp)."""
    domains = [_domain(op, index) for index in range(3)]

    def triple(dtype: str, *shapes: tuple, layout: str = "contiguous") -> Sample:
        return call(
            *(
                t(shape, dtype, layout, low, high, seed=str(index))
                for index, (shape, (low, high)) in enumerate(zip(shapes, domains, strict=True))
            )
        )

    found = [triple(dtype, (3, 4), (3, 4), (3, 4)) for dtype in ("f64", "f32", "bf16", "f16")]
    found += [
        triple("f64", (3, 4), (4,), ()),
        triple("f64", (), (), ()),
        triple("f32", (0,), (1,), (0,)),
    ]
    found += [triple("f32", (3, 4), (3, 4), (3, 4), layout="transposed")]
    found += [call(t((3,), "f64"), t((3,), "f64", seed="e"), w) for w in (0.25, 0.75, 0, 1, 0.5)]
    found.append(refused(t((3,), "f32"), t((4,), "f32"), 0.5))
    return found


def _where(op: Op) -> list[Sample]:
    mask = t((3, 4), "bool")
    found = [call(mask, t((3, 4), d, seed="a"), t((3, 4), d, seed="b")) for d in ALL]
    found += [
        call(mask, t((4,), "f64"), t((3, 1), "f64")),
        call(mask, 1.5, t((3, 4), "f32")),
        call(mask, t((3, 4), "f32"), 0),
        call(mask, t((3, 4), "i64"), 0.5),
        call(mask, 1, 0),
        call(mask, 1.0, 0),
        call(mask, t((), "f64"), t((3, 4), "f32")),
        call(t((), "bool"), t((2,), "f64"), t((2,), "f64", seed="b")),
        call(t((0, 4), "bool"), t((4,), "f64"), t((0, 4), "f64")),
        call(t((3, 4), "bool", "transposed"), t((3, 4), "f32", "transposed"), 0.0),
        call(t((3, 4), "u8", low=0, high=2), t((3, 4), "f32"), 0.0),
        refused(t((3,), "f32"), t((3,), "f32"), t((3,), "f32")),
        refused(mask, t((5,), "f32"), t((3, 4), "f32")),
    ]
    return found


def _convert(op: Op) -> list[Sample]:
    found = []
    for source in ALL:
        for target in ALL:
            if source != target:
                found.append(call(t((3,), source, low=0, high=9), dtypes.from_short(target)))
    found.append(rough(of([1.9, -1.9, 300.0, -300.0, 70000.0], "f64"), dtypes.int64))
    found.append(rough(of([1.9, -1.9, 300.0, 255.0], "f32"), dtypes.int32))
    found.append(rough(of([0.5, float("nan"), 0.0, -0.0], "f32"), dtypes.bool))
    found.append(rough(of([-1, 300, 70000], "i64"), dtypes.uint8))
    found.append(rough(of([1.0 + 2**-9, 3.00390625, 1e39], "f64"), dtypes.bfloat16))
    found.append(call(t((2, 3), "f64", "transposed"), dtypes.float32))
    found.append(call(t((0,), "f64"), dtypes.float32))
    return found


def _rebase(op: Op) -> list[Sample]:
    return [call(t((3, 4)), t((3, 4), grad=False, seed="d"))]


def _bit_entropy(op: Op) -> list[Sample]:
    low, high = 0.1, 0.9
    found = [
        call(t((3, 4), d, layout, low, high, seed="x"), t((3, 4), d, "contiguous", low, high))
        for d in ("f64", "f32")
        for layout in ("contiguous", "transposed", "sliced")
    ]
    found.append(rough(of([0.0, 1.0, 0.5, 1.0]), of([0.0, 0.0, 1.0, 1.0])))
    return [*found, call(t((), low=low, high=high), t((), low=low, high=high, seed="y"))]


OWN = {"bit_entropy": _bit_entropy, "where": _where, "convert": _convert, "rebase": _rebase}


def pointwise_samples(op: Op) -> list[Sample]:
    """Calls of any pointwise row."""
    if op.name in OWN:
        return OWN[op.name](op)
    count = sum(parameter.type == "Operand" for parameter in op.signature.parameters)
    return {1: unary, 2: binary, 3: three}[count](op)

"""Promotion: the table written out, and the three groups of operands."""

import pytest

import minitorch2 as torch
from minitorch2 import dtypes

ORDER = ("bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64")
# Row by row, the type each pair promotes to (columns as in ORDER).
TABLE = """
bool u8   i8  i16 i32 i64 f16 bf16 f32 f64
u8   u8   i16 i16 i32 i64 f16 bf16 f32 f64
i8   i16  i8  i16 i32 i64 f16 bf16 f32 f64
i16  i16  i16 i16 i32 i64 f16 bf16 f32 f64
i32  i32  i32 i32 i32 i64 f16 bf16 f32 f64
i64  i64  i64 i64 i64 i64 f16 bf16 f32 f64
f16  f16  f16 f16 f16 f16 f16 f32  f32 f64
bf16 bf16 bf16 bf16 bf16 bf16 f32 bf16 f32 f64
f32  f32  f32 f32 f32 f32 f32 f32  f32 f64
f64  f64  f64 f64 f64 f64 f64 f64  f64 f64
"""
ROWS = [line.split() for line in TABLE.strip().splitlines()]
PAIRS = [(a, b, ROWS[i][j]) for i, a in enumerate(ORDER) for j, b in enumerate(ORDER)]


@pytest.mark.parametrize(("a", "b", "expected"), PAIRS)
def test_promote_types(a: str, b: str, expected: str) -> None:
    """Every pair of the ten dtypes."""
    first, second = dtypes.from_short(a), dtypes.from_short(b)
    assert dtypes.promote_types(first, second).short == expected
    mixed = torch.ones(2, dtype=first) * torch.ones(2, dtype=second)
    assert mixed.dtype.short == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (lambda: torch.ones(2, dtype=torch.int32) + 1, "i32"),
        (lambda: torch.ones(2, dtype=torch.int32) + 1.5, "f32"),
        (lambda: torch.ones(2, dtype=torch.bool) + 1, "i64"),
        (lambda: torch.ones(2, dtype=torch.bfloat16) * 2.5, "bf16"),
        (lambda: torch.ones(2) * torch.tensor(2.0, dtype=torch.float64), "f32"),
        (lambda: torch.ones(2, dtype=torch.int8) * torch.tensor(300), "i8"),
        (lambda: torch.ones(2, dtype=torch.int8) * torch.tensor(2.0), "f32"),
        (lambda: torch.tensor(1) / torch.tensor(2), "f32"),
        (lambda: torch.ones(2, dtype=torch.uint8) == 1, "bool"),
        (lambda: torch.tensor(True) + torch.tensor(True), "bool"),
    ],
)
def test_groups(expression, expected: str) -> None:
    """Tensors with dimensions, then 0-d tensors, then numbers: later groups only by category."""
    assert expression().dtype.short == expected


def test_the_default_dtype() -> None:
    """Floats take it; anything but a floating dtype is refused."""
    assert torch.tensor(1.5).dtype is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.tensor(1.5).dtype is torch.float64
        assert (torch.tensor(1) / 2).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    with pytest.raises(TypeError, match="only floating-point types"):
        torch.set_default_dtype(torch.int64)

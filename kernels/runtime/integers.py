"""Division, remainder and shifts of integers as a kernel's operators have them.

In: lanes of one type. Out: the lane of the result. NumPy's rules hold: quotients are rounded down,
a division by zero gives 0, a shift by the width or more shifts everything out. A constant divisor
needs none of the tests.

Source: the plain twin, NumPy's own scalars.
"""

from llvmlite import ir

from minitorch2.kernels.vecmath import arithmetic
from minitorch2.kernels.vecmath.lanes import LLVM_TYPES, Lane


def constant_of(lane: Lane) -> int | None:
    """The number of a constant lane of integers."""
    return lane.value.constant if isinstance(lane.value, ir.Constant) else None


def quotient(left: Lane, right: Lane) -> Lane:
    """`//` as NumPy has it: rounded down, and 0 for a division by zero."""
    if left.type[0] == "u" and constant_of(right):
        return left // right
    return arithmetic.floor_divide(left, right)


def rest(left: Lane, right: Lane) -> Lane:
    """`%` as NumPy has it: the sign of the divisor, and 0 for a division by zero."""
    if left.type[0] == "u" and constant_of(right):
        return left - left // right * right
    return arithmetic.remainder(left, right)


def shifted(left: Lane, right: Lane, to_left: bool) -> Lane:
    """`<<` and `>>` as NumPy has them: a count beyond the width shifts everything out."""
    width = LLVM_TYPES[left.type].width
    count = constant_of(right)
    if count is not None and 0 <= count < width:
        return left << right if to_left else left >> right
    fits = right.cast(f"u{width}") < width
    if not to_left and left.type[0] == "i":
        return left >> fits.select(right, width - 1)
    inside = fits.select(right, 0)
    return fits.select(left << inside if to_left else left >> inside, 0)

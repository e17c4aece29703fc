"""Operands and dimensions in one order."""

from minitorch2.jit.passes.canonicalize import canonicalize
from tests.jit.passes.checking import check


def test_numbers_go_right_and_operands_in_order():
    check(
        canonicalize,
        """graph f(%x: f32[s0,4], %y: f32[s0,4]) {
          %0: f32[s0,4] = mul(2.0, %x)
          %1: f32[s0,4] = add(%0, %y)
          %2: bool[s0,4] = eq(%1, %x)
          %3: f32[s0,4] = sub(%0, %y)
          %4: f32[s0,4] = add(%3, %x, alpha=2)
          %5: f32[s0,4] = maximum(%4, %x)
          return %2, %5
        }""",
        """graph f(%x: f32[s0,4], %y: f32[s0,4]) {
          %0: f32[s0,4] = mul(%x, 2.0)
          %1: f32[s0,4] = add(%y, %0)
          %2: bool[s0,4] = eq(%x, %1)
          %3: f32[s0,4] = sub(%0, %y)
          %4: f32[s0,4] = add(%3, %x, alpha=2)
          %5: f32[s0,4] = maximum(%4, %x)
          return %2, %5
        }""",
    )


def test_exchanged_operands_may_have_other_shapes_and_dtypes():
    check(
        canonicalize,
        """graph f(%x: i64[4], %y: f32[3,1]) {
          %0: f32[3,4] = mul(%y, %x)
          return %0
        }""",
        """graph f(%x: i64[4], %y: f32[3,1]) {
          %0: f32[3,4] = mul(%x, %y)
          return %0
        }""",
    )


def test_dimensions_count_from_the_front():
    check(
        canonicalize,
        """graph f(%x: f32[s0,4,3]) {
          %0: f32[s0] = sum(%x, (-1, 1))
          %1: f32[] = sum(%x)
          %2: f32[s0,1,3] = amax(%x, (-2,), keepdim=True)
          return %0, %1, %2
        }""",
        """graph f(%x: f32[s0,4,3]) {
          %0: f32[s0] = sum(%x, (1, 2))
          %1: f32[] = sum(%x, (0, 1, 2))
          %2: f32[s0,1,3] = amax(%x, (1,), keepdim=True)
          return %0, %1, %2
        }""",
    )


def test_dimensions_of_views_and_gathers_count_from_the_front():
    check(
        canonicalize,
        """graph f(%x: f32[s0,4]) {
          %0: f32[4,s0] = transpose(%x, -1, -2)
          %1: f32[s0,4,1] = unsqueeze(%x, -1)
          %2: f32[s0] = select(%x, -1, -1)
          %3: i64[1,4] = full((1, 4), 1)
          %4: f32[1,4] = gather(%x, -2, %3)
          %5: i64[s0] = argmax(%x, -1)
          return %0, %1, %2, %4, %5
        }""",
        """graph f(%x: f32[s0,4]) {
          %0: f32[4,s0] = transpose(%x, 1, 0)
          %1: f32[s0,4,1] = unsqueeze(%x, 2)
          %2: f32[s0] = select(%x, 1, -1)
          %3: i64[1,4] = full((1, 4), 1)
          %4: f32[1,4] = gather(%x, 0, %3)
          %5: i64[s0] = argmax(%x, 1)
          return %0, %1, %2, %4, %5
        }""",
    )

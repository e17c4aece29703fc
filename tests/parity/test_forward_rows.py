"""Tangents of every row of the op table on every sample, judged by torch's forward mode."""

import functools

import pytest

torch = pytest.importorskip("torch")

from tests.op_samples import rows  # noqa: E402
from tests.parity import tangents  # noqa: E402
from tests.parity.totals import Judgement, judge_tangents  # noqa: E402

ROWS = {op.name: op for op in rows()}

# Rows of which torch has a tangent for no sample; one that gains a comparison must go.
NO_FORMULA = set(
    """
    floor_divide floor_divide_ heaviside heaviside_ index_reduce index_reduce_ cdist igamma igamma_
    igammac igammac_ zeta bincount asinh_ acosh_ atanh_ bitwise_and bitwise_and_ bitwise_or
    bitwise_or_ bitwise_xor bitwise_xor_ bitwise_not bitwise_not_ bitwise_left_shift
    bitwise_left_shift_ bitwise_right_shift bitwise_right_shift_ channel_norm unique_parts
    unique_consecutive_parts gradients linalg_pinv_above
    """.split()
)

# Rows whose results have no tangent in either library: truth, places, counts, what is cut off,
# and functions of which torch has no derivative.
NO_TANGENT = set(
    """
    eq ne lt le gt ge logical_and logical_or logical_xor logical_not isnan isinf isfinite signbit
    isposinf isneginf isreal isin any_true any all_true all argmax argmin argsort argwhere nonzero
    count_nonzero searchsorted bucketize histc view_dtype detach bessel_j0 bessel_j1 bessel_y0
    bessel_y1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0
    scaled_modified_bessel_k1 airy_ai spherical_bessel_j0 chebyshev_polynomial_t
    chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w
    shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v
    shifted_chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l
    legendre_polynomial_p hash_tensor
    """.split()
)


@functools.cache
def judged(name: str) -> Judgement:
    """A row judged, once for all tests."""
    return judge_tangents(name)


@pytest.mark.parametrize("name", ROWS)
def test_row(name: str) -> None:
    """No difference in any sample but those by design."""
    unexpected = judged(name).unexpected
    assert not unexpected, f"{len(unexpected)} differences\n" + "\n".join(unexpected[:20])


def test_every_other_row_has_a_comparison() -> None:
    """What passes has been compared, wherever a sample has something to differentiate."""
    asked = {name for name, op in ROWS.items() if tangents.asked(op)}
    nothing = {name for name in asked if not judged(name).compared["tangents"]}
    assert nothing == NO_FORMULA | NO_TANGENT

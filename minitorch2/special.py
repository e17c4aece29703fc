"""torch.special: special functions, under the names of that module.

In: tensors. Out: tensors of the same shape.

    >>> from minitorch2 import special, tensor
    >>> special.ndtr(tensor([0.0]))
    tensor([0.5000])

Source: torch.special's documentation.
"""

from typing import Any

from minitorch2.creation import tensor
from minitorch2.dtypes import result_type
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


def _row(name: str) -> Any:
    return lookup(name).public


def _of_two(name: str) -> Any:
    """The function of a row of two tensors that takes a number for one of them."""
    row = lookup(name).public

    def function(input: Any, other: Any, *, out: Any = None) -> Any:
        if not isinstance(other, Tensor):
            other = tensor(other, dtype=result_type(input, other))
        elif not isinstance(input, Tensor):
            input = tensor(input, dtype=result_type(input, other))
        return row(input, other, out=out)

    function.__name__, function.__doc__ = name, row.__doc__
    return function


digamma = psi = _row("digamma")
entr, erf, erfc, erfcx, erfinv = map(_row, ("entr", "erf", "erfc", "erfcx", "erfinv"))
exp2, expm1, log1p = map(_row, ("exp2", "expm1", "log1p"))
expit, logit = _row("sigmoid"), _row("logit")
gammaln = _row("lgamma")
gammainc, gammaincc = _row("igamma"), _row("igammac")
multigammaln = _row("mvlgamma")
i0, i0e, i1, i1e = map(_row, ("i0", "i0e", "i1", "i1e"))
modified_bessel_i0, modified_bessel_i1 = i0, i1
bessel_j0, bessel_j1, bessel_y0, bessel_y1 = (
    _row(f"bessel_{name}") for name in ("j0", "j1", "y0", "y1")
)
modified_bessel_k0, modified_bessel_k1 = _row("modified_bessel_k0"), _row("modified_bessel_k1")
scaled_modified_bessel_k0 = _row("scaled_modified_bessel_k0")
scaled_modified_bessel_k1 = _row("scaled_modified_bessel_k1")
airy_ai, spherical_bessel_j0 = _row("airy_ai"), _row("spherical_bessel_j0")
log_ndtr, ndtr, ndtri = map(_row, ("log_ndtr", "ndtr", "ndtri"))
log_softmax, softmax, logsumexp = map(_row, ("log_softmax", "softmax", "logsumexp"))
sinc, round = _row("sinc"), _row("round")
xlogy, xlog1py, zeta = _row("xlogy"), _row("xlog1py"), _of_two("zeta")
chebyshev_polynomial_t = _of_two("chebyshev_polynomial_t")
chebyshev_polynomial_u = _of_two("chebyshev_polynomial_u")
chebyshev_polynomial_v = _of_two("chebyshev_polynomial_v")
chebyshev_polynomial_w = _of_two("chebyshev_polynomial_w")
shifted_chebyshev_polynomial_t = _of_two("shifted_chebyshev_polynomial_t")
shifted_chebyshev_polynomial_u = _of_two("shifted_chebyshev_polynomial_u")
shifted_chebyshev_polynomial_v = _of_two("shifted_chebyshev_polynomial_v")
shifted_chebyshev_polynomial_w = _of_two("shifted_chebyshev_polynomial_w")
hermite_polynomial_h = _of_two("hermite_polynomial_h")
hermite_polynomial_he = _of_two("hermite_polynomial_he")
laguerre_polynomial_l = _of_two("laguerre_polynomial_l")
legendre_polynomial_p = _of_two("legendre_polynomial_p")
_polygamma = _row("polygamma")


def polygamma(n: int, input: Any, *, out: Any = None) -> Any:
    """The n-th derivative of digamma."""
    return _polygamma(input, n, out=out)

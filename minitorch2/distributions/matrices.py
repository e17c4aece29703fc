"""Random matrices and angles: Wishart, LKJCholesky, VonMises.

In: degrees of freedom and a scale; a concentration; a direction. Out: positive definite matrices,
Cholesky factors of correlation matrices, angles of [-pi, pi).

Source: Bartlett's decomposition for Wishart; Lewandowski, Kurowicka, Joe (2009), the onion method,
for LKJ.
"""

import math
from typing import Any

import numpy

from minitorch2 import draws, linalg
from minitorch2.autograd.modes import no_grad
from minitorch2.distributions import constraints
from minitorch2.distributions.distribution import Distribution
from minitorch2.distributions.gamma import Beta
from minitorch2.distributions.multivariate import (
    ByCovariance,
    _same_batch,
    half_log_det,
    lower_of,
    one_form,
)
from minitorch2.distributions.tools import (
    arange,
    broadcast_all,
    matmul,
    normal,
    row,
    shape_of,
    tensor,
    where,
)
from minitorch2.dtypes import finfo
from minitorch2.layouts import broadcast_shapes
from minitorch2.tensors import Tensor, wrap

_multigammaln, _scaled_i0, _scaled_i1 = row("mvlgamma"), row("i0e"), row("i1e")


class Wishart(ByCovariance):
    """Sums of df squared normal vectors: x x^T added up; the mean is df * covariance_matrix."""

    arg_constraints = {
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
        "df": constraints.greater_than(0),
    }
    support = constraints.positive_definite
    has_rsample = True

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ):
        self._form, matrix = one_form(covariance_matrix, precision_matrix, scale_tril)
        df = df if isinstance(df, Tensor) else tensor(df, dtype=matrix.dtype)
        batch = broadcast_shapes(matrix.shape[:-2], df.shape)
        events = matrix.shape[-2:]
        if bool((df <= events[-1] - 1).any()):
            raise ValueError(
                f"Value of df={df} expected to be greater than ndim - 1 = {events[-1] - 1}."
            )
        self.df = df.expand(batch)
        self.__dict__[self._form] = matrix.expand((*batch, *events))
        super().__init__(batch, events, validate_args)
        self._lower = lower_of(self._form, matrix)

    def _given(self) -> list[str]:
        return ["df", self._form]

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same with expanded parameters."""
        made = super().expand(batch_shape)
        made._lower = self._lower.expand((*batch_shape, *self._event_shape))
        return made

    @property
    def mean(self) -> Any:
        """df * covariance."""
        return self.df.reshape((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def mode(self) -> Any:
        """(df - size - 1) * covariance; nan where that is negative."""
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor = where(factor <= 0, float("nan"), factor)
        return factor.reshape((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Any:
        """df * (v ** 2 + d d^T), d the covariance's diagonal."""
        v = self.covariance_matrix
        d = v.diagonal(dim1=-2, dim2=-1)
        outer = d.unsqueeze(-1) * d.unsqueeze(-2)
        return self.df.reshape((*self._batch_shape, 1, 1)) * (v.pow(2) + outer)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """L A A^T L^T, A lower with chi numbers on the diagonal and normal ones below."""
        shape = self._extended_shape(sample_shape)
        size = shape[-1]
        df = self.df.unsqueeze(-1) - arange(size, dtype=self.df.dtype)
        chi2 = 2 * draws.standard_gamma((df / 2).expand(shape[:-1]))
        below = normal(shape, self._lower).tril(-1)
        lower = below + chi2.clamp(min=finfo(chi2.dtype).tiny).sqrt().diag_embed()
        product = matmul(self._lower.expand(shape), lower)
        return matmul(product, product.mT)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        self._validate_sample(value)
        df, size = self.df, self._event_shape[0]
        trace = linalg.solve(*_same_batch(self.covariance_matrix, value))
        trace = trace.diagonal(dim1=-2, dim2=-1).sum(-1)
        return (
            -df * (half_log_det(self._lower) + 0.5 * size * math.log(2.0))
            - _multigammaln(0.5 * df, size)
            + 0.5 * (df - size - 1) * linalg.slogdet(value).logabsdet
            - 0.5 * trace
        )

    def entropy(self) -> Any:
        """By the multivariate digamma function."""
        df, size = self.df, self._event_shape[0]
        slopes = (0.5 * df.unsqueeze(-1) - 0.5 * arange(size, dtype=df.dtype)).digamma().sum(-1)
        return (
            (size + 1) * (0.5 * size * math.log(2.0) + half_log_det(self._lower))
            + _multigammaln(0.5 * df, size)
            - 0.5 * (df - size - 1) * slopes
            + 0.5 * df * size
        )


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices, the more alike the larger the concentration."""

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None):
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2, got {dim}")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        batch = self.concentration.size()
        super().__init__(batch, (dim, dim), validate_args)

    def _beta(self) -> Beta:
        marginal = self.concentration + 0.5 * (self.dim - 2)
        offset = arange(self.dim - 1, dtype=self.concentration.dtype)
        rows = offset.new_tensor([0.0, *offset.tolist()])
        return Beta(rows + 0.5, marginal.unsqueeze(-1) - 0.5 * rows, validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Any:
        """The onion method: each row a direction and a length."""
        with no_grad():
            lengths = self._beta().sample(sample_shape).unsqueeze(-1)
            below = normal(self._extended_shape(sample_shape), self.concentration).tril(-1)
            direction = below / below.norm(dim=-1, keepdim=True)
            direction[..., 0, :] = 0.0
            lower = lengths.sqrt() * direction
            tiny = finfo(lower.dtype).tiny
            diagonal = (1 - lower.pow(2).sum(-1)).clamp(min=tiny).sqrt()
            return lower + diagonal.diag_embed()

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = arange(2, self.dim + 1, dtype=self.concentration.dtype)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        unnormalized = (order * diagonal.log()).sum(-1)
        alpha, count = self.concentration + 0.5 * (self.dim - 1), self.dim - 1
        denominator = alpha.lgamma() * count
        numerator = _multigammaln(alpha - 0.5, count)
        return unnormalized - (0.5 * count * math.log(math.pi) + numerator - denominator)


class VonMises(Distribution):
    """Angles around loc, density exp(concentration * cos(x - loc)) / (2 pi I0(concentration))."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(shape_of(loc, concentration, like=self.loc), (), validate_args)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        self._validate_sample(value)
        found = self.concentration * (value - self.loc).cos()
        return found - math.log(2 * math.pi) - _log_bessel(self.concentration, 0)

    @property
    def mean(self) -> Any:
        """loc."""
        return self.loc

    @property
    def mode(self) -> Any:
        """loc."""
        return self.loc

    @property
    def variance(self) -> Any:
        """The circular variance 1 - I1 / I0."""
        k = self.concentration
        return 1 - (_log_bessel(k, 1) - _log_bessel(k, 0)).exp()

    def sample(self, sample_shape: Any = ()) -> Any:
        """numpy's rejection method, on the package's stream."""
        with no_grad():
            shape = tuple(self._extended_shape(sample_shape))
            loc = self.loc.double().expand(shape).array
            spread = self.concentration.double().expand(shape).array
            drawn = draws.stream(None, loc.size).vonmises(0.0, spread)
            angle = (drawn + loc + math.pi) % (2 * math.pi) - math.pi
            return wrap(numpy.asarray(angle)).to(self.loc.dtype)


def _log_bessel(x: Any, order: int) -> Any:
    """log I0 or log I1, by the functions that are scaled with exp(-x)."""
    return x + (_scaled_i1(x) if order else _scaled_i0(x)).log()

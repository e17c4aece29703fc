"""Normal vectors, and probabilities made of them: MultivariateNormal, LogisticNormal.

In: a mean and one description of the covariance. Out: vectors loc + L noise, L L^T the covariance.

    >>> from minitorch2 import eye, zeros
    >>> MultivariateNormal(zeros(2), eye(2)).log_prob(zeros(2))
    tensor(-1.8379)

Source: torch.distributions.
"""

import math
from typing import Any

from minitorch2 import linalg
from minitorch2.distributions import constraints
from minitorch2.distributions.distribution import Distribution
from minitorch2.distributions.normal import Normal
from minitorch2.distributions.tools import eye, lazy_property, matmul, normal
from minitorch2.distributions.transformed import TransformedDistribution
from minitorch2.distributions.vector_transforms import StickBreakingTransform
from minitorch2.layouts import broadcast_shapes


def mahalanobis(lower: Any, x: Any) -> Any:
    """|L^-1 x| ** 2 for each vector."""
    solved = linalg.solve_triangular(*_same_batch(lower, x.unsqueeze(-1)), upper=False)
    return solved.squeeze(-1).pow(2).sum(-1)


def _same_batch(a: Any, b: Any) -> tuple[Any, Any]:
    shape = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return a.expand((*shape, *a.shape[-2:])), b.expand((*shape, *b.shape[-2:]))


def half_log_det(lower: Any) -> Any:
    """log det L."""
    return lower.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def cholesky_of_inverse(precision: Any) -> Any:
    """The lower L with L L^T = P^-1, without inverting P itself."""
    flipped = linalg.cholesky(precision.flip((-2, -1)))
    upper = flipped.flip((-2, -1)).mT
    identity = eye(precision.shape[-1], dtype=precision.dtype)
    return linalg.solve_triangular(*_same_batch(upper.mT.mT, identity), upper=False)


def one_form(covariance_matrix: Any, precision_matrix: Any, scale_tril: Any) -> tuple[str, Any]:
    """The name and the value of the one description of a covariance that is given."""
    given = {
        "covariance_matrix": covariance_matrix,
        "precision_matrix": precision_matrix,
        "scale_tril": scale_tril,
    }
    named = [(name, value) for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise ValueError(
            "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
        )
    return named[0]


def lower_of(form: str, matrix: Any) -> Any:
    """The lower L with L L^T the covariance that a description means."""
    if form == "covariance_matrix":
        return linalg.cholesky(matrix)
    return cholesky_of_inverse(matrix) if form == "precision_matrix" else matrix


class ByCovariance(Distribution):
    """By one description of a covariance: `_form` names it, `_lower` is L; the others follow."""

    _form: str
    _lower: Any

    def _square(self, matrix: Any) -> Any:
        """A matrix for each distribution of the batch."""
        return matrix.expand((*self._batch_shape, *matrix.shape[-2:]))

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower L with L L^T the covariance."""
        return self._square(self._lower)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """L L^T."""
        return self._square(matmul(self._lower, self._lower.mT))

    @lazy_property
    def precision_matrix(self) -> Any:
        """The covariance's inverse."""
        return linalg.inv(self.covariance_matrix)


class MultivariateNormal(ByCovariance):
    """Vectors with a mean and a covariance_matrix, precision_matrix or scale_tril."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        self._form, matrix = one_form(covariance_matrix, precision_matrix, scale_tril)
        if matrix.dim() < 2:
            raise ValueError(
                f"{self._form} must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        batch = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.__dict__[self._form] = matrix.expand((*batch, *matrix.shape[-2:]))
        self.loc = loc.expand((*batch, loc.shape[-1]))
        super().__init__(batch, self.loc.shape[-1:], validate_args)
        self._lower = lower_of(self._form, matrix)

    def _given(self) -> list[str]:
        return ["loc", self._form]

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
        """The covariance's diagonal."""
        squared = self._lower.pow(2).sum(-1)
        return squared.expand((*self._batch_shape, *self._event_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """loc + L noise."""
        noise = normal(self._extended_shape(sample_shape), self.loc)
        return self.loc + matmul(self._lower, noise.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        self._validate_sample(value)
        lower = self._lower
        distance = mahalanobis(lower, value - self.loc)
        size = self._event_shape[0]
        return -0.5 * (size * math.log(2 * math.pi) + distance) - half_log_det(lower)

    def entropy(self) -> Any:
        """size / 2 * (1 + log(2 pi)) + log det L."""
        found = half_log_det(self._lower)
        found = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + found
        return found.expand(self._batch_shape)


class LowRankMultivariateNormal(Distribution):
    """Covariance W W^T + diag(d), W of few columns."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        events = loc.shape[-1:]
        if cov_factor.dim() < 2 or tuple(cov_factor.shape[-2:-1]) != tuple(events):
            raise ValueError(f"cov_factor must be a batch of matrices with shape {events[0]} x m")
        if tuple(cov_diag.shape[-1:]) != tuple(events):
            raise ValueError(f"cov_diag must be a batch of vectors with shape {tuple(events)}")
        batch = broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc = loc.expand((*batch, *events))
        self.cov_factor = cov_factor.expand((*batch, *cov_factor.shape[-2:]))
        self.cov_diag = cov_diag.expand((*batch, *events))
        super().__init__(batch, events, validate_args)

    @lazy_property
    def _capacitance_tril(self) -> Any:
        """The Cholesky factor of I + W^T D^-1 W."""
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        small = matmul(scaled, self.cov_factor)
        return linalg.cholesky(small + eye(small.shape[-1], dtype=small.dtype))

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
        """The covariance's diagonal."""
        return self.cov_factor.pow(2).sum(-1) + self.cov_diag

    @property
    def covariance_matrix(self) -> Any:
        """W W^T + diag(d)."""
        return matmul(self.cov_factor, self.cov_factor.mT) + self.cov_diag.diag_embed()

    @property
    def scale_tril(self) -> Any:
        """The covariance's Cholesky factor."""
        return linalg.cholesky(self.covariance_matrix)

    @property
    def precision_matrix(self) -> Any:
        """The covariance's inverse, by the Woodbury identity."""
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        a = linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        return self.cov_diag.reciprocal().diag_embed() - matmul(a.mT, a)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """loc + W noise + sqrt(d) noise."""
        shape = self._extended_shape(sample_shape)
        few = normal((*shape[:-1], self.cov_factor.shape[-1]), self.loc)
        along = matmul(self.cov_factor, few.unsqueeze(-1)).squeeze(-1)
        return self.loc + along + self.cov_diag.sqrt() * normal(shape, self.loc)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density, by the matrix determinant lemma."""
        self._validate_sample(value)
        gap = value - self.loc
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        along = matmul(scaled, gap.unsqueeze(-1)).squeeze(-1)
        distance = (gap.pow(2) / self.cov_diag).sum(-1) - mahalanobis(self._capacitance_tril, along)
        log_det = 2 * half_log_det(self._capacitance_tril) + self.cov_diag.log().sum(-1)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + log_det + distance)

    def entropy(self) -> Any:
        """size / 2 * (1 + log(2 pi)) + log det / 2."""
        log_det = 2 * half_log_det(self._capacitance_tril) + self.cov_diag.log().sum(-1)
        found = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + log_det)
        return found.expand(self._batch_shape)


class LogisticNormal(TransformedDistribution):
    """Probabilities: a normal vector, broken off a stick."""

    arg_constraints = {"loc": constraints.real_vector, "scale": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        base = Normal(loc, scale, validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args)

    @property
    def loc(self) -> Any:
        """The mean of the normal vector."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Any:
        """Its standard deviations."""
        return self.base_dist.base_dist.scale

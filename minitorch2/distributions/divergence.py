"""Kullback-Leibler divergences: how far one distribution is from another.

In: two distributions. Out: the mean, under the first, of log(p / q). A pair of classes has a rule;
`register_kl` adds one, and the most specific pair of base classes is used.

    >>> from minitorch2.distributions import Normal
    >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)

Source: torch.distributions.kl.
"""

import math
from collections.abc import Callable
from typing import Any

from minitorch2 import linalg
from minitorch2.autograd import grad
from minitorch2.autograd.modes import enable_grad
from minitorch2.distributions.bernoulli import Bernoulli, Binomial, Geometric, Poisson
from minitorch2.distributions.categorical import Categorical, OneHotCategorical
from minitorch2.distributions.continuous import Cauchy, Exponential, Laplace, Uniform
from minitorch2.distributions.distribution import Distribution, ExponentialFamily
from minitorch2.distributions.extremes import EULER, Gumbel, Pareto
from minitorch2.distributions.gamma import Beta, Dirichlet, Gamma
from minitorch2.distributions.matrices import Wishart
from minitorch2.distributions.multivariate import (
    LowRankMultivariateNormal,
    MultivariateNormal,
    _same_batch,
    half_log_det,
    mahalanobis,
)
from minitorch2.distributions.normal import HalfNormal, Normal
from minitorch2.distributions.tools import arange, row, softplus, sum_rightmost, where
from minitorch2.distributions.transformed import Independent, TransformedDistribution

_multigammaln = row("mvlgamma")
_RULES: dict[tuple[type, type], Callable] = {}


def register_kl(type_p: type, type_q: type) -> Callable:
    """A decorator for the function (p, q) -> divergence of a pair of classes."""
    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(kind, type):  # any class, as in torch: libraries have bases of their own
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {kind}")

    def decorator(function: Callable) -> Callable:
        _RULES[type_p, type_q] = function
        return function

    return decorator


def _rule(type_p: type, type_q: type) -> Callable | None:
    found = [
        (type_p.__mro__.index(p) + type_q.__mro__.index(q), at)
        for at, (p, q) in enumerate(_RULES)
        if issubclass(type_p, p) and issubclass(type_q, q)
    ]
    return list(_RULES.values())[min(found)[1]] if found else None


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """The divergence of q from p, of shape batch_shape; NotImplementedError without a rule."""
    rule = _rule(type(p), type(q))
    if rule is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type "
            f"{type(q).__name__}: add one with register_kl"
        )
    return rule(p, q)


def _infinite(like: Any) -> Any:
    return like * 0 + math.inf


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    one = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    one = where(p.probs == 0, 0.0, where(q.probs == 0, math.inf, one))
    zero = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    zero = where(p.probs == 1, 0.0, where(q.probs == 1, math.inf, zero))
    return one + zero


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    share = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p())
    found = share - p.total_count * (-q.probs).log1p()
    return where(p.total_count > q.total_count, math.inf, found)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Poisson, Bernoulli)
@register_kl(Poisson, Binomial)
def _poisson_bounded(p: Any, q: Any) -> Any:
    return _infinite(p.rate)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    terms = p.probs * (p.logits - q.logits)
    terms = where((q.probs == 0).expand(terms.shape), math.inf, terms)
    return where((p.probs == 0).expand(terms.shape), 0.0, terms).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Any:
    return _categorical(p._categorical, q._categorical)


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    gap = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + gap - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Any:
    gap = p.loc - q.loc
    ratio = p.scale / q.scale
    near = math.sqrt(2 / math.pi) * p.scale * (-0.5 * (gap / p.scale).pow(2)).exp()
    far = gap * (math.sqrt(0.5) * gap / p.scale).erf()
    return -ratio.log() + (near + far) / q.scale - (0.5 + 0.5 * math.log(0.5 * math.pi))


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio, gap = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + gap / q.scale + ratio * (-gap / p.scale).exp() - 1


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    ratio, place, own = p.scale / q.scale, q.loc / q.scale, p.loc / q.scale
    tail = (place + (1 + ratio).lgamma() - own).exp()
    return ratio.log() * -1 - place + own + ratio * EULER + tail - (1 + EULER)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    c, d = p.concentration, q.concentration
    return (
        d * (p.rate / q.rate).log()
        + d.lgamma()
        - c.lgamma()
        + (c - d) * c.digamma()
        + (q.rate - p.rate) * (c / p.rate)
    )


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    a, b, c, d = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    first = c.lgamma() + d.lgamma() + (a + b).lgamma()
    second = a.lgamma() + b.lgamma() + (c + d).lgamma()
    slopes = (a - c) * a.digamma() + (b - d) * b.digamma()
    return first - second + slopes + (c + d - a - b) * (a + b).digamma()


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    first = total.lgamma() - b.sum(-1).lgamma()
    second = (a.lgamma() - b.lgamma()).sum(-1)
    return first - second + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return where((q.low > p.low) | (q.high < p.high), math.inf, found)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    first = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return first - (4 * p.scale * q.scale).log()


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Any:
    ratio, alphas = p.scale / q.scale, q.alpha / p.alpha
    found = q.alpha * ratio.log() - alphas.log() + alphas - 1
    return where(p.support.lower_bound < q.support.lower_bound, math.inf, found)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate(p: Any, q: Any) -> Any:
    if tuple(p.event_shape) != tuple(q.event_shape):
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be "
            "computed"
        )
    mine, other = p._lower, q._lower
    batch = q.loc.shape[:-1] if q.loc.dim() >= p.loc.dim() else p.loc.shape[:-1]
    size = p.event_shape[0]
    a = other.expand((*batch, size, size))
    b = mine.expand((*batch, size, size))
    trace = linalg.solve_triangular(a, b, upper=False).pow(2).sum(-1).sum(-1)
    gap = mahalanobis(other, q.loc - p.loc)
    return half_log_det(other) - half_log_det(mine) + 0.5 * (trace + gap - size)


@register_kl(Wishart, Wishart)
def _wishart(p: Any, q: Any) -> Any:
    size = p.event_shape[0]
    mine, other = half_log_det(p._lower), half_log_det(q._lower)
    trace = linalg.solve(*_same_batch(q.covariance_matrix, p.covariance_matrix))
    trace = trace.diagonal(dim1=-2, dim2=-1).sum(-1)
    slopes = (0.5 * (p.df.unsqueeze(-1) - arange(size, dtype=p.df.dtype))).digamma().sum(-1)
    return (
        q.df * (other - mine)
        + 0.5 * p.df * (trace - size)
        + _multigammaln(0.5 * q.df, size)
        - _multigammaln(0.5 * p.df, size)
        + 0.5 * (p.df - q.df) * slopes
    )


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _low_rank(p: Any, q: Any) -> Any:
    return _multivariate(_dense(p), _dense(q))


def _dense(d: Any) -> Any:
    if isinstance(d, MultivariateNormal):
        return d
    return MultivariateNormal(d.loc, scale_tril=d.scale_tril, validate_args=False)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("the two Independents move different numbers of dimensions")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or tuple(p.event_shape) != tuple(q.event_shape):
        raise NotImplementedError("the two are not transformed alike")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: Any, q: Any) -> Any:
    """The Bregman divergence of the log-normalizer, for two of one family."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed "
            "using Bregman divergences"
        )
    with enable_grad():
        mine = [each.detach().requires_grad_() for each in p._natural_params]
        normalizer = p._log_normalizer(*mine)
        slopes = grad(normalizer.sum(), mine, create_graph=True)
    found = q._log_normalizer(*q._natural_params) - normalizer
    for other, own, slope in zip(q._natural_params, mine, slopes, strict=True):
        found = found - sum_rightmost((other - own) * slope, len(q.event_shape))
    return found


__all__ = ["kl_divergence", "register_kl"]

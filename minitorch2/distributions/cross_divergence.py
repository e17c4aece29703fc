"""Divergences between different families of numbers: by the moments of the first.

In: two distributions of a number. Out: -entropy(p) - E_p[log q], inf where p has outcomes that q
does not have. E_p[log q] needs p's mean, variance, E[log x], E[log(1 - x)] or moment generating
function, so each family states those once and every pair follows.

    >>> from minitorch2.distributions import Exponential, Normal, kl_divergence
    >>> kl_divergence(Exponential(1.0), Normal(0.0, 1.0))
    tensor(0.9189)

Source: the definition of the divergence; torch.distributions.kl lists the pairs.
"""

import math
from collections.abc import Callable
from typing import Any

from minitorch2.distributions.bernoulli import ContinuousBernoulli
from minitorch2.distributions.continuous import Exponential, Laplace, Uniform
from minitorch2.distributions.divergence import register_kl
from minitorch2.distributions.extremes import EULER, Gumbel, Pareto
from minitorch2.distributions.gamma import Beta, Gamma
from minitorch2.distributions.normal import Normal
from minitorch2.distributions.tools import where, xlogy


def _interval(d: Any) -> tuple[Any, Any]:
    """The ends of the outcomes."""
    if isinstance(d, Uniform):
        return d.low, d.high
    if isinstance(d, Pareto):
        return d.scale, math.inf
    if isinstance(d, (Beta, ContinuousBernoulli)):
        return 0.0, 1.0
    return (0.0 if isinstance(d, (Exponential, Gamma)) else -math.inf), math.inf


def _mean_log(p: Any) -> Any:
    """E[log x]."""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Gamma):
        return p.concentration.digamma() - p.rate.log()
    if isinstance(p, Exponential):
        return -EULER - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    if isinstance(p, Uniform):
        return (xlogy(p.high, p.high) - xlogy(p.low, p.low)) / (p.high - p.low) - 1
    return None


def _mean_log_rest(p: Any) -> Any:
    """E[log(1 - x)]."""
    if isinstance(p, Beta):
        return p.concentration0.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Uniform):
        low, high = 1 - p.low, 1 - p.high
        return (xlogy(low, low) - xlogy(high, high)) / (low - high) - 1
    return None


def _mean_exp(p: Any, t: Any) -> Any:
    """E[exp(t x)]."""
    if isinstance(p, Normal):
        return (p.loc * t + 0.5 * (p.scale * t).pow(2)).exp()
    if isinstance(p, Exponential):
        return p.rate / (p.rate - t)
    if isinstance(p, Gamma):
        return (1 - t / p.rate).pow(-p.concentration)
    if isinstance(p, Uniform):
        return ((t * p.high).exp() - (t * p.low).exp()) / (t * (p.high - p.low))
    return None


def _score_exponential(p: Any, q: Any) -> Any:
    return q.rate.log() - q.rate * p.mean


def _score_gamma(p: Any, q: Any) -> Any:
    c, log = q.concentration, _mean_log(p)
    return log if log is None else xlogy(c, q.rate) - c.lgamma() + (c - 1) * log - q.rate * p.mean


def _score_normal(p: Any, q: Any) -> Any:
    variance = q.scale.pow(2)
    spread = p.variance + (p.mean - q.loc).pow(2)
    return -0.5 * (2 * math.pi * variance).log() - spread / (2 * variance)


def _score_uniform(p: Any, q: Any) -> Any:
    return -(q.high - q.low).log()


def _score_continuous_bernoulli(p: Any, q: Any) -> Any:
    return p.mean * q.logits + (-q.probs).log1p() + q._log_constant()


def _score_beta(p: Any, q: Any) -> Any:
    a, b, log, rest = q.concentration1, q.concentration0, _mean_log(p), _mean_log_rest(p)
    if log is None or rest is None:
        return None
    return (a - 1) * log + (b - 1) * rest - a.lgamma() - b.lgamma() + (a + b).lgamma()


def _score_pareto(p: Any, q: Any) -> Any:
    log = _mean_log(p)
    return log if log is None else q.alpha.log() + xlogy(q.alpha, q.scale) - (q.alpha + 1) * log


def _score_gumbel(p: Any, q: Any) -> Any:
    mean_exp = _mean_exp(p, -q.scale.reciprocal())
    if mean_exp is None:
        return None
    return -q.scale.log() - (p.mean - q.loc) / q.scale - (q.loc / q.scale).exp() * mean_exp


_SCORES: dict[type, Callable] = {
    Exponential: _score_exponential,
    Gamma: _score_gamma,
    Normal: _score_normal,
    Uniform: _score_uniform,
    ContinuousBernoulli: _score_continuous_bernoulli,
    Beta: _score_beta,
    Pareto: _score_pareto,
    Gumbel: _score_gumbel,
}
_FIRST = (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Normal, Pareto, Uniform)


def _open(end: Any) -> bool:
    """Whether an end of an interval is infinite."""
    return isinstance(end, float) and math.isinf(end)


def _rule(family: type, score: Callable) -> Callable:
    def rule(p: Any, q: Any) -> Any:
        """KL(p || q), infinite where q excludes what p allows. NotImplementedError: no score."""
        (low, high), (least, most) = _interval(p), _interval(q)
        if _open(low) > _open(least) or _open(high) > _open(most):
            return p.entropy().detach() * 0 + math.inf
        found = score(p, q)
        if found is None and isinstance(q, Pareto) and low == 0.0:
            return p.entropy().detach() * 0 + math.inf  # a Pareto number is positive
        if found is None:
            raise NotImplementedError(
                f"No KL(p || q) is implemented for p type {type(p).__name__} and q type "
                f"{type(q).__name__}: add one with register_kl"
            )
        found = -p.entropy() - found
        for outside in (low < least, high > most):
            if outside is True:
                found = found * 0 + math.inf
            elif outside is not False:
                found = where(outside, math.inf, found)
        return found

    return rule


for _first in _FIRST:
    for _second, _score in _SCORES.items():
        if _first is not _second:
            register_kl(_first, _second)(_rule(_first, _score))

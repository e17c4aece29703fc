"""Random numbers that are made by rejection: gamma, Poisson, binomial.

In: a tensor of parameters. Out: one draw for each element. numpy's algorithms run on a stream that
starts where the package's generator stands, so seeds and `get_rng_state` hold for these draws too.

    >>> from minitorch2 import manual_seed, tensor
    >>> _ = manual_seed(0)
    >>> bool(poisson(tensor([4.0, 4.0])).equal(poisson(tensor([4.0, 4.0]))))
    False

The gradient of a gamma draw x with respect to its shape a is implicit: the probability P(a, x) of a
smaller draw stays as it is, so dx/da = -(dP/da) / (dP/dx).

Source: numpy.random; Figurnov, Mohamed, Mnih, "Implicit reparameterization gradients" (2018).
"""

from typing import Any

import numpy

from minitorch2.autograd.function import Function
from minitorch2.autograd.modes import no_grad
from minitorch2.errors import OperationError
from minitorch2.ops.table import lookup
from minitorch2.random import Generator, default_generator
from minitorch2.tensors import Tensor, wrap

_digamma = lookup("digamma").public


def stream(generator: Generator | None, count: int) -> numpy.random.Generator:
    """numpy's generator at the place where `count` numbers are taken from ours."""
    seed, first = (generator or default_generator).take(count)
    return numpy.random.Generator(numpy.random.Philox(key=seed, counter=first))


def _like(values: numpy.ndarray, template: Any) -> Any:
    return wrap(numpy.asarray(values)).to(template.dtype)


def _wide(tensor: Any) -> numpy.ndarray:
    return tensor.detach().double().array


def poisson(input: Any, generator: Generator | None = None) -> Any:
    """Draws of Poisson distributions with the given rates (not negative), in their dtype."""
    rates = _wide(input)
    if (rates < 0).any():
        raise OperationError("poisson()", "invalid Poisson rate, expected rate to be non-negative")
    return _like(stream(generator, rates.size).poisson(rates), input)


def binomial(count: Any, prob: Any, generator: Generator | None = None) -> Any:
    """How often something of probability `prob` happens in `count` trials, in prob's dtype."""
    counts, chances = numpy.broadcast_arrays(_wide(count), _wide(prob))
    drawn = stream(generator, counts.size).binomial(counts.astype(numpy.int64), chances)
    return _like(drawn, prob)


def standard_gamma_grad(self: Any, output: Any) -> Any:
    """dx/da for draws x of gamma distributions of shape a and rate 1."""
    return _like(_slope(_wide(self), _wide(output)), output)


def _slope(a: numpy.ndarray, x: numpy.ndarray) -> numpy.ndarray:
    """dx/da at a fixed probability, by the series of P(a, x); beyond a = 1000 asymptotically."""
    a, x = numpy.broadcast_arrays(a, x)
    found = numpy.empty(a.shape)
    large = a > 1000
    found[large] = _slope_of_large(a[large], x[large])
    found[~large] = _slope_by_series(a[~large], x[~large])
    return found


def _slope_of_large(a: numpy.ndarray, x: numpy.ndarray) -> numpy.ndarray:
    """With the Wilson-Hilferty approximation x = a (1 - 1/(9a) + z / (3 sqrt(a))) ** 3, z fixed."""
    root = numpy.cbrt(x / a)
    z = (root - 1 + 1 / (9 * a)) * 3 * numpy.sqrt(a)
    return root**3 + 3 * a * root**2 * (1 / (9 * a**2) - z / (6 * a**1.5))


def _slope_by_series(a: numpy.ndarray, x: numpy.ndarray) -> numpy.ndarray:
    """P(a, x) = sum of t_n, t_n = x ** (a + n) exp(-x) / gamma(a + n + 1); density = t_0 a / x.

    With r_n = t_n / t_0 the slope is -sum r_n (log x - digamma(a + n + 1)) x / a.
    """
    if not a.size:
        return a
    with numpy.errstate(divide="ignore", invalid="ignore"):
        log_x = numpy.log(x)
        psi = _digamma(wrap(a + 1)).array
        ratio, total = numpy.ones_like(a), log_x - psi
        terms = int((x + 12 * numpy.sqrt(x)).max()) + 60 if numpy.isfinite(x).all() else 60
        for n in range(1, min(terms, 20_000)):
            ratio = ratio * x / (a + n)
            psi = psi + 1 / (a + n)
            total = total + ratio * (log_x - psi)
        slope = -total * x / a
    return numpy.where(x == 0, 0.0, slope)


class _StandardGamma(Function):
    """Draws whose gradient reaches the shape."""

    @staticmethod
    def forward(ctx: Any, shape: Tensor, generator: Generator | None) -> Any:
        wide = _wide(shape)
        drawn = _like(stream(generator, wide.size).standard_gamma(wide), shape)
        ctx.save_for_backward(shape, drawn)
        return drawn

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        shape, drawn = ctx.saved_tensors
        with no_grad():
            return grad * standard_gamma_grad(shape, drawn), None


def standard_gamma(self: Any, generator: Generator | None = None) -> Any:
    """Draws of gamma distributions with the given shapes and rate 1; gradients reach the shapes."""
    return _StandardGamma.apply(self, generator)


def sample_dirichlet(concentration: Any, generator: Generator | None = None) -> Any:
    """Draws of Dirichlet distributions: gamma draws, divided by their sum."""
    drawn = standard_gamma(concentration, generator)
    return drawn / drawn.sum(-1, True)

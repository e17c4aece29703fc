"""Tensor methods that fill a tensor with random numbers, in place.

In: a tensor and the parameters of a distribution. Out: the same tensor.

Source: torch.Tensor's "In-place random sampling".
"""

import math
from typing import Any

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.errors import OperationError
from minitorch2.ops.creation import check_probabilities, check_probability
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


def _op(name: str, *args: Any) -> Any:
    return call(lookup(name), args)


def _written(self: Tensor, values: Any) -> Any:
    return _op("copy_", self, values, False)


def _uniform(self: Tensor, generator: Any) -> Any:
    """Numbers in [0, 1), in double precision for doubles."""
    wide = dtypes.float64 if self.dtype is dtypes.float64 else dtypes.float32
    return _op("rand", tuple(self.layout.shape), wide, None, generator)


def _require(holds: bool, name: str, wrong: str) -> None:
    """OperationError, in torch's words, unless a parameter is in its range."""
    if not holds:
        raise OperationError(f"{name}()", f"{name} {wrong}", "look at the range of the parameter")


def uniform_(self: Tensor, *bounds: Any, generator: Any = None, **named: Any) -> Any:
    """Fill with numbers uniform in [from, to); `uniform_(from=0, to=1)`."""
    start = bounds[0] if bounds else named.get("from", 0.0)
    end = bounds[1] if len(bounds) > 1 else named.get("to", 1.0)
    _require(
        start <= end,
        "uniform_",
        f"expects to return a [from, to) range, but found from={start} > to={end}",
    )
    return _written(self, _uniform(self, generator) * (end - start) + start)


_DRAWN = (dtypes.float64, dtypes.complex64, dtypes.complex128)


def normal_(self: Tensor, mean: float = 0, std: float = 1, *, generator: Any = None) -> Any:
    """Fill with normal numbers; of complex ones, half of the variance is in each part."""
    _require(std >= 0, "normal", f"expects std >= 0.0, but found std {std}")
    wide = self.dtype if self.dtype in _DRAWN else dtypes.float32
    drawn = _op("randn", tuple(self.layout.shape), wide, None, generator)
    return _written(self, drawn * std + mean)


def exponential_(self: Tensor, lambd: float = 1, *, generator: Any = None) -> Any:
    """Fill with numbers of the density lambd * exp(-lambd * x)."""
    _require(lambd > 0, "exponential_", f"expects lambda > 0.0, but found lambda={lambd}")
    return _written(self, -(1 - _uniform(self, generator)).log() / lambd)


def cauchy_(self: Tensor, median: float = 0, sigma: float = 1, *, generator: Any = None) -> Any:
    """Fill with numbers of the Cauchy distribution around a median, of half-width sigma."""
    _require(sigma > 0, "cauchy_", f"expects sigma > 0.0, but found sigma={sigma}")
    angle = (_uniform(self, generator) - 0.5) * math.pi
    return _written(self, angle.tan() * sigma + median)


def geometric_(self: Tensor, p: float, *, generator: Any = None) -> Any:
    """Fill with the number of trials until the first success of probability p: 1, 2, ..."""
    _require(0 < p < 1, "geometric_", f"expects p to be in (0, 1), but got p={p}")
    trials = (-_uniform(self, generator)).log1p() / math.log1p(-p)
    return _written(self, trials.ceil().clamp(min=1))


def log_normal_(self: Tensor, mean: float = 1, std: float = 2, *, generator: Any = None) -> Any:
    """Fill with numbers whose logarithm is normal with this mean and standard deviation."""
    _require(std > 0, "log_normal_", f"expects std > 0.0, but found std={std}")
    wide = dtypes.float64 if self.dtype is dtypes.float64 else dtypes.float32
    drawn = _op("randn", tuple(self.layout.shape), wide, None, generator)
    return _written(self, (drawn * std + mean).exp())


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Any:
    """Fill with 1 with probability p (a number or a tensor), else 0."""
    if isinstance(p, Tensor):
        p = p.expand(tuple(self.layout.shape))
        check_probabilities("bernoulli_", p)
    else:
        check_probability(p)
    return _written(self, (_uniform(self, generator) < p).to(self.dtype))


# The largest integer each floating dtype counts to without gaps.
_EXACT = {"float16": 1 << 11, "bfloat16": 1 << 8, "float32": 1 << 24, "float64": 1 << 53}


def random_(self: Tensor, *bounds: int, generator: Any = None) -> Any:
    """Fill with integers uniform in [from, to): `random_()`, `random_(to)`, `random_(from, to)`."""
    if self.dtype.is_floating_point:
        limit = _EXACT[self.dtype.name] + 1
    else:
        limit = 1 << (8 * self.dtype.itemsize - self.dtype.is_signed)
    low, high = {0: (0, limit), 1: (0, *bounds), 2: bounds}[len(bounds)]
    _require(
        low < high,
        "random_",
        f"expects 'from' to be less than 'to', but got from={low} >= to={high}",
    )
    for bound, name in ((low, "from"), (high - 1, "to - 1")):
        if self.dtype.category == dtypes.INTEGER and not dtypes.can_hold(self.dtype, bound):
            raise OperationError(
                f"random_({low}, {high})", f"{name} is out of bounds for {self.dtype}"
            )
    shape = tuple(self.layout.shape)
    return _written(self, _op("random_integers", low, high, shape, None, None, generator))

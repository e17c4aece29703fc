"""Initial values of parameters: constants, distributions scaled by fan-in and fan-out, and others.

In: a tensor. Out: the same tensor, filled; nothing is recorded for the backward.

Fans are the numbers of connections into and out of one unit: for a weight [out, in, *kernel] they
are in * kernel and out * kernel. Variance 1/fan_in keeps activations' size from layer to layer,
variance 1/fan_out that of gradients.

    >>> from minitorch2 import empty
    >>> from minitorch2.nn import init
    >>> init.ones_(empty(2, 2))
    tensor([[1., 1.],
            [1., 1.]])

Source: Glorot & Bengio 2010, He et al. 2015, Saxe et al. 2013; names of torch.nn.init.
"""

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.errors import ArgumentValueError
from minitorch2.public import public
from minitorch2.random import Generator
from minitorch2.ranges import eye as identity

_ALWAYS_ONE = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d")


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which a nonlinearity shrinks the standard deviation, to be made up for."""
    if nonlinearity in (*_ALWAYS_ONE, "conv_transpose3d", "sigmoid"):
        return 1.0
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ArgumentValueError(
        f"calculate_gain({nonlinearity!r})",
        f"Unsupported nonlinearity {nonlinearity}",
        "use 'linear', 'sigmoid', 'tanh', 'relu', 'leaky_relu' or 'selu'",
    )


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    """Connections into and out of one unit of a weight [out, in, *kernel]."""
    if tensor.ndim < 2:
        raise ArgumentValueError(
            f"fans of a tensor of shape {list(tensor.shape)}",
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions",
            "use a constant or a plain distribution for vectors",
        )
    kernel = math.prod(tensor.shape[2:])
    return tensor.shape[1] * kernel, tensor.shape[0] * kernel


def _fan(tensor: Any, mode: str) -> int:
    fans = dict(zip(("fan_in", "fan_out"), _calculate_fan_in_and_fan_out(tensor), strict=True))
    if mode.lower() not in fans:
        raise ArgumentValueError(
            f"initialization with mode={mode!r}",
            f"Mode {mode} not supported",
            "use 'fan_in' or 'fan_out'",
        )
    return fans[mode.lower()]


_calculate_correct_fan = _fan  # torch's name


def _filled(tensor: Any, make: Callable[[], Any]) -> Any:
    with no_grad():
        return tensor.copy_(make())


def uniform_(
    tensor: Any, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Any:
    """Fill with numbers uniform in [a, b)."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Any:
    """Fill with numbers from the normal distribution N(mean, std^2)."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Any,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Any:
    """Fill with numbers from N(mean, std^2) limited to [a, b].

    Where the limits leave out few, those are drawn again, as torch does; else by inverting the
    distribution.
    """

    def below(x: float) -> float:
        return (1.0 + math.erf((x - mean) / std / math.sqrt(2.0))) / 2.0

    with no_grad():
        if below(b) - below(a) > 0.3:
            return _drawn_again(tensor, mean, std, a, b, generator)
        tensor.uniform_(2 * below(a) - 1, 2 * below(b) - 1, generator=generator)
        return tensor.erfinv_().mul_(std * math.sqrt(2.0)).add_(mean).clamp_(a, b)


def _drawn_again(
    tensor: Any, mean: float, std: float, a: float, b: float, generator: Generator | None
) -> Any:
    """Normal numbers; a whole draw anew for those that are not in [a, b], until all are."""
    found = tensor.normal_(mean, std, generator=generator)
    if tensor.is_meta:
        return tensor
    low, high = (tensor.new_tensor(limit).item() for limit in (a, b))  # as the dtype rounds them
    while (outside := (found < low) | (found > high)).any():
        fresh = tensor.new_empty(tensor.shape).normal_(mean, std, generator=generator)
        found = public("where")(outside, fresh, found)
    return tensor if found is tensor else tensor.copy_(found)


def constant_(tensor: Any, val: float) -> Any:
    """Fill with one value."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Any) -> Any:
    """Fill with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Any) -> Any:
    """Fill with zeros."""
    return constant_(tensor, 0.0)


def eye_(tensor: Any) -> Any:
    """Fill a matrix with the identity."""
    if tensor.ndim != 2:
        raise ArgumentValueError(
            f"eye_ of a tensor of shape {list(tensor.shape)}",
            "Only tensors with 2 dimensions are supported",
            "use dirac_ for convolutions",
        )
    return _filled(tensor, lambda: identity(*tensor.shape, dtype=tensor.dtype))


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """Fill a convolution's weight so that it passes its input through."""
    if tensor.ndim not in (3, 4, 5):
        raise ArgumentValueError(
            f"dirac_ of a tensor of shape {list(tensor.shape)}",
            "Only tensors with 3, 4, or 5 dimensions are supported",
            "use eye_ for matrices",
        )
    outputs = tensor.shape[0]
    if outputs % groups:
        raise ArgumentValueError(f"dirac_(groups={groups})", "dim 0 must be divisible by groups")
    centre = tuple(size // 2 for size in tensor.shape[2:])
    each = outputs // groups
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(each, tensor.shape[1])):
                tensor[(group * each + channel, channel, *centre)] = 1.0
    return tensor


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Generator | None = None) -> Any:
    """Uniform with variance gain^2 * 2 / (fan_in + fan_out)."""
    bound = gain * math.sqrt(6.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Generator | None = None) -> Any:
    """Normal with variance gain^2 * 2 / (fan_in + fan_out)."""
    std = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return normal_(tensor, 0.0, std, generator)


def kaiming_uniform_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Any:
    """Uniform with variance gain^2 / fan; `a` is leaky_relu's slope."""
    if 0 in tensor.shape:
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Any:
    """Normal with variance gain^2 / fan; `a` is leaky_relu's slope."""
    if 0 in tensor.shape:
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode))
    return normal_(tensor, 0.0, std, generator)


def orthogonal_(tensor: Any, gain: float = 1, generator: Generator | None = None) -> Any:
    """Fill with a matrix whose rows (or columns, whichever are fewer) are orthonormal."""
    if tensor.ndim < 2:
        raise ArgumentValueError(
            f"orthogonal_ of a tensor of shape {list(tensor.shape)}",
            "Only tensors with 2 or more dimensions are supported",
            "use normal_ for vectors",
        )
    rows, columns = tensor.shape[0], math.prod(tensor.shape[1:])
    with no_grad():
        drawn = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
        basis = _orthonormal_columns((drawn if rows >= columns else drawn.t()).double())
        return tensor.copy_((basis if rows >= columns else basis.t()).reshape(tensor.shape) * gain)


def _orthonormal_columns(matrix: Any) -> Any:
    """Gram and Schmidt's method, each column cleared of the earlier ones twice."""
    for column in range(matrix.shape[1]):
        vector = matrix[:, column].clone()
        before = matrix[:, :column]
        for _ in range(2):
            vector = vector - before @ (before.t() @ vector)
        matrix[:, column] = vector / (vector * vector).sum().sqrt()
    return matrix


def sparse_(
    tensor: Any, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Any:
    """Normal values of which a share `sparsity` in each column is zero."""
    if tensor.ndim != 2:
        raise ArgumentValueError("sparse_", "Only tensors with 2 dimensions are supported")
    zeros = math.ceil(sparsity * tensor.shape[0])
    normal_(tensor, 0.0, std, generator)
    with no_grad():
        for column in range(tensor.shape[1]):
            tensor[public("randperm")(tensor.shape[0], generator=generator)[:zeros], column] = 0
    return tensor


def _older(name: str) -> Callable:
    """The name without the underscore, which torch has kept and warns of."""
    function = globals()[name + "_"]

    @functools.wraps(function)
    def older(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    older.__name__ = older.__qualname__ = name
    older.__doc__ = f"The older name of {name}_."
    return older


uniform, normal, constant, eye, dirac = (
    _older(name) for name in ("uniform", "normal", "constant", "eye", "dirac")
)
xavier_uniform, xavier_normal = _older("xavier_uniform"), _older("xavier_normal")
kaiming_uniform, kaiming_normal = _older("kaiming_uniform"), _older("kaiming_normal")
orthogonal, sparse = _older("orthogonal"), _older("sparse")

"""torch.gradient: derivatives of functions that are known at sample points only.

In: samples [..., n, ...] and the distances or places of the points. Out: one tensor of derivatives
for each dimension, of second order inside and of order `edge_order` at the ends.

    >>> from minitorch2 import tensor
    >>> gradient(tensor([0.0, 1.0, 4.0, 9.0]))
    (tensor([1., 2., 4., 5.]),)

Source: torch.gradient; Fornberg 1988, "Generation of finite difference formulas on arbitrarily
spaced grids".
"""

from typing import Any

from minitorch2.errors import OperationError
from minitorch2.layouts import normalize_dim
from minitorch2.ops.infer import describe_value
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor

_cat = lookup("cat").public


def _inside(x: Any, dim: int, left: Any, right: Any) -> Any:
    """From three neighbours, a distance `left` and `right` of the middle one."""
    n = x.shape[dim]
    before, here, after = (x.narrow(dim, at, n - 2) for at in (0, 1, 2))
    if not isinstance(left, Tensor):
        return (after - before) / (left + right)
    whole = left + right
    return (
        before * (-right / (left * whole))
        + here * ((right - left) / (left * right))
        + after * (left / (right * whole))
    )


def _end(
    x: Any, dim: int, places: tuple[int, int, int], first: Any, second: Any, order: int
) -> Any:
    """At an end, from two or three points; distances towards the inside are counted with sign."""
    a, b, c = (x.narrow(dim, at, 1) for at in places[: order + 1] + places[-1:] * (2 - order))
    if order == 1:
        return (b - a) / first
    whole = first + second
    return (
        a * (-(2 * first + second) / (first * whole))
        + b * (whole / (first * second))
        - c * (first / (second * whole))
    )


def _along(x: Any, dim: int, spacing: Any, order: int) -> Any:
    n = x.shape[dim]
    if isinstance(spacing, Tensor):
        shape = [1] * x.ndim
        shape[dim] = n - 1
        gaps = (spacing[1:] - spacing[:-1]).reshape(shape)
        left, right = gaps.narrow(dim, 0, n - 2), gaps.narrow(dim, 1, n - 2)
        ends = [gaps.narrow(dim, at, 1) for at in (0, min(1, n - 2), n - 2, max(n - 3, 0))]
    else:
        left = right = spacing
        ends = [spacing] * 4
    parts = [
        _end(x, dim, (0, 1, min(2, n - 1)), ends[0], ends[1], order),
        _inside(x, dim, left, right),
        _end(x, dim, (n - 1, n - 2, max(n - 3, 0)), -ends[2], -ends[3], order),
    ]
    return _cat(parts, dim)


def _check(input: Any, dims: list[int], spacings: list[Any], order: int) -> None:
    wrong = ""
    if order not in (1, 2):
        wrong = "torch.gradient only supports edge_order=1 and edge_order=2."
    elif len(set(dims)) != len(dims):
        wrong = "dim appears multiple times in the list of dims"
    elif len(spacings) != len(dims):
        wrong = (
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
            f"{len(dims)}, but got a list of length {len(spacings)}"
        )
    elif any(input.shape[dim] < order + 1 for dim in dims):
        wrong = "torch.gradient expected each dimension size to be at least edge_order+1"
    for spacing, dim in zip(spacings, dims, strict=False):
        if not wrong and isinstance(spacing, Tensor):
            if spacing.ndim != 1:
                wrong = (
                    "torch.gradient expected each element of spacing to have one dimension, but "
                    f"got an element with {spacing.ndim} dimensions"
                )
            elif spacing.shape[0] != input.shape[dim]:
                wrong = (
                    "torch.gradient expected each spacing to have as many places as its dimension: "
                    f"{spacing.shape[0]} and {input.shape[dim]}"
                )
    if wrong:
        raise OperationError(f"gradient({describe_value(input)}, dim={dims})", wrong)


def gradient(
    input: Any, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1
) -> tuple[Any, ...]:
    """The derivatives along each of `dim` (all), a tensor for each.

    `spacing` is the points' distance, a distance for each dimension, or the places themselves: a
    vector for each dimension.
    """
    given = range(input.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    dims = [normalize_dim(each, input.ndim) for each in given]
    spacing = 1 if spacing is None else spacing
    single = not isinstance(spacing, (list, tuple))
    spacings = [spacing] * len(dims) if single else list(spacing)
    _check(input, dims, spacings, edge_order)
    found = (_along(input, at, gap, edge_order) for at, gap in zip(dims, spacings, strict=True))
    if input.dtype.differentiable:
        return tuple(each.to(input.dtype) for each in found)
    return tuple(found)

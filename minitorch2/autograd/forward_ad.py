"""torch.autograd.forward_ad: dual tensors, a value with a tangent.

In: a tensor and its tangent. Out: a dual tensor to compute with; `unpack_dual` of a result gives
the result and its tangent, the directional derivative.

    >>> import minitorch2 as torch
    >>> import minitorch2.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     dual = fwAD.make_dual(torch.tensor(3.0), torch.tensor(2.0))
    ...     tangent = fwAD.unpack_dual(dual * dual).tangent
    >>> tangent
    tensor(12.)

A dual tensor is a tensor tracked by reverse mode. `unpack_dual` finds the tangent by two reverse
passes (a jvp is the vjp of the vjp), which costs a few times the forward and needs the forward's
graph: inside no_grad no tangent is followed, a dual tensor cannot be written in place, and an
autograd.Function needs a twice differentiable backward instead of a jvp.

Source: torch.autograd.forward_ad's documentation; Townsend 2017 for the trick.
"""

from typing import Any, NamedTuple

from minitorch2.errors import ArgumentValueError, OperationError
from minitorch2.func.levels import Level, pull
from minitorch2.tensors import Tensor


class UnpackedDualTensor(NamedTuple):
    """A value and its tangent (None where it has none)."""

    primal: Any
    tangent: Any


class _Duals:
    """The dual tensors of one level."""

    def __init__(self) -> None:
        self.level = Level()
        self.inputs: list[Tensor] = []
        self.tangents: list[Tensor] = []


_levels: list[_Duals] = []


def enter_dual_level() -> int:
    """Start a level of dual tensors: its number. Levels do not nest."""
    if _levels:
        raise OperationError(
            "dual_level inside another",
            "Nested forward mode AD is not supported at the moment",
            "use torch.func.jvp, which nests",
        )
    _levels.append(_Duals())
    return len(_levels) - 1


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level: its tangents are gone."""
    if not _levels or (level is not None and level != len(_levels) - 1):
        raise OperationError(
            f"exit_dual_level(level={level})",
            "Trying to exit a forward AD level that was not the last one that was created",
        )
    _levels.pop().level.close()


class dual_level:
    """Within the block, dual tensors can be made and unpacked."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        exit_dual_level()


def _current(asked: str, level: int | None) -> _Duals:
    if not _levels or (level is not None and not 0 <= level < len(_levels)):
        raise OperationError(
            asked,
            "there is no dual level: Trying to create a dual Tensor for forward AD but no level "
            "exists",
            "do it inside `with dual_level():`",
        )
    return _levels[-1 if level is None else level]


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """The tensor with a tangent, of its own shape and dtype."""
    duals = _current("make_dual", level)
    if not tensor.dtype.is_floating_point and not tensor.dtype.is_complex:
        raise ArgumentValueError(
            "make_dual",
            f"Expected primal to be floating point or complex, but got: {tensor.dtype}",
        )
    if not tangent.dtype.is_floating_point and not tangent.dtype.is_complex:
        raise ArgumentValueError(
            "make_dual",
            f"Expected tangent to be floating point or complex, but got: {tangent.dtype}",
        )
    if tuple(tensor.shape) != tuple(tangent.shape):
        raise OperationError(
            "make_dual",
            f"Trying to set a forward gradient of size {list(tangent.shape)} on a tensor of size "
            f"{list(tensor.shape)}",
        )
    tracked = duals.level.track(tensor, "make_dual")
    duals.inputs.append(tracked)
    duals.tangents.append(tangent)
    return tracked


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The value, and its tangent; outside of a level, or without one, the tangent is None."""
    if not _levels:
        return UnpackedDualTensor(tensor, None)
    duals = _current("unpack_dual", level)
    own = duals.level
    start = own.start(tensor)
    rows = pull([tensor], [start], duals.inputs, True, True) if duals.inputs else []
    used = [(r, t) for r, t in zip(rows, duals.tangents, strict=True) if r is not None]
    primal = own.settled(tensor)
    if not used:
        return UnpackedDualTensor(primal, None)
    further = own.reaches_beyond(tensor) or any(t.requires_grad for t in duals.tangents)
    (found,) = pull([r for r, _ in used], [t for _, t in used], [start], True, further)
    if found is None:
        return UnpackedDualTensor(primal, None)
    return UnpackedDualTensor(primal, own.settled(found))

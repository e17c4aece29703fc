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

A dual tensor is a view of the given one whose tangent is known to the level (autograd/tangents.py).
Operations pass tangents on also inside no_grad; views and writes in place do, too; an
autograd.Function does it by its own `jvp`.

Source: torch.autograd.forward_ad's documentation.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from minitorch2.autograd.tangents import Duals, check_tangent
from minitorch2.batching.backward import sizes_of
from minitorch2.batching.batched import batched, batched_at, levels_of, op, physical, plain_tensors
from minitorch2.dispatch import state
from minitorch2.errors import OperationError
from minitorch2.tensors import Tensor


class UnpackedDualTensor(NamedTuple):
    """A value and its tangent (None where it has none)."""

    primal: Any
    tangent: Any


_levels: list[Duals] = []  # of enter_dual_level


def enter_dual_level() -> int:
    """Start a level of dual tensors: its number. Levels do not nest."""
    if _levels:
        raise OperationError(
            "dual_level inside another",
            "Nested forward mode AD is not supported at the moment",
            "use torch.func.jvp, which nests",
        )
    _levels.append(Duals().__enter__())
    return len(_levels) - 1


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level: its tangents are gone."""
    if not _levels or (level is not None and level != len(_levels) - 1):
        raise OperationError(
            f"exit_dual_level(level={level})",
            "Trying to exit a forward AD level that was not the last one that was created",
        )
    _levels.pop().__exit__()


class dual_level:
    """Within the block, dual tensors can be made and unpacked."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        exit_dual_level()


@contextmanager
def _set_fwd_grad_enabled(mode: bool) -> Iterator[None]:
    """Within the block tangents are passed on, or not."""
    before = state.duals
    if not mode:
        state.duals = ()
    try:
        yield
    finally:
        state.duals = before


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """The tensor with a tangent, of its own shape and dtype: a view of it."""
    if not _levels or (level is not None and not 0 <= level < len(_levels)):
        raise OperationError(
            "make_dual",
            "there is no dual level: Trying to create a dual Tensor for forward AD but no level "
            "exists, make sure to enter_dual_level() first.",
            "do it inside `with dual_level():`",
        )
    at = len(_levels) - 1 if level is None else level
    if isinstance(tensor, Tensor) and _levels[at].of(physical(tensor)) is not None:
        raise OperationError(
            "make_dual of a dual tensor",
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the "
            f"same level {at} is not supported.",
            "make it of unpack_dual(tensor).primal",
        )
    return dual_of(_levels[at], tensor, tangent, "make_dual")


def dual_of(level: Duals, tensor: Tensor, tangent: Tensor, asked: str) -> Tensor:
    """A view of the tensor that has a tangent in a level. Both may be Batched, alike or not."""
    check_tangent(asked, tensor, tangent)
    sizes = sizes_of(tensor) | sizes_of(tangent)
    wide = batched_at(tensor, sizes)
    with plain_tensors():
        dual = op("alias", physical(wide))
        given = physical(batched_at(tangent, sizes))
        if dual.dtype.is_complex and not given.dtype.is_complex:
            given = op("convert", given, dual.dtype)
        if given.layout.overlaps_itself():
            given = op("contiguous_copy", given)
        level.tangents.pop(id(dual), None)  # of an alias of a dual tensor
        level.give(dual, given)
    return batched(dual, levels_of(wide))


def tangent_in(level: Duals, tensor: Tensor) -> Tensor | None:
    """The tangent that a tensor, Batched or not, has in a level."""
    found = level.of(physical(tensor))
    return None if found is None else batched(found, levels_of(tensor))


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The value, and its tangent; outside of a level, or without one, the tangent is None."""
    if not _levels:
        return UnpackedDualTensor(tensor, None)
    duals = _levels[-1 if level is None else level]
    tangent = tangent_in(duals, tensor)
    primal = op("alias", tensor)
    duals.forget(physical(primal))
    return UnpackedDualTensor(primal, tangent)

"""Clipping gradients by their common norm, or element by element.

In: parameters with gradients. Out: the norm before clipping; the gradients are changed in place.

    norm = clip_grad_norm_(model.parameters(), max_norm=1.0)

Source: Pascanu et al. 2013; torch.nn.utils.clip_grad.
"""

from collections.abc import Iterable
from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.creation import tensor
from minitorch2.errors import OperationError
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor

_stack, _norm = lookup("stack").public, lookup("norm").public


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Any]:
    listed = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [each.grad for each in listed if each.grad is not None]


@no_grad()
def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """The norm of the tensors' norms: that of all their elements together."""
    listed = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not listed:
        return tensor(0.0)
    total = _norm(_stack([_norm(each, float(norm_type)) for each in listed]), float(norm_type))
    if error_if_nonfinite and not total.isfinite():
        raise OperationError(
            "get_total_norm(error_if_nonfinite=True)",
            f"The total norm of order {norm_type} for gradients is non-finite",
            "look for the layer whose gradient is nan or inf, or lower the learning rate",
        )
    return total


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Any,
    foreach: bool | None = None,
) -> None:
    """Scale the gradients by max_norm / total_norm where that is below 1."""
    scale = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
    for gradient in _gradients(parameters):
        gradient.mul_(scale)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """Limit the norm of all gradients together to `max_norm`; returns it as it was before."""
    listed = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total = get_total_norm(_gradients(listed), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(listed, float(max_norm), total)
    return total


clip_grad_norm = clip_grad_norm_


@no_grad()
def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Limit each element of the gradients to [-clip_value, clip_value]."""
    for gradient in _gradients(parameters):
        gradient.clamp_(-float(clip_value), float(clip_value))

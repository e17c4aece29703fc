"""Adam and AdamW: steps scaled by running averages of the gradient and of its square.

In: parameters with gradients g. Out, with m and v the running averages (each divided by 1 - beta^t,
as they start at zero): p - lr * m / (sqrt(v) + eps). Adam adds weight decay to the gradient, AdamW
takes it off the parameter directly.

Source: Kingma & Ba 2015; Loshchilov & Hutter 2019; Reddi et al. 2018 (amsgrad); torch.optim.Adam.
"""

from functools import cache
from typing import Any

from minitorch2.backends.update_kernels import UpdateKernel, blended
from minitorch2.errors import ArgumentValueError
from minitorch2.optim.optimizer import (
    Optimizer,
    counted,
    new_step,
    require,
    rounded_beside,
    square_root,
    zeros_like_parameter,
)
from minitorch2.tensors import Tensor


class Adam(Optimizer):
    """m and v are averages of g and g*g with weights beta1 and beta2."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ):
        _check_tensors(lr, betas, bool(foreach) and not capturable)
        require("learning rate", lr, lr >= 0.0)
        require("epsilon", eps, eps >= 0.0)
        require("beta parameter at index 0", betas[0], 0.0 <= betas[0] < 1.0)
        require("beta parameter at index 1", betas[1], 0.0 <= betas[1] < 1.0)
        require("weight_decay", weight_decay, weight_decay >= 0.0)
        settings = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, settings)

    def init_state(self, parameter: Any, group: dict) -> dict:
        state = {
            "step": new_step(),
            "exp_avg": zeros_like_parameter(parameter),
            "exp_avg_sq": zeros_like_parameter(parameter),
        }
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like_parameter(parameter)
        return state

    def update(self, parameter: Any, grad: Any, state: dict, group: dict) -> None:
        (beta1, beta2), lr, decay = group["betas"], group["lr"], group["weight_decay"]
        step = counted(state)
        if type(step) is float and _update_at_once(parameter, grad, state, group, step):
            return
        if decay != 0:
            if group["decoupled_weight_decay"]:
                parameter.mul_(1 - lr * decay)
            else:
                grad = grad.add(parameter, alpha=decay)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.lerp_(grad * grad, 1 - beta2)
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            square = largest.copy_(largest.maximum(square))
        # The averages started at zero; dividing by 1 - beta^step makes up for it.
        size = lr / rounded_beside(lr, 1 - beta1**step)
        scale = square_root(1 - beta2**step)
        parameter.sub_(mean / (square.sqrt() / scale + group["eps"]) * size)


def _check_tensors(lr: Any, betas: Any, only_numbers: bool) -> None:
    """Rates and betas may be tensors, of one element, and not beside foreach alone."""
    if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
        raise ArgumentValueError("Adam(betas)", "betas must be either both floats or both Tensors")
    for name, value in (("lr", lr), ("betas[0]", betas[0]), ("betas[1]", betas[1])):
        if not isinstance(value, Tensor):
            continue
        if only_numbers:
            raise ArgumentValueError(
                f"Adam({name}=Tensor)",
                f"{name} as a Tensor is not supported for capturable=False and foreach=True",
            )
        if value.numel() != 1:
            raise ArgumentValueError(f"Adam({name}=Tensor)", f"Tensor {name} must be 1-element")


@cache
def _kernel(decoupled: bool, decays: bool, near: tuple[bool, bool]) -> UpdateKernel:
    """`Adam.update` without amsgrad as one pass."""
    decay: tuple[str, ...] = ()
    if decays and decoupled:
        decay = ("parameter = parameter * decay",)
    elif decays:
        decay = ("grad = grad + parameter * decay",)
    return UpdateKernel(
        ("parameter", "mean", "square"),
        ("grad",),
        ("decay", "weight1", "weight2", "scale", "eps", "size"),
        (
            *decay,
            blended("mean", "grad", "weight1", near[0]),
            "squared = grad * grad",
            blended("square", "squared", "weight2", near[1]),
            "parameter = parameter - mean / (sqrt(square) / scale + eps) * size",
        ),
    )


def _update_at_once(parameter: Any, grad: Any, state: dict, group: dict, step: float) -> bool:
    """`Adam.update` after its count, in one pass if that can be; whether it was."""
    (beta1, beta2), lr, decay = group["betas"], group["lr"], group["weight_decay"]
    numbers = (beta1, beta2, lr, decay, group["eps"])
    if group["amsgrad"] or not all(type(number) in (float, int) for number in numbers):
        return False
    near = abs(1 - beta1) < 0.5, abs(1 - beta2) < 0.5
    weights = [
        (1 - beta) if close else 1 - (1 - beta)
        for beta, close in zip((beta1, beta2), near, strict=True)
    ]
    decoupled = group["decoupled_weight_decay"]
    kernel = _kernel(decoupled, decay != 0, near)
    size, scale = lr / (1 - beta1**step), square_root(1 - beta2**step)
    return kernel(
        (parameter, state["exp_avg"], state["exp_avg_sq"], grad),
        (1 - lr * decay if decoupled else decay, *weights, scale, group["eps"], size),
    )


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameter and does not pass through the averages."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

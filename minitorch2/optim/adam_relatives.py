"""Adamax, NAdam and RAdam: Adam with another norm, with Nesterov's momentum, with a slow start.

In: parameters with gradients g. Out: steps made of m, the running average of g, and of a measure of
its size, as each class says.

Source: Kingma & Ba 2015; Dozat 2016; Liu et al. 2020; torch.optim.
"""

from typing import Any

from minitorch2.creation import ones
from minitorch2.dtypes import float32
from minitorch2.ops.table import lookup
from minitorch2.optim.optimizer import (
    Optimizer,
    count_step,
    counted,
    new_step,
    require,
    rounded_beside,
    zeros_like_parameter,
)

_where = lookup("where").public


class _AdamLike(Optimizer):
    """The settings and the weight decay that the three share."""

    def __init__(self, params: Any, settings: dict[str, Any]):
        lr, betas, eps = settings["lr"], settings["betas"], settings["eps"]
        require("learning rate", lr, lr >= 0.0)
        require("epsilon", eps, eps >= 0.0)
        require("beta parameter at index 0", betas[0], 0.0 <= betas[0] < 1.0)
        require("beta parameter at index 1", betas[1], 0.0 <= betas[1] < 1.0)
        require("weight_decay", settings["weight_decay"], settings["weight_decay"] >= 0.0)
        super().__init__(params, settings)

    def decayed(self, parameter: Any, grad: Any, group: dict) -> Any:
        """Weight decay: on the parameter, or added to the gradient."""
        decay = group["weight_decay"]
        if decay == 0:
            return grad
        if group.get("decoupled_weight_decay"):
            parameter.mul_(1 - group["lr"] * decay)
            return grad
        return grad.add(parameter, alpha=decay)


class Adamax(_AdamLike):
    """p - lr * m / u, where u is the largest |g| of late: max(beta2 * u, |g| + eps)."""

    def __init__(
        self,
        params: Any,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ):
        settings = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, settings)

    def init_state(self, parameter: Any, group: dict) -> dict:
        return {
            "step": new_step(),
            "exp_avg": zeros_like_parameter(parameter),
            "exp_inf": zeros_like_parameter(parameter),
        }

    def update(self, parameter: Any, grad: Any, state: dict, group: dict) -> None:
        beta1, beta2 = group["betas"]
        step = counted(state)
        grad = self.decayed(parameter, grad, group)
        mean, largest = state["exp_avg"], state["exp_inf"]
        mean.lerp_(grad, 1 - beta1)
        largest.copy_((largest * beta2).maximum(grad.abs() + group["eps"]))
        lr = group["lr"]
        parameter.sub_(mean / largest * (lr / rounded_beside(lr, 1 - beta1**step)))


class NAdam(_AdamLike):
    """Adam whose momentum already contains the present gradient, with a growing beta1."""

    def __init__(
        self,
        params: Any,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ):
        require("momentum_decay", momentum_decay, momentum_decay >= 0.0)
        settings = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, settings)

    def init_state(self, parameter: Any, group: dict) -> dict:
        return {
            "step": new_step(),
            "mu_product": ones((), dtype=float32),
            "exp_avg": zeros_like_parameter(parameter),
            "exp_avg_sq": zeros_like_parameter(parameter),
        }

    def update(self, parameter: Any, grad: Any, state: dict, group: dict) -> None:
        beta1, beta2 = group["betas"]
        step = count_step(state)
        grad = self.decayed(parameter, grad, group)
        # beta1 grows towards its full value; `product` is that of all its values so far.
        decay = group["momentum_decay"]
        now = (1 - 0.5 * 0.96 ** (step * decay)) * beta1
        after = (1 - 0.5 * 0.96 ** ((step + 1) * decay)) * beta1
        product = state["mu_product"].mul_(now).to(step.dtype)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.lerp_(grad * grad, 1 - beta2)
        size = (square / (1 - beta2**step)).sqrt() + group["eps"]
        from_grad = group["lr"] * (1 - now) / (1 - product)
        from_mean = group["lr"] * after / (1 - product * after)
        parameter.sub_(grad / size * from_grad)
        parameter.sub_(mean / size * from_mean)


class RAdam(_AdamLike):
    """Adam that leaves out the division by sqrt(v) until v rests on enough gradients."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ):
        settings = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, settings)

    def init_state(self, parameter: Any, group: dict) -> dict:
        return {
            "step": new_step(),
            "exp_avg": zeros_like_parameter(parameter),
            "exp_avg_sq": zeros_like_parameter(parameter),
        }

    def update(self, parameter: Any, grad: Any, state: dict, group: dict) -> None:
        beta1, beta2 = group["betas"]
        step = count_step(state)
        grad = self.decayed(parameter, grad, group)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.lerp_(grad * grad, 1 - beta2)
        corrected = mean / (1 - beta1**step)
        # How many gradients the average of squares rests on: now, and at the most.
        left = 1 - beta2**step
        most = 2 / (1 - beta2) - 1
        count = most - 2 * step * beta2**step / left
        ratio = (count - 4) * (count - 2) * most / ((most - 4) * (most - 2) * count)
        enough = count > 5.0
        rectified = _where(enough, ratio, 1.0).sqrt() * left.sqrt() / (square.sqrt() + group["eps"])
        parameter.sub_(corrected * _where(enough, rectified, 1.0) * group["lr"])

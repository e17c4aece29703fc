"""Adagrad and Adadelta: steps divided by a measure of all past gradients.

In: parameters with gradients g. Out: Adagrad p - lr * g / (sqrt(sum of g*g) + eps). Adadelta uses
running averages instead of the sum, and scales by the size of its past steps.

Source: Duchi et al. 2011; Zeiler 2012; torch.optim.Adagrad and Adadelta.
"""

from typing import Any

from minitorch2.creation import full
from minitorch2.errors import OperationError
from minitorch2.optim.optimizer import (
    Optimizer,
    count_step,
    counted,
    decayed,
    new_step,
    require,
    rounded_beside,
    zeros_like_parameter,
)


class Adagrad(Optimizer):
    """s = s + g * g."""

    takes_sparse = True

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        require("learning rate", lr, lr >= 0.0)
        require("lr_decay", lr_decay, lr_decay >= 0.0)
        require("weight_decay", weight_decay, weight_decay >= 0.0)
        require(
            "initial_accumulator_value",
            initial_accumulator_value,
            initial_accumulator_value >= 0.0,
        )
        require("epsilon", eps, eps >= 0.0)
        settings = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, settings)

    def init_state(self, parameter: Any, group: dict) -> dict:
        start = group["initial_accumulator_value"]
        total = full(tuple(parameter.shape), start, dtype=parameter.dtype)
        return {"step": new_step(), "sum": total}

    def update(self, parameter: Any, grad: Any, state: dict, group: dict) -> None:
        step = counted(state)
        if grad.is_sparse:
            self._update_rows(parameter, grad.coalesce(), state, group, step)
            return
        grad = decayed(grad, parameter, group["weight_decay"])
        lr = group["lr"]
        size = lr / rounded_beside(lr, 1 + (step - 1) * group["lr_decay"])
        total = state["sum"]
        total.add_(grad * grad)
        parameter.sub_(grad / (total.sqrt() + group["eps"]) * size)

    def _update_rows(self, parameter: Any, grad: Any, state: dict, group: dict, step: Any) -> None:
        """The same where a sparse gradient has elements, and nothing elsewhere."""
        if group["weight_decay"] != 0:
            raise OperationError(
                "Adagrad.step()", "weight_decay option is not compatible with sparse gradients"
            )
        size = group["lr"] / (1 + (step - 1) * group["lr_decay"])
        where, values, total = tuple(grad._indices()), grad._values(), state["sum"]
        total.index_put_(where, values * values, True)
        moved = values / (total[where].sqrt() + group["eps"])
        parameter.index_put_(where, moved * -size, True)


class Adadelta(Optimizer):
    """v and u are averages of g*g and of the squared steps, with weight rho."""

    def __init__(
        self,
        params: Any,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ):
        require("learning rate", lr, lr >= 0.0)
        require("rho", rho, 0.0 <= rho <= 1.0)
        require("epsilon", eps, eps >= 0.0)
        require("weight_decay", weight_decay, weight_decay >= 0.0)
        settings = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, settings)

    def init_state(self, parameter: Any, group: dict) -> dict:
        return {
            "step": new_step(),
            "square_avg": zeros_like_parameter(parameter),
            "acc_delta": zeros_like_parameter(parameter),
        }

    def update(self, parameter: Any, grad: Any, state: dict, group: dict) -> None:
        count_step(state)
        grad = decayed(grad, parameter, group["weight_decay"])
        rho, eps = group["rho"], group["eps"]
        square, steps = state["square_avg"], state["acc_delta"]
        square.lerp_(grad * grad, 1 - rho)
        change = (steps + eps).sqrt() / (square + eps).sqrt() * grad
        steps.lerp_(change * change, 1 - rho)
        parameter.sub_(change * group["lr"])

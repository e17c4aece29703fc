"""RMSprop: steps divided by a running root mean square of the gradient.

In: parameters with gradients g. Out, with v a running average of g*g: p - lr * g / (sqrt(v) + eps);
`centered` takes the square of the average gradient off v, momentum sums the steps up.

Source: Hinton's lecture 6e; Graves 2013 (centered); torch.optim.RMSprop.
"""

from typing import Any

from minitorch2.optim.optimizer import (
    Optimizer,
    count_step,
    decayed,
    new_step,
    require,
    zeros_like_parameter,
)


class RMSprop(Optimizer):
    """v = alpha * v + (1 - alpha) * g * g."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ):
        require("learning rate", lr, lr >= 0.0)
        require("epsilon", eps, eps >= 0.0)
        require("momentum", momentum, momentum >= 0.0)
        require("weight_decay", weight_decay, weight_decay >= 0.0)
        require("alpha", alpha, alpha >= 0.0)
        settings = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, settings)

    def init_state(self, parameter: Any, group: dict) -> dict:
        state = {"step": new_step(), "square_avg": zeros_like_parameter(parameter)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros_like_parameter(parameter)
        if group["centered"]:
            state["grad_avg"] = zeros_like_parameter(parameter)
        return state

    def update(self, parameter: Any, grad: Any, state: dict, group: dict) -> None:
        count_step(state)
        grad = decayed(grad, parameter, group["weight_decay"])
        square = state["square_avg"]
        square.lerp_(grad * grad, 1 - group["alpha"])
        if group["centered"]:
            mean = state["grad_avg"]
            mean.lerp_(grad, 1 - group["alpha"])
            square = square - mean * mean
        change = grad / (square.sqrt() + group["eps"])
        if group["momentum"] > 0:
            velocity = state["momentum_buffer"]
            change = velocity.copy_(velocity * group["momentum"] + change)
        parameter.sub_(change * group["lr"])

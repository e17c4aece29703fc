"""SGD: gradient descent, with momentum if wanted.

In: parameters with gradients g. Out: p - lr * v, where v is g, or with momentum a running sum of
past gradients, or with Nesterov's momentum one step ahead of it.

Source: Sutskever et al. 2013; torch.optim.SGD.
"""

from typing import Any

from minitorch2.errors import ArgumentValueError
from minitorch2.optim.optimizer import Optimizer, decayed, require, zeros_like_parameter


class SGD(Optimizer):
    """v = momentum * v + (1 - dampening) * g;  p = p - lr * v."""

    takes_sparse = True

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        require("learning rate", lr, lr >= 0.0)
        require("momentum", momentum, momentum >= 0.0)
        require("weight_decay", weight_decay, weight_decay >= 0.0)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ArgumentValueError(
                "SGD(nesterov=True)",
                "Nesterov momentum requires a momentum and zero dampening",
                "set momentum=0.9, say",
            )
        settings = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, settings)

    def resting_state(self, parameter: Any, group: dict) -> dict | None:
        if group["momentum"] == 0:
            return {}
        # From zeros the sum starts with the first gradient only if that is not dampened.
        zeros = {"momentum_buffer": zeros_like_parameter(parameter)}
        return zeros if group["dampening"] == 0 else None

    def update(self, parameter: Any, grad: Any, state: dict, group: dict) -> None:
        grad = decayed(grad, parameter, group["weight_decay"])
        momentum = group["momentum"]
        if momentum != 0:
            velocity = state.get("momentum_buffer")
            if velocity is None:  # the first gradient starts the sum undampened
                velocity = state["momentum_buffer"] = grad.clone()
            else:
                velocity.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(velocity, alpha=momentum) if group["nesterov"] else velocity
        parameter.sub_(grad * group["lr"])

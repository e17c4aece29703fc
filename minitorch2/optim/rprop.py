"""Rprop and ASGD: steps by the gradient's sign, and gradient descent that keeps an average.

In: parameters with gradients g. Out: Rprop: p - sign(g) * size, the size grows while the sign stays
and shrinks when it turns. ASGD: p - eta * g with a falling eta; the average of late parameters is
in the state as `ax`.

Source: Riedmiller & Braun 1993; Polyak & Juditsky 1992; torch.optim.
"""

from typing import Any

from minitorch2.creation import full_like, ones, tensor
from minitorch2.dispatch import is_compiling
from minitorch2.dtypes import float32, float64
from minitorch2.ops.table import lookup
from minitorch2.optim.optimizer import (
    Optimizer,
    decayed,
    new_step,
    require,
    zeros_like_parameter,
)

_where = lookup("where").public


class Rprop(Optimizer):
    """A step size for each element, changed by the signs of two gradients in turn."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ):
        require("learning rate", lr, lr >= 0.0)
        require(
            "eta values",
            etas,
            0.0 < etas[0] < 1.0 < etas[1],
            f"Invalid eta values: {etas[0]}, {etas[1]}",
        )
        settings = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, settings)

    def init_state(self, parameter: Any, group: dict) -> dict:
        return {
            "step": new_step(),
            "prev": zeros_like_parameter(parameter),
            "step_size": full_like(parameter.detach(), float(group["lr"])),
        }

    def update(self, parameter: Any, grad: Any, state: dict, group: dict) -> None:
        start_again(state, "step_size", group["lr"])
        state["step"] += 1
        (shrink, grow), (least, most) = group["etas"], group["step_sizes"]
        size, before = state["step_size"], state["prev"]
        turn = grad * before
        factor = _where(turn > 0, grow, _where(turn < 0, shrink, 1.0)).to(size.dtype)
        size.mul_(factor).clamp_(least, most)
        grad = _where(turn < 0, 0.0, grad)  # after a turn, the next sign counts as new
        parameter.sub_(grad.sign() * size)
        before.copy_(grad)


class ASGD(Optimizer):
    """eta = lr / (1 + lambd * lr * t) ** alpha; from step t0 on, `ax` averages the parameters."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ):
        require("learning rate", lr, lr >= 0.0)
        require("weight_decay", weight_decay, weight_decay >= 0.0)
        settings = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
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
            "eta": tensor(float(group["lr"]), dtype=float32),
            "mu": ones((), dtype=float32),
            "ax": zeros_like_parameter(parameter),
        }

    def update(self, parameter: Any, grad: Any, state: dict, group: dict) -> None:
        start_again(state, "eta", group["lr"])
        eta, mu, average, step = state["eta"], state["mu"], state["ax"], state["step"]
        step += 1
        grad = decayed(grad, parameter, group["weight_decay"])
        parameter.mul_((1 - group["lambd"] * eta.to(float64)).to(parameter.dtype))
        parameter.sub_(grad * eta)
        average.copy_(_where(mu == 1, parameter, average + (parameter - average) * mu))
        lr = group["lr"]
        eta.copy_(lr / ((1 + group["lambd"] * lr * step.to(float64)) ** group["alpha"]))
        mu.copy_(1 / (step - group["t0"]).clamp(min=1))


def start_again(state: dict, name: str, lr: Any) -> None:
    """What starts from the rate does so at the first update, which in a compiled step may come
    later than the state: the step that made it was taken back."""
    if is_compiling():
        value = state[name]
        value.copy_(_where(state["step"] == 0, lr, value))

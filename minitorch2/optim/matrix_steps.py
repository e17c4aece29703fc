"""Adafactor and Muon: optimizers that treat a weight as a matrix.

In: parameters with gradients G. Out: Adafactor: Adam whose average of G * G is kept as one row and
one column. Muon: the momentum of G with all singular values brought near 1, by Newton-Schulz steps.

Source: Shazeer & Stern 2018; Jordan et al. 2024; torch.optim.
"""

import math
from typing import Any

from minitorch2.creation import zeros
from minitorch2.dtypes import bfloat16, finfo, float32
from minitorch2.errors import ArgumentValueError
from minitorch2.ops.table import lookup
from minitorch2.optim.optimizer import Optimizer, new_step, require, zeros_like_parameter

_where = lookup("where").public


class Adafactor(Optimizer):
    """Steps relative to the parameter's own size; memory for squares is rows + columns."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ):
        require("learning rate", lr, lr >= 0.0)
        require(
            "beta2_decay",
            beta2_decay,
            beta2_decay <= 0.0,
            f"beta2_decay should be <= 0 but is: {beta2_decay}",
        )
        require(
            "epsilon1",
            eps[0],
            eps[0] is None or eps[0] >= 0.0,
            f"epsilon1 should be >= 0 but is: {eps[0]}",
        )
        require("epsilon2", eps[1], eps[1] >= 0.0, f"epsilon2 should be >= 0 but is: {eps[1]}")
        require("d", d, d >= 1.0, f"Clipping threshold d should be >= 1 but is: {d}")
        require("weight_decay", weight_decay, weight_decay >= 0.0)
        settings = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, settings)

    def init_state(self, parameter: Any, group: dict) -> dict:
        shape, dtype = tuple(parameter.shape), parameter.dtype
        if len(shape) > 1:
            return {
                "step": new_step(),
                "row_var": zeros((*shape[:-1], 1), dtype=dtype),
                "col_var": zeros((*shape[:-2], 1, shape[-1]), dtype=dtype),
            }
        return {"step": new_step(), "variance": zeros_like_parameter(parameter)}

    def update(self, parameter: Any, grad: Any, state: dict, group: dict) -> None:
        step, (eps1, eps2) = state["step"], group["eps"]
        step += 1
        eps1 = finfo(parameter.dtype).eps if eps1 is None else eps1
        forget = step ** group["beta2_decay"]  # 1 - beta2
        rho = 1 / step.sqrt()
        # The smaller of both, said so that a rate that changes is an input of compiled steps.
        rho = _where(rho - group["lr"] > 0, group["lr"], rho)
        size = parameter.norm() / parameter.numel() ** 0.5
        alpha = size.clamp(min=eps2) * rho
        if group["weight_decay"] != 0:
            parameter.mul_(1 - group["lr"] * group["weight_decay"])
        squares = grad * grad
        if "row_var" in state:
            rows, columns = state["row_var"], state["col_var"]
            rows.add_((squares.mean(-1, True) - rows) * forget)
            columns.add_((squares.mean(-2, True) - columns) * forget)
            variance = rows @ columns / rows.mean(-2, True).clamp(min=eps1)
        else:
            variance = state["variance"]
            variance.add_((squares - variance) * forget)
        change = grad / variance.clamp(min=eps1 * eps1).sqrt()
        clip = (change.norm() / (change.numel() ** 0.5 * group["d"])).clamp(min=1.0)
        parameter.sub_(change * (alpha / clip))


class Muon(Optimizer):
    """Momentum, orthogonalized; for weights of two dimensions only."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ):
        require("learning rate", lr, lr >= 0.0)
        require("momentum", momentum, momentum >= 0.0)
        require("weight_decay", weight_decay, weight_decay >= 0.0)
        require(
            "adjust_lr_fn",
            adjust_lr_fn,
            adjust_lr_fn in (None, "original", "match_rms_adamw"),
            f"Adjust learning rate function {adjust_lr_fn} is not supported",
        )
        settings = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, settings)
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.dim() != 2:
                    raise ArgumentValueError(
                        f"Muon with a parameter of shape {list(parameter.shape)}",
                        "Muon only supports 2D parameters whereas we found a parameter with size: "
                        f"{parameter.size()}",
                        "give the others to AdamW",
                    )

    def init_state(self, parameter: Any, group: dict) -> dict:
        return {"momentum_buffer": zeros_like_parameter(parameter)}

    def update(self, parameter: Any, grad: Any, state: dict, group: dict) -> None:
        average, momentum = state["momentum_buffer"], group["momentum"]
        average.lerp_(grad, 1 - momentum)
        wanted = grad.lerp(average, momentum) if group["nesterov"] else average
        found = orthogonalized(wanted, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rows, columns = parameter.shape
        if group["adjust_lr_fn"] == "match_rms_adamw":
            lr = group["lr"] * 0.2 * math.sqrt(max(rows, columns))
        else:
            lr = group["lr"] * math.sqrt(max(1, rows / columns))
        parameter.mul_(1 - group["lr"] * group["weight_decay"])
        # Of 16 bits the step is rounded once, after the difference.
        wide = parameter.to(float32) if parameter.dtype.itemsize == 2 else parameter
        parameter.copy_(wide - found.to(wide.dtype) * lr)


def orthogonalized(
    matrix: Any, coefficients: tuple[float, float, float], steps: int, eps: float
) -> Any:
    """Singular values near 1, in bfloat16: x <- a x + (b A + c A A) x, where A = x x^T."""
    a, b, c = coefficients
    x = matrix.to(bfloat16)
    tall = matrix.shape[0] > matrix.shape[1]
    x = x.T if tall else x
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        update = _sum_with_product(gram, gram, gram, b, c)
        x = _sum_with_product(x, update, x, a, 1.0)
    return x.T if tall else x


def _sum_with_product(x: Any, first: Any, second: Any, beta: float, alpha: float) -> Any:
    """beta x + alpha first @ second of bfloat16 matrices, rounded once, after the sum."""
    product = first.to(float32) @ second.to(float32)
    return (x.to(float32) * beta + product * alpha).to(bfloat16)

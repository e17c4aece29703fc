"""SparseAdam: Adam for gradients that are sparse; only the rows that have a gradient move.

In: parameters with sparse gradients (of embeddings with sparse=True). Out: where a gradient is, the
averages and the parameter as Adam would have them; elsewhere nothing changes, averages included.

Source: torch.optim.SparseAdam.
"""

import math
from typing import Any

from minitorch2.errors import ArgumentValueError, OperationError
from minitorch2.optim.optimizer import Optimizer, require, zeros_like_parameter


class SparseAdam(Optimizer):
    """m and v are averages of g and g*g with weights beta1 and beta2, where g has elements."""

    takes_sparse = True

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ):
        require("learning rate", lr, 0.0 < lr)
        require("epsilon value", eps, 0.0 < eps)
        require("beta parameter at index 0", betas[0], 0.0 <= betas[0] < 1.0)
        require("beta parameter at index 1", betas[1], 0.0 <= betas[1] < 1.0)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        sparse = [
            (at, place)
            for at, group in enumerate(self.param_groups)
            for place, parameter in enumerate(group["params"])
            if parameter.is_sparse
        ]
        if sparse:
            raise ArgumentValueError(
                "SparseAdam",
                f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors",
            )

    def init_state(self, parameter: Any, group: dict) -> dict:
        return {
            "step": 0,
            "exp_avg": zeros_like_parameter(parameter),
            "exp_avg_sq": zeros_like_parameter(parameter),
        }

    def resting_state(self, parameter: Any, group: dict) -> None:
        return None  # the count is a number, which no tensor operation takes back

    def update(self, parameter: Any, grad: Any, state: dict, group: dict) -> None:
        if not grad.is_sparse:
            raise OperationError(
                "SparseAdam.step",
                "SparseAdam does not support dense gradients, please consider Adam instead",
            )
        beta1, beta2 = group["betas"]
        state["step"] += 1
        grad = grad.coalesce()
        if not grad._nnz():
            return
        where, values = tuple(grad._indices()), grad._values()
        mean = state["exp_avg"][where] * beta1 + values * (1 - beta1)
        square = state["exp_avg_sq"][where] * beta2 + values * values * (1 - beta2)
        state["exp_avg"][where], state["exp_avg_sq"][where] = mean, square
        scale = math.sqrt(1 - beta2 ** state["step"]) / (1 - beta1 ** state["step"])
        moved = mean / (square.sqrt() + group["eps"]) * (group["lr"] * scale)
        parameter[where] = parameter[where] - moved

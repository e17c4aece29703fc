"""LBFGS: steps along minus the inverse Hessian times the gradient, the Hessian from past steps.

In: parameters and a closure that clears the gradients, computes the loss and its gradients, and
returns the loss. Out: parameters after up to `max_iter` inner steps.

The inverse Hessian is never made: its product with a vector comes from the last `history_size`
pairs of a step s and the change y of the gradient along it (the two-loop recursion). How far to go
is `lr`, or found by a line search that keeps the strong Wolfe conditions. Both branch on values, so
a captured training step breaks its graph here.

Source: Nocedal & Wright, "Numerical Optimization" (2006), chapters 3 and 7; torch.optim.LBFGS.
"""

from collections.abc import Callable
from typing import Any

from minitorch2.autograd.modes import enable_grad, no_grad
from minitorch2.errors import ArgumentValueError, OperationError
from minitorch2.ops.table import lookup
from minitorch2.optim.optimizer import Optimizer, require

_cat = lookup("cat").public


class LBFGS(Optimizer):
    """Limited-memory BFGS for one group of parameters; `step` needs a closure."""

    def __init__(
        self,
        params: Any,
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ):
        require("learning rate", lr, lr >= 0.0)
        settings = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, settings)
        if len(self.param_groups) != 1:
            raise ArgumentValueError(
                "LBFGS([{...}, {...}])",
                "LBFGS doesn't support per-parameter options (parameter groups)",
                "give one list of parameters",
            )
        if line_search_fn not in (None, "strong_wolfe"):
            raise ArgumentValueError(
                f"LBFGS(line_search_fn={line_search_fn!r})",
                "only 'strong_wolfe' is supported",
                "use None or 'strong_wolfe'",
            )
        self._params = self.param_groups[0]["params"]

    # ---- all parameters as one vector --------------------------------------------------------

    def _flat_grad(self) -> Any:
        parts = [
            p.new_zeros(p.numel()) if p.grad is None else p.grad.reshape(-1) for p in self._params
        ]
        return _cat(parts, 0)

    def _move(self, amount: float, direction: Any) -> None:
        start = 0
        for parameter in self._params:
            end = start + parameter.numel()
            part = direction[start:end].reshape(tuple(parameter.shape))
            parameter.add_(part, alpha=amount)
            start = end

    def _loss_at(self, closure: Callable, start: list, t: float, d: Any) -> tuple[float, Any]:
        """Loss and gradient at start + t d; the parameters are put back."""
        self._move(t, d)
        loss = float(closure())
        grad = self._flat_grad()
        for parameter, value in zip(self._params, start, strict=True):
            parameter.copy_(value)
        return loss, grad

    # ---- one call ----------------------------------------------------------------------------

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Up to max_iter inner steps; returns the loss at the start."""
        if closure is None:
            raise OperationError(
                "LBFGS.step()",
                "LBFGS evaluates the loss several times a step, and needs a closure for it",
                "give step() a function that clears the gradients, calls loss.backward() and "
                "returns the loss",
            )

        def evaluate() -> Any:
            with enable_grad():
                return closure()

        with no_grad():
            return self._step(evaluate, self.param_groups[0], self.state[self._params[0]])

    def _step(self, closure: Callable, group: dict, state: dict) -> Any:
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        original = closure()
        loss, evaluations = float(original), 1
        state["func_evals"] += 1
        grad = self._flat_grad()
        if float(grad.abs().max()) <= group["tolerance_grad"]:
            return original
        d: Any = state.get("d")
        t: Any = state.get("t")
        before, loss_before = state.get("prev_flat_grad"), state.get("prev_loss")
        count = 0
        while count < group["max_iter"]:
            count += 1
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                d = grad.neg()
                state.update(d=d, t=t, old_dirs=[], old_stps=[], ro=[], H_diag=1)
            else:
                self._remember(state, grad - before, d * t, group["history_size"])
                state.setdefault("al", [None] * group["history_size"])
                d = _direction(state, grad)
            before = grad.clone() if before is None else before.copy_(grad)
            loss_before = loss
            slope = float(grad.dot(d))
            first = min(1.0, 1.0 / float(grad.abs().sum())) * group["lr"]
            t = first if state["n_iter"] == 1 else group["lr"]
            if slope > -group["tolerance_change"]:
                break
            loss, grad, t, tried = self._along(closure, group, (loss, grad, d, t, slope), count)
            evaluations += tried
            state["func_evals"] += tried
            if evaluations >= group["max_eval"] or count == group["max_iter"]:
                break
            if float(grad.abs().max()) <= group["tolerance_grad"]:
                break
            if float((d * t).abs().max()) <= group["tolerance_change"]:
                break
            if abs(loss - loss_before) < group["tolerance_change"]:
                break
        state.update(d=d, t=t, prev_flat_grad=before, prev_loss=loss_before)
        return original

    @staticmethod
    def _remember(state: dict, y: Any, s: Any, size: int) -> None:
        """Keep a pair (change of gradient, step), if the function curves upwards along it."""
        curvature = float(y.dot(s))
        if curvature <= 1e-10:
            return
        if len(state["old_dirs"]) == size:
            for name in ("old_dirs", "old_stps", "ro"):
                state[name].pop(0)
        state["old_dirs"].append(y)
        state["old_stps"].append(s)
        state["ro"].append(1.0 / y.dot(s))
        state["H_diag"] = y.dot(s) / y.dot(y)

    def _along(self, closure: Callable, group: dict, at: tuple, count: int) -> tuple:
        """Move along the direction: (loss, gradient, how far, evaluations)."""
        loss, grad, d, t, slope = at
        if group["line_search_fn"] == "strong_wolfe":
            start = [parameter.clone() for parameter in self._params]
            line = _Line(lambda step: self._loss_at(closure, start, step, d), d)
            found = strong_wolfe(line, t, loss, grad, slope)
            self._move(found[2], d)
            return found
        self._move(t, d)
        if count == group["max_iter"]:  # nobody will look at the loss
            return loss, grad, t, 0
        return float(closure()), self._flat_grad(), t, 1


def _direction(state: dict, grad: Any) -> Any:
    """Minus the inverse Hessian times the gradient: the two-loop recursion."""
    ys, ss, rhos = state["old_dirs"], state["old_stps"], state["ro"]
    q, alphas = grad.neg(), state["al"]
    for at in range(len(ys) - 1, -1, -1):
        alphas[at] = ss[at].dot(q) * rhos[at]
        q = q - ys[at] * alphas[at]
    r = q * state["H_diag"]
    for at in range(len(ys)):
        r = r + ss[at] * (alphas[at] - ys[at].dot(r) * rhos[at])
    return r


# ---- the line search -------------------------------------------------------------------------


class _Line:
    """The loss along a direction: evaluated at t, gives (t, loss, gradient, slope)."""

    def __init__(self, evaluate: Callable, d: Any):
        self.evaluate, self.d, self.count = evaluate, d, 0

    def at(self, t: float) -> tuple[float, float, Any, float]:
        loss, grad = self.evaluate(t)
        self.count += 1
        return t, loss, grad.clone(), float(grad.dot(self.d))


def _cubic_minimum(a: tuple, b: tuple, bounds: tuple[float, float] | None = None) -> float:
    """The minimum of the cubic with the losses and slopes of two points, within bounds."""
    (x1, f1, _, g1), (x2, f2, _, g2) = a, b
    low, high = bounds or ((x1, x2) if x1 <= x2 else (x2, x1))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1**2 - g1 * g2
    if square < 0:
        return (low + high) / 2.0
    d2 = square**0.5
    if x1 <= x2:
        found = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        found = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(found, low), high)


def strong_wolfe(
    line: _Line, t: float, loss: float, grad: Any, slope: float
) -> tuple[float, Any, float, int]:
    """A t whose loss fell enough and whose slope flattened enough.

    First a bracket of two points with such a t between them, then smaller brackets. Out: (loss,
    gradient, t, evaluations).
    """
    search = _Search(line, loss, slope)
    bracket = search.bracket((0.0, loss, grad.clone(), slope), t)
    best = min(search.narrowed(bracket), key=lambda each: each[1])
    return best[1], best[2], best[0], line.count


class _Search:
    """The two phases of the line search; a point is (t, loss, gradient, slope)."""

    enough_loss, enough_slope, tolerance, most = 1e-4, 0.9, 1e-9, 25

    def __init__(self, line: _Line, loss: float, slope: float):
        self.line, self.loss, self.slope = line, loss, slope
        self.tries, self.done = 0, False

    def too_high(self, point: tuple) -> bool:
        """Whether the loss fell less than the slope promised."""
        return point[1] > self.loss + self.enough_loss * point[0] * self.slope

    def flat(self, point: tuple) -> bool:
        """Whether the slope flattened enough."""
        return abs(point[3]) <= -self.enough_slope * self.slope

    def bracket(self, start: tuple, t: float) -> list[tuple]:
        """Go further until a minimum lies between two points, or a point is good."""
        before, point = start, self.line.at(t)
        while self.tries < self.most:
            if self.too_high(point) or (self.tries > 1 and point[1] >= before[1]):
                return [before, point]
            if self.flat(point):
                self.done = True
                return [point]
            if point[3] >= 0:
                return [before, point]
            low = point[0] + 0.01 * (point[0] - before[0])
            further = _cubic_minimum(before, point, (low, point[0] * 10))
            before, point = point, self.line.at(further)
            self.tries += 1
        return [start, point]

    def narrowed(self, bracket: list[tuple]) -> list[tuple]:
        """Put the minimum of a cubic in place of one end, until it is good."""
        longest, stuck = float(self.line.d.abs().max()), False
        while not self.done and self.tries < self.most:
            low, high = bracket = sorted(bracket, key=lambda each: each[1])
            if abs(high[0] - low[0]) * longest < self.tolerance:
                break
            t, stuck = self._inside(low, high, stuck)
            point = self.line.at(t)
            self.tries += 1
            if self.too_high(point) or point[1] >= low[1]:
                bracket = [low, point]
                continue
            if self.flat(point):
                self.done = True
            elif point[3] * (high[0] - low[0]) >= 0:
                high = low
            bracket = [point, high]
        return bracket

    @staticmethod
    def _inside(low: tuple, high: tuple, stuck: bool) -> tuple[float, bool]:
        """The cubic's minimum; when it is near an end twice in turn, a place further in."""
        t = _cubic_minimum(low, high)
        left, right = sorted((low[0], high[0]))
        edge = 0.1 * (right - left)
        if min(right - t, t - left) >= edge:
            return t, False
        if not stuck and left < t < right:
            return t, True
        return (right - edge if abs(t - right) < abs(t - left) else left + edge), False

"""GradScaler: the loss times a large number, so that float16 gradients do not vanish.

In: a loss, an optimizer. Out: steps with the true gradients, left out when one is not finite; the
scale halves then, and doubles after `growth_interval` good steps.

    scaler = GradScaler("cpu")
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()

Source: Micikevicius et al. 2018, "Mixed Precision Training"; torch.amp.GradScaler.
"""

from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.creation import full
from minitorch2.errors import OperationError
from minitorch2.tensors import Tensor

READY, UNSCALED, STEPPED = "ready", "unscaled", "stepped"


class GradScaler:
    """Scales losses, unscales gradients, skips steps that overflowed."""

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ):
        self._enabled = enabled and device == "cpu"
        self._scale, self._good_steps = float(init_scale), 0
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._stages: dict[int, str] = {}
        self._overflows: dict[int, bool] = {}

    def is_enabled(self) -> bool:
        """Whether it does anything."""
        return self._enabled

    def get_scale(self) -> float:
        """The scale now; 1 when disabled."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """What the scale grows by."""
        return self._growth_factor

    def get_backoff_factor(self) -> float:
        """What the scale shrinks by."""
        return self._backoff_factor

    def get_growth_interval(self) -> int:
        """After how many good steps the scale grows."""
        return self._growth_interval

    def scale(self, outputs: Any) -> Any:
        """A tensor (or tensors in lists, tuples) times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * full((), self._scale).to(outputs.dtype)
        return type(outputs)(self.scale(item) for item in outputs)

    def unscale_(self, optimizer: Any) -> None:
        """Divide the optimizer's gradients by the scale; at most once between updates."""
        if not self._enabled:
            return
        stage = self._stages.get(id(optimizer), READY)
        if stage != READY:
            raise OperationError(
                "GradScaler.unscale_()",
                "unscale_() has already been called on this optimizer since the last update()."
                if stage == UNSCALED
                else "unscale_() is being called after step().",
                "call update() once in each iteration",
            )
        found = False
        with no_grad():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        parameter.grad.mul_(1.0 / self._scale)
                        found |= not bool(parameter.grad.isfinite().all())
        self._overflows[id(optimizer)] = found
        self._stages[id(optimizer)] = UNSCALED

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Unscale if that has not been done, and step unless a gradient is not finite."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        stage = self._stages.get(id(optimizer), READY)
        if stage == STEPPED:
            raise OperationError(
                "GradScaler.step()",
                "step() has already been called since the last update().",
                "call update() once in each iteration",
            )
        if stage == READY:
            self.unscale_(optimizer)
        self._stages[id(optimizer)] = STEPPED
        return None if self._overflows[id(optimizer)] else optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Set the scale for the next iteration."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not self._overflows:
            raise OperationError(
                "GradScaler.update()",
                "No inf checks were recorded prior to update.",
                "call step(optimizer) or unscale_(optimizer) first",
            )
        elif any(self._overflows.values()):
            self._scale *= self._backoff_factor
            self._good_steps = 0
        else:
            self._good_steps += 1
            if self._good_steps == self._growth_interval:
                self._scale *= self._growth_factor
                self._good_steps = 0
        self._stages, self._overflows = {}, {}

    def state_dict(self) -> dict[str, Any]:
        """What `load_state_dict` needs to go on."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._good_steps,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a saved state."""
        if not self._enabled:
            return
        if not state_dict:
            raise OperationError(
                "GradScaler.load_state_dict()",
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler.",
                "save from an enabled one",
            )
        self._scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._good_steps = state_dict["_growth_tracker"]

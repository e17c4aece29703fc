"""GradScaler: the loss times a large number, so that float16 gradients do not vanish.

In: a loss, an optimizer. Out: steps with the true gradients, left out when one is not finite; the
scale halves then, and doubles after `growth_interval` good steps.

    scaler = GradScaler("cpu")
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()

The scale, the count of good steps and what overflowed are tensors. Eagerly Python asks whether a
step is left out; a captured step is made and then taken back where it overflowed, so that a whole
training step is one graph.

Source: Micikevicius et al. 2018, "Mixed Precision Training"; torch.amp.GradScaler.
"""

from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.creation import full, ones, zeros
from minitorch2.dispatch import is_compiling
from minitorch2.dtypes import bool as bool_dtype
from minitorch2.dtypes import float32, float64, int32
from minitorch2.errors import OperationError
from minitorch2.ops.table import lookup
from minitorch2.optim.conditional import step_unless
from minitorch2.tensors import Tensor

_where = lookup("where").public


class _Unscaled:
    """An optimizer whose gradients were unscaled since the last update()."""

    def __init__(self, optimizer: Any, overflow: Any):
        self.optimizer, self.overflow, self.stepped = optimizer, overflow, False


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
        self._scale = full((), float(init_scale), dtype=float32)
        self._good_steps = zeros((), dtype=int32)
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._unscaled: list[_Unscaled] = []

    def is_enabled(self) -> bool:
        """Whether it does anything."""
        return self._enabled

    def get_scale(self) -> float:
        """The scale now; 1 when disabled."""
        return self._scale.item() if self._enabled else 1.0

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
            return outputs * self._scale
        return type(outputs)(self.scale(item) for item in outputs)

    def unscale_(self, optimizer: Any) -> None:
        """Divide the optimizer's gradients by the scale; at most once between updates."""
        if not self._enabled:
            return
        known = self._known(optimizer)
        if known is not None:
            raise OperationError(
                "GradScaler.unscale_()",
                "unscale_() is being called after step()."
                if known.stepped
                else "unscale_() has already been called on this optimizer since the last "
                "update().",
                "call update() once in each iteration",
            )
        self._unscale(optimizer)

    def _known(self, optimizer: Any) -> _Unscaled | None:
        for known in self._unscaled:
            if known.optimizer is optimizer:
                return known
        return None

    def _unscale(self, optimizer: Any) -> _Unscaled:
        with no_grad():
            finite = ones((), dtype=bool_dtype)
            inverse = (1.0 / self._scale.to(float64)).to(float32)
            if not is_compiling():
                inverse = inverse.item()  # the same products, sooner
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        gradient = parameter.grad
                        finite = finite & gradient.isfinite().all()
                        # With 16 bits the inverse could vanish: the product is one of 32.
                        if gradient.dtype.itemsize == 2:
                            gradient.copy_(gradient.float() * inverse)
                        else:
                            gradient.mul_(inverse)
        found = _Unscaled(optimizer, ~finite)
        self._unscaled.append(found)
        return found

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Unscale if that has not been done, and step unless a gradient is not finite."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        known = self._known(optimizer)
        if known is None:
            known = self._unscale(optimizer)
        elif known.stepped:
            raise OperationError(
                "GradScaler.step()",
                "step() has already been called since the last update().",
                "call update() once in each iteration",
            )
        known.stepped = True
        if is_compiling() and not (args or kwargs) and step_unless(optimizer, known.overflow):
            return None
        return None if bool(known.overflow) else optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Set the scale for the next iteration."""
        if not self._enabled:
            return
        with no_grad():
            if isinstance(new_scale, Tensor):
                self._scale.copy_(new_scale.reshape(()))
            elif new_scale is not None:
                self._scale.fill_(float(new_scale))
            elif not self._unscaled:
                raise OperationError(
                    "GradScaler.update()",
                    "No inf checks were recorded prior to update.",
                    "call step(optimizer) or unscale_(optimizer) first",
                )
            else:
                self._update()
        self._unscaled = []

    def _update(self) -> None:
        """Shrink the scale after an overflow, grow it after enough steps without one."""
        overflow = self._unscaled[0].overflow
        for known in self._unscaled[1:]:
            overflow = overflow | known.overflow
        if not is_compiling():
            self._update_numbers(bool(overflow))
            return
        precise, steps = self._scale.to(float64), self._good_steps + 1
        enough = steps == self._growth_interval
        grown = (precise * self._growth_factor).to(float32)
        grown = _where(enough & grown.isfinite(), grown, self._scale)
        shrunk = (precise * self._backoff_factor).to(float32)
        self._scale.copy_(_where(overflow, shrunk, grown))
        self._good_steps.copy_(_where(overflow | enough, 0, steps))

    def _update_numbers(self, overflow: bool) -> None:
        """The same where Python may look at the numbers, in a third of the time."""
        scale, steps = self._scale.item(), 0 if overflow else self._good_steps.item() + 1
        if overflow:
            self._scale.fill_(scale * self._backoff_factor)
        elif steps == self._growth_interval:
            grown = full((), scale * self._growth_factor, dtype=float64).to(float32)
            steps = 0
            if grown.isfinite():
                self._scale.copy_(grown)
        self._good_steps.fill_(steps)

    def state_dict(self) -> dict[str, Any]:
        """What `load_state_dict` needs to go on."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale.item(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._good_steps.item(),
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
        self._scale = full((), float(state_dict["scale"]), dtype=float32)
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._good_steps = full((), int(state_dict["_growth_tracker"]), dtype=int32)

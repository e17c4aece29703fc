"""LRScheduler: after each epoch (or step) it sets the `lr` of every group of an optimizer.

In: an optimizer. Out: after `scheduler.step()`, another `lr` in its groups.

    scheduler = CosineAnnealingLR(optimizer, T_max=100)
    for _ in range(100):
        train_one_epoch()
        scheduler.step()

A schedule defines `get_lr`, from the present rates to the next; `last_epoch` counts the steps.

Source: torch.optim.lr_scheduler.LRScheduler.
"""

import warnings
from collections.abc import Sequence
from typing import Any

from minitorch2.errors import ArgumentTypeError
from minitorch2.optim.optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler."
)


def _called(optimizer: Any, args: tuple, kwargs: dict) -> None:
    """Remember that the optimizer has made a step."""
    optimizer._opt_called = True


_called.may_run_for_nothing = True  # type: ignore[attr-defined]


class LRScheduler:
    """Base class; `last_epoch=-1` starts anew, another number resumes."""

    _is_initial = False
    _get_lr_called_within_step = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1):
        if not isinstance(optimizer, Optimizer):
            raise ArgumentTypeError(
                f"{type(self).__name__}({type(optimizer).__name__})",
                f"{type(optimizer).__name__} is not an Optimizer",
                "give the optimizer whose rates are scheduled",
            )
        self.optimizer = optimizer
        if _called not in optimizer._step_post_hooks.values():
            optimizer.register_step_post_hook(_called)
        if last_epoch == -1:
            for group in optimizer.param_groups:
                group.setdefault("initial_lr", group["lr"])
        elif any("initial_lr" not in group for group in optimizer.param_groups):
            at = next(i for i, g in enumerate(optimizer.param_groups) if "initial_lr" not in g)
            raise KeyError(
                f"param 'initial_lr' is not specified in param_groups[{at}] when resuming "
                "scheduler with last_epoch >= 0"
            )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the rates of the first epoch: schedules that change the present rate let it be."""
        self._step_count, self._is_initial = 0, True
        self.step()
        self._is_initial = False

    def get_lr(self) -> list[Any]:
        """The rates of the groups at `last_epoch`; to be overridden."""
        raise NotImplementedError

    def get_last_lr(self) -> list[Any]:
        """The rates last set."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch (or to a given one, which is deprecated) and set the rates."""
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        if self._step_count == 1 and not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. You should call "
                "them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.",
                UserWarning,
                stacklevel=2,
            )
        self._step_count += 1
        self.go_to(epoch)

    def go_to(self, epoch: int | None) -> None:
        """Set the rates of the next epoch, or of a given one."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = getattr(self, "_get_closed_form_lr", None)
        self._set(closed() if epoch is not None and closed is not None else self._next_rates())

    def _next_rates(self) -> list[Any]:
        """get_lr, which is meant for nobody else and says so."""
        self._get_lr_called_within_step = True
        try:
            return self.get_lr()
        finally:
            self._get_lr_called_within_step = False

    def _warn_of_last_rates(self) -> None:
        """What get_lr computes is the step after the present rates, not the rates in force."""
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )

    def _set(self, rates: Sequence[Any]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def _rates(self) -> list[Any]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what state_dict returned."""
        self.__dict__.update(state_dict)

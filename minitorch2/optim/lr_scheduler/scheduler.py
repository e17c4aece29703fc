"""LRScheduler: after each epoch (or step) it sets the `lr` of every group of an optimizer.

In: an optimizer. Out: after `scheduler.step()`, another `lr` in its groups.

    scheduler = CosineAnnealingLR(optimizer, T_max=100)
    for _ in range(100):
        train_one_epoch()
        scheduler.step()

A schedule defines `get_lr`, from the present rates to the next; `last_epoch` counts the steps.

Source: torch.optim.lr_scheduler.LRScheduler.
"""

from collections.abc import Sequence
from typing import Any

from minitorch2.errors import ArgumentTypeError
from minitorch2.optim.optimizer import Optimizer


class LRScheduler:
    """Base class; `last_epoch=-1` starts anew, another number resumes."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1):
        if not isinstance(optimizer, Optimizer):
            raise ArgumentTypeError(
                f"{type(self).__name__}({type(optimizer).__name__})",
                f"{type(optimizer).__name__} is not an Optimizer",
                "give the optimizer whose rates are scheduled",
            )
        self.optimizer = optimizer
        if last_epoch == -1:
            for group in optimizer.param_groups:
                group.setdefault("initial_lr", group["lr"])
        elif any("initial_lr" not in group for group in optimizer.param_groups):
            raise KeyError(
                "param 'initial_lr' is not specified in the groups when resuming an optimizer"
            )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count = 0
        self.step()

    def get_lr(self) -> list[Any]:
        """The rates of the groups at `last_epoch`; to be overridden."""
        raise NotImplementedError

    def get_last_lr(self) -> list[Any]:
        """The rates last set."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch (or to a given one) and set the rates."""
        self._step_count += 1
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = getattr(self, "_get_closed_form_lr", None)
        self._set(closed() if epoch is not None and closed is not None else self.get_lr())

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

"""Schedules made of schedules, and one that watches a measure.

In: schedules of an optimizer, or a measure at each step. Out: rates set by `step()`.

Source: torch.optim.lr_scheduler.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from minitorch2.errors import ArgumentValueError, OperationError
from minitorch2.optim.lr_scheduler.cycles import for_each
from minitorch2.optim.lr_scheduler.scheduler import LRScheduler
from minitorch2.optim.optimizer import Optimizer


class SequentialLR(LRScheduler):
    """One schedule after another, changing at the given epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[Any],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ):
        _check_schedules("SequentialLR", optimizer, schedulers)
        if len(schedulers) != len(milestones) + 1:
            raise ArgumentValueError(
                f"SequentialLR({len(schedulers)} schedulers, {len(milestones)} milestones)",
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got number of schedulers {len(schedulers)} "
                f"and the number of milestones to be equal to {len(milestones)}",
            )
        self.optimizer = optimizer
        self._schedulers, self._milestones = list(schedulers), list(milestones)
        self.last_epoch = last_epoch + 1
        # Each schedule took its first step when it was made; only the first one's may stand.
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for scheduler in self._schedulers:
            scheduler.last_epoch -= 1
        self._schedulers[0]._initial_step()
        self._last_lr = self._schedulers[0].get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        """Step the schedule in force."""
        self.last_epoch += 1
        at = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[at]
        if at > 0 and self._milestones[at - 1] == self.last_epoch:
            scheduler.go_to(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def state_dict(self) -> dict[str, Any]:
        """Its own state and that of its schedules."""
        state = LRScheduler.state_dict(self)
        state.pop("_schedulers")  # goes to the end
        return {**state, "_schedulers": [each.state_dict() for each in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what state_dict returned."""
        rest = {k: v for k, v in state_dict.items() if k != "_schedulers"}
        self.__dict__.update(rest)
        for each, saved in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            each.load_state_dict(saved)


def _check_schedules(name: str, optimizer: Any, schedulers: Sequence[Any]) -> None:
    """Refuse schedules that cannot be put together."""
    if not schedulers:
        raise ArgumentValueError(
            name, f"{name} expects at least one scheduler, but got no scheduler."
        )
    for index, scheduler in enumerate(schedulers):
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ArgumentValueError(
                name,
                f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional "
                "kwargs to be specified when calling `step`",
            )
        if scheduler.optimizer is not optimizer:
            raise ArgumentValueError(
                name,
                f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                f"{type(scheduler).__name__} at index {index} with another one",
            )


class ChainedScheduler(LRScheduler):
    """All schedules at every step, each on the rate the one before left."""

    def __init__(self, schedulers: Sequence[Any], optimizer: Optimizer | None = None):
        first = schedulers[0].optimizer if schedulers else None
        _check_schedules("ChainedScheduler", optimizer or first, schedulers)
        self._schedulers = list(schedulers)
        self.optimizer = optimizer or schedulers[0].optimizer
        self._last_lr = self._rates()

    def step(self, epoch: int | None = None) -> None:
        """Step every schedule."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._rates()

    state_dict = SequentialLR.state_dict
    load_state_dict = SequentialLR.load_state_dict


class ReduceLROnPlateau(LRScheduler):
    """Times `factor` when a measure has not improved for `patience` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ):
        asked = f"ReduceLROnPlateau(mode={mode!r}, factor={factor}, {threshold_mode=})"
        if factor >= 1.0:
            raise ArgumentValueError(asked, "Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ArgumentValueError(asked, f"mode {mode} is unknown!", "give 'min' or 'max'")
        if threshold_mode not in ("rel", "abs"):
            raise ArgumentValueError(
                asked, f"threshold mode {threshold_mode} is unknown!", "give 'rel' or 'abs'"
            )
        if isinstance(min_lr, (list, tuple)) and len(min_lr) != len(optimizer.param_groups):
            raise ArgumentValueError(
                asked, f"expected {len(optimizer.param_groups)} min_lrs, got {len(min_lr)}"
            )
        self.factor, self.optimizer = factor, optimizer
        several = isinstance(min_lr, (list, tuple))
        self.default_min_lr = None if several else min_lr  # of groups that are added later
        self.min_lrs = for_each(min_lr, optimizer.param_groups)
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.last_epoch = 0
        self._last_lr = self._rates()
        self.mode_worse = math.inf if mode == "min" else -math.inf  # what any measure improves on
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self._reset()

    def _reset(self) -> None:
        """Forget the measures seen so far."""
        self.best: float = self.mode_worse
        self.cooldown_counter, self.num_bad_epochs = 0, 0

    @property
    def in_cooldown(self) -> bool:
        """Whether bad epochs do not count yet."""
        return self.cooldown_counter > 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Look at the measure of this epoch."""
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, floor in zip(self.optimizer.param_groups, self._floors(), strict=True):
                lower = max(group["lr"] * self.factor, floor)
                if group["lr"] - lower > self.eps:
                    group["lr"] = lower
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates()

    def _floors(self) -> list[Any]:
        groups, known = self.optimizer.param_groups, len(self.min_lrs)
        if len(groups) != known and self.default_min_lr is None:
            raise OperationError(
                "ReduceLROnPlateau.step()",
                f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                f"`ReduceLROnPlateau` was initialized ({known}), usually due to a new param group "
                "being added to the optimizer.",
                "set the `min_lrs` field to a list of the same length as the groups",
            )
        if len(groups) != known:
            self.min_lrs = [self.default_min_lr] * len(groups)
        return self.min_lrs

    def is_better(self, a: float, best: float) -> bool:
        """Whether `a` improves on `best` by more than the threshold."""
        sign = 1 if self.mode == "max" else -1
        margin = self.threshold
        if self.threshold_mode == "rel":
            return a * sign > best * (1 + sign * margin) * sign
        return a * sign > best * sign + margin

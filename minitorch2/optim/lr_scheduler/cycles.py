"""Schedules that go up and down: warm restarts, one cycle, endless cycles.

In: an optimizer. Out: rates set by `step()`.

Source: torch.optim.lr_scheduler; Loshchilov & Hutter 2017 (restarts), Smith 2018 (one cycle).
"""

import math
import types
from collections.abc import Callable, Sequence
from typing import Any

from minitorch2.errors import ArgumentValueError
from minitorch2.optim.lr_scheduler.scheduler import LRScheduler
from minitorch2.optim.optimizer import Optimizer


class CosineAnnealingWarmRestarts(LRScheduler):
    """Cosine from the initial rate to `eta_min` in T_0 epochs, then again, T_mult times longer."""

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ):
        asked = f"CosineAnnealingWarmRestarts(T_0={T_0}, T_mult={T_mult})"
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ArgumentValueError(asked, f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ArgumentValueError(asked, f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0, self.T_i, self.T_mult, self.eta_min = T_0, T_0, T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_of_last_rates()
        wave = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * wave for base in self.base_lrs]

    def step(self, epoch: Any = None) -> None:
        """Go on to the next epoch, or to a given one, which may be a fraction."""
        self.go_to(epoch)

    def go_to(self, epoch: Any) -> None:
        """Set the rates of the next epoch, or of a given one."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            self._enter(epoch)
        self.last_epoch = math.floor(epoch)
        self._set(self._next_rates())

    def _enter(self, epoch: float) -> None:
        """The cycle an epoch lies in."""
        cycle, start = self.T_0, 0
        while epoch >= start + cycle:
            start += cycle
            cycle *= self.T_mult
        self.T_cur, self.T_i = epoch - start, cycle


_PHASE = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")


class OneCycleLR(LRScheduler):
    """Up to `max_lr` and down to nearly nothing in one run; momentum goes the other way."""

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Any,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.85,
        max_momentum: Any = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ):
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ArgumentValueError(
                    "OneCycleLR(...)",
                    "You must define either total_steps OR (epochs AND steps_per_epoch)",
                    "give total_steps",
                )
            _positive("epochs", epochs)
            _positive("steps_per_epoch", steps_per_epoch)
            total_steps = epochs * steps_per_epoch
        _positive("total_steps", total_steps)
        if not 0 <= pct_start <= 1 or not isinstance(pct_start, float):
            raise ArgumentValueError(
                f"OneCycleLR(pct_start={pct_start})",
                f"Expected float between 0 and 1 pct_start, but got {pct_start}",
            )
        if anneal_strategy not in ("cos", "linear"):
            raise ArgumentValueError(
                f"OneCycleLR(anneal_strategy={anneal_strategy!r})",
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}",
            )
        self.total_steps = total_steps
        self._schedule_phases = self._make_phases(pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        groups = optimizer.param_groups
        if last_epoch == -1:
            for group, top in zip(groups, for_each(max_lr, groups, "max_lr"), strict=True):
                group["initial_lr"] = top / div_factor
                group["max_lr"] = top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._start_momentum(groups, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _make_phases(self, pct_start: float, three_phase: bool) -> list[dict[str, Any]]:
        """The last step of each phase, and what the rate and the momentum go from and to."""
        top, end = pct_start * self.total_steps - 1, self.total_steps - 1
        rows = [
            (top, "initial_lr", "max_lr", "max_momentum", "base_momentum"),
            (end, "max_lr", "min_lr", "base_momentum", "max_momentum"),
        ]
        if three_phase:
            rows[1:] = [
                (2 * top, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
                (end, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
            ]
        return [dict(zip(_PHASE, row, strict=True)) for row in rows]

    def _start_momentum(self, groups: Any, base: Any, top: Any, last_epoch: int) -> None:
        _require_momentum("OneCycleLR", groups)
        self.use_beta1 = "betas" in groups[0]
        if last_epoch != -1:
            return
        low, high = for_each(base, groups, "base_momentum"), for_each(top, groups, "max_momentum")
        pairs = zip(low, high, strict=True)
        for group, (low, high) in zip(groups, pairs, strict=True):
            _set_momentum(group, high)
            group["base_momentum"], group["max_momentum"] = low, high

    def _between(self, start: float, end: float, share: float) -> float:
        if self._anneal_func_type == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)

    def get_lr(self) -> list[Any]:
        self._warn_of_last_rates()
        step = self.last_epoch
        if step > self.total_steps:
            raise ArgumentValueError(
                f"OneCycleLR.step() number {step}",
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}",
                "give the number of steps you take as total_steps",
            )
        rates = []
        for group in self.optimizer.param_groups:
            start: float = 0.0
            phases = iter([tuple(each[key] for key in _PHASE) for each in self._schedule_phases])
            end, *names = next(phases)
            while step > end and (after := next(phases, None)) is not None:
                start, (end, *names) = end, after
            share = (step - start) / (end - start)
            rates.append(self._between(group[names[0]], group[names[1]], share))
            if self.cycle_momentum:
                _set_momentum(group, self._between(group[names[2]], group[names[3]], share))
        return rates


def for_each(value: Any, groups: Sequence[Any], name: str = "") -> list[Any]:
    """One value for each group; ArgumentValueError where as many were not given."""
    if not isinstance(value, (list, tuple)):
        return [value] * len(groups)
    if len(value) != len(groups):
        raise ArgumentValueError(
            f"a schedule with {name}={value}",
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} "
            f"values, param_groups has {len(groups)}.",
        )
    return list(value)


def _positive(name: str, value: Any) -> None:
    if not isinstance(value, int) or value <= 0:
        raise ArgumentValueError(
            f"OneCycleLR({name}={value})", f"Expected positive integer {name}, but got {value}"
        )


def _require_momentum(name: str, groups: Any) -> None:
    if not any(key in groups[0] for key in ("momentum", "betas")):
        raise ArgumentValueError(
            f"{name}(cycle_momentum=True)",
            "optimizer must support momentum or beta1 with `cycle_momentum` option enabled",
            "pass cycle_momentum=False",
        )


def _set_momentum(group: dict, value: float) -> None:
    if "betas" in group:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


class CyclicLR(LRScheduler):
    """Up and down between `base_lr` and `max_lr` for ever."""

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.8,
        max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ):
        groups = optimizer.param_groups
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ArgumentValueError(
                f"CyclicLR(mode={mode!r})", "mode is invalid and scale_fn is None"
            )
        if cycle_momentum:
            _require_momentum("CyclicLR", groups)
        self.max_lrs = for_each(max_lr, groups, "max_lr")
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        if scale_fn is not None:
            self.scale_mode = scale_mode
        if last_epoch == -1:
            for group, low in zip(groups, for_each(base_lr, groups, "base_lr"), strict=True):
                group["lr"] = low
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._start_momentum(groups, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = for_each(base_lr, groups)

    def _start_momentum(self, groups: Any, base: Any, top: Any, last_epoch: int) -> None:
        self.use_beta1 = "betas" in groups[0]
        self.base_momentums = for_each(base, groups, "base_momentum")
        self.max_momentums = for_each(top, groups, "max_momentum")
        if last_epoch != -1:
            return
        pairs = zip(self.base_momentums, self.max_momentums, strict=True)
        for group, (low, high) in zip(groups, pairs, strict=True):
            _set_momentum(group, high)
            group["base_momentum"], group["max_momentum"] = low, high

    def state_dict(self) -> dict[str, Any]:
        """As the base class's; of a scale function None, of an object that is called its fields."""
        state = super().state_dict()
        given = state.pop("_scale_fn_custom")
        plain = given is None or isinstance(given, types.FunctionType)
        return {**state, "_scale_fn_custom": None if plain else dict(given.__dict__)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what state_dict returned, the scale function's fields into the one here."""
        given = dict(state_dict)
        fields = given.pop("_scale_fn_custom", None)
        if fields is not None:
            self._scale_fn_custom.__dict__.update(fields)
        super().load_state_dict(given)

    def _scaled(self, x: float) -> float:
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return 1 / (2.0 ** (x - 1)) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> list[Any]:
        self._warn_of_last_rates()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self._scaled(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            pairs = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (low, high) in zip(self.optimizer.param_groups, pairs, strict=True):
                _set_momentum(group, high - (high - low) * height * scale)
        return [
            low + (high - low) * height * scale
            for low, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

"""Averages of weights over training: torch.optim.swa_utils.

In: a model that is being trained. Out: a copy whose parameters are the average (or the exponential
moving average) of the model's at each `update_parameters`.

    averaged = AveragedModel(model)
    for batch in loader:
        train(model, batch)
        averaged.update_parameters(model)
    update_bn(loader, averaged)

Source: Izmailov et al., "Averaging weights leads to wider optima" (2018); torch.optim.swa_utils.
"""

import copy
import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.creation import tensor
from minitorch2.dtypes import int64
from minitorch2.errors import ArgumentValueError
from minitorch2.nn.batch_normalization import _BatchNorm
from minitorch2.nn.module import Module
from minitorch2.optim.lr_scheduler import LRScheduler


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable:
    """The function (averages, values, count) that moves averages towards values by 1 - decay."""
    _check_decay(decay)

    @no_grad()
    def update(averages: list, values: list, _: Any) -> None:
        for average, value in zip(averages, values, strict=True):
            if average.is_floating_point():
                average.lerp_(value, 1 - decay)
            else:
                average.copy_(average * decay + value * (1 - decay))

    return update


def get_swa_multi_avg_fn() -> Callable:
    """The function (averages, values, count) that makes equal averages."""

    @no_grad()
    def update(averages: list, values: list, count: Any) -> None:
        for average, value in zip(averages, values, strict=True):
            if average.is_floating_point():
                average.lerp_(value, float(1 / (count + 1)))
            else:
                average.add_((value - average).div(count + 1).to(average.dtype))

    return update


def get_ema_avg_fn(decay: float = 0.999) -> Callable:
    """The function (average, value, count) of an exponential moving average."""
    _check_decay(decay)

    @no_grad()
    def update(average: Any, value: Any, count: Any) -> Any:
        return decay * average + (1 - decay) * value

    return update


def get_swa_avg_fn() -> Callable:
    """The function (average, value, count) of an equal average."""

    @no_grad()
    def update(average: Any, value: Any, count: Any) -> Any:
        return average + (value - average) / (count + 1)

    return update


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ArgumentValueError(
            f"an average with decay={decay}",
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.",
        )


class AveragedModel(Module):
    """A copy of a model that holds averages of its parameters; `use_buffers` averages those too."""

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable | None = None,
        multi_avg_fn: Callable | None = None,
        use_buffers: bool = False,
    ):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise ArgumentValueError(
                "AveragedModel(avg_fn=..., multi_avg_fn=...)",
                "Only one of avg_fn and multi_avg_fn should be provided",
            )
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=int64))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The averaged model's."""
        return self.module(*args, **kwargs)

    def _values(self, model: Module) -> list[Any]:
        if self.use_buffers:
            return list(itertools.chain(model.parameters(), model.buffers()))
        return list(model.parameters())

    def update_parameters(self, model: Module) -> None:
        """Take a model's present parameters into the averages."""
        averages = [each.detach() for each in self._values(self.module)]
        values = [each.detach() for each in self._values(model)]
        with no_grad():
            if int(self.n_averaged) == 0:
                for average, value in zip(averages, values, strict=True):
                    average.copy_(value)
            elif self.avg_fn is not None:
                for average, value in zip(averages, values, strict=True):
                    average.copy_(self.avg_fn(average, value, self.n_averaged))
            else:
                (self.multi_avg_fn or get_swa_multi_avg_fn())(averages, values, self.n_averaged)
            if not self.use_buffers:
                buffers = zip(self.module.buffers(), model.buffers(), strict=True)
                for mine, other in buffers:
                    mine.detach().copy_(other.detach())
            self.n_averaged += 1


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of all batch normalizations anew, over a loader."""
    kept: dict[Module, Any] = {}
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            kept[module] = module.momentum
    if not kept:
        return
    training = model.training
    model.train()
    for module in kept:
        module.momentum = None
    for batch in loader:
        inputs = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(inputs.to(device) if device is not None else inputs)
    for module, momentum in kept.items():
        module.momentum = momentum
    model.train(training)


class SWALR(LRScheduler):
    """From the present rate to `swa_lr`, within `anneal_epochs`, by a cosine or a line."""

    def __init__(
        self,
        optimizer: Any,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ):
        rates = (
            swa_lr if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(optimizer.param_groups)
        )
        if len(rates) != len(optimizer.param_groups):
            raise ArgumentValueError(
                f"SWALR(swa_lr={swa_lr})",
                "swa_lr must have the same length as optimizer.param_groups: swa_lr has "
                f"{len(rates)}, optimizer.param_groups has {len(optimizer.param_groups)}",
            )
        for rate, group in zip(rates, optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ArgumentValueError(
                f"SWALR(anneal_strategy={anneal_strategy!r})",
                f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}",
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ArgumentValueError(
                f"SWALR(anneal_epochs={anneal_epochs})",
                "anneal_epochs must be equal or greater than 0",
            )
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, t: float) -> float:
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self) -> list[float]:
        """The rates of the groups for this epoch: computed from those of the epoch before."""
        self._warn_of_last_rates()
        step = self._step_count - 1
        span = self.anneal_epochs or 1
        step = max(1, step) if self.anneal_epochs == 0 else step
        before = self._share(max(0.0, min(1.0, (step - 1) / span)))
        now = self._share(max(0.0, min(1.0, step / span)))
        rates = []
        for group in self.optimizer.param_groups:
            start = (
                group["lr"]
                if before == 1
                else ((group["lr"] - before * group["swa_lr"]) / (1 - before))
            )
            rates.append(group["swa_lr"] * now + start * (1 - now))
        return rates


__all__ = [
    "AveragedModel",
    "SWALR",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

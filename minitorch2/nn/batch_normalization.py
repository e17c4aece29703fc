"""Normalization of channels: over the batch, over groups of channels, over single pictures.

In: [N, C, *]. Out: the same shape.

Source: Ioffe & Szegedy 2015, Wu & He 2018, Ulyanov et al. 2016; torch.nn.
"""

import warnings
from typing import Any

from minitorch2.creation import empty, ones, tensor, zeros
from minitorch2.dtypes import int64
from minitorch2.errors import ArgumentValueError
from minitorch2.nn import functional as F
from minitorch2.nn import init
from minitorch2.nn.module import Module
from minitorch2.nn.parameter import Parameter


class _ChannelNorm(Module):
    """Weight, bias and running statistics of C channels; `ranks` are the inputs' dimensions."""

    ranks: tuple[int, ...] = ()

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self.register_parameter("weight", None)
        self.register_parameter("bias", None)
        if affine:
            self.weight = Parameter(empty(num_features, device=device, dtype=dtype))
            if bias:
                self.bias = Parameter(empty(num_features, device=device, dtype=dtype))
        tracked = track_running_stats
        where = {"device": device, "dtype": dtype}
        self.register_buffer("running_mean", zeros(num_features, **where) if tracked else None)
        self.register_buffer("running_var", ones(num_features, **where) if tracked else None)
        count = tensor(0, dtype=int64, device=device) if tracked else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget what the batches have taught."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Weight one, bias zero, statistics forgotten."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check(self, input: Any) -> None:
        if input.ndim not in self.ranks:
            expected = " or ".join(f"{rank}D" for rank in self.ranks)
            raise ArgumentValueError(
                f"{type(self).__name__} of an input of shape {list(input.shape)}",
                f"expected {expected} input (got {input.ndim}D input)",
                "the input is [N, C, *sizes]",
            )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any
    ) -> None:
        # A state from before version 2, or a plain dict of arrays, need not hold the count.
        key = prefix + "num_batches_tracked"
        old = (local_metadata.get("version") or 1) < 2
        if old and self.track_running_stats and key not in state_dict:
            mine = self.num_batches_tracked
            known = mine is not None and mine.device.type != "meta"
            state_dict = {**state_dict, key: mine if known else tensor(0, dtype=int64)}
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


_NormBase = _ChannelNorm  # the name that scripts know it by
_ChannelNorm._version = 2  # of its state, as torch counts: since it holds num_batches_tracked


class _BatchNorm(_ChannelNorm):
    def forward(self, input: Any) -> Any:
        self._check(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # a plain average over all batches
                momentum = 1.0 / float(self.num_batches_tracked)
        keep = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if keep else None,
            self.running_var if keep else None,
            self.weight,
            self.bias,
            self.training or self.running_mean is None,
            momentum,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Each channel of [N, C] or [N, C, L] to mean 0 and variance 1 over the batch."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Each channel of [N, C, H, W] to mean 0 and variance 1 over the batch."""

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Each channel of [N, C, D, H, W] to mean 0 and variance 1 over the batch."""

    ranks = (5,)


class _InstanceNorm(_ChannelNorm):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ):
        settings = (eps, momentum, affine, track_running_stats, device, dtype)
        super().__init__(num_features, *settings, bias=bias)

    def forward(self, input: Any) -> Any:
        self._check(input)
        single = input.ndim == self.ranks[0]
        channels = input.shape[0 if single else 1]
        if channels != self.num_features:
            self._tell_channels(0 if single else 1, channels)
        found = F.instance_norm(
            input.unsqueeze(0) if single else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum or 0.0,
            self.eps,
        )
        return found.squeeze(0) if single else found

    def _tell_channels(self, dim: int, channels: int) -> None:
        """An error where there are weights for each channel, else a warning."""
        if self.affine:
            raise ArgumentValueError(
                f"{type(self).__name__}({self.num_features})",
                f"expected input's size at dim={dim} to match num_features ({self.num_features}), "
                f"but got: {channels}.",
                "give num_features as many as there are channels",
            )
        warnings.warn(
            f"input's size at dim={dim} does not match num_features. You can silence this warning "
            "by not passing in num_features, which is not used because affine=False",
            UserWarning,
            stacklevel=3,
        )


class InstanceNorm1d(_InstanceNorm):
    """Each channel of each sample of [N, C, L] to mean 0 and variance 1."""

    ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Each channel of each sample of [N, C, H, W] to mean 0 and variance 1."""

    ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Each channel of each sample of [N, C, D, H, W] to mean 0 and variance 1."""

    ranks = (4, 5)


class LocalResponseNorm(Module):
    """Each element divided by the mean square of its neighbours among the channels."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Any) -> Any:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """LocalResponseNorm of images [N, C, H, W] as Torch 7 computed it.

    The window of channel c has (size + 1) // 2 channels to each side, c counted for both; the first
    channel stays in the window of every later one. The gradient is the derivative of that; torch's
    own backward takes other windows than its forward.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1):
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Any) -> Any:
        if input.ndim != 4:
            raise ArgumentValueError(
                f"CrossMapLRN2d of an input of shape {list(input.shape)}",
                f"CrossMapLRN2d: Expected input to be 4D, got {input.ndim}D instead.",
                "LocalResponseNorm takes other numbers of dimensions",
            )
        side, channels = (self.size + 1) // 2, input.shape[1]
        squares = input * input
        sums = F.pad(squares, (0, 0, 0, 0, side, side - 1)).cumsum(1)
        total = sums.narrow(1, 2 * side - 1, channels) - sums.narrow(1, 0, channels)
        if channels > side:
            first = squares.narrow(1, 0, 1).expand(-1, channels - side, -1, -1)
            total = total + F.pad(first, (0, 0, 0, 0, side, 0))
        return input * (total * (self.alpha / self.size) + self.k) ** -self.beta


class GroupNorm(Module):
    """Each sample's groups of channels to mean 0 and variance 1."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ):
        super().__init__()
        if num_channels % num_groups:
            raise ArgumentValueError(
                f"GroupNorm({num_groups}, {num_channels})",
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})",
            )
        self.num_groups, self.num_channels = num_groups, num_channels
        self.eps, self.affine = eps, affine
        self.register_parameter("weight", None)
        self.register_parameter("bias", None)
        if affine:
            self.weight = Parameter(ones(num_channels, device=device, dtype=dtype))
            if bias:
                self.bias = Parameter(zeros(num_channels, device=device, dtype=dtype))

    def reset_parameters(self) -> None:
        """Weight one, bias zero."""
        if self.affine:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Any) -> Any:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )

"""Convolution layers: a kernel that is the same at every place.

In: [N, in_channels, *sizes]. Out: [N, out_channels, *places].

    >>> from minitorch2 import ones
    >>> Conv2d(3, 8, 3, padding=1)(ones(2, 3, 5, 5)).shape
    torch.Size([2, 8, 5, 5])

Source: torch.nn.Conv2d and its like.
"""

import math
from typing import Any

from minitorch2.creation import empty
from minitorch2.errors import ArgumentValueError
from minitorch2.nn import functional as F
from minitorch2.nn import init
from minitorch2.nn.functional.windows import per_dimension
from minitorch2.nn.module import Module
from minitorch2.nn.parameter import Parameter

_MODES = {"zeros": "constant", "reflect": "reflect", "replicate": "replicate"}
_MODES["circular"] = "circular"


class _Convolution(Module):
    """What all have in common; subclasses set `dims`, and `transposed` if they are."""

    dims = 0
    transposed = False

    def _build(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        output_padding: Any,
        groups: int,
        bias: bool,
        padding_mode: str,
        where: dict[str, Any],
    ) -> None:
        self._check(in_channels, out_channels, groups)
        self._check_padding(padding, padding_mode, stride)
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = per_dimension(kernel_size, self.dims)
        self.stride = per_dimension(stride, self.dims)
        self.padding = padding if isinstance(padding, str) else per_dimension(padding, self.dims)
        self.dilation = per_dimension(dilation, self.dims)
        self.output_padding = per_dimension(output_padding, self.dims)
        self.padding_mode = padding_mode
        first, second = out_channels, in_channels // groups
        if self.transposed:
            first, second = in_channels, out_channels // groups
        self.weight = Parameter(empty(first, second, *self.kernel_size, **where))
        if bias:
            self.bias = Parameter(empty(out_channels, **where))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _check(self, in_channels: int, out_channels: int, groups: int) -> None:
        """ArgumentValueError unless both numbers of channels can be cut into the groups."""
        asked = f"{type(self).__name__}({in_channels}, {out_channels}, groups={groups})"
        if groups <= 0:
            raise ArgumentValueError(asked, "groups must be a positive integer")
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ArgumentValueError(asked, f"{name} must be divisible by groups")

    def _check_padding(self, padding: Any, mode: str, stride: Any) -> None:
        """ArgumentValueError unless the paddings are of those that there are."""
        asked = f"{type(self).__name__}(padding={padding!r}, padding_mode={mode!r})"
        if self.transposed and mode != "zeros":
            wrong = f'Only "zeros" padding mode is supported for {type(self).__name__}'
            raise ArgumentValueError(asked, wrong)
        if isinstance(padding, str) and padding not in ("same", "valid"):
            wrong = f"Invalid padding string {padding!r}, should be one of 'valid', 'same'"
            raise ArgumentValueError(asked, wrong)
        if padding == "same" and set(per_dimension(stride, self.dims)) != {1}:
            wrong = "padding='same' is not supported for strided convolutions"
            raise ArgumentValueError(asked, wrong)
        if mode not in _MODES:
            wrong = f"padding_mode must be one of {list(_MODES)}, but got padding_mode={mode!r}"
            raise ArgumentValueError(asked, wrong)

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, uniform in [-1/sqrt(fan_in), 1/sqrt(fan_in)]."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in else 0
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"]
        parts.append(f"stride={self.stride}")
        usual = (("padding", 0), ("dilation", 1), ("output_padding", 0))
        for name, value in usual:
            if getattr(self, name) != (value,) * self.dims:
                parts.append(f"{name}={getattr(self, name)!s}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)


_ConvNd = _Convolution  # the name that scripts know it by


class _Conv(_Convolution):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        where = {"device": device, "dtype": dtype}
        sizes = (kernel_size, stride, padding, dilation, 0)
        self._build(in_channels, out_channels, *sizes, groups, bias, padding_mode, where)

    def forward(self, input: Any) -> Any:
        function = (F.conv1d, F.conv2d, F.conv3d)[self.dims - 1]
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            amounts = [amount for each in reversed(padding) for amount in (each, each)]
            input, padding = F.pad(input, amounts, _MODES[self.padding_mode]), 0
        return function(
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )


class _ConvTranspose(_Convolution):
    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        where = {"device": device, "dtype": dtype}
        sizes = (kernel_size, stride, padding, dilation, output_padding)
        self._build(in_channels, out_channels, *sizes, groups, bias, padding_mode, where)

    def _extra(self, input: Any, output_size: Any) -> Any:
        """The output_padding that makes the output of `output_size`: sizes, or [N, C, *sizes]."""
        if output_size is None:
            return self.output_padding
        sizes, batched = list(output_size), input.ndim == self.dims + 2
        before = 2 if batched else 1
        if len(sizes) == self.dims + before:
            sizes = sizes[before:]
        asked = f"{type(self).__name__} with output_size={list(output_size)}"
        if len(sizes) != self.dims:
            raise ArgumentValueError(
                asked,
                f"ConvTranspose{self.dims}D: for {input.ndim}D input, output_size must have "
                f"{self.dims} or {self.dims + before} elements (got {len(sizes)})",
            )
        padding = per_dimension(self.padding, self.dims)
        counts = (self.stride, padding, self.kernel_size, self.dilation)
        each = zip(input.shape[before:], *counts, strict=True)
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, k, d in each]
        most = [size + s - 1 for size, s in zip(least, self.stride, strict=True)]
        if any(not a <= size <= b for size, a, b in zip(sizes, least, most, strict=True)):
            raise ArgumentValueError(
                asked,
                f"requested an output size of {sizes}, but valid sizes range from {least} to "
                f"{most} (for an input of {input.shape[before:]})",
            )
        return [size - a for size, a in zip(sizes, least, strict=True)]

    def forward(self, input: Any, output_size: Any = None) -> Any:
        functions = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)
        return functions[self.dims - 1](
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self._extra(input, output_size),
            self.groups,
            self.dilation,
        )


class Conv1d(_Conv):
    """Over [N, C, L]; weight [out_channels, in_channels / groups, kernel]."""

    dims = 1


class Conv2d(_Conv):
    """Over [N, C, H, W]; weight [out_channels, in_channels / groups, *kernel]."""

    dims = 2


class Conv3d(_Conv):
    """Over [N, C, D, H, W]; weight [out_channels, in_channels / groups, *kernel]."""

    dims = 3


class ConvTranspose1d(_ConvTranspose):
    """The transpose of Conv1d; weight [in_channels, out_channels / groups, kernel]."""

    dims = 1


class ConvTranspose2d(_ConvTranspose):
    """The transpose of Conv2d; weight [in_channels, out_channels / groups, *kernel]."""

    dims = 2


class ConvTranspose3d(_ConvTranspose):
    """The transpose of Conv3d; weight [in_channels, out_channels / groups, *kernel]."""

    dims = 3

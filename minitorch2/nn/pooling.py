"""Pooling layers: the largest element or the mean of each window.

In: [N, C, *sizes]. Out: [N, C, *other sizes].

Source: torch.nn.
"""

from typing import Any

from minitorch2.nn import functional as F
from minitorch2.nn.functional.windows import per_dimension
from minitorch2.nn.module import Module


class _MaxPool(Module):
    dims = 0

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Any) -> Any:
        function = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[self.dims - 1]
        return function(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


_MaxPoolNd = _MaxPool  # the name that scripts know it by


class MaxPool1d(_MaxPool):
    """The largest element of each window of [N, C, L]."""

    dims = 1


class MaxPool2d(_MaxPool):
    """The largest element of each window of [N, C, H, W]."""

    dims = 2


class MaxPool3d(_MaxPool):
    """The largest element of each window of [N, C, D, H, W]."""

    dims = 3


class AvgPool1d(Module):
    """The mean of each window of [N, C, L]."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ):
        super().__init__()
        self.kernel_size = per_dimension(kernel_size, 1)
        self.stride = self.kernel_size if stride is None else per_dimension(stride, 1)
        self.padding = per_dimension(padding, 1)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Any) -> Any:
        settings = (self.kernel_size, self.stride, self.padding, self.ceil_mode)
        return F.avg_pool1d(input, *settings, self.count_include_pad)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AvgPool(Module):
    dims = 0

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input: Any) -> Any:
        function = (F.avg_pool2d, F.avg_pool3d)[self.dims - 2]
        settings = (self.kernel_size, self.stride, self.padding, self.ceil_mode)
        return function(input, *settings, self.count_include_pad, self.divisor_override)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(_AvgPool):
    """The mean of each window of [N, C, H, W]."""

    dims = 2


class AvgPool3d(_AvgPool):
    """The mean of each window of [N, C, D, H, W]."""

    dims = 3


class _Adaptive(Module):
    function: Any = None

    def __init__(self, output_size: Any):
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Any) -> Any:
        return type(self).function(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_Adaptive):
    """Means of as many windows as wanted, over [N, C, L]."""

    function = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_Adaptive):
    """Means of as many windows as wanted, over [N, C, H, W]."""

    function = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_Adaptive):
    """Means of as many windows as wanted, over [N, C, D, H, W]."""

    function = staticmethod(F.adaptive_avg_pool3d)


class _AdaptiveMax(_Adaptive):
    def __init__(self, output_size: Any, return_indices: bool = False):
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Any) -> Any:
        return type(self).function(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMax):
    """The largest elements of as many windows as wanted, over [N, C, L]."""

    function = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMax):
    """The largest elements of as many windows as wanted, over [N, C, H, W]."""

    function = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMax):
    """The largest elements of as many windows as wanted, over [N, C, D, H, W]."""

    function = staticmethod(F.adaptive_max_pool3d)

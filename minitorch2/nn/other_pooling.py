"""Pooling layers by other rules: power averages, random regions, max pooling undone.

In: [N, C, *sizes]. Out: [N, C, *other sizes].

Source: torch.nn.
"""

from typing import Any

from minitorch2.errors import ArgumentValueError
from minitorch2.nn import functional as F
from minitorch2.nn.functional.windows import per_dimension
from minitorch2.nn.module import Module


class _LPPool(Module):
    function: Any = None

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ):
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def forward(self, input: Any) -> Any:
        settings = (float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)
        return type(self).function(input, *settings)

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPool):
    """(sum x ** p) ** (1 / p) of each window of [N, C, L]."""

    function = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPool):
    """(sum x ** p) ** (1 / p) of each window of [N, C, H, W]."""

    function = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPool):
    """(sum x ** p) ** (1 / p) of each window of [N, C, D, H, W]."""

    function = staticmethod(F.lp_pool3d)


class _MaxUnpool(Module):
    dims = 0
    function: Any = None

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0):
        super().__init__()
        self.kernel_size = per_dimension(kernel_size, self.dims)
        self.stride = per_dimension(kernel_size if stride is None else stride, self.dims)
        self.padding = per_dimension(padding, self.dims)

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        settings = (self.kernel_size, self.stride, self.padding, output_size)
        return type(self).function(input, indices, *settings)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """Zeros, and the maxima of [N, C, L] at their indices."""

    dims, function = 1, staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """Zeros, and the maxima of [N, C, H, W] at their indices."""

    dims, function = 2, staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    """Zeros, and the maxima of [N, C, D, H, W] at their indices."""

    dims, function = 3, staticmethod(F.max_unpool3d)


class _FractionalMaxPool(Module):
    dims = 0
    function: Any = None

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ):
        super().__init__()
        name = type(self).__name__
        if (output_size is None) == (output_ratio is None):
            raise ArgumentValueError(
                f"{name}()",
                f"{name} requires specifying either an output size, or a pooling ratio"
                if output_size is None
                else "only one of output_size and output_ratio may be specified",
                "give one of the two",
            )
        self.kernel_size = per_dimension(kernel_size, self.dims)
        self.return_indices = return_indices
        self.output_size = None if output_size is None else per_dimension(output_size, self.dims)
        ratios = output_ratio
        if ratios is not None and not isinstance(ratios, tuple | list):
            ratios = (ratios,) * self.dims
        if ratios is not None and not all(0 < ratio < 1 for ratio in ratios):
            raise ArgumentValueError(
                f"{name}(output_ratio={output_ratio})",
                f"output_ratio must be between 0 and 1 (got {output_ratio})",
            )
        self.output_ratio = ratios
        self.register_buffer("_random_samples", _random_samples)

    def forward(self, input: Any) -> Any:
        settings = (self.kernel_size, self.output_size, self.output_ratio, self.return_indices)
        return type(self).function(input, *settings, _random_samples=self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest of regions at random places of [N, C, H, W]."""

    dims, function = 2, staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest of regions at random places of [N, C, D, H, W]."""

    dims, function = 3, staticmethod(F.fractional_max_pool3d)

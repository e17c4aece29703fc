"""Padding as layers: zeros, a constant, mirrored, repeated or wrapped elements around the input.

In: [N, C, *sizes]. Out: larger sizes; the amounts are pairs, the last dimension's first.

Source: torch.nn's padding layers.
"""

from typing import Any

from minitorch2.nn import functional as F
from minitorch2.nn.functional.windows import per_dimension
from minitorch2.nn.module import Module


class _Pad(Module):
    dims, mode = 0, "constant"

    def __init__(self, padding: Any):
        super().__init__()
        self.padding = per_dimension(padding, 2 * self.dims)

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(Module):
    dims = 0

    def __init__(self, padding: Any, value: float):
        super().__init__()
        self.padding, self.value = per_dimension(padding, 2 * self.dims), value

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ZeroPad1d(_Pad):
    """Zeros around [N, C, L]: (left, right)."""

    dims = 1


class ZeroPad2d(_Pad):
    """Zeros around [N, C, H, W]: (left, right, top, bottom)."""

    dims = 2


class ZeroPad3d(_Pad):
    """Zeros around [N, C, D, H, W]."""

    dims = 3


class ConstantPad1d(_ConstantPad):
    """One value around [N, C, L]: (left, right)."""

    dims = 1


class ConstantPad2d(_ConstantPad):
    """One value around [N, C, H, W]: (left, right, top, bottom)."""

    dims = 2


class ConstantPad3d(_ConstantPad):
    """One value around [N, C, D, H, W]."""

    dims = 3


class ReflectionPad1d(_Pad):
    """The line mirrored at its ends."""

    dims, mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """The picture mirrored at its edges."""

    dims, mode = 2, "reflect"


class ReplicationPad1d(_Pad):
    """The end elements repeated."""

    dims, mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """The edge elements repeated."""

    dims, mode = 2, "replicate"


class CircularPad1d(_Pad):
    """What leaves at one end comes in at the other."""

    dims, mode = 1, "circular"


class CircularPad2d(_Pad):
    """What leaves at one edge comes in at the opposite one."""

    dims, mode = 2, "circular"


class ReflectionPad3d(_Pad):
    """The volume mirrored at its faces."""

    dims, mode = 3, "reflect"


class ReplicationPad3d(_Pad):
    """The faces repeated."""

    dims, mode = 3, "replicate"


class CircularPad3d(_Pad):
    """What leaves at one face comes in at the opposite one."""

    dims, mode = 3, "circular"

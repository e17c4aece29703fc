"""Weights of convolutions in another order of elements: torch.nn.utils.memory_format.

In: a module and a memory format. Out: the same module, the weights of its convolutions and of those
below it laid out in that format; values and names stay.

    >>> from minitorch2 import channels_last, nn
    >>> convert_conv2d_weight_memory_format(nn.Conv2d(2, 3, 2), channels_last).weight.stride()
    (8, 1, 4, 2)

Source: torch.nn.utils.memory_format.
"""

from typing import Any

from minitorch2.nn.convolution import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from minitorch2.nn.module import Module


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """The 4-dimensional weights of Conv2d and ConvTranspose2d in `memory_format`."""
    return _converted(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """The 5-dimensional weights of Conv3d and ConvTranspose3d in `memory_format`."""
    return _converted(module, memory_format, (Conv3d, ConvTranspose3d))


def _converted(root: Module, memory_format: Any, kinds: tuple[type, ...]) -> Module:
    for module in root.modules():
        if isinstance(module, kinds):
            weight = module.weight.detach().clone()
            module.weight.data = weight.contiguous(memory_format=memory_format)
    return root


__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]

"""Layers that are products: linear, bilinear, one_hot.

In: tensors, or integers that name rows. Out: tensors.

Source: torch.nn.functional.
"""

from typing import Any

from minitorch2.nn.functional.rows import row

linear, one_hot = row("linear"), row("one_hot")


def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """x1 @ weight[k] @ x2 for each output k."""
    flat = (input1.unsqueeze(-1) * input2.unsqueeze(-2)).flatten(-2)
    return linear(flat, weight.flatten(1), bias)

"""Linear layers: y = x @ weight.T + bias, and the layer that does nothing.

In: [*, in_features]. Out: [*, out_features].

    >>> from minitorch2 import ones
    >>> Linear(3, 2)(ones(5, 3)).shape
    torch.Size([5, 2])

Source: torch.nn.Linear.
"""

import math
from typing import Any

from minitorch2.creation import empty
from minitorch2.nn import functional as F
from minitorch2.nn import init
from minitorch2.nn.module import Module
from minitorch2.nn.parameter import Parameter


class Identity(Module):
    """Returns its input; takes and ignores any arguments."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Linear(Module):
    """x @ weight.T + bias; weight [out_features, in_features], bias [out_features].

    Both start uniform in [-1/sqrt(in_features), 1/sqrt(in_features)].
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(empty(out_features, in_features, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Any) -> Any:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class NonDynamicallyQuantizableLinear(Linear):
    """Linear under the name that attention's output projection has in torch."""


class Bilinear(Module):
    """x1 @ weight[k] @ x2 + bias[k] for each output k."""

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features
        where = {"device": device, "dtype": dtype}
        self.weight = Parameter(empty(out_features, in1_features, in2_features, **where))
        if bias:
            self.bias = Parameter(empty(out_features, **where))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        bound = 1 / math.sqrt(self.in1_features)
        for part in self.parameters():
            init.uniform_(part, -bound, bound)

    def forward(self, input1: Any, input2: Any) -> Any:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )

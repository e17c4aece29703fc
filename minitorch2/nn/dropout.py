"""Dropout: in training, zero elements at random and scale the others up.

In: any shape. Out: the same shape. In evaluation mode the input passes unchanged.

Source: Srivastava et al. 2014; torch.nn.Dropout.
"""

from typing import Any

from minitorch2.nn import functional as F
from minitorch2.nn.module import Module


class _Dropout(Module):
    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        F.check_probability(p)
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


_DropoutNd = _Dropout  # the name that scripts know it by


class Dropout(_Dropout):
    """Zeros single elements with probability `p`."""

    def forward(self, input: Any) -> Any:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_Dropout):
    """Zeros whole channels of [N, C, L] with probability `p`."""

    def forward(self, input: Any) -> Any:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    """Zeros whole channels of [N, C, H, W] with probability `p`."""

    def forward(self, input: Any) -> Any:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_Dropout):
    """Zeros whole channels of [N, C, D, H, W] with probability `p`."""

    def forward(self, input: Any) -> Any:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_Dropout):
    """Sets elements to selu's limit with probability `p`; mean and variance stay."""

    def forward(self, input: Any) -> Any:
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_Dropout):
    """Sets whole channels to selu's limit with probability `p`; mean and variance stay."""

    def forward(self, input: Any) -> Any:
        return F.feature_alpha_dropout(input, self.p, self.training)

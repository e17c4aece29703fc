"""Flatten and Unflatten: several dimensions as one, and back.

In: [N, *]. Out: [N, product of *], and the other way round.

Source: torch.nn.Flatten.
"""

from typing import Any

from minitorch2.nn.module import Module


class Flatten(Module):
    """Dimensions start_dim..end_dim as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Any) -> Any:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Dimension `dim` as several of the given sizes."""

    def __init__(self, dim: int, unflattened_size: Any):
        super().__init__()
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Any) -> Any:
        return input.unflatten(self.dim, tuple(self.unflattened_size))

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"

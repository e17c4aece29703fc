"""torch.xpu: Intel's GPUs are not used here.

In: the questions portable scripts ask. Out: no, 0, or nothing done.

    >>> is_available()
    False

Source: torch.xpu.
"""

from typing import Any


def is_available() -> bool:
    """Whether tensors can live on such a GPU: no."""
    return False


def device_count() -> int:
    """How many there are: none."""
    return 0


def is_initialized() -> bool:
    """Whether one is in use: no."""
    return False


def empty_cache() -> None:
    """Nothing to empty."""


def synchronize(device: Any = None) -> None:
    """Nothing to wait for."""


def manual_seed(seed: int) -> None:
    """Nothing to seed."""


def manual_seed_all(seed: int) -> None:
    """Nothing to seed."""

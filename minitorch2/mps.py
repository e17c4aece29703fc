"""torch.mps: Apple's GPUs are not used here.

In: the calls portable scripts make. Out: no, 0, or nothing done.

    >>> device_count()
    0

Source: torch.mps.
"""


def is_available() -> bool:
    """Whether tensors can live on such a GPU: no."""
    return False


def device_count() -> int:
    """How many there are: none."""
    return 0


def empty_cache() -> None:
    """Nothing to empty."""


def synchronize() -> None:
    """Nothing to wait for."""


def manual_seed(seed: int) -> None:
    """Nothing to seed."""


def current_allocated_memory() -> int:
    """Bytes in use on the GPU: none."""
    return 0


def driver_allocated_memory() -> int:
    """Bytes that the driver has taken: none."""
    return 0

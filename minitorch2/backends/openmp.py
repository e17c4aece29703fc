"""torch.backends.openmp: OpenMP is not used here.

In: the questions scripts ask. Out: False.

Source: torch.backends.openmp.
"""


def is_available() -> bool:
    """Whether OpenMP can be used: no."""
    return False

"""torch.backends.mps: Apple's Metal is not used here.

In: the questions scripts ask. Out: False.

Source: torch.backends.mps.
"""


def is_available() -> bool:
    """Whether Apple's Metal can be used: no."""
    return False


def is_built() -> bool:
    """Whether this build can use Metal: no."""
    return False


def is_macos13_or_newer(minor: int = 0) -> bool:
    """Whether Metal runs on macOS 13 or newer: it does not run."""
    return False

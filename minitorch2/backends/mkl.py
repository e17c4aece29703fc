"""torch.backends.mkl: Intel's MKL is not used here.

In: the questions scripts ask. Out: False.

Source: torch.backends.mkl.
"""


def is_available() -> bool:
    """Whether Intel's MKL can be used: no."""
    return False

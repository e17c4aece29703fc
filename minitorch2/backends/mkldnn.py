"""torch.backends.mkldnn: oneDNN is not used here.

In: the questions scripts ask. Out: False.

Source: torch.backends.mkldnn.
"""


def is_available() -> bool:
    """Whether oneDNN can be used: no."""
    return False


enabled = True
deterministic = False

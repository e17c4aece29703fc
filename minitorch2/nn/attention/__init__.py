"""torch.nn.attention: which kernels scaled_dot_product_attention may choose; attention by rules.

Files, in reading order:

flex_attention  attention whose scores and masks are functions of the places

In: names of kernels. Out: a context in which only those are allowed. On the CPU there is one way
of computing it, so what is chosen is remembered and the numbers are the same.

    with sdpa_kernel(SDPBackend.MATH):
        out = F.scaled_dot_product_attention(q, k, v)

Source: torch.nn.attention.
"""

import contextlib
import enum
from collections.abc import Iterator, Sequence

from minitorch2.backends import cuda
from minitorch2.errors import ArgumentTypeError

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.IntEnum):
    """The kernels of scaled_dot_product_attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


_SWITCHES = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "mem_efficient": SDPBackend.EFFICIENT_ATTENTION,
    "math": SDPBackend.MATH,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
}


@contextlib.contextmanager
def sdpa_kernel(
    backends: SDPBackend | Sequence[SDPBackend], set_priority: bool = False
) -> Iterator[None]:
    """Inside, these kernels are the ones allowed; torch.backends.cuda's switches say so."""
    chosen = [backends] if isinstance(backends, SDPBackend) else list(backends)
    if not chosen or not all(isinstance(each, SDPBackend) for each in chosen):
        raise ArgumentTypeError(
            f"sdpa_kernel({backends!r})",
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances",
            "pass SDPBackend.MATH",
        )
    flash, efficient, math, cudnn = (each in chosen for each in _SWITCHES.values())
    with cuda.sdp_kernel(flash, math, efficient, cudnn):
        yield

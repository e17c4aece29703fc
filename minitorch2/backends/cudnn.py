"""torch.backends.cudnn where there is no cuDNN: switches that scripts set, and the answer "none".

In: assignments such as `cudnn.benchmark = True`. Out: nothing changes; convolutions run on the CPU.

Source: torch.backends.cudnn.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

enabled = True
benchmark = False
benchmark_limit: int | None = 10
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether cuDNN can be used: no."""
    return False


def version() -> int | None:
    """cuDNN's version: None, as there is none."""
    return None


def is_acceptable(tensor: Any) -> bool:
    """Whether cuDNN would take a tensor: no."""
    return False


@contextlib.contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int | None = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> Iterator[None]:
    """The switches with other values within the block."""
    names = ("enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32")
    before = {name: globals()[name] for name in names}
    given = (enabled, benchmark, benchmark_limit, deterministic, allow_tf32)
    globals().update(zip(names, given, strict=True))
    try:
        yield
    finally:
        globals().update(before)

"""torch.backends.cuda where there is no GPU backend: switches that scripts set without effect.

In: `matmul.allow_tf32 = True`, `enable_flash_sdp(False)`. Out: nothing changes; what was set can be
read back.

Source: torch.backends.cuda.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


class Switches:
    """Attributes that remember what they were set to."""

    def __init__(self, **values: Any):
        self.__dict__.update(values)


matmul = Switches(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
    fp32_precision="none",
)
cufft_plan_cache = Switches(size=0, max_size=0)
_preferred = {"linalg": "default", "blas": "default"}
_KINDS = ("flash", "mem_efficient", "math", "cudnn")
_enabled = dict.fromkeys(_KINDS, True)


def is_built() -> bool:
    """Whether this build can use CUDA for tensors: no."""
    return False


def _getter(kind: str) -> Callable[[], bool]:
    def enabled() -> bool:
        return _enabled[kind]

    enabled.__name__ = enabled.__qualname__ = f"{kind}_sdp_enabled"
    enabled.__doc__ = f"What the switch of {kind} attention was set to."
    return enabled


def _setter(kind: str) -> Callable[[bool], None]:
    def enable(enabled: bool) -> None:
        _enabled[kind] = bool(enabled)

    enable.__name__ = enable.__qualname__ = f"enable_{kind}_sdp"
    enable.__doc__ = f"Remember the switch of {kind} attention; there is one way on the CPU."
    return enable


flash_sdp_enabled, mem_efficient_sdp_enabled, math_sdp_enabled, cudnn_sdp_enabled = map(
    _getter, _KINDS
)
enable_flash_sdp, enable_mem_efficient_sdp, enable_math_sdp, enable_cudnn_sdp = map(_setter, _KINDS)


@contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[None]:
    """The switches of attention with other values within the block."""
    before = dict(_enabled)
    given = (enable_flash, enable_mem_efficient, enable_math, enable_cudnn)
    _enabled.update(zip(_KINDS, given, strict=True))
    try:
        yield
    finally:
        _enabled.update(before)


def preferred_linalg_library(backend: str | None = None) -> str:
    """Remember which library to prefer; LAPACK is the only one."""
    _preferred["linalg"] = backend or _preferred["linalg"]
    return _preferred["linalg"]


def preferred_blas_library(backend: str | None = None) -> str:
    """Remember which library to prefer; OpenBLAS is the only one."""
    _preferred["blas"] = backend or _preferred["blas"]
    return _preferred["blas"]

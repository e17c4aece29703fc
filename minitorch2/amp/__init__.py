"""Mixed precision: torch.amp.

Files, in reading order:

autocast      regions in which products run in 16 bits and losses in 32
grad_scaler   losses scaled so that small gradients survive in float16
cuda          the older names, for the GPU
"""

from minitorch2.amp.autocast import (
    autocast,
    custom_bwd,
    custom_fwd,
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    is_autocast_available,
    is_autocast_cpu_enabled,
    is_autocast_enabled,
)
from minitorch2.amp.grad_scaler import GradScaler

__all__ = [
    "GradScaler",
    "autocast",
    "custom_bwd",
    "custom_fwd",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "is_autocast_available",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
]

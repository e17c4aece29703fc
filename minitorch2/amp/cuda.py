"""torch.cuda.amp: the older names, for the GPU.

In: what torch.amp takes, without the device. Out: regions and scalers of the device 'cuda'; as
there is no GPU backend they have no effect on the CPU, as in torch.

Source: torch.cuda.amp.
"""

import functools
from collections.abc import Callable
from typing import Any

from minitorch2.amp import grad_scaler
from minitorch2.amp.autocast import autocast as region
from minitorch2.amp.autocast import custom_bwd as backward_in
from minitorch2.amp.autocast import custom_fwd as forward_in
from minitorch2.dtypes import dtype as dtype_class
from minitorch2.dtypes import float16


class autocast(region):
    """A region of the device 'cuda'."""

    def __init__(
        self, enabled: bool = True, dtype: dtype_class = float16, cache_enabled: bool = True
    ):
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(grad_scaler.GradScaler):
    """A scaler of the device 'cuda'."""

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ):
        settings = (init_scale, growth_factor, backoff_factor, growth_interval, enabled)
        super().__init__("cuda", *settings)


def custom_fwd(fwd: Callable | None = None, *, cast_inputs: Any = None) -> Callable:
    """amp.custom_fwd for the device 'cuda'."""
    if fwd is None:
        return functools.partial(custom_fwd, cast_inputs=cast_inputs)
    return forward_in(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable) -> Callable:
    """amp.custom_bwd for the device 'cuda'."""
    return backward_in(bwd, device_type="cuda")

"""torch.autograd.profiler: the older place of torch.profiler's names.

Example: `with profile() as found: ...`, then `found.key_averages().table()`.

Source: torch.autograd.profiler.
"""

from typing import Any

from minitorch2.errors import DeviceError
from minitorch2.profiler import EventAverages as EventList
from minitorch2.profiler import kineto_available, profile, record_function


class _Mark:
    """Operations marked for a profiler of a vendor; DeviceError, as there is none to mark for."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False):
        self.enabled, self.record_shapes = enabled, record_shapes

    def __enter__(self) -> Any:
        if self.enabled:
            name = f"torch.autograd.profiler.{type(self).__name__}"
            raise DeviceError(name, "it needs a vendor's profiler", "use torch.profiler.profile")
        return self

    def __exit__(self, *raised: Any) -> None:
        """Nothing was marked."""


class emit_nvtx(_Mark):
    """For NVIDIA's."""


class emit_itt(_Mark):
    """For Intel's."""


__all__ = ["emit_itt", "emit_nvtx", "EventList", "kineto_available", "profile", "record_function"]

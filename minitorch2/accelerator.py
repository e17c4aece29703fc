"""torch.accelerator as long as there is no GPU backend: there is none.

In: the calls that portable scripts make. Out: False, None or 0; what needs an accelerator raises
DeviceError.

    >>> is_available()
    False

Source: torch.accelerator.
"""

from typing import Any

from minitorch2.errors import DeviceError


def is_available() -> bool:
    """Whether there is an accelerator."""
    return False


def device_count() -> int:
    """How many accelerators can be used."""
    return 0


def current_accelerator(check_available: bool = False) -> Any:
    """The kind of accelerator: None, as there is none."""
    return None


def current_device_index() -> int:
    """The accelerator in use; DeviceError, as there is none."""
    raise DeviceError(
        "accelerator.current_device_index()", "no accelerator is available", "use the CPU"
    )


def synchronize(device: Any = None) -> None:
    """Nothing to wait for; DeviceError, as torch has it."""
    raise DeviceError("accelerator.synchronize()", "no accelerator is available", "use the CPU")

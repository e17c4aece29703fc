"""torch.cuda as long as there is no GPU backend: every question has the answer "none".

In: the calls that portable scripts make. Out: False, 0, or nothing done; what needs a GPU raises
DeviceError.

    >>> is_available()
    False

Source: torch.cuda.
"""

from typing import Any

from minitorch2.errors import DeviceError


def is_available() -> bool:
    """Whether tensors can live on a GPU."""
    return False


def device_count() -> int:
    """How many GPUs can be used."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing to seed."""


def manual_seed_all(seed: int) -> None:
    """Nothing to seed."""


def synchronize(device: Any = None) -> None:
    """Nothing to wait for."""


def empty_cache() -> None:
    """Nothing to empty."""


def is_initialized() -> bool:
    """Whether a GPU is in use."""
    return False


def current_device() -> int:
    """The GPU in use; DeviceError, as there is none."""
    raise DeviceError("cuda.current_device()", "no CUDA device is available", "use the CPU")


def get_device_name(device: Any = None) -> str:
    """The GPU's name; DeviceError, as there is none."""
    raise DeviceError("cuda.get_device_name()", "no CUDA device is available", "use the CPU")


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The GPU's generation; DeviceError, as there is none."""
    raise DeviceError("cuda.get_device_capability()", "no CUDA device is available", "use the CPU")


def _typed(name: str) -> Any:
    def function(*args: Any) -> Any:
        raise DeviceError(f"cuda.{name}()", "no CUDA device is available", f"use torch.{name}")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "A tensor on the GPU; DeviceError, as there is none."
    return function


FloatTensor, DoubleTensor, HalfTensor, LongTensor, IntTensor, BoolTensor, ByteTensor = (
    _typed(f"{name}Tensor") for name in ("Float", "Double", "Half", "Long", "Int", "Bool", "Byte")
)

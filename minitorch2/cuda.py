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


def _none_of(name: str) -> Any:
    def function(device: Any = None) -> int:
        return 0

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name.replace('_', ' ').capitalize()} on the GPU: 0 bytes."
    return function


_AMOUNTS = (
    "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved",
    "memory_cached", "max_memory_cached",
)  # fmt: skip
(
    memory_allocated,
    max_memory_allocated,
    memory_reserved,
    max_memory_reserved,
    memory_cached,
    max_memory_cached,
) = map(_none_of, _AMOUNTS)


def reset_peak_memory_stats(device: Any = None) -> None:
    """Nothing to reset."""


def reset_max_memory_allocated(device: Any = None) -> None:
    """Nothing to reset."""


def ipc_collect() -> None:
    """Nothing to collect."""


def memory_stats(device: Any = None) -> dict[str, Any]:
    """No statistics."""
    return {}


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """A sentence instead of a table."""
    return "no CUDA device is in use"


def set_device(device: Any) -> None:
    """Nothing to choose."""


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether a GPU computes with bfloat16: there is none."""
    return False


def get_arch_list() -> list[str]:
    """The generations of GPUs this build has code for: none."""
    return []


def get_rng_state_all() -> list:
    """The generators of all GPUs: none."""
    return []


def set_rng_state_all(new_states: Any) -> None:
    """Nothing to set."""


def get_device_properties(device: Any = None) -> Any:
    """A GPU's properties; DeviceError, as there is none."""
    raise DeviceError("cuda.get_device_properties()", "no CUDA device is available", "use the CPU")


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Free and total bytes of a GPU; DeviceError, as there is none."""
    raise DeviceError("cuda.mem_get_info()", "no CUDA device is available", "use the CPU")


class _Absent:
    """A thing of a GPU; making one raises DeviceError, as there is none."""

    def __init__(self, *args: Any, **options: Any):
        raise DeviceError(
            f"cuda.{type(self).__name__}()", "no CUDA device is available", "use the CPU"
        )


class Stream(_Absent):
    """A queue of work on a GPU: DeviceError."""


class StreamContext(_Absent):
    """A block whose work goes to a queue of a GPU: DeviceError."""


class Event(_Absent):
    """A mark in a queue of work on a GPU: DeviceError."""


class graph(_Absent):
    """A block whose work is recorded on a GPU: DeviceError."""


class CUDAGraph(_Absent):
    """Work recorded on a GPU: DeviceError."""


class device:
    """`with torch.cuda.device(0):` chooses a GPU; there is none, so nothing changes."""

    def __init__(self, device: Any = None):
        self.idx = -1

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        return None


class device_of(device):
    """`with torch.cuda.device_of(tensor):` chooses a tensor's GPU; there is none."""


class stream(device):
    """`with torch.cuda.stream(s):` chooses a queue of a GPU; there is none."""


def current_stream(device: Any = None) -> Any:
    """The queue in use; DeviceError, as there is no GPU."""
    raise DeviceError("cuda.current_stream()", "no CUDA device is available", "use the CPU")


def default_stream(device: Any = None) -> Any:
    """The first queue; DeviceError, as there is no GPU."""
    raise DeviceError("cuda.default_stream()", "no CUDA device is available", "use the CPU")


def is_current_stream_capturing() -> bool:
    """Whether work is being recorded: no."""
    return False


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Whether one GPU reads another's memory: there is none."""
    return False


def seed() -> None:
    """Nothing to seed."""


def seed_all() -> None:
    """Nothing to seed."""


class OutOfMemoryError(RuntimeError):
    """What a GPU's full memory raises in torch: never raised here."""

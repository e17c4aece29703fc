"""Settings of the whole process that scripts change: torch.set_... and torch.use_...

In: a value. Out: nothing, or the value in force. Kernels and reductions give the same bits in every
run, so "deterministic" is always true of them and the switch only remembers what was asked.

    >>> use_deterministic_algorithms(True)
    >>> are_deterministic_algorithms_enabled()
    True
    >>> use_deterministic_algorithms(False)

Source: torch's documentation of each function.
"""

import warnings
from typing import Any

from minitorch2 import dtypes
from minitorch2.dispatch import state
from minitorch2.errors import ArgumentValueError

_MODES = ("default", "warn", "error")
_kept: dict[str, Any] = {"deterministic": 0, "warn_always": False, "interop": 1, "cache": True}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Remember the wish; every operation is deterministic in any case."""
    _kept["deterministic"] = (1 if warn_only else 2) if mode else 0


def are_deterministic_algorithms_enabled() -> bool:
    """Whether the wish was expressed."""
    return _kept["deterministic"] > 0


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether it was expressed with warn_only."""
    return _kept["deterministic"] == 1


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """The wish as 'default', 'warn' or 'error', or their numbers 0, 1, 2."""
    if debug_mode not in (*_MODES, 0, 1, 2):
        raise ArgumentValueError(
            f"set_deterministic_debug_mode({debug_mode!r})", "no such mode", f"use one of {_MODES}"
        )
    is_name = isinstance(debug_mode, str)
    _kept["deterministic"] = _MODES.index(debug_mode) if is_name else debug_mode


def get_deterministic_debug_mode() -> int:
    """0 default, 1 warn, 2 error."""
    return _kept["deterministic"]


def set_warn_always(b: bool) -> None:
    """Remember whether warnings that come once should come each time."""
    _kept["warn_always"] = bool(b)


def is_warn_always_enabled() -> bool:
    """What set_warn_always was last given."""
    return _kept["warn_always"]


def set_flush_denormal(mode: bool) -> bool:
    """False: denormal numbers are always kept, so there is nothing to switch."""
    return False


def set_num_interop_threads(num: int) -> None:
    """Remember the number; one operation runs at a time, on all threads."""
    if num < 1:
        raise ArgumentValueError(
            f"set_num_interop_threads({num})", "expected positive number of threads"
        )
    _kept["interop"] = int(num)


def get_num_interop_threads() -> int:
    """The number last set."""
    return _kept["interop"]


def set_default_tensor_type(t: Any) -> None:
    """The default dtype by a tensor type or its name: torch.DoubleTensor."""
    name = t if isinstance(t, str) else getattr(t, "__name__", str(t))
    known = {"HalfTensor": "float16", "FloatTensor": "float32", "DoubleTensor": "float64"}
    known["BFloat16Tensor"] = "bfloat16"
    found = known.get(name.rsplit(".", 1)[-1])
    if found is None:
        raise ArgumentValueError(
            f"set_default_tensor_type({name})",
            "only floating-point types are supported as the default type",
            "use torch.set_default_dtype(torch.float32)",
        )
    dtypes.set_default_dtype(getattr(dtypes, found))


def set_autocast_enabled(*args: Any) -> None:
    """`(device_type, enabled)`: enter or leave the state an autocast region would set."""
    device, enabled = args if len(args) == 2 else ("cuda", *args)
    if device == "cpu":
        state.autocast = (_kept.get("autocast") or dtypes.bfloat16) if enabled else None


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """The dtype that set_autocast_enabled switches to."""
    if device_type == "cpu":
        _kept["autocast"] = dtype
        state.autocast = dtype if state.autocast is not None else None


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """set_autocast_enabled('cpu', enabled)."""
    set_autocast_enabled("cpu", enabled)


def set_autocast_cpu_dtype(dtype: Any) -> None:
    """set_autocast_dtype('cpu', dtype)."""
    set_autocast_dtype("cpu", dtype)


def is_autocast_cache_enabled() -> bool:
    """What set_autocast_cache_enabled was last given; casts are not cached."""
    return _kept["cache"]


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Remember the wish."""
    _kept["cache"] = bool(enabled)


def clear_autocast_cache() -> None:
    """Nothing to clear: casts are not cached."""


def typename(obj: Any) -> str:
    """The type of a tensor ('torch.FloatTensor') or the full name of an object's class."""
    if hasattr(obj, "dtype") and hasattr(obj, "layout") and hasattr(obj, "type"):
        return obj.type()
    kind = obj if isinstance(obj, type) else type(obj)
    module = "" if kind.__module__ in ("builtins", "") else kind.__module__ + "."
    return module + kind.__qualname__


def set_float32_matmul_precision(precision: str) -> None:
    """Remember how exact products need to be: they are computed in float32 in any case."""
    if precision not in ("highest", "high", "medium"):
        text = f"{precision} is not one of 'highest', 'high', or 'medium'; the call has no effect."
        warnings.warn(text, UserWarning, stacklevel=2)
        return
    _kept["matmul"] = precision


def get_float32_matmul_precision() -> str:
    """What set_float32_matmul_precision was last given."""
    return _kept.get("matmul", "highest")


def _assert(condition: Any, message: str) -> None:
    """AssertionError with a message unless the condition holds."""
    assert condition, message

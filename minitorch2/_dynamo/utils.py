"""torch._dynamo.utils: counters of what was compiled, and a comparison of nested results.

    counters["stats"]["unique_graphs"], counters["stats"]["calls_captured"]
    counters["graph_break"]["data-dependent"]

Source: torch._dynamo.utils.
"""

from collections.abc import Mapping
from typing import Any

from minitorch2.compile_settings import counters
from minitorch2.dispatch import is_compiling
from minitorch2.functions import allclose
from minitorch2.tensors import Tensor

__all__ = ["counters", "is_compile_supported", "is_compiling", "same"]


def is_compile_supported(device_type: str) -> bool:
    """Whether compiled code runs on a device: on the CPU.

    Source: torch._dynamo.utils.is_compile_supported.
    """
    return device_type == "cpu"


def same(
    ref: Any, res: Any, *, tol: float = 1e-4, equal_nan: bool = True, exact_dtype: bool = True
) -> bool:
    """Whether two results, however nested, are equal up to a tolerance.

    Source: torch._dynamo.utils.same.
    """
    options: dict[str, Any] = {"tol": tol, "equal_nan": equal_nan, "exact_dtype": exact_dtype}
    if isinstance(ref, Tensor):
        if not isinstance(res, Tensor) or tuple(ref.shape) != tuple(res.shape):
            return False
        if exact_dtype and ref.dtype is not res.dtype:
            return False
        other = res.to(ref.dtype)
        return bool(allclose(ref.detach(), other.detach(), tol, tol, equal_nan))
    if isinstance(ref, Mapping):
        return set(ref) == set(res) and all(same(ref[key], res[key], **options) for key in ref)
    if isinstance(ref, (list, tuple)):
        pairs = zip(ref, res, strict=True)
        return len(ref) == len(res) and all(same(a, b, **options) for a, b in pairs)
    if isinstance(ref, float) and isinstance(res, float):
        return ref == res or abs(ref - res) <= tol * (1 + abs(ref)) or ref != ref and res != res
    return bool(ref == res)

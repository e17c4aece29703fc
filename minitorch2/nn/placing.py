"""Where a module goes: the arguments of `module.to(...)`, read.

In: what a user gives. Out: device, dtype, non_blocking, memory_format; None where not given.

    >>> from minitorch2 import float64
    >>> _parse_to("cpu", float64)
    (device(type='cpu'), torch.float64, False, None)

Source: torch.nn.Module.to; libraries that override it call torch._C._nn._parse_to.
"""

from typing import Any

from minitorch2 import dtypes
from minitorch2.devices import as_device
from minitorch2.tensors import Tensor


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """The device, dtype, whether to wait for nothing, and the order of elements."""
    where, wanted = kwargs.get("device"), kwargs.get("dtype")
    non_blocking = kwargs.get("non_blocking", False)
    for value in args:
        if isinstance(value, dtypes.dtype):
            wanted = value
        elif isinstance(value, Tensor):
            wanted, where = value.dtype, value.device
        elif isinstance(value, bool):
            non_blocking = value
        elif value is not None:
            where = value
    where = None if where is None else as_device(where)
    return where, wanted, non_blocking, kwargs.get("memory_format")

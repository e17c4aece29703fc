"""autocast: inside it, operations choose their precision by the `precision` field of their row.

In: a `with` block or a decorated function. Out: rows marked 'lower' (matrix products,
convolutions) take float32 operands in the region's 16-bit dtype, rows marked 'full' (losses,
factorizations) take 16-bit operands in float32; all others are left to type promotion. A row is
one unit: what a composite is made of is not cast again, so eager and compiled code agree.

    >>> from minitorch2 import bfloat16, ones
    >>> with autocast("cpu", dtype=bfloat16):
    ...     (ones(2, 2) @ ones(2, 2)).dtype
    torch.bfloat16

Source: torch.amp; "CPU Op-Specific Behavior" of its documentation.
"""

import functools
from collections.abc import Callable
from typing import Any

from minitorch2 import dispatch
from minitorch2.dispatch import call, state
from minitorch2.dtypes import bfloat16, dtype, float16, float32
from minitorch2.errors import ArgumentValueError, OperationError
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor

HALVES = (bfloat16, float16)


class autocast:
    """A region with automatic precision; `enabled=False` is a region without, also inside one."""

    def __init__(
        self,
        device_type: str = "cpu",
        dtype: dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ):
        if not isinstance(device_type, str):
            raise ArgumentValueError(
                f"autocast({device_type!r})",
                f"Expected `device_type` of type `str`, got: {type(device_type).__name__}",
                "name the device: autocast('cpu', dtype=torch.bfloat16)",
            )
        if device_type not in ("cpu", "cuda"):
            raise OperationError(
                f"autocast({device_type!r})",
                f"User specified an unsupported autocast device_type '{device_type}'",
                "use 'cpu'",
            )
        self.device, self.fast_dtype = device_type, dtype or bfloat16
        supported = self.fast_dtype in HALVES and device_type == "cpu"
        self._enabled = bool(enabled) and supported
        self.before: list[Any] = []

    def __enter__(self) -> "autocast":
        self.before.append(state.autocast)
        if self.device == "cpu":
            state.autocast = self.fast_dtype if self._enabled else None
        return self

    def __exit__(self, *exc: object) -> None:
        state.autocast = self.before.pop()

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return wrapper


def is_autocast_enabled(device_type: str = "cpu") -> bool:
    """Whether this thread is inside an enabled region."""
    return device_type == "cpu" and state.autocast is not None


def get_autocast_dtype(device_type: str = "cpu") -> dtype:
    """The dtype that 'lower' rows run in (bfloat16 unless a region says otherwise)."""
    return state.autocast or bfloat16


def is_autocast_cpu_enabled() -> bool:
    """Whether this thread is inside an enabled region."""
    return is_autocast_enabled()


def get_autocast_cpu_dtype() -> dtype:
    """The dtype that 'lower' rows run in."""
    return get_autocast_dtype()


def _cast_for(op: Any, args: tuple, lower: dtype) -> tuple:
    """The arguments in the precision the row asks for."""
    if not op.precision:
        return args
    sources, target = ((float32, *HALVES), lower) if op.precision == "lower" else (HALVES, float32)
    found = list(args)
    for position in op.tensor_positions:
        found[position] = _cast(args[position], sources, target)
    return tuple(found)


def _cast(argument: Any, sources: tuple, target: dtype) -> Any:
    if isinstance(argument, Tensor):
        if argument.dtype is target or argument.dtype not in sources:
            return argument
        return call(lookup("convert"), (argument, target))
    if type(argument) is tuple:
        return tuple(_cast(item, sources, target) for item in argument)
    return argument


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast has an effect on a device."""
    return device_type == "cpu"


def custom_fwd(
    fwd: Callable | None = None, *, device_type: str = "cpu", cast_inputs: dtype | None = None
) -> Callable:
    """For the forward of an autograd.Function: outside autocast, on arguments cast as asked.

    Without `cast_inputs` the forward keeps the region it is called in. The backward wrapped by
    custom_bwd then runs in the same state.
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        active = is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = active and cast_inputs is None
        if not active or cast_inputs is None:
            return fwd(ctx, *args, **kwargs)
        wide = (float32, *HALVES)
        with autocast(device_type, enabled=False):
            cast = [_cast(each, wide, cast_inputs) for each in args]
            named = {name: _cast(each, wide, cast_inputs) for name, each in kwargs.items()}
            return fwd(ctx, *cast, **named)

    return forward


def custom_bwd(bwd: Callable | None = None, *, device_type: str = "cpu") -> Callable:
    """For the backward of an autograd.Function: in the autocast state its forward ran in."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx: Any, *grads: Any) -> Any:
        with autocast(device_type, dtype=ctx._dtype, enabled=ctx._fwd_used_autocast):
            return bwd(ctx, *grads)

    return backward


dispatch.caster = _cast_for

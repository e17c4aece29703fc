"""The register of helpers: which names a kernel may call, and what each takes and gives.

In: straight-line functions over vecmath.primitives, marked `@helper`. Out: HELPERS, from which
come the plain twins (scalars.py) and the Numba intrinsics (intrinsics.py).

    @helper(returns="same")
    def square(x):
        return x * x
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from minitorch2.kernels.vecmath.primitives import SHORT_NAMES, Symbolic

FLOATS = ("f32", "f64")
INTEGERS = ("i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8")
NUMBERS = (*FLOATS, *INTEGERS)
ANY = (*NUMBERS, "bool")


@dataclass(frozen=True, slots=True)
class Helper:
    """One helper: its name, its straight-line body, and its types.

    `accepts` holds the types its last argument may have; all arguments from `first` on must have
    that same type. `returns` is "same" or a type. `fixed` gives the types of all arguments when
    they are not simply the same.
    """

    name: str
    body: Callable[..., Any]
    arity: int
    accepts: tuple[str, ...]
    returns: str
    fixed: tuple[str, ...] = ()

    def result_type(self, types: tuple[str, ...]) -> str:
        """The type of the result for these argument types; TypeError when they do not fit."""
        if self.fixed:
            wanted = tuple(own or types[-1] for own in self.fixed)
        else:
            wanted = (types[-1],) * self.arity
        if types != wanted or types[-1] not in self.accepts:
            raise TypeError(f"{self.name}({', '.join(types)}): cast the arguments first")
        return types[-1] if self.returns == "same" else self.returns


HELPERS: dict[str, Helper] = {}


def plain(value: Any) -> Any:
    """A Python number as the NumPy scalar of its type; anything else as it is."""
    if isinstance(value, Symbolic | np.generic | np.ndarray):
        return value
    return np.asarray(value)[()]


def helper(
    *,
    accepts: tuple[str, ...] = FLOATS,
    returns: str = "same",
    fixed: tuple[str, ...] = (),
    name: str = "",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a straight-line function as a helper that kernels may call."""

    def register(body: Callable[..., Any]) -> Callable[..., Any]:
        """The function itself, checked when it is called with numbers; its record is in HELPERS."""
        record = Helper(
            name or body.__name__, body, len(signature(body).parameters), accepts, returns, fixed
        )
        HELPERS[record.name] = record

        @wraps(body)
        def checked(*arguments: Any) -> Any:
            if any(isinstance(argument, Symbolic) for argument in arguments):
                return body(*arguments)
            values = tuple(plain(argument) for argument in arguments)
            record.result_type(tuple(SHORT_NAMES[value.dtype] for value in values))
            with np.errstate(all="ignore"):
                return body(*values)

        return checked

    return register

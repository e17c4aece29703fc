"""torch.compiler: questions about, and switches for, compilation.

In: functions, or nothing. Out: whether capture is running, a function that is never captured, the
names of the backends.

    >>> is_compiling()
    False

Source: torch.compiler's documentation.
"""

from collections.abc import Callable
from typing import Any

from minitorch2 import compiling
from minitorch2.dispatch import is_compiling, state

__all__ = ["disable", "is_compiling", "is_dynamo_compiling", "list_backends", "register_backend"]


def is_dynamo_compiling() -> bool:
    """Whether the code that asks is being captured."""
    return state.capturing


def list_backends() -> list[str]:
    """The names that `compile(backend=...)` takes."""
    return sorted(compiling.backends)


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """A function that capture does not follow: it runs as Python, as a graph break."""
    if fn is None:
        return lambda function: disable(function, recursive, reason=reason)
    fn._minitorch2_disabled = True
    return fn


def register_backend(name: str, backend: Callable) -> None:
    """Offer a backend under a name: a function (captured program, options) -> callable."""
    compiling.backends[name] = lambda: backend

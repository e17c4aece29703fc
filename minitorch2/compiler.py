"""torch.compiler: questions about, and switches for, compilation.

In: functions, or nothing. Out: whether capture is running, a function that is never captured, a
region in which a graph break is an error, the names of the backends.

    >>> is_compiling()
    False

Source: torch.compiler's documentation.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from minitorch2 import compiling
from minitorch2.dispatch import is_compiling, state
from minitorch2.jit.cache import settings
from minitorch2.nn.module import Module

__all__ = [
    "disable",
    "error_on_graph_break",
    "is_compiling",
    "is_dynamo_compiling",
    "list_backends",
    "register_backend",
]


def is_dynamo_compiling() -> bool:
    """Whether the code that asks is being captured."""
    return state.capturing


def list_backends() -> list[str]:
    """The names that `compile(backend=...)` takes."""
    return sorted(compiling.backends)


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """A function that capture does not follow: a call of it is a graph break, Python runs it.

    A module gets such a `forward`. What the function calls runs as Python too, whatever `recursive`
    says: there is nothing that could compile it.
    """
    if fn is None:
        return lambda function: disable(function, recursive, reason=reason)
    if isinstance(fn, Module):
        disabled_forward = disable(fn.forward, recursive, reason=reason)
        fn.forward = disabled_forward  # type: ignore[method-assign]
        return fn

    @functools.wraps(fn)
    def disabled(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    disabled._minitorch2_disabled = reason or "torch.compiler.disable"  # type: ignore[attr-defined]
    return disabled


@contextlib.contextmanager
def error_on_graph_break(error_on_graph_break: bool = True) -> Iterator[None]:
    """Inside, a function that is compiled and breaks raises GraphBreakError, as `fullgraph=True`
    does; with False it does not. What was compiled before is used as it is. Also a decorator.

    Source: torch._dynamo.error_on_graph_break.
    """
    before, settings.error_on_break = settings.error_on_break, error_on_graph_break
    try:
        yield
    finally:
        settings.error_on_break = before


def register_backend(name: str, backend: Callable) -> None:
    """Offer a backend under a name: a function (captured program, options) -> callable."""
    compiling.backends[name] = lambda: backend

"""no_grad, enable_grad, inference_mode: whether operations are recorded for the backward.

In: a `with` block or a decorated function. Out: the same, with the thread's grad mode set inside.

Source: torch's "Locally disabling gradient computation".
"""

import functools
from collections.abc import Callable
from typing import Any

from minitorch2.dispatch import state


class _GradMode:
    """Sets the grad mode inside a block; also a decorator."""

    enabled = False

    def __new__(cls, function: Any = None) -> Any:
        self = object.__new__(cls)
        if callable(function):
            self.before = []
            return self(function)
        return self

    def __init__(self, function: Any = None):
        self.before: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        self.before.append((state.grad_enabled, state.inference))
        state.grad_enabled = self.enabled

    def __exit__(self, *exc: object) -> None:
        state.grad_enabled, state.inference = self.before.pop()

    def __call__(self, function: Callable) -> Callable:
        mode = type(self)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with mode():
                return function(*args, **kwargs)

        return wrapper


class no_grad(_GradMode):
    """Inside, nothing is recorded and results require no gradient."""


class enable_grad(_GradMode):
    """Inside, operations are recorded even within no_grad."""

    enabled = True


class inference_mode:
    """As no_grad, for code that never needs gradients; `inference_mode(False)` does nothing."""

    def __init__(self, mode: Any = True):
        self.mode = mode
        self.before: list[tuple[bool, bool]] = []

    def __new__(cls, mode: Any = True) -> Any:
        self = object.__new__(cls)
        if callable(mode):
            self.__init__(True)  # type: ignore[misc]
            return self(mode)
        return self

    def __enter__(self) -> None:
        self.before.append((state.grad_enabled, state.inference))
        if self.mode:
            state.grad_enabled, state.inference = False, True

    def __exit__(self, *exc: object) -> None:
        state.grad_enabled, state.inference = self.before.pop()

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with inference_mode(self.mode):
                return function(*args, **kwargs)

        return wrapper


class set_grad_enabled:
    """Sets the grad mode at once; as a context manager it restores the old one at the end."""

    def __init__(self, mode: bool):
        self.before = state.grad_enabled
        self.mode = mode
        state.grad_enabled = bool(mode)

    def __enter__(self) -> None:
        state.grad_enabled = bool(self.mode)

    def __exit__(self, *exc: object) -> None:
        state.grad_enabled = self.before

    def __call__(self, function: Callable) -> Callable:
        state.grad_enabled = self.before
        mode = self.mode

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with set_grad_enabled(mode):
                return function(*args, **kwargs)

        return wrapper


def is_grad_enabled() -> bool:
    """Whether operations are recorded in this thread."""
    return state.grad_enabled


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside inference_mode."""
    return state.inference

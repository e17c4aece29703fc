"""no_grad, enable_grad, inference_mode: whether operations are recorded for the backward.

In: a `with` block or a decorated function. Out: the same, with the thread's grad mode set inside.
A decorated generator has the mode while it runs, and its caller's own between the steps.

    >>> import minitorch2 as torch
    >>> @torch.no_grad()
    ... def double(x):
    ...     return x * 2
    >>> double(torch.ones(1, requires_grad=True)).requires_grad
    False

Source: torch's "Locally disabling gradient computation".
"""

import functools
import inspect
import warnings
from collections.abc import Callable, Generator
from typing import Any, ClassVar

from minitorch2.dispatch import state
from minitorch2.storages import count_births


def _decorated(function: Any, mode: Callable[[], Any]) -> Any:
    """The function, run inside a context that `mode()` makes."""
    if inspect.isclass(function):
        warnings.warn(
            "Decorating classes is deprecated and will be disabled in future versions. You should "
            "only decorate functions or methods. To preserve the current behavior of class "
            "decoration, you can directly decorate the `__init__` method and nothing else.",
            FutureWarning,
            stacklevel=3,
        )

        @functools.wraps(function, updated=())
        def make(*args: Any, **kwargs: Any) -> Any:
            with mode():
                return function(*args, **kwargs)

        return make
    if inspect.isgeneratorfunction(function):
        return _decorated_generator(function, mode)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with mode():
            return function(*args, **kwargs)

    return wrapper


def _decorated_generator(function: Any, mode: Callable[[], Any]) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Generator:
        """The generator, each of whose steps runs in the mode, and its caller outside of it."""
        running = function(*args, **kwargs)
        step, value = running.send, None
        try:
            while True:
                with mode():
                    found = step(value)
                try:
                    step, value = running.send, (yield found)
                except GeneratorExit:
                    with mode():
                        running.close()
                    raise
                except BaseException as error:
                    step, value = running.throw, error
        except StopIteration as end:
            return end.value

    return wrapper


class _GradMode:
    """Sets the grad mode inside a block; also a decorator."""

    enabled = False

    def __new__(cls, function: Any = None) -> Any:
        self = object.__new__(cls)
        if callable(function):
            self.before = []
            return _decorated(function, cls)
        return self

    def __init__(self, function: Any = None):
        self.before: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        own = state.__dict__
        self.before.append((own["grad_enabled"], own["inference"]))
        own["grad_enabled"] = self.enabled

    def __exit__(self, *exc: object) -> None:
        own = state.__dict__
        own["grad_enabled"], own["inference"] = self.before.pop()

    def __call__(self, function: Callable) -> Callable:
        return _decorated(function, type(self))


class no_grad(_GradMode):
    """Inside, nothing is recorded and results require no gradient."""


class enable_grad(_GradMode):
    """Inside, operations are recorded even within no_grad."""

    enabled = True


class inference_mode:
    """As no_grad, and what is made inside can never take part in a recorded computation.

    Memory made inside has no version counter; see Note [Inference tensors]. `inference_mode(False)`
    is the ordinary mode, with recording.
    """

    def __new__(cls, mode: Any = True) -> Any:
        self = object.__new__(cls)
        if callable(mode):
            return _decorated(mode, cls)
        return self

    def __init__(self, mode: Any = True):
        self.mode = bool(mode)
        self.before: list[tuple[bool, bool, bool]] = []

    def __enter__(self) -> None:
        births = count_births(self.mode)
        self.before.append((state.grad_enabled, state.inference, births))
        state.grad_enabled, state.inference = not self.mode, self.mode

    def __exit__(self, *exc: object) -> None:
        state.grad_enabled, state.inference, births = self.before.pop()
        count_births(births)

    def __call__(self, function: Callable) -> Callable:
        return _decorated(function, lambda: inference_mode(self.mode))


class set_grad_enabled:
    """Sets the grad mode at once; as a context manager it restores the old one at the end."""

    def __init__(self, mode: bool):
        self.before = state.grad_enabled
        self.mode = bool(mode)
        state.grad_enabled = self.mode

    def __enter__(self) -> None:
        state.grad_enabled = self.mode

    def __exit__(self, *exc: object) -> None:
        state.grad_enabled = self.before

    def __call__(self, function: Callable) -> Callable:
        state.grad_enabled = self.before
        return _decorated(function, lambda: set_grad_enabled(self.mode))


def is_grad_enabled() -> bool:
    """Whether operations are recorded in this thread."""
    return state.grad_enabled


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside inference_mode."""
    return state.inference


class _Setting:
    """A setting that is kept and changes nothing here; set at once, or for a block."""

    name = ""
    kept: ClassVar[dict[str, bool]] = {"multithreading": True, "view_replay": False}

    def __init__(self, mode: bool):
        self.before = self.kept[self.name]
        self.kept[self.name] = bool(mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        self.kept[self.name] = self.before


class set_multithreading_enabled(_Setting):
    """torch's setting for its engine's threads; this engine runs in the caller's."""

    name = "multithreading"


class force_original_view_tracking(_Setting):
    """torch's setting to replay views; here views are always replayed."""

    name = "view_replay"


def is_multithreading_enabled() -> bool:
    """What set_multithreading_enabled was last given."""
    return _Setting.kept["multithreading"]


def is_view_replay_enabled() -> bool:
    """What force_original_view_tracking was last given."""
    return _Setting.kept["view_replay"]

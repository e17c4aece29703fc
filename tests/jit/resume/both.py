"""What the tests of resuming share: a program run as Python and compiled, compared in everything.

In: a function and a maker of its arguments. Out: the compiled function's cache, for counting; an
AssertionError when result, arguments afterwards, printed text, exception (type, text, lines of the
traceback, cause, context) or grad mode differ in any of several calls.
"""

import contextlib
import io
import itertools
import traceback
from collections.abc import Callable
from typing import Any

import minitorch2 as torch
from minitorch2.jit.cache import CodeCache
from tests.jit.capture.capturing import compiled


def ones() -> tuple:
    """The arguments of most programs: three ones."""
    return (torch.ones(3),)


def plain(value: Any) -> Any:
    """A value as data that compares by content; tensors with shape, strides, history."""
    if isinstance(value, torch.Tensor):
        own = value.grad if value.is_leaf else None  # asking others warns
        grad = None if own is None else own.tolist()
        return ("tensor", value.tolist(), value.stride(), value.requires_grad, grad)
    if isinstance(value, (list, tuple, set, frozenset)):
        return [type(value).__name__, *map(plain, value)]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, BaseException):
        return (type(value).__name__, str(value), plain(value.args), lines(value))
    if isinstance(value, torch.Generator):
        return value.get_state().tolist()
    if hasattr(value, "__next__"):
        return ("iterator", list(itertools.islice(value, 20)))
    if hasattr(value, "__dict__") and not callable(value):
        return {key: plain(item) for key, item in vars(value).items()}
    return value if not callable(value) else getattr(value, "__name__", "callable")


def lines(error: BaseException) -> list[tuple[str, int | None, str | None]]:
    """The user's lines of a traceback: function, line, source."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "tests/jit/resume/test_" in frame.filename]
    return [(frame.name, frame.lineno, frame.line) for frame in own]


def outcome(function: Callable, make: Callable[[], tuple]) -> tuple:
    """Everything that can be seen of one call."""
    args = make()
    said = io.StringIO()
    result: Any
    with contextlib.redirect_stdout(said):
        try:
            result = "returned", plain(function(*args))
        except Exception as error:
            links = [type(link).__name__ for link in (error.__cause__, error.__context__)]
            result = "raised", type(error), str(error), lines(error), links
    mode = torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_autocast_enabled()
    return result, plain(args), said.getvalue(), mode


def both(function: Callable, make: Callable[[], tuple] = ones, calls: int = 4) -> CodeCache:
    """The function compiled does what it does as Python, the first time and later."""
    expected = outcome(function, make)
    cache = compiled(function, fullgraph=False)
    for call in range(calls):
        found = outcome(cache, make)
        assert found == expected, f"call {call}: {found}\n  is not {expected}"
    return cache


def codes(cache: CodeCache) -> list[str]:
    """The reasons of the breaks, in the order in which they were met."""
    return [stopped.row.code for stopped in cache.breaks]


def is_captured(cache: CodeCache) -> bool:
    """Whether everything was captured piece by piece, and nothing runs as Python on its own."""
    return all(entry.program is not None for entry in cache.all_entries())

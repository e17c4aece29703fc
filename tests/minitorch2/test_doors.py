"""The doors that stand before public functions: their frames can be looked at.

Python crashes when it looks at a frame whose code names free variables that it never fetched.
"""

import contextlib
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

from minitorch2.overrides import TorchFunctionMode, overridable


class Refused(Exception):
    """What a mode raises for every call."""


class Refuses(TorchFunctionMode):
    """Looks at every running frame, and raises."""

    def __torch_function__(self, func: Any, types: tuple, args: tuple = (), kwargs: Any = None):
        for frame, _ in traceback.walk_stack(sys._getframe()):
            dict(frame.f_locals)
        raise Refused(func.__name__)


def variables(error: BaseException) -> list[dict[str, Any]]:
    return [dict(frame.f_locals) for frame, _ in traceback.walk_tb(error.__traceback__)]


def held_by(function: Any) -> dict[str, Any]:
    """The free variables of a function, by name."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # an empty cell
            found[name] = cell.cell_contents
    return found


@contextlib.contextmanager
def traced() -> Iterator[None]:
    """Looks at the frame before every line, as a debugger does."""

    def trace(frame: Any, event: str, argument: Any) -> Any:
        dict(frame.f_locals)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def test_frames_of_doors_can_be_looked_at():
    functions = overridable()
    assert sum(bool(function.__closure__) for function in functions) > 50
    own = [function.__code__ for function in functions]
    with Refuses():
        for function, code in zip(functions, own, strict=True):
            door = function.__code__
            assert "door_args" in door.co_varnames and door.co_freevars == code.co_freevars
            with pytest.raises(Refused) as caught:
                function(1, extra=2)
            found = variables(caught.value)[1]
            expected = held_by(function) | {"door_args": (1,), "door_kwargs": {"extra": 2}}
            assert found.keys() == expected.keys(), function.__name__
            assert all(found[n] is expected[n] or found[n] == expected[n] for n in found)
    assert all(function.__code__ is code for function, code in zip(functions, own, strict=True))


def test_a_debugger_steps_through_doors():
    with_cells = [function for function in overridable() if function.__closure__]
    for function in with_cells[:10]:
        held = held_by(function)
        with Refuses(), traced(), pytest.raises(Refused):
            function(1)
        assert held_by(function) == held

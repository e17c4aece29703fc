"""Classes of one series: what a class statement in a function makes, anew in each of its calls.

In: a class. Out: its `structure`, equal for two classes that came from one statement: names,
bases, and the bodies of what stands in it, not the values it holds (those are guarded where they
are read). Compiled code that met one class of a series is used for the others too.

    >>> def make(n):
    ...     class Local:
    ...         number = n
    ...     return Local
    >>> structure(make(1)) == structure(make(2)), in_series(make(1)), in_series(make(2))
    (True, False, True)

The first class of its structure is taken for the only one, as most are; the second one tells that
there is a series.
"""

from __future__ import annotations

import types
import weakref
from typing import Any

_first: dict[Any, weakref.ref | None] = {}  # structure -> the class first seen; None: a series


def is_local(cls: type) -> bool:
    """Whether a statement inside a function made the class."""
    return type(cls) is type and "<locals>" in cls.__qualname__


def structure(cls: type) -> Any:
    """What two classes of one statement have in common."""
    bases = tuple(structure(base) if is_local(base) else base for base in cls.__bases__)
    held = frozenset((name, _kind(name, value)) for name, value in cls.__dict__.items())
    return cls.__qualname__, cls.__module__, cls.__dictoffset__, bases, held


def _kind(name: str, value: Any) -> Any:
    if name == "__doc__":
        return value
    if isinstance(value, types.FunctionType):
        return value.__code__
    if isinstance(value, staticmethod | classmethod):
        return type(value), _kind(name, value.__func__)
    if isinstance(value, property):
        return tuple(_kind("", part) for part in (value.fget, value.fset, value.fdel))
    return type(value)


def in_series(cls: type) -> bool:
    """Whether other classes of this structure were met."""
    if not is_local(cls):
        return False
    key = structure(cls)
    if key not in _first:
        _first[key] = weakref.ref(cls)
    first = _first[key]
    if first is not None and first() is not cls:
        _first[key] = None
    return _first[key] is None


def begin_series(cls: type) -> None:
    """Compiled code makes this class, and will make more of it."""
    if is_local(cls):
        _first[structure(cls)] = None


class Alike:
    """Whether a class is one of the same series; the one that passed last passes at once."""

    __slots__ = ("key", "last")

    def __init__(self, cls: type):
        self.key, self.last = structure(cls), weakref.ref(cls)

    def __call__(self, cls: type) -> bool:
        if self.last() is cls:
            return True
        if not is_local(cls) or structure(cls) != self.key:
            return False
        self.last = weakref.ref(cls)
        return True

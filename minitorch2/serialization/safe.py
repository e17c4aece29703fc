"""Classes that a script allows in files: torch.serialization.add_safe_globals and its like.

In: classes and functions. Out: a list that can be read back. `load` makes tensors, numbers and
plain containers whatever is on it, and refuses a file that names anything else.

    >>> with safe_globals([complex]):
    ...     get_safe_globals()
    [<class 'complex'>]
    >>> get_safe_globals()
    []

Source: torch.serialization.
"""

from collections.abc import Callable, Sequence
from typing import Any

from minitorch2.devices import device

MAP_LOCATION = Callable[[Any, str], Any] | device | str | dict[str, str] | None
_allowed: list[Any] = []


def add_safe_globals(safe_globals: Sequence[Any]) -> None:
    """Put classes or functions on the list."""
    _allowed.extend(each for each in safe_globals if each not in _allowed)


def get_safe_globals() -> list[Any]:
    """What is on the list."""
    return list(_allowed)


def clear_safe_globals() -> None:
    """Empty the list."""
    _allowed.clear()


class safe_globals:
    """Within the block, these are on the list too."""

    def __init__(self, safe_globals: Sequence[Any]):
        self.given = safe_globals

    def __enter__(self) -> None:
        self.before = get_safe_globals()
        add_safe_globals(self.given)

    def __exit__(self, *exc: object) -> None:
        _allowed[:] = self.before

"""Where handlers are registered: instruction name -> function(machine, frame, instruction).

@handles("NOP", "RESUME")
def nothing(machine, frame, instruction): ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

HANDLERS: dict[str, Callable[..., Any]] = {}
RETURNED = object()  # what a handler answers when the frame is done
YIELDED = object()  # what it answers when a generator has yielded


def handles(*names: str) -> Callable[[Callable], Callable]:
    """Register a handler for instructions, whichever Python versions have them."""

    def register(function: Callable) -> Callable:
        for name in names:
            assert name not in HANDLERS, f"two handlers for {name}"
            HANDLERS[name] = function
        return function

    return register

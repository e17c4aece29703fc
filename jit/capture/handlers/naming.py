"""How Python's messages call things.

In: a value. Out: its name in the text of a TypeError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minitorch2.jit.capture.values.base import Value

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


def called(machine: Machine, function: Value) -> str:
    """What Python calls a function in its messages: `module.f()`."""
    found = [machine.get_attribute(function, name) for name in ("__module__", "__qualname__")]
    module, name = (machine.real(value).known() for value in found)
    return f"{name}()" if module in (None, "builtins") else f"{module}.{name}()"

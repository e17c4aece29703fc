"""What the captured program changes in the world, recorded in order and replayed after the graph.

In: writes to objects that exist already (a list item, a dict entry, an attribute, a global, a
closure variable). Out: Python statements of the host function, in the order of the program. During
capture nothing is changed: the values themselves hold the new state. Objects made inside need no
record; they are built in their final state when something that leaves refers to them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.values.base import Value


@dataclass(frozen=True, slots=True)
class Effect:
    """One statement: a template with the target as {0} and the operands as {1}, {2}."""

    target: Any
    template: str
    operands: tuple[Any, ...]


class Effects:
    """The effects so far."""

    __slots__ = ("items",)

    def __init__(self) -> None:
        self.items: list[Effect] = []

    def record(self, target: Value, template: str, *operands: Value) -> None:
        """Record a statement, unless its target was made inside."""
        if target.source is not None:
            self.items.append(Effect(target, template, operands))

    def set_attribute(self, target: Value, name: str, value: Value | None) -> None:
        """Record `target.name = value` (None deletes it)."""
        cls = target.python_type()
        plain = cls.__setattr__ is object.__setattr__ or name == "grad"
        if value is None:
            self.record(
                target, f"del {{0}}.{name}" if plain else f"object_delattr({{0}}, {name!r})"
            )
        elif plain:
            self.record(target, f"{{0}}.{name} = {{1}}", value)
        else:
            self.record(target, f"object_setattr({{0}}, {name!r}, {{1}})", value)

    def targets(self) -> list[Value]:
        """The objects that are written, each once."""
        return list({id(effect.target): effect.target for effect in self.items}.values())

    def emit(self, emitter: Emitter) -> list[str]:
        """The statements."""
        lines = []
        for effect in self.items:
            target = emitter.value(effect.target)
            operands = [emitter.value(operand) for operand in effect.operands]
            text = effect.template
            for helper, function in HELPERS.items():
                if helper in text:
                    text = text.replace(helper, emitter.object(function, helper))
            lines += emitter.take_lines()
            parts = [target, *operands]
            lines.append(_filled(text, parts))
        return lines


HELPERS = {"object_setattr": object.__setattr__, "object_delattr": object.__delattr__}


def _filled(template: str, parts: list[str]) -> str:
    """The template with {0}, {1} replaced, in one pass: a part may contain braces."""
    return re.sub(r"\{(\d)\}", lambda found: parts[int(found[1])], template)

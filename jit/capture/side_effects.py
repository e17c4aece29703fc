"""What the captured program changes in the world, recorded in order and replayed after the graph.

In: writes to objects that exist already (a list item, a dict entry, an attribute, a global, a
closure variable). Out: Python statements of the host function, in the order of the program. During
capture nothing is changed: the values themselves hold the new state. Objects made inside need no
record; they are built in their final state when something that leaves refers to them.
"""

from __future__ import annotations

import collections
import re
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.source import ItemSource

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.values.base import Value


SET_ITEM = "{0}[{1}] = {2}"

GENERIC = ("__getattribute__", "__setattr__", "__delattr__")


def is_generic(method: Any) -> bool:
    """Whether a `__setattr__`, `__delattr__` or `__getattribute__` is a native one of that name."""
    return isinstance(method, types.WrapperDescriptorType) and method.__name__ in GENERIC


@dataclass(frozen=True, slots=True)
class Effect:
    """One statement: a template with the target as {0} and the operands as {1}, {2}."""

    target: Any
    template: str
    operands: tuple[Any, ...]

    def may_free(self) -> bool:
        """Whether something may be held no longer: all but appending to a list."""
        appends = self.template.endswith((".append({1})", ".extend({1})"))
        return not (appends and self.target.python_type() is list)


class Effects:
    """The effects so far."""

    __slots__ = ("items", "oldest", "older")

    def __init__(self) -> None:
        self.items: list[Effect] = []
        self.oldest = 0  # where a part of the program began: the birth of its first value
        self.older = False  # whether it changed a value of before, made inside

    def _is_new(self, target: Value) -> bool:
        """Whether a target was made inside, so that nothing is recorded."""
        if target.source is None:
            self.touch(target.birth)
        return target.source is None

    def touch(self, birth: int) -> None:
        """What was made inside, then, is changed."""
        if birth < self.oldest:
            self.older = True

    def record(self, target: Value, template: str, *operands: Value) -> None:
        """Record a statement, unless its target was made inside."""
        if self._is_new(target):
            return
        if target.outer is not None:  # past what its class may have put in the way
            template = UNBOUND[template].replace("BASE", target.python_type().__name__)
        self.items.append(Effect(target, template, operands))

    def call(self, target: Value, name: str, *operands: Value) -> None:
        """Record `target.name(*operands)`, a method of a native container."""
        if self._is_new(target):
            return
        places = ", ".join(f"{{{index + 1}}}" for index in range(len(operands)))
        template = f"{{0}}.{name}({places})"
        if target.outer is not None:
            cls = target.python_type().__name__
            template = f"{cls}.{name}({', '.join(filter(None, ('{0}', places)))})"
        self.items.append(Effect(target, template, operands))

    def take(self, number: Value) -> None:
        """A number is taken from a counter: nothing to say but that it is fetched now."""
        self.items.append(Effect(number, "", ()))

    def set_attribute(self, target: Value, name: str, value: Value | None) -> None:
        """Record `target.name = value` (None deletes it)."""
        cls = target.python_type()
        plain = is_generic(cls.__setattr__) or name == "grad"
        if value is None:
            self.record(
                target, f"del {{0}}.{name}" if plain else f"object_delattr({{0}}, {name!r})"
            )
        elif plain:
            self.record(target, f"{{0}}.{name} = {{1}}", value)
        else:
            self.record(target, f"object_setattr({{0}}, {name!r}, {{1}})", value)

    def drop_undone(self, start: int) -> None:
        """Forget what was done from number `start` on, when every entry that was written holds
        again what stood there before."""
        last: dict[tuple[int, Any], Effect] = {}
        for effect in self.items[start:]:
            if effect.template != SET_ITEM:
                return
            last[id(effect.target), effect.operands[0].known()] = effect
        pairs = [(e.operands[1].source, ItemSource(e.target.source, key))
                 for (_, key), e in last.items()]  # fmt: skip
        if all(now == before for now, before in pairs):
            del self.items[start:]

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
                if text.startswith(helper):
                    name = emitter.object(function, helper.rstrip("."))
                    text = name + text[len(helper.rstrip(".")) :]
                    break
            lines += emitter.take_lines()
            if text:
                lines.append(_filled(text, [target, *operands]))
        return lines


HELPERS = {
    "object_setattr": object.__setattr__,
    "object_delattr": object.__delattr__,
    "OrderedDict.": collections.OrderedDict,
    "defaultdict.": collections.defaultdict,
    "deque.": collections.deque,
    "dict.": dict,
    "list.": list,
    "set.": set,
}
UNBOUND = {
    SET_ITEM: "BASE.__setitem__({0}, {1}, {2})",
    "del {0}[{1}]": "BASE.__delitem__({0}, {1})",
    "{0}[:] = {1}": "BASE.__setitem__({0}, slice(None), {1})",
    "{0}.default_factory = {1}": "{0}.default_factory = {1}",
}  # the same statements for an instance of a subclass, which may have methods of its own


def _filled(template: str, parts: list[str]) -> str:
    """The template with {0}, {1} replaced, in one pass: a part may contain braces."""
    return re.sub(r"\{(\d+)\}", lambda found: parts[int(found[1])], template)

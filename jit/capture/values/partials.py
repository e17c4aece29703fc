"""`functools.partial`, part by part.

In: the function, the tuple of arguments and the dict of keywords, made inside or read from one
that exists. Out: calls of the function. The dict is the partial's own: who writes to `p.keywords`
changes what is called. A partial of a partial is one of the innermost function, while nothing was
ever set on the inner one.

Source: the documentation of functools; CPython's Modules/_functoolsmodule.c.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from minitorch2.jit.capture.source import AttributeSource, Source
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value, native_attribute
from minitorch2.jit.capture.values.mappings import DictValue
from minitorch2.jit.capture.values.sequences import TupleValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine

PARTS = ("func", "args", "keywords")


class PartialValue(Value):
    """A partial; `object` is one that exists, `attributes` what was set on it (None: deleted)."""

    __slots__ = ("function", "args", "keywords", "attributes", "object", "has_table", "is_shared")

    def __init__(
        self, function: Value, args: TupleValue, keywords: DictValue,
        source: Source | None = None, object: Any = None,
    ):  # fmt: skip
        super().__init__(source)
        self.function, self.args, self.keywords = function, args, keywords
        self.attributes: dict[str, Value | None] = {}
        self.object = object
        self.has_table = False  # whether one made inside has a dict of attributes
        self.is_shared = False  # whether somebody else may hold its dict of keywords

    def python_type(self) -> type:
        return functools.partial

    def describe(self) -> str:
        return f"partial of {self.function.describe()}"

    # ---- attributes

    def is_bare(self, machine: Machine) -> bool:
        """Whether nothing was ever set on it. Asking for its `__dict__` would make one."""
        if self.object is None or self.attributes:
            return not self.has_table and not self.attributes
        bare = self.object.__reduce__()[2][3] is None
        machine.state.guard_bare(self.source, bare)
        return bare

    def get_attribute(self, machine: Machine, name: str) -> Value:
        if name in PARTS:
            self.is_shared |= name == "keywords"
            parts = (self.function, self.args, self.keywords)
            return dict(zip(PARTS, parts, strict=True))[name]
        if name in ("__dict__", "__doc__"):
            machine.stop("unknown-attribute", f"partial.{name}")
        own = self._own(machine, name)
        return own if own is not None else native_attribute(machine, self, name)

    def _own(self, machine: Machine, name: str) -> Value | None:
        if name not in self.attributes and self.object is not None:
            if hasattr(functools.partial, name):
                return None
            machine.state.guard_attribute(self.source, name, hasattr(self.object, name))
            if not hasattr(self.object, name):
                return None
            assert self.source is not None
            place = AttributeSource(self.source, name)
            self.attributes[name] = machine.lazy(getattr(self.object, name), place)
        return self.attributes.get(name)

    def set_attribute(self, machine: Machine, name: str, value: Value) -> None:
        if hasattr(functools.partial, name):
            return super().set_attribute(machine, name, value)
        self._write(machine, name, value)

    def delete_attribute(self, machine: Machine, name: str) -> None:
        if hasattr(functools.partial, name):
            return super().delete_attribute(machine, name)
        if self._own(machine, name) is None:
            machine.no_attribute(self, name)
        self._write(machine, name, None)

    def _write(self, machine: Machine, name: str, value: Value | None) -> None:
        self.attributes[name] = value
        self.has_table = True
        machine.state.effects.set_attribute(self, name, value)

    # ---- calls

    def call(self, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        held = self.keywords.table(machine)
        if not all(type(name) is str for name in held):
            machine.type_error("keywords must be strings")
        return machine.call(self.function, [*self.args.values, *args], {**held, **kwargs})

    def extended(self, machine: Machine, args: Arguments, kwargs: Keywords) -> PartialValue:
        """A new one with more arguments behind and other keywords in front."""
        held = {**self.keywords.table(machine), **kwargs}
        return PartialValue(self.function, TupleValue([*self.args.values, *args]), DictValue(held))

    def copied(self, machine: Machine, of: Callable[[Value], Any]) -> PartialValue:
        """Another one, of these parts or of what `of` makes of them."""
        if not self.is_bare(machine):
            machine.stop("unknown-call", "copying a partial with attributes")
        made = PartialValue(*(of(part) for part in (self.function, self.args, self.keywords)))
        made.is_shared = self.is_shared = True
        return made

    # ---- as it leaves

    def emit(self, emitter: Emitter) -> str:
        if self.source is not None:
            return emitter.fetch(self.source)
        make, function = emitter.object(functools.partial, "partial"), emitter.value(self.function)
        if self.is_shared:  # the very dict, not a copy
            parts = ", ".join((function, emitter.value(self.args), emitter.value(self.keywords)))
            name = emitter.assign(self, f"{make}({function})")
            emitter.lines.append(f"{name}.__setstate__(({parts}, None))")
        else:
            given = [emitter.value(value) for value in self.args.values]
            table = emitter.value(self.keywords) if self.keywords.entries else ""
            more = [f"**{table}"] if table else []
            name = emitter.assign(self, f"{make}({', '.join([function, *given, *more])})")
        if self.has_table:
            emitter.lines.append(f"{name}.__dict__")  # there is one, even when it is empty
        for attribute, held in self.attributes.items():
            if held is not None:
                emitter.lines.append(f"{name}.{attribute} = {emitter.value(held)}")
        return name


def outside_partial(machine: Machine, object: functools.partial, source: Source) -> Value:
    """The value of a partial that exists."""
    function, args, keywords = [
        cast(Any, machine.real(machine.wrap(getattr(object, name), AttributeSource(source, name))))
        for name in PARTS
    ]
    value = PartialValue(function, args, keywords, source, object)
    machine.state.remember(object, value)
    return value

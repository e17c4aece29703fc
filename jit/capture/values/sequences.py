"""Tuples (named ones and torch.Size too), lists, and slices, item by item.

In: the items as values. Out: the operations of Python's own sequences. A list that came from
outside is read through guards on its length and written through recorded effects; one made inside
is simply its items.
"""

from __future__ import annotations

import collections
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.source import Source
from minitorch2.jit.capture.values.base import (
    Arguments,
    Keywords,
    Value,
    native_attribute,
)
from minitorch2.tensors import Size

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine


def short(value: Value) -> str:
    """An item in a few words."""
    nested = isinstance(value, SequenceValue) and value.source is None
    return value.python_type().__name__ if nested else value.describe()


class SequenceValue(Value):
    """What tuples and lists share."""

    __slots__ = ("values", "cls")

    def __init__(self, values: list[Value], cls: type, source: Source | None = None):
        super().__init__(source)
        self.values = values
        self.cls = cls

    def python_type(self) -> type:
        return self.cls

    def describe(self) -> str:
        inside = ", ".join(short(value) for value in self.values[:4])
        more = ", ..." if len(self.values) > 4 else ""
        return f"{self.cls.__name__}({inside}{more})"

    def get_item(self, machine: Machine, key: Value) -> Value:
        if isinstance(key, SliceValue):
            wanted = slice(*(part.known() for part in key.parts))
            return self.part(machine.guarded(lambda: self.values[wanted]))
        kind = "list" if issubclass(self.cls, list) else "tuple"
        index = machine.index_of(key, kind)
        if not -len(self.values) <= index < len(self.values):
            machine.raise_(IndexError, f"{kind} index out of range")
        return self.values[index]

    def part(self, values: list[Value]) -> Value:
        """A sequence of the kind that slicing makes."""
        raise NotImplementedError

    def truth(self, machine: Machine) -> bool:
        return bool(self.values)

    def length(self, machine: Machine) -> int:
        return len(self.values)

    def iterator(self, machine: Machine) -> Value:
        return machine.iterate_over(self)

    def operate(self, machine: Machine, symbol: str, other: Value, reflected: bool) -> Value | None:
        if symbol == "*":
            return None if other.python_type() not in (int, bool) else self.part(
                self.values * machine.index_of(other))  # fmt: skip
        if symbol != "+" or reflected:
            return None
        base = native_base(self.cls)
        if not isinstance(other, SequenceValue) or native_base(other.cls) is not base:
            kind = other.python_type().__name__
            text = f'can only concatenate {base.__name__} (not "{kind}") to {base.__name__}'
            return machine.type_error(text)
        return self.part(self.values + other.values)

    def compare_with(
        self, machine: Machine, symbol: str, other: Value, reflected: bool
    ) -> Value | None:
        if not isinstance(other, SequenceValue) or native_base(other.cls) is not native_base(
            self.cls
        ):
            return machine.from_python(symbol == "!=") if symbol in ("==", "!=") else None
        left, right = (other, self) if reflected else (self, other)
        return machine.compare_items(symbol, left.values, right.values)

    def search(self, machine: Machine, name: str, args: Arguments) -> Value:
        """`index` and `count`."""
        if name == "count":
            return machine.from_python(sum(machine.equal(item, args[0]) for item in self.values))
        bounds = [machine.index_of(bound) for bound in args[1:]]
        for place in range(len(self.values))[slice(*[*bounds, None, None][:2])]:
            if machine.equal(self.values[place], args[0]):
                return machine.from_python(place)
        known = machine.real(args[0]).known()
        return machine.guarded(self.cls().index, known)  # which has Python's own words for it


def native_base(cls: type) -> type:
    """list, tuple or deque: the class that two sequences must share to be compared."""
    return next(base for base in (list, tuple, collections.deque) if issubclass(cls, base))


def is_plain_tuple(cls: type) -> bool:
    """Whether a kind of tuple is its items and no more: a named tuple without special methods of
    its own, or one of minitorch2's."""
    if not hasattr(cls, "_make"):
        return cls.__module__.startswith("minitorch2")
    bases = cls.__mro__[: cls.__mro__.index(tuple)]
    return not any(_is_own(name, held) for base in bases for name, held in vars(base).items())


def _is_own(name: str, held: Any) -> bool:
    """Whether a method is special and none of those that `namedtuple` makes."""
    held = getattr(held, "__func__", held)
    if not name.startswith("__") or not isinstance(held, types.FunctionType):
        return False
    home = held.__globals__.get("__name__", "")
    return home != "collections" and not home.startswith("namedtuple_")


class TupleValue(SequenceValue):
    """A tuple, torch.Size or named tuple."""

    __slots__ = ()

    def __init__(self, values: list[Value], cls: type = tuple, source: Source | None = None):
        super().__init__(values, cls, source)

    def known(self) -> Any:
        items = [value.known() for value in self.values]
        return self._make(items)

    def lower(self, machine: Machine) -> Any:
        return self._make([machine.real(value).lower(machine) for value in self.values])

    def _make(self, items: list) -> Any:
        make = getattr(self.cls, "_make", None)
        return make(items) if make is not None else self.cls(items)

    def part(self, values: list[Value]) -> Value:
        return TupleValue(values, Size if self.cls is Size else tuple)

    def same_as(self, machine: Machine, other: Value) -> bool:
        return self is other or (
            isinstance(other, TupleValue) and not self.values and not other.values
        )

    def get_attribute(self, machine: Machine, name: str) -> Value:
        fields = getattr(self.cls, "_fields", ())
        if name in fields:
            return self.values[fields.index(name)]
        if self.cls not in (tuple, Size):
            return machine.class_attribute(self, name)
        return native_attribute(machine, self, name)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        if name in ("index", "count"):
            return self.search(machine, name, args)
        if name == "numel":
            return machine.from_python(self.known().numel())
        return machine.special_method(self, name, args, kwargs)

    def emit(self, emitter: Emitter) -> str:
        if self.source is not None:
            return emitter.fetch(self.source)
        return emitter.assign(self, self.text(emitter)) if self.values else self.text(emitter)

    def text(self, emitter: Emitter) -> str:
        """The tuple as an expression."""
        inside = ", ".join(emitter.value(value) for value in self.values)
        if self.cls is tuple:
            return f"({inside},)" if len(self.values) == 1 else f"({inside})"
        name = emitter.object(self.cls, self.cls.__name__)
        if hasattr(self.cls, "_make"):  # past a __new__ of the class
            return f"{emitter.object(tuple.__new__, 'tuple_new')}({name}, ({inside},))"
        return f"{name}([{inside}])"


class ListValue(SequenceValue):
    """A list; writes to one from outside are recorded.

    `on_read` is called when somebody looks at what a list from outside holds: appending does not.
    """

    __slots__ = ("held", "on_read")

    def __init__(self, values: list[Value], source: Source | None = None, cls: type = list):
        self.on_read: Callable[[], None] | None = None
        super().__init__(values, cls, source)

    @property
    def values(self) -> list[Value]:
        """The items, looked at."""
        if self.on_read is not None:
            told, self.on_read = self.on_read, None
            told()
        return self.held

    @values.setter
    def values(self, values: list[Value]) -> None:
        self.held = values

    def describe(self) -> str:
        return str(self.source) if self.source is not None else super().describe()

    def lower(self, machine: Machine) -> Any:
        return [machine.real(value).lower(machine) for value in self.values]

    def part(self, values: list[Value]) -> Value:
        return ListValue(values)

    def get_attribute(self, machine: Machine, name: str) -> Value:
        return native_attribute(machine, self, name)

    def set_item(self, machine: Machine, key: Value, value: Value) -> None:
        if isinstance(key, SliceValue):
            index = slice(*(part.known() for part in key.parts))
            new = machine.items(value)
            machine.guarded(lambda: self.values.__setitem__(index, new))
            return self.rewritten(machine)
        place = machine.index_of(key, "list")
        if not -len(self.values) <= place < len(self.values):
            machine.raise_(IndexError, "list assignment index out of range")
        self.values[place] = value
        machine.state.effects.record(self, "{0}[{1}] = {2}", machine.from_python(place), value)

    def delete_item(self, machine: Machine, key: Value) -> None:
        if isinstance(key, SliceValue):
            wanted = slice(*(part.known() for part in key.parts))
            machine.guarded(lambda: self.values.__delitem__(wanted))
            return self.rewritten(machine)
        place = machine.index_of(key, "list")
        if not -len(self.values) <= place < len(self.values):
            machine.raise_(IndexError, "list assignment index out of range")
        del self.values[place]
        machine.state.effects.record(self, "del {0}[{1}]", machine.from_python(place))

    def operate_inplace(self, machine: Machine, symbol: str, other: Value) -> Value | None:
        if symbol == "+":
            return self.call_method(machine, "__iadd__", [other], {})
        if symbol == "*" and other.python_type() in (int, bool):
            self.values[:] = self.values * machine.index_of(other)
            self.rewritten(machine)
            return self
        return None

    def rewritten(self, machine: Machine) -> None:
        """Record that the whole content was replaced."""
        machine.state.effects.record(self, "{0}[:] = {1}", ListValue(list(self.values)))

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        """The methods of a list; what they change in one from outside is recorded."""
        none = machine.from_python(None)
        if name == "append" and len(args) == 1:
            self.held.append(args[0])
            machine.state.effects.call(self, "append", args[0])
            return none
        if name in ("extend", "__iadd__"):
            added = machine.items(args[0])
            self.held.extend(added)
            machine.state.effects.call(self, "extend", TupleValue(added))
            return none if name == "extend" else self
        if name in ("index", "count"):
            return self.search(machine, name, args)
        if name == "copy":
            return ListValue(list(self.values))
        if name == "insert":
            self.values.insert(machine.index_of(args[0]), args[1])
        elif name == "pop":
            place = machine.index_of(args[0]) if args else -1
            found = machine.guarded(self.values.pop, place)
            machine.state.effects.record(self, "del {0}[{1}]", machine.from_python(place))
            return found
        elif name == "remove":
            self._remove(machine, args[0])
        elif name == "clear":
            self.values.clear()
        elif name == "reverse":
            self.values.reverse()
        elif name == "sort":
            self.values[:] = machine.sort(self.values, kwargs)
        elif name == "__init__":
            self.values[:] = machine.items(args[0]) if args else []
        else:
            return machine.special_method(self, name, args, kwargs)
        self.rewritten(machine)
        return none

    def _remove(self, machine: Machine, item: Value) -> None:
        for place, held in enumerate(self.values):
            if machine.equal(held, item):
                del self.values[place]
                return
        machine.raise_(ValueError, "list.remove(x): x not in list")

    def emit(self, emitter: Emitter) -> str:
        if self.source is not None:
            return emitter.fetch(self.source)
        inside = ", ".join(emitter.value(value) for value in self.values)
        return emitter.content(self, f"[{inside}]", "extend")

    def empty(self, emitter: Emitter) -> str:
        """An expression for a new one without items."""
        return "[]"


class SliceValue(Value):
    """`slice(start, stop, step)`."""

    __slots__ = ("parts",)

    def __init__(self, parts: list[Value], source: Source | None = None):
        super().__init__(source)
        self.parts = parts

    def python_type(self) -> type:
        return slice

    def known(self) -> Any:
        return slice(*(part.known() for part in self.parts))

    def lower(self, machine: Machine) -> Any:
        return slice(*(machine.real(part).lower(machine) for part in self.parts))

    def describe(self) -> str:
        return f"slice({', '.join(part.describe() for part in self.parts)})"

    def get_attribute(self, machine: Machine, name: str) -> Value:
        if name in ("start", "stop", "step"):
            return self.parts[("start", "stop", "step").index(name)]
        return native_attribute(machine, self, name)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        return machine.run_python(getattr(slice, name), [self, *args], kwargs)

    def emit(self, emitter: Emitter) -> str:
        return f"slice({', '.join(emitter.value(part) for part in self.parts)})"

"""Tuples (named ones and torch.Size too), lists, slices and sets, item by item.

In: the items as values. Out: the operations of Python's own sequences. A list that came from
outside is read through guards on its length and written through recorded effects; one made inside
is simply its items.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.source import Source
from minitorch2.jit.capture.values.base import (
    Arguments,
    Keywords,
    NotKnown,
    Value,
    native_attribute,
)
from minitorch2.tensors import Size

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine


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
        inside = ", ".join(value.describe() for value in self.values[:4])
        more = ", ..." if len(self.values) > 4 else ""
        return f"{self.cls.__name__}({inside}{more})"

    def get_item(self, machine: Machine, key: Value) -> Value:
        if isinstance(key, SliceValue):
            wanted = slice(*(part.known() for part in key.parts))
            return self.part(machine.guarded(lambda: self.values[wanted]))
        index = machine.index_of(key, self.cls.__name__)
        if not -len(self.values) <= index < len(self.values):
            machine.raise_(IndexError, f"{self.cls.__name__} index out of range")
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

    def search(self, machine: Machine, name: str, args: Arguments) -> Value:
        """`index` and `count`."""
        places = [i for i, value in enumerate(self.values) if machine.equal(value, args[0])]
        if name == "count":
            return machine.from_python(len(places))
        if len(args) > 1:
            machine.stop("unknown-call", f"{self.cls.__name__}.index with bounds")
        if not places:
            machine.raise_(
                ValueError, f"{self.cls.__name__}.index(x): x not in {self.cls.__name__}"
            )
        return machine.from_python(places[0])


def is_plain_tuple(cls: type) -> bool:
    """Whether a kind of tuple is its items and no more: a named tuple, or one of minitorch2's."""
    return hasattr(cls, "_make") or cls.__module__.startswith("minitorch2")


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
        cls: Any = self.cls
        if name == "_asdict":
            return machine.dict_of(dict(zip(cls._fields, self.values, strict=True)))
        if name == "_replace":
            for key, value in kwargs.items():
                self.values[cls._fields.index(key)] = value
            return self
        return machine.sequence_method(self, name, args, kwargs)

    def emit(self, emitter: Emitter) -> str:
        inside = ", ".join(emitter.value(value) for value in self.values)
        if self.cls is tuple:
            return f"({inside},)" if len(self.values) == 1 else f"({inside})"
        name = emitter.object(self.cls, self.cls.__name__)
        return f"{name}({inside})" if hasattr(self.cls, "_make") else f"{name}([{inside}])"


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
        machine.state.effects.record(self, f"{{0}}[{place}] = {{1}}", value)

    def delete_item(self, machine: Machine, key: Value) -> None:
        index = key.lower(machine)
        machine.guarded(lambda: self.values.__delitem__(index))
        self.rewritten(machine)

    def rewritten(self, machine: Machine) -> None:
        """Record that the whole content was replaced."""
        machine.state.effects.record(self, "{0}[:] = {1}", ListValue(list(self.values)))

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        none = machine.from_python(None)
        if name == "append" and len(args) == 1:
            self.held.append(args[0])
            machine.state.effects.record(self, "{0}.append({1})", args[0])
            return none
        if name in ("extend", "__iadd__"):
            added = machine.items(args[0])
            self.held.extend(added)
            machine.state.effects.record(self, "{0}.extend({1})", TupleValue(added))
            return none if name == "extend" else self
        if name in ("index", "count"):
            return self.search(machine, name, args)
        if name == "copy":
            return ListValue(list(self.values))
        if name == "insert":
            self.values.insert(args[0].known(), args[1])
        elif name == "pop":
            place = args[0].known() if args else -1
            found = machine.guarded(self.values.pop, place)
            self.rewritten(machine)
            return found
        elif name == "remove":
            self.values.pop(self.search(machine, "index", args).known())
        elif name == "clear":
            self.values.clear()
        elif name == "reverse":
            self.values.reverse()
        elif name == "sort":
            self.values[:] = machine.sort(self.values, kwargs)
        else:
            return machine.sequence_method(self, name, args, kwargs)
        self.rewritten(machine)
        return none

    def emit(self, emitter: Emitter) -> str:
        if self.source is not None:
            return emitter.fetch(self.source)
        if self.cls is not list:  # a view of a dict, which follows the dict
            return super().emit(emitter)
        inside = ", ".join(emitter.value(value) for value in self.values)
        return emitter.assign(self, f"[{inside}]")


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
        return machine.run_python(getattr, [self, machine.from_python(name)], {})

    def emit(self, emitter: Emitter) -> str:
        return f"slice({', '.join(emitter.value(part) for part in self.parts)})"


class SetValue(Value):
    """A set: the keys are plain hashable objects, see `Machine.key`."""

    __slots__ = ("keys",)

    def __init__(self, keys: dict[Any, Value], source: Source | None = None):
        super().__init__(source)
        self.keys = keys

    def python_type(self) -> type:
        return set

    def lower(self, machine: Machine) -> Any:
        return {value.known() for value in self.keys.values()}

    def describe(self) -> str:
        return "set(" + ", ".join(value.describe() for value in self.keys.values()) + ")"

    def get_attribute(self, machine: Machine, name: str) -> Value:
        return native_attribute(machine, self, name)

    def truth(self, machine: Machine) -> bool:
        return bool(self.keys)

    def length(self, machine: Machine) -> int:
        return len(self.keys)

    def contains(self, machine: Machine, item: Value) -> bool:
        return machine.key(item) in self.keys

    def iterator(self, machine: Machine) -> Value:
        # the order of a set of small ints and strings is Python's own business: ask it
        try:
            order = list({value.known() for value in self.keys.values()})
        except NotKnown:
            machine.stop("unknown-operation", "iterating over a set of objects")
        return machine.iterate_over([machine.from_python(item) for item in order])

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        none = machine.from_python(None)
        if name in ("add", "discard", "remove"):
            key = machine.key(args[0])
            if name == "remove" and key not in self.keys:
                machine.raise_(KeyError, args[0].known())
            if name == "add":
                self.keys.setdefault(key, args[0])
            else:
                self.keys.pop(key, None)
            machine.state.effects.record(self, f"{{0}}.{name}({{1}})", args[0])
            return none
        if name in ("update", "__ior__"):
            for value in [item for source in args for item in machine.items(source)]:
                self.call_method(machine, "add", [value], {})
            return none if name == "update" else self
        if name == "clear":
            self.keys.clear()
            machine.state.effects.record(self, "{0}.clear()")
            return none
        if name == "copy":
            return SetValue(dict(self.keys))
        if name in ("pop", "__iand__", "__isub__", "__ixor__") or name.endswith("_update"):
            machine.stop("unknown-call", f"set.{name}()")
        return machine.run_python(getattr(set, name), [self, *args], kwargs)

    def emit(self, emitter: Emitter) -> str:
        if self.source is not None:
            return emitter.fetch(self.source)
        if not self.keys:
            return emitter.assign(self, "set()")
        inside = ", ".join(emitter.value(value) for value in self.keys.values())
        return emitter.assign(self, "{" + inside + "}")

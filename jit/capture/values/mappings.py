"""Dicts, key by key.

In: the entries as values under plain hashable keys (see `Machine.key`). Out: the operations of
Python's dicts. One that came from outside guards the keys that were asked for, and all of them
only when all were looked at; what the captured program writes is recorded.
"""

from __future__ import annotations

import collections
import types
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.source import Source
from minitorch2.jit.capture.values.base import (
    Arguments,
    Keywords,
    Value,
    native_attribute,
)
from minitorch2.jit.capture.values.sequences import ListValue, TupleValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine

MISSING: Any = object()


class ObjectKey:
    """The key of an object that is hashed by identity (a tensor, a module, a function)."""

    __slots__ = ("value",)

    def __init__(self, value: Value):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectKey) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


class IdentityValue(Value):
    """`id(value)`: a number that is good for being a key and for being compared, no more."""

    __slots__ = ("owner", "key")

    def __init__(self, owner: Value):
        super().__init__(None)
        self.owner = owner
        self.key = ("id", ObjectKey(owner))

    def python_type(self) -> type:
        return int

    def describe(self) -> str:
        return f"id of {self.owner.describe()}"

    def same_as(self, machine: Machine, other: Value) -> bool:
        return isinstance(other, IdentityValue) and self.owner.same_as(machine, other.owner)

    def emit(self, emitter: Emitter) -> str:
        return f"id({emitter.value(self.owner)})"


class DictValue(Value):
    """A dict, OrderedDict or defaultdict."""

    __slots__ = ("entries", "cls", "factory", "original", "written", "complete")

    def __init__(
        self,
        entries: dict[Any, Value],
        source: Source | None = None,
        cls: type = dict,
        factory: Value | None = None,
    ):
        super().__init__(source)
        self.entries = entries
        self.cls = cls
        self.factory = factory
        self.original = tuple(entries) if source is not None else ()
        self.written: set[Any] = set()
        self.complete = source is None

    def python_type(self) -> type:
        return self.cls

    def describe(self) -> str:
        if self.source is not None:
            return str(self.source)
        keys = ", ".join(machine_key_text(key) for key in list(self.entries)[:4])
        return f"{self.cls.__name__}({keys})"

    def known(self) -> Any:
        return {key_object(key): value.known() for key, value in self.entries.items()}

    def lower(self, machine: Machine) -> Any:
        self.all_keys(machine)
        return {
            key_object(key): machine.real(value).lower(machine)
            for key, value in self.entries.items()
        }

    # ---- guards

    def all_keys(self, machine: Machine) -> None:
        """All keys, and their order, were looked at."""
        if not self.complete:
            self.complete = True
            machine.state.guard_keys(self.source, self.original)

    def asked(self, machine: Machine, key: Any) -> None:
        """Whether this key is there was looked at."""
        if not self.complete and key not in self.written:
            machine.state.guard_key(self.source, key, key in self.original)

    # ---- reading

    def find(self, machine: Machine, key: Value) -> Value | None:
        """The entry, or None; guarded."""
        plain = machine.key(key)
        self.asked(machine, plain)
        return self.entries.get(plain)

    def get_item(self, machine: Machine, key: Value) -> Value:
        found = self.find(machine, key)
        if found is not None:
            return found
        if self.factory is not None:
            made = machine.call(self.factory, [], {})
            self.set_item(machine, key, made)
            return made
        return machine.raise_(KeyError, key.known())

    def contains(self, machine: Machine, item: Value) -> bool:
        return self.find(machine, item) is not None

    def truth(self, machine: Machine) -> bool:
        if not self.complete and not self.written:
            machine.state.guard_truth(self.source, bool(self.entries))
        else:
            self.all_keys(machine)
        return bool(self.entries)

    def length(self, machine: Machine) -> int:
        self.all_keys(machine)
        return len(self.entries)

    def keys(self, machine: Machine) -> list[Value]:
        self.all_keys(machine)
        return [key_value(machine, key) for key in self.entries]

    def iterator(self, machine: Machine) -> Value:
        return machine.iterate_over(self.keys(machine))

    def get_attribute(self, machine: Machine, name: str) -> Value:
        return native_attribute(machine, self, name)

    # ---- writing

    def set_item(self, machine: Machine, key: Value, value: Value) -> None:
        plain = machine.key(key)
        self.entries[plain] = value
        self.written.add(plain)
        machine.state.effects.record(self, "{0}[{1}] = {2}", key, value)

    def delete_item(self, machine: Machine, key: Value) -> None:
        if self.find(machine, key) is None:
            machine.raise_(KeyError, key.known())
        plain = machine.key(key)
        del self.entries[plain]
        self.written.add(plain)
        machine.state.effects.record(self, "del {0}[{1}]", key)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        method = METHODS.get(name)
        if method is None:
            machine.stop("unknown-call", f"{self.cls.__name__}.{name}()")
        return method(self, machine, args, kwargs)

    def emit(self, emitter: Emitter) -> str:
        if self.source is not None:
            return emitter.fetch(self.source)
        if self.cls is types.MappingProxyType:
            return super().emit(emitter)
        inside = ", ".join(
            f"{emitter.key(key)}: {emitter.value(value)}" for key, value in self.entries.items()
        )
        text = "{" + inside + "}"
        if self.cls is collections.defaultdict:
            factory = emitter.value(self.factory) if self.factory is not None else "None"
            text = f"{emitter.object(self.cls, 'defaultdict')}({factory}, {text})"
        elif self.cls is not dict:
            text = f"{emitter.object(self.cls, self.cls.__name__)}({text})"
        return emitter.assign(self, text)


def machine_key_text(key: Any) -> str:
    """A key in the trace."""
    return key.value.describe() if isinstance(key, ObjectKey) else repr(key)


def key_object(key: Any) -> Any:
    """The Python object of a key."""
    return key.value.known() if isinstance(key, ObjectKey) else key


def key_value(machine: Machine, key: Any) -> Value:
    """The value of a key."""
    if isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], ObjectKey):
        return IdentityValue(key[1].value)
    return key.value if isinstance(key, ObjectKey) else machine.from_python(key)


def _get(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    found = self.find(machine, args[0])
    if found is not None:
        return found
    return args[1] if len(args) > 1 else machine.from_python(None)


def _pop(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    found = self.find(machine, args[0])
    if found is not None:
        self.delete_item(machine, args[0])
        return found
    if len(args) > 1:
        return args[1]
    return machine.raise_(KeyError, args[0].known())


def _popitem(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    last = kwargs["last"].known() if "last" in kwargs else True
    keys = self.keys(machine)
    if not keys:
        return machine.raise_(KeyError, "popitem(): dictionary is empty")
    key = keys[-1 if last else 0]
    return machine.tuple_of([key, _pop(self, machine, [key], {})])


def _setdefault(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    found = self.find(machine, args[0])
    if found is None:
        found = args[1] if len(args) > 1 else machine.from_python(None)
        self.set_item(machine, args[0], found)
    return found


def _update(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    for key, value in pairs_of(machine, args, kwargs):
        self.set_item(machine, key, value)
    return machine.from_python(None)


def _inplace_or(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    _update(self, machine, args, {})
    return self


def _keys(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return ListValue(self.keys(machine), None, type({}.keys()))


def _values(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    self.all_keys(machine)
    return ListValue(list(self.entries.values()), None, type({}.values()))


def _items(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    keys = self.keys(machine)
    pairs = zip(keys, self.entries.values(), strict=True)
    values: list[Value] = [TupleValue([key, value]) for key, value in pairs]
    return ListValue(values, None, type({}.items()))


def _copy(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    self.all_keys(machine)
    return DictValue(dict(self.entries), None, self.cls, self.factory)


def _clear(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    self.all_keys(machine)
    self.entries.clear()
    machine.state.effects.record(self, "{0}.clear()")
    return machine.from_python(None)


def _contains(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return machine.from_python(self.contains(machine, args[0]))


def _getitem(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return self.get_item(machine, args[0])


def _setitem(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    self.set_item(machine, args[0], args[1])
    return machine.from_python(None)


METHODS = {
    "get": _get,
    "pop": _pop,
    "popitem": _popitem,
    "setdefault": _setdefault,
    "update": _update,
    "__ior__": _inplace_or,
    "keys": _keys,
    "values": _values,
    "items": _items,
    "copy": _copy,
    "clear": _clear,
    "__contains__": _contains,
    "__getitem__": _getitem,
    "__setitem__": _setitem,
}


def pairs_of(machine: Machine, args: Arguments, kwargs: Keywords) -> list[tuple[Value, Value]]:
    """The key-value pairs that `dict(...)` and `update(...)` take from their arguments."""
    pairs: list[tuple[Value, Value]] = []
    for argument in args:
        argument = machine.real(argument)
        if isinstance(argument, DictValue):
            keys = argument.keys(machine)
            pairs += list(zip(keys, argument.entries.values(), strict=True))
            continue
        if argument.python_type() not in (list, tuple) and machine.has(argument, "keys"):
            for key in machine.items(machine.method(argument, "keys", [])):
                pairs.append((key, machine.get_item(argument, key)))
            continue
        for item in machine.items(argument):
            key, value = machine.items(item)
            pairs.append((machine.real(key), value))
    pairs += [(machine.from_python(name), value) for name, value in kwargs.items()]
    return pairs

"""Dicts, key by key.

In: the entries as values under plain hashable keys (see `Machine.key`). Out: the operations of
Python's dicts. One that came from outside guards the keys that were asked for, and all of them
only when all were looked at; what the captured program writes is recorded.
"""

from __future__ import annotations

import collections
import types
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.source import AttributeSource, Source
from minitorch2.jit.capture.values.base import (
    Arguments,
    Keywords,
    Value,
    native_attribute,
)
from minitorch2.jit.capture.values.keys import (
    keep_apart,
    key_object,
    key_text,
    key_value,
)
from minitorch2.jit.capture.values.views import DictView

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine


class DictValue(Value):
    """A dict, OrderedDict or defaultdict; `attributes` are those of an OrderedDict, `object` is
    one that exists."""

    __slots__ = (
        "entries", "cls", "factory", "original", "written", "complete", "attributes", "object",
    )  # fmt: skip

    def __init__(
        self,
        entries: dict[Any, Value],
        source: Source | None = None,
        cls: type = dict,
        factory: Value | None = None,
    ):
        super().__init__(source)
        ordered = issubclass(cls, collections.OrderedDict)
        self.entries = collections.OrderedDict(entries) if ordered else entries
        self.cls = cls
        self.factory = factory
        self.original = tuple(entries) if source is not None else ()
        self.written: set[Any] = set()
        self.complete = source is None
        self.attributes: dict[str, Value] = {}
        self.object: Any = None

    def python_type(self) -> type:
        return self.cls

    def describe(self) -> str:
        if self.source is not None:
            return str(self.source)
        keys = ", ".join(key_text(key) for key in list(self.entries)[:4])
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
        if machine.state.counted:
            keep_apart(machine, key, self.entries)
        if not self.complete and key not in self.written:
            machine.state.guard_key(self.source, key, key in self.original)

    # ---- reading

    def held(self, machine: Machine) -> list[Value]:
        """What stands under the keys, in order."""
        self.all_keys(machine)
        return list(self.entries.values())

    def find(self, machine: Machine, key: Value) -> Value | None:
        """The entry, or None; guarded."""
        plain = machine.key(key)
        self.asked(machine, plain)
        return self.entries.get(plain)

    def get_item(self, machine: Machine, key: Value) -> Value:
        """`d[key]`; a missing key goes to `__missing__` or the default factory."""
        found = self.find(machine, key)
        if found is not None:
            return found
        if self.outer is not None:
            found = self.outer.special(machine, "__missing__", key)
            if found is not None:
                return found
        if self.factory is not None:
            made = machine.call(self.factory, [], {})
            self.set_item(machine, key, made)
            return made
        raise machine.raising(KeyError, [key])

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

    def table(self, machine: Machine) -> dict[Any, Value]:
        """The entries, all of which are looked at."""
        self.all_keys(machine)
        return self.entries

    def entry(self, machine: Machine, key: Any) -> tuple[Value, Value]:
        """A key as a value, and what stands under it."""
        return key_value(machine, key), self.entries[key]

    def changed(self, machine: Machine, size: int) -> None:
        """Other keys than at the beginning of an iteration: Python says what comes of it."""

    def iterator(self, machine: Machine) -> Value:
        return DictView(self, "keys").iterator(machine)

    def operate(self, machine: Machine, symbol: str, other: Value, reflected: bool) -> Value | None:
        if symbol != "|" or not isinstance(other, DictValue):
            return None
        left, right = (other, self) if reflected else (self, other)
        merged = left.call_method(machine, "copy", [], {})
        machine.method(merged, "update", [right])
        return merged

    def operate_inplace(self, machine: Machine, symbol: str, other: Value) -> Value | None:
        if symbol != "|":
            return None
        return self.call_method(machine, "__ior__", [other], {})

    def compare_with(
        self, machine: Machine, symbol: str, other: Value, reflected: bool
    ) -> Value | None:
        if symbol not in ("==", "!="):
            return None
        same = isinstance(other, DictValue) and self._equals(machine, other)
        return machine.from_python(same == (symbol == "=="))

    def _equals(self, machine: Machine, other: DictValue) -> bool:
        self.all_keys(machine)
        other.all_keys(machine)
        ordered = collections.OrderedDict in (self.cls, other.cls) and self.cls is other.cls
        mine, theirs = list(self.entries), list(other.entries)
        if len(mine) != len(theirs) or (ordered and mine != theirs):
            return False
        return all(
            key in other.entries and machine.equal(value, other.entries[key])
            for key, value in self.entries.items()
        )

    def get_attribute(self, machine: Machine, name: str) -> Value:
        if name == "default_factory" and issubclass(self.cls, collections.defaultdict):
            return self.factory or machine.from_python(None)
        own = self._own(machine, name) if self.cls is collections.OrderedDict else None
        return own or native_attribute(machine, self, name)

    def _own(self, machine: Machine, name: str) -> Value | None:
        """An attribute that was set on an OrderedDict, which has a dict of its own."""
        if name not in self.attributes and self.object is not None and self.source is not None:
            machine.state.guard_attribute(self.source, name, hasattr(self.object, name))
            if name not in self.object.__dict__:
                return None
            source = AttributeSource(self.source, name)
            self.attributes[name] = machine.lazy(self.object.__dict__[name], source)
        return self.attributes.get(name)

    def set_attribute(self, machine: Machine, name: str, value: Value) -> None:
        if self.cls is collections.OrderedDict and not hasattr(self.cls, name):
            self.attributes[name] = value
            machine.state.effects.set_attribute(self, name, value)
            return
        if name != "default_factory" or not issubclass(self.cls, collections.defaultdict):
            text = f"'{self.cls.__name__}' object has no attribute '{name}'"
            machine.raise_(AttributeError, text)
        self.factory = None if machine.real(value).python_type() is type(None) else value
        machine.state.effects.record(self, "{0}.default_factory = {1}", value)

    # ---- writing

    def set_item(self, machine: Machine, key: Value, value: Value) -> None:
        if self.cls is types.MappingProxyType:
            return super().set_item(machine, key, value)
        plain = machine.key(key)
        if machine.state.counted:
            keep_apart(machine, plain, self.entries)
        self.entries[plain] = value
        self.written.add(plain)
        machine.state.effects.record(self, "{0}[{1}] = {2}", key, value)

    def delete_item(self, machine: Machine, key: Value) -> None:
        if self.find(machine, key) is None:
            raise machine.raising(KeyError, [key])
        plain = machine.key(key)
        del self.entries[plain]
        self.written.add(plain)
        machine.state.effects.record(self, "del {0}[{1}]", key)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        method = METHODS.get(name)
        if method is None:
            return machine.special_method(self, name, args, kwargs)
        return method(self, machine, args, kwargs)

    def emit(self, emitter: Emitter) -> str:
        if self.source is not None:
            return emitter.fetch(self.source)
        inside = ", ".join(
            f"{emitter.key(key)}: {emitter.value(value)}" for key, value in self.entries.items()
        )
        name = emitter.content(self, self._made_of(emitter, "{" + inside + "}"), "update")
        for attribute, held in self.attributes.items():
            emitter.lines.append(f"{name}.{attribute} = {emitter.value(held)}")
        return name

    def empty(self, emitter: Emitter) -> str:
        """An expression for a new one without entries."""
        return self._made_of(emitter, "{}")

    def _made_of(self, emitter: Emitter, text: str) -> str:
        if self.cls is collections.defaultdict:
            factory = emitter.value(self.factory) if self.factory is not None else "None"
            return f"{emitter.object(self.cls, 'defaultdict')}({factory}, {text})"
        if self.cls is not dict:
            return f"{emitter.object(self.cls, self.cls.__name__)}({text})"
        return text


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
    raise machine.raising(KeyError, [args[0]])


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


def _viewing(name: str) -> Any:
    def view(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        return DictView(self, name)

    return view


def _reversed(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return DictView(self, "keys").reversed(machine)


def _missing(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    if self.factory is None:
        raise machine.raising(KeyError, args)
    made = machine.call(self.factory, [], {})
    self.set_item(machine, args[0], made)
    return made


def _fromkeys(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    value = args[1] if len(args) > 1 else machine.from_python(None)
    return machine.dict_of({machine.key(key): value for key in machine.items(args[0])})


def _move_to_end(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    given = kwargs.get("last", args[1] if len(args) > 1 else None)
    last = given is None or machine.truth(given)
    if self.find(machine, machine.real(args[0])) is None:
        raise machine.raising(KeyError, [args[0]])
    self.all_keys(machine)
    assert isinstance(self.entries, collections.OrderedDict)
    self.entries.move_to_end(machine.key(args[0]), last)
    machine.state.effects.call(self, "move_to_end", args[0], machine.from_python(last))
    return machine.from_python(None)


def _init(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    if issubclass(self.cls, collections.defaultdict) and args:
        self.set_attribute(machine, "default_factory", args[0])
        args = args[1:]
    return _update(self, machine, args, kwargs)


def _copy(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    self.all_keys(machine)
    return DictValue(dict(self.entries), None, self.cls, self.factory)


def _clear(self: DictValue, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    self.all_keys(machine)
    self.entries.clear()
    machine.state.effects.call(self, "clear")
    return machine.from_python(None)


METHODS = {
    "get": _get,
    "pop": _pop,
    "popitem": _popitem,
    "setdefault": _setdefault,
    "update": _update,
    "__ior__": _inplace_or,
    "keys": _viewing("keys"),
    "values": _viewing("values"),
    "items": _viewing("items"),
    "copy": _copy,
    "clear": _clear,
    "fromkeys": _fromkeys,
    "move_to_end": _move_to_end,
    "__reversed__": _reversed,
    "__missing__": _missing,
    "__init__": _init,
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
        for place, item in enumerate(machine.items(argument)):
            pairs.append(_pair(machine, place, item))
    pairs += [(machine.from_python(name), value) for name, value in kwargs.items()]
    return pairs


def _pair(machine: Machine, place: int, item: Value) -> tuple[Value, Value]:
    """One of the pairs from which a dict is made."""
    kind = machine.real(item).python_type()
    if not hasattr(kind, "__iter__") and not hasattr(kind, "__getitem__"):
        text = f"cannot convert dictionary update sequence element #{place} to a sequence"
        machine.type_error(text)
    both = machine.items(item)
    if len(both) != 2:
        text = f"dictionary update sequence element #{place} has length {len(both)}; 2 is required"
        machine.raise_(ValueError, text)
    return machine.real(both[0]), both[1]

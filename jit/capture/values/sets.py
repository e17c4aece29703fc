"""Sets and frozensets: which keys they hold, and in which order Python would go through them.

In: the items as values, under their keys. Out: the operations of Python's own sets. The order of a
set depends on everything that was done to it; so a real set of the keys goes along, and the same is
done to it. One from outside is guarded as a whole, its order too once somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.source import Source
from minitorch2.jit.capture.symbols import BINARY, COMPARE, inplace_method
from minitorch2.jit.capture.values.base import (
    Arguments,
    Keywords,
    NotKnown,
    Value,
    native_attribute,
)
from minitorch2.jit.capture.values.keys import Key, keep_apart, key_object, key_text

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine

OPERATORS = ("|", "&", "-", "^")
MAKING = {
    "union": "update", "intersection": "intersection_update", "difference": "difference_update",
    "symmetric_difference": "symmetric_difference_update",
}  # fmt: skip
ASKING = {"issubset": "__le__", "issuperset": "__ge__"}
INPLACE = {
    "__ior__": "update", "__iand__": "intersection_update", "__isub__": "difference_update",
    "__ixor__": "symmetric_difference_update",
}  # fmt: skip


class SetWalk(Iterator):
    """The steps through a set: those of Python's own iterator over its keys."""

    __slots__ = ("machine", "owner", "real")

    def __init__(self, machine: Machine, owner: SetValue):
        self.machine, self.owner, self.real = machine, owner, iter(owner.order)

    def __next__(self) -> Value:
        key = self.machine.guarded(next, self.real, END)
        if key is END:
            raise StopIteration
        return self.owner.keys[key]


END: Any = object()


class SetValue(Value):
    """A set or frozenset; `order` is a real set of the keys, `original` what came from outside."""

    __slots__ = ("cls", "keys", "order", "original", "changed")

    def __init__(
        self,
        items: Iterable[tuple[Any, Value]] = (),
        source: Source | None = None,
        cls: type = set,
        order: set | frozenset | None = None,
    ):
        super().__init__(source)
        self.cls = cls
        self.keys: dict[Any, Value] = {}
        self.order: Any = set()
        for key, value in items:
            self.keys.setdefault(key, value)
            self.order.add(key)
        if order is not None:
            self.order = order
        self.original = order if source is not None else None
        self.changed = False

    def python_type(self) -> type:
        return self.cls

    def describe(self) -> str:
        if self.source is not None:
            return str(self.source)
        return f"{self.cls.__name__}({', '.join(map(key_text, list(self.keys)[:4]))})"

    def lower(self, machine: Machine) -> Any:
        if all(not isinstance(key, Key) for key in self.order):
            return self.order.copy()
        return self.cls(key_object(key) for key in self.order)

    def known(self) -> Any:
        if self.cls is not frozenset:
            raise NotKnown(self)
        return frozenset(key_object(key) for key in self.order)

    def get_attribute(self, machine: Machine, name: str) -> Value:
        return native_attribute(machine, self, name)

    def truth(self, machine: Machine) -> bool:
        return bool(self.keys)

    def length(self, machine: Machine) -> int:
        return len(self.keys)

    def contains(self, machine: Machine, item: Value) -> bool:
        key = machine.key(item)
        if machine.state.counted:
            keep_apart(machine, key, self.keys)
        return key in self.keys

    # ---- going through it

    def ordered(self, machine: Machine) -> list[Value]:
        """The items in Python's order."""
        several = len(self.order) > 1
        if several and any(isinstance(key, Key) and not key.has_order for key in self.order):
            machine.stop("unknown-operation", "iterating over a set of objects, by their addresses")
        if self.original is not None and len(self.keys) > 1:
            if self.changed:
                machine.stop("unknown-operation", "iterating over a set from outside, changed")
            machine.state.guard_order(self.source, list(self.original))
        return [self.keys[key] for key in self.order]

    def iterator(self, machine: Machine) -> Value:
        self.ordered(machine)
        return machine.iterate_over(SetWalk(machine, self), type(iter(set())))

    # ---- operators

    def operate(self, machine: Machine, symbol: str, other: Value, reflected: bool) -> Value | None:
        found = as_set(machine, other)
        if symbol not in OPERATORS or found is None:
            return None
        left, right = (found, self) if reflected else (self, found)
        return left.combined(machine, BINARY[symbol][1], right)

    def combined(self, machine: Machine, name: str, other: SetValue) -> Value:
        """`self | other` and the like."""
        order = getattr(self.order, name)(other.order)
        both = self.keys | {key: v for key, v in other.keys.items() if key not in self.keys}
        return self.made(machine, {key: both[key] for key in both if key in order}, order)

    def made(self, machine: Machine, keys: dict[Any, Value], order: Any) -> Value:
        """A set of the same kind."""
        if self.cls is frozenset and not any(isinstance(key, Key) for key in keys):
            return machine.from_python(frozenset(order))
        return SetValue(keys.items(), None, self.cls, order)

    def compare_with(
        self, machine: Machine, symbol: str, other: Value, reflected: bool
    ) -> Value | None:
        found = other if isinstance(other, SetValue) else None
        if other.python_type() is frozenset:
            found = as_set(machine, other)
        if found is None:
            if hasattr(other, "as_set"):  # a view of a dict, which knows how to compare
                return None
            return machine.from_python(symbol == "!=") if symbol in ("==", "!=") else None
        left, right = (found, self) if reflected else (self, found)
        return machine.from_python(COMPARE[symbol][0](set(left.order), set(right.order)))

    def operate_inplace(self, machine: Machine, symbol: str, other: Value) -> Value | None:
        found = as_set(machine, other)
        if self.cls is not set or symbol not in OPERATORS or found is None:
            return None
        return self.call_method(machine, inplace_method(symbol), [other], {})

    # ---- methods

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        """The methods of sets: those that change one, make a new one, or compare."""
        changing = CHANGING.get(name)
        if changing is not None and self.cls is set:
            return changing(self, machine, args)
        if name in MAKING:
            made = self.copied()
            for other in args:
                _absorb(made, machine, MAKING[name], other)
            return self.made(machine, made.keys, self._as_kind(made.order))
        if name in ASKING:
            other = collected(machine, args[0])
            return machine.from_python(getattr(set(self.order), ASKING[name])(set(other.order)))
        if name == "isdisjoint":
            other = collected(machine, args[0])
            return machine.from_python(self.keys.keys().isdisjoint(other.keys))
        if name == "copy":
            return self.copied() if self.cls is set else self
        return machine.special_method(self, name, args, kwargs)

    def _as_kind(self, order: Any) -> Any:
        return order if self.cls is set else frozenset(order)

    def copied(self) -> SetValue:
        """A set with the same items."""
        return SetValue(self.keys.items(), None, set, set(self.order))

    def add(self, machine: Machine, value: Value) -> None:
        """Put an item in, without a record."""
        key = machine.key(value)
        if machine.state.counted:
            keep_apart(machine, key, self.keys)
        self.keys.setdefault(key, value)
        self.order.add(key)
        self.changed = True

    def take_out(self, key: Any) -> None:
        """Take a key out, without a record."""
        self.keys.pop(key, None)
        self.order.discard(key)
        self.changed = True

    def emit(self, emitter: Emitter) -> str:
        if self.source is not None:
            return emitter.fetch(self.source)
        inside = ", ".join(emitter.key(key) for key in self.order)
        name = "frozenset" if self.cls is frozenset else "set"
        if not inside:
            return emitter.assign(self, f"{emitter.object(self.cls, name)}()")
        if name == "set":
            return emitter.assign(self, "{" + inside + "}")
        return emitter.assign(self, f"{emitter.object(self.cls, name)}(({inside},))")


def as_set(machine: Machine, value: Value) -> SetValue | None:
    """A value that set operators take: a set, frozenset or view of a dict; else None."""
    value = machine.real(value)
    if isinstance(value, SetValue):
        return value
    convert = getattr(value, "as_set", None)
    if convert is not None:
        return convert(machine)
    if value.python_type() is frozenset:
        known = value.known()
        pairs = [(item, machine.from_python(item)) for item in known]
        return SetValue(pairs, None, frozenset, known)
    return None


def collected(machine: Machine, value: Value) -> SetValue:
    """The items of any iterable as a set."""
    found = as_set(machine, value)
    if found is not None:
        return found
    return SetValue((machine.key(item), item) for item in machine.items(value))


def _absorb(target: SetValue, machine: Machine, name: str, value: Value) -> None:
    """`target.name(value)` for the four methods that take any iterable."""
    if name == "update":
        found = as_set(machine, value)
        items = found.keys.values() if found is not None else machine.items(value)
        if found is not None:
            target.order.update(found.order)
        for item in list(items):
            target.add(machine, item)
        return
    other = collected(machine, value)
    getattr(target.order, name)(other.order)
    for key in list(target.keys):
        if key not in target.order:
            del target.keys[key]
    for key, item in other.keys.items():
        if key in target.order:
            target.keys.setdefault(key, item)
    target.changed = True


def _add(self: SetValue, machine: Machine, args: Arguments) -> Value:
    self.add(machine, args[0])
    machine.state.effects.call(self, "add", args[0])
    return machine.from_python(None)


def _discard(self: SetValue, machine: Machine, args: Arguments) -> Value:
    self.take_out(machine.key(args[0]))
    machine.state.effects.call(self, "discard", args[0])
    return machine.from_python(None)


def _remove(self: SetValue, machine: Machine, args: Arguments) -> Value:
    key = machine.key(args[0])
    if key not in self.keys:
        raise machine.raising(KeyError, [args[0]])
    return _discard(self, machine, args)


def _pop(self: SetValue, machine: Machine, args: Arguments) -> Value:
    if not self.keys:
        machine.raise_(KeyError, "pop from an empty set")
    self.ordered(machine)  # which one it is follows from the order
    key = self.order.pop()
    value = self.keys[key]
    self.take_out(key)
    machine.state.effects.call(self, "remove", value)
    return value


def _clear(self: SetValue, machine: Machine, args: Arguments) -> Value:
    self.keys.clear()
    self.order.clear()
    self.changed = True
    machine.state.effects.call(self, "clear")
    return machine.from_python(None)


def _init(self: SetValue, machine: Machine, args: Arguments) -> Value:
    _clear(self, machine, [])
    for value in args:
        for item in machine.items(value):
            _add(self, machine, [item])
    return machine.from_python(None)


def _updating(name: str, inplace: bool) -> Any:
    def apply(self: SetValue, machine: Machine, args: Arguments) -> Value:
        for value in args:
            _absorb(self, machine, name, value)
            items = SetValue(collected(machine, value).keys.items()) if self.source else value
            machine.state.effects.call(self, name, items)
        return self if inplace else machine.from_python(None)

    return apply


CHANGING = {
    "add": _add,
    "discard": _discard,
    "remove": _remove,
    "pop": _pop,
    "clear": _clear,
    "__init__": _init,
    **{name: _updating(name, False) for name in MAKING.values()},
    **{name: _updating(method, True) for name, method in INPLACE.items()},
}

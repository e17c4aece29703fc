"""What stands for a value among the keys of a dict or set.

In: a value that is hashed. Out: the plain object itself for numbers, strings and the like; for
everything else a `Key`, which hashes and compares as the program's own object would: by identity,
item by item for tuples, or through the class's `__hash__` and `__eq__`, which are inlined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.values.base import Value

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


class Key:
    """A key that is no plain object; `value` is what it stands for."""

    __slots__ = ("value",)

    def __init__(self, value: Value):
        self.value = value

    @property
    def has_order(self) -> bool:
        """Whether its hash is the number that Python would take, so that sets keep their order."""
        return False


class ObjectKey(Key):
    """An object that is hashed by identity (a tensor, a module, a function)."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectKey) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


class TupleKey(Key):
    """A tuple with such keys among its items."""

    __slots__ = ("parts",)

    def __init__(self, value: Value, parts: tuple):
        super().__init__(value)
        self.parts = parts

    @property
    def has_order(self) -> bool:
        return all(not isinstance(part, Key) or part.has_order for part in self.parts)

    def __eq__(self, other: object) -> bool:
        return self.parts == (other.parts if isinstance(other, TupleKey) else other)

    def __hash__(self) -> int:
        return hash(self.parts)


class MethodKey(Key):
    """A bound method: the object it is bound to, and the function."""

    __slots__ = ("machine", "owner", "function")

    def __init__(self, machine: Machine, value: Value, owner: Value, function: Value):
        super().__init__(value)
        self.machine, self.owner, self.function = machine, owner, function

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MethodKey):
            return False
        same = self.owner.same_as(self.machine, other.owner)
        return same and self.function.same_as(self.machine, other.function)

    def __hash__(self) -> int:
        return hash(self.owner.python_type())


class WeakKey(ObjectKey):
    """A weak reference; `referent` is the key of what it refers to."""

    __slots__ = ("machine", "referent")

    def __init__(self, machine: Machine, value: Value, referent: Any):
        super().__init__(value)
        self.machine, self.referent = machine, referent

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WeakKey) and self.machine.equal(self.value, other.value)

    def __hash__(self) -> int:
        return hash(self.referent)


class HashedKey(Key):
    """An instance whose class has a `__hash__` of its own: `number` is what that answered."""

    __slots__ = ("machine", "number")

    def __init__(self, machine: Machine, value: Value, number: int):
        super().__init__(value)
        self.machine, self.number = machine, number

    @property
    def has_order(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        theirs = other.value if isinstance(other, Key) else self.machine.from_python(other)
        return self.machine.equal(self.value, theirs)

    def __hash__(self) -> int:
        return self.number


class IdentityValue(Value):
    """`id(value)`: a number that is good for being a key and for being compared, no more."""

    __slots__ = ("owner",)

    def __init__(self, owner: Value):
        super().__init__(None)
        self.owner = owner

    def python_type(self) -> type:
        return int

    def describe(self) -> str:
        return f"id of a {self.owner.python_type().__name__}"  # which may hold this very number

    def same_as(self, machine: Machine, other: Value) -> bool:
        return isinstance(other, IdentityValue) and self.owner.same_as(machine, other.owner)

    def emit(self, emitter: Any) -> str:
        return f"id({emitter.value(self.owner)})"


class IdentityKey(Key):
    """The number that `id` gave."""

    __slots__ = ("owner",)

    def __init__(self, value: Value, owner: ObjectKey):
        super().__init__(value)
        self.owner = owner

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IdentityKey) and other.owner == self.owner

    def __hash__(self) -> int:
        return hash(("id", self.owner))


class CountedKey(ObjectKey):
    """A number of a counter from outside: `number` in this call, seen at `ahead` in each."""

    __slots__ = ("ahead", "number")

    def __init__(self, value: Value, ahead: Any, number: int):
        super().__init__(value)
        self.ahead, self.number = ahead, number


def keep_apart(machine: Machine, key: Any, keys: Any) -> None:
    """A number of a counter is none of the plain numbers among the keys of a dict or set: guarded.
    Where it is one, Python goes on."""
    counted = [key] if type(key) is CountedKey else []
    plain = [key] if isinstance(key, int | float) else []
    counted += [other for other in keys if type(other) is CountedKey and plain]
    if not plain:
        plain = [other for other in keys if isinstance(other, int | float)]
    for one in counted if plain else ():
        if one.number in plain:
            machine.stop("iterator-argument", "a number of a counter that is a key already")
        machine.state.guard_other(one.ahead, frozenset(plain))


def key_object(key: Any) -> Any:
    """The Python object of a key; NotKnown when there is none during capture."""
    return key.value.known() if isinstance(key, Key) else key


def key_value(machine: Machine, key: Any) -> Value:
    """The value of a key."""
    return key.value if isinstance(key, Key) else machine.from_python(key)


def key_text(key: Any) -> str:
    """A key in the trace."""
    return key.value.describe() if isinstance(key, Key) else repr(key)

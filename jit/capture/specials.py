"""Special methods of native classes, called by name: `[].__getitem__(0)`, `super().__setitem__`.

In: a value of a native kind, a method's name and arguments. Out: what the operation gives that
Python writes with a symbol. A subclass of list, dict or str reaches its native part this way.

Source: Python data model, "Special method names".
"""

from __future__ import annotations

import functools
import random
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture import protocols, symbols
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.functions import NativeValue
from minitorch2.jit.capture.values.objects import ObjectValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine

COUNTING = functools._lru_cache_wrapper  # its methods tell and change what it keeps
SYMBOLS: dict[str, tuple[Any, str, bool]] = {}  # method: (protocol, symbol, operands swapped)
for _symbol, (_function, _method, _reflected) in symbols.BINARY.items():
    SYMBOLS[_method] = protocols.binary, _symbol, False
    SYMBOLS[_reflected] = protocols.binary, _symbol, True
    SYMBOLS[symbols.inplace_method(_symbol)] = protocols.inplace, _symbol, False
for _symbol, (_function, _method, _same) in symbols.COMPARE.items():
    SYMBOLS[_method] = protocols.compare, _symbol, False
UNARY = {method: symbol for symbol, (_, method) in symbols.UNARY.items()}


def special_method(
    machine: Machine, owner: Value, name: str, args: Arguments, kwargs: Keywords
) -> Value:
    """`owner.name(*args)` for a method that is implemented in native code."""
    if name in SYMBOLS and len(args) == 1:
        return _operator(machine, owner, name, machine.real(args[0]))
    if name in UNARY:
        return protocols.unary(machine, UNARY[name], owner)
    found = RULES.get(name)
    if found is not None and not kwargs:
        return machine.real(found(machine, owner, *args))
    if isinstance(owner, ObjectValue):
        machine.stop(_reason(owner.python_type()), f"{owner.python_type().__name__}.{name}()")
    function = getattr(owner.python_type(), name, None)
    if isinstance(owner, NativeValue) and name == "__call__":
        return owner.call(machine, args, kwargs)
    if function is None or owner.python_type() is COUNTING or not machine.is_plain(owner):
        machine.stop(_reason(owner.python_type()), f"{owner.python_type().__name__}.{name}()")
    return machine.run_python(function, [owner, *args], kwargs)


def _reason(cls: type) -> str:
    if cls is COUNTING:
        return "kept-answer"
    return "random-generator" if issubclass(cls, random.Random) else "unknown-call"


def _operator(machine: Machine, owner: Value, name: str, other: Value) -> Value:
    protocol, symbol, swapped = SYMBOLS[name]
    if protocol is protocols.compare:
        found = owner.compare_with(machine, symbol, machine.native(other), False)
        if found is not None:
            return found
        if not machine.is_plain(owner) or not machine.is_plain(other):
            return Constant(NotImplemented)
        method = getattr(owner.known(), name)
        return machine.from_python(method(machine.native(other).known()))
    left, right = owner, machine.native(other)
    if swapped:
        left, right = right, left
    if protocol is protocols.binary and not _takes(owner, other):
        return Constant(NotImplemented)
    return protocol(machine, symbol, left, right)


def _takes(owner: Value, other: Value) -> bool:
    """Whether the native operator of `owner` would not answer NotImplemented."""
    numbers = (int, float, complex)
    mine, theirs = owner.python_type(), other.python_type()
    return not issubclass(mine, numbers) or issubclass(theirs, numbers)


def _set_item(machine: Machine, owner: Value, key: Value, value: Value) -> Value:
    owner.set_item(machine, machine.real(key), value)
    return Constant(None)


def _delete_item(machine: Machine, owner: Value, key: Value) -> Value:
    owner.delete_item(machine, machine.real(key))
    return Constant(None)


def _nothing(machine: Machine, owner: Value, *args: Value) -> Value:
    return Constant(None)


RULES: dict[str, Any] = {
    "__getitem__": lambda machine, owner, key: owner.get_item(machine, machine.real(key)),
    "__setitem__": _set_item,
    "__delitem__": _delete_item,
    "__len__": lambda machine, owner: machine.from_python(owner.length(machine)),
    "__iter__": lambda machine, owner: owner.iterator(machine),
    "__next__": lambda machine, owner: machine.next(owner),
    "__contains__": lambda machine, owner, item: Constant(
        owner.contains(machine, machine.real(item))
    ),
    "__bool__": lambda machine, owner: Constant(owner.truth(machine)),
    "__repr__": lambda machine, owner: protocols.text_of(machine, owner, repr),
    "__str__": lambda machine, owner: protocols.text_of(machine, owner, str),
    "__format__": lambda machine, owner, spec: protocols.text_of(
        machine, owner, format, machine.real(spec).known()
    ),
    "__hash__": protocols.hash_of,
    "__getattribute__": lambda machine, owner, name: owner.get_attribute(
        machine, machine.real(name).known()
    ),
    "__init__": _nothing,
}

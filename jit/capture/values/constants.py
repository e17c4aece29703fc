"""Values known by value: numbers, strings, None, dtypes, devices, enum members, ranges, sizes.

In: the object. Out: a `Constant`, which computes by running Python on the object itself. One with
a source gives a guard `source == value` when it is first looked at. A symbolic size behaves the
same: its own arithmetic records what was asked of it.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import re
import struct
import sys
import types
import typing
from typing import TYPE_CHECKING, Any

import numpy

from minitorch2.devices import device
from minitorch2.dtypes import dtype
from minitorch2.jit.capture.source import Source
from minitorch2.jit.capture.values.base import Arguments, Keywords, NativeMethod, Value
from minitorch2.jit.shapes.symbolic_size import SymbolicSize

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine

LITERALS: tuple[type, ...] = (
    int,
    float,
    complex,
    bool,
    str,
    bytes,
    type(None),
    type(Ellipsis),
    type(NotImplemented),
)
PLAIN: tuple[type, ...] = (
    dtype, device, range, types.GenericAlias, types.UnionType, types.CodeType, re.Pattern, re.Match,
    typing.TypeVar, typing.ParamSpec, typing.TypeVarTuple,
)  # fmt: skip
FIXED = (
    numpy.generic, numpy.dtype, numpy.finfo, numpy.iinfo, decimal.Decimal, datetime.date,
    datetime.time, datetime.timedelta, datetime.tzinfo, type(sys.version_info),
    type(sys.float_info),
    struct.Struct, type(sys.int_info), type(sys.flags), type(sys.hash_info),
)  # fmt: skip


def is_constant(object: Any) -> bool:
    """Whether an object is immutable data that capture may compute with directly."""
    kind = type(object)
    if kind in LITERALS or kind in PLAIN or issubclass(kind, (enum.Enum, *FIXED)):
        return True
    if kind is frozenset or kind is tuple:
        return all(is_constant(item) for item in object)
    return False


class Constant(Value):
    """An immutable object known by value."""

    __slots__ = ("value",)

    def __init__(self, value: Any, source: Source | None = None):
        super().__init__(source)
        self.value = value

    def python_type(self) -> type:
        return int if isinstance(self.value, SymbolicSize) else type(self.value)

    def known(self) -> Any:
        return self.value

    def describe(self) -> str:
        return repr(self.value)

    def same_as(self, machine: Machine, other: Value) -> bool:
        """`is`; equal ints and strings count as one object, as those of a program mostly are."""
        if not isinstance(other, Constant):
            return False
        mine, theirs = self.value, other.value
        if isinstance(mine, SymbolicSize) or isinstance(theirs, SymbolicSize):
            return other.python_type() is self.python_type() and bool(mine == theirs)
        if mine is theirs:
            return True
        # Equal numbers and strings may or may not be one object; None, booleans and enums are.
        return type(mine) is type(theirs) and type(mine) in (int, str) and mine == theirs

    def get_attribute(self, machine: Machine, name: str) -> Value:
        """Read from the object itself; a method stays to be called with values."""
        if name == "__class__":
            return machine.from_python(self.python_type())
        if isinstance(self.value, SymbolicSize):  # has those of the number that it is
            return machine.get_attribute(machine.number(self), name)
        if isinstance(self.value, enum.Enum) and name in ("value", "name", "_value_", "_name_"):
            return machine.from_python(getattr(self.value, name))
        if isinstance(self.value, enum.Enum):
            held = machine.class_lookup(type(self.value), name)
            if held is not None and type(held[1]) in (types.FunctionType, property):
                return machine.bind_attribute(self, held[0], name, held[1])
        try:
            found = getattr(self.value, name)
        except Exception as error:
            machine.raise_real(error)
        if callable(found) and getattr(found, "__self__", None) is self.value:
            if isinstance(found, types.MethodType):
                function = machine.trusted(found.__func__, f"{type(self.value).__name__}.{name}")
                return machine.bind_method(self, function)
            return NativeMethod(self, name)
        return machine.from_python(found)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        """Run on the object itself, which is immutable."""
        if isinstance(self.value, SymbolicSize):
            return machine.number(self).call_method(machine, name, args, kwargs)
        if type(self.value) is str:
            if name in ("format", "format_map"):
                return machine.filled_in(getattr(self.value, name), args, kwargs)
            # The text of a size is the text of a number.
            args = [machine.number(argument) for argument in args]
            kwargs = {key: machine.number(value) for key, value in kwargs.items()}
        if name == "join" and type(self.value) is str and len(args) == 1:
            kind = machine.real(args[0]).python_type()
            if not (hasattr(kind, "__iter__") or hasattr(kind, "__getitem__")):
                machine.type_error("can only join an iterable")
            args = [machine.tuple_of(machine.items(args[0]))]
        if isinstance(self.value, re.Pattern) and name in ("sub", "subn") and args:
            if not isinstance(machine.real(args[0]), Constant):
                return self._substituted(machine, name, args, kwargs)
        return machine.run_python(getattr(self.value, name), args, kwargs)

    def _substituted(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        """`pattern.sub(function, text)`: the function is called for one match after the other."""
        text = args[1] if len(args) > 1 else kwargs["string"]
        more = [
            machine.real(one).known() for one in [*args[2:], *kwargs.values()] if one is not text
        ]
        plain = machine.real(text).known()
        count = more[0] if more else 0  # 0: all of them; Python takes fewer than 0 for none
        found = list(self.value.finditer(plain))[: max(count, 0) if count else None]
        parts, place = [], 0
        for match in found:
            new = machine.real(machine.call(args[0], [machine.from_python(match)], {})).known()
            parts += [plain[place : match.start()], new]
            place = match.end()
        whole = "".join([*parts, plain[place:]])
        return machine.from_python(whole if name == "sub" else (whole, len(found)))

    def get_item(self, machine: Machine, key: Value) -> Value:
        return machine.run_python(lambda value, index: value[index], [self, key], {})

    def truth(self, machine: Machine) -> bool:
        return machine.guarded(bool, self.value)

    def length(self, machine: Machine) -> int:
        return machine.guarded(len, self.value)

    def contains(self, machine: Machine, item: Value) -> bool:
        return machine.run_python(lambda value, it: it in value, [self, item], {}).known()

    def iterator(self, machine: Machine) -> Value:
        items = machine.guarded(list, self.value)
        values = [machine.from_python(item) for item in items]
        return machine.iterate_over(values, type(iter(self.value)), self)

    def emit(self, emitter: Emitter) -> str:
        return emitter.constant(self.value)

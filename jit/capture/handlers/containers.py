"""Building and unpacking containers, subscripts, and the patterns of `match`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from minitorch2.jit.capture.handlers.naming import called
from minitorch2.jit.capture.handlers.registry import handles
from minitorch2.jit.capture.instructions import Instruction
from minitorch2.jit.capture.state import Frame
from minitorch2.jit.capture.values.base import NULL, UserRaise, Value
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.mappings import DictValue
from minitorch2.jit.capture.values.objects import ObjectValue
from minitorch2.jit.capture.values.sequences import (
    ListValue,
    SliceValue,
    TupleValue,
)
from minitorch2.jit.capture.values.sets import SetValue
from minitorch2.jit.capture.values.tensors import TensorValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


def take(frame: Frame, count: int) -> list[Value]:
    """Pop several values, the deepest first."""
    at = len(frame.stack) - count
    values = frame.stack[at:]
    del frame.stack[at:]
    return values


@handles("BUILD_TUPLE")
def build_tuple(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(TupleValue(take(frame, ins.argument)))


@handles("BUILD_LIST")
def build_list(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(ListValue(take(frame, ins.argument)))


@handles("BUILD_SET")
def build_set(machine: Machine, frame: Frame, ins: Instruction) -> None:
    values = take(frame, ins.argument)
    frame.stack.append(SetValue((machine.key(value), value) for value in values))


@handles("BUILD_MAP")
def build_map(machine: Machine, frame: Frame, ins: Instruction) -> None:
    values = take(frame, 2 * ins.argument)
    pairs = zip(values[::2], values[1::2], strict=True)
    frame.stack.append(DictValue({machine.key(key): value for key, value in pairs}))


@handles("BUILD_CONST_KEY_MAP")
def build_const_key_map(machine: Machine, frame: Frame, ins: Instruction) -> None:
    keys = machine.real(frame.stack.pop()).known()
    values = take(frame, ins.argument)
    frame.stack.append(DictValue(dict(zip(keys, values, strict=True))))


@handles("BUILD_SLICE")
def build_slice(machine: Machine, frame: Frame, ins: Instruction) -> None:
    parts = [machine.real(part) for part in take(frame, ins.argument)]
    parts += [Constant(None)] * (3 - len(parts))
    frame.stack.append(SliceValue(parts))


@handles("LIST_TO_TUPLE")
def list_to_tuple(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(TupleValue(machine.items(frame.stack.pop())))


# A container that is being built may have been begun before a break: it comes in from outside then,
# and what is added to it is an effect.


@handles("LIST_APPEND")
def list_append(machine: Machine, frame: Frame, ins: Instruction) -> None:
    value = frame.stack.pop()
    machine.real(frame.stack[-ins.argument]).call_method(machine, "append", [value], {})


@handles("SET_ADD")
def set_add(machine: Machine, frame: Frame, ins: Instruction) -> None:
    value = frame.stack.pop()
    half_built_set(machine, frame.stack[-ins.argument]).call_method(machine, "add", [value], {})


def half_built_set(machine: Machine, value: Value) -> Value:
    """A set that is being built. One from outside would be guarded as a whole, in every round."""
    if value.source is not None:
        machine.stop("unknown-operation", "adding to a set that was begun before the last break")
    return value


@handles("MAP_ADD")
def map_add(machine: Machine, frame: Frame, ins: Instruction) -> None:
    value = frame.stack.pop()
    key = frame.stack.pop()
    machine.real(frame.stack[-ins.argument]).set_item(machine, machine.real(key), value)


@handles("LIST_EXTEND")
def list_extend(machine: Machine, frame: Frame, ins: Instruction) -> None:
    values = machine.real(frame.stack.pop())
    kind = values.python_type()
    if not hasattr(kind, "__iter__") and not hasattr(kind, "__getitem__"):
        machine.type_error(f"Value after * must be an iterable, not {kind.__name__}")
    machine.real(frame.stack[-ins.argument]).call_method(machine, "extend", [values], {})


@handles("SET_UPDATE")
def set_update(machine: Machine, frame: Frame, ins: Instruction) -> None:
    items = frame.stack.pop()
    half_built_set(machine, frame.stack[-ins.argument]).call_method(machine, "update", [items], {})


@handles("DICT_UPDATE")
def dict_update(machine: Machine, frame: Frame, ins: Instruction) -> None:
    given = machine.real(frame.stack.pop())
    if not hasattr(given.python_type(), "keys"):
        machine.type_error(f"'{given.python_type().__name__}' object is not a mapping")
    pairs = machine.pairs([given], {})
    for key, value in pairs:
        machine.real(frame.stack[-ins.argument]).set_item(machine, key, value)


@handles("DICT_MERGE")
def dict_merge(machine: Machine, frame: Frame, ins: Instruction) -> None:
    """`f(**a, **b)`: like an update, but names must be strings and new."""
    given = machine.real(frame.stack.pop())
    function = frame.stack[-2 - ins.argument]
    if function is NULL:  # 3.13 keeps it above the function
        function = frame.stack[-3 - ins.argument]
    table = machine.real(frame.stack[-ins.argument])
    if not hasattr(given.python_type(), "keys"):
        kind = given.python_type().__name__
        name = called(machine, function)
        machine.type_error(f"{name} argument after ** must be a mapping, not {kind}")
    for key, value in machine.pairs([given], {}):
        plain = machine.key(key)
        if not isinstance(plain, str):
            machine.type_error("keywords must be strings")
        if plain in table.entries:  # type: ignore[attr-defined]
            name = called(machine, function)
            machine.type_error(f"{name} got multiple values for keyword argument '{plain}'")
        table.set_item(machine, key, value)


# ---- unpacking


def unpacked(machine: Machine, value: Value) -> list[Value]:
    """The items of what is unpacked."""
    value = machine.real(value)
    if not hasattr(value, "advance") and not isinstance(value, TensorValue):
        try:
            return machine.items(value)
        except UserRaise as raised:
            if not issubclass(raised.value.python_type(), TypeError):
                raise
            name = value.python_type().__name__
            machine.type_error(f"cannot unpack non-iterable {name} object")
    return machine.items(value)


@handles("UNPACK_SEQUENCE")
def unpack_sequence(machine: Machine, frame: Frame, ins: Instruction) -> None:
    """`a, b = value`: exactly as many items as names."""
    values = unpacked(machine, frame.stack.pop())
    wanted = ins.argument
    if len(values) > wanted:
        machine.raise_(ValueError, f"too many values to unpack (expected {wanted})")
    if len(values) < wanted:
        text = f"not enough values to unpack (expected {wanted}, got {len(values)})"
        machine.raise_(ValueError, text)
    frame.stack.extend(reversed(values))


@handles("UNPACK_EX")
def unpack_ex(machine: Machine, frame: Frame, ins: Instruction) -> None:
    """`a, *rest, b = value`: at least as many items as names without a star."""
    before, after = ins.argument & 0xFF, ins.argument >> 8
    value = machine.real(frame.stack.pop())
    if isinstance(value, ObjectValue) and machine.has(value, "__iter__"):
        iterator = machine.iterator(value)
        values: list[Value] = []
        while len(values) < before and (item := machine.advance_iterator(iterator)) is not None:
            values.append(item)
        if len(values) == before:
            values += machine.items(iterator)  # which may begin anew: Python makes a list of it
    else:
        values = unpacked(machine, value)
    if len(values) < before + after:
        text = f"not enough values to unpack (expected at least {before + after}"
        machine.raise_(ValueError, f"{text}, got {len(values)})")
    end = len(values) - after
    parts = [*values[:before], ListValue(values[before:end]), *values[end:]]
    frame.stack.extend(reversed(parts))


# ---- subscripts


@handles("BINARY_SUBSCR")
def binary_subscr(machine: Machine, frame: Frame, ins: Instruction) -> None:
    key = frame.stack.pop()
    frame.stack.append(machine.get_item(frame.stack.pop(), key))


@handles("STORE_SUBSCR")
def store_subscr(machine: Machine, frame: Frame, ins: Instruction) -> None:
    value, owner, key = take(frame, 3)
    machine.real(owner).set_item(machine, machine.real(key), value)


@handles("DELETE_SUBSCR")
def delete_subscr(machine: Machine, frame: Frame, ins: Instruction) -> None:
    owner, key = take(frame, 2)
    machine.real(owner).delete_item(machine, machine.real(key))


@handles("BINARY_SLICE")
def binary_slice(machine: Machine, frame: Frame, ins: Instruction) -> None:
    owner, start, end = take(frame, 3)
    key = SliceValue([machine.real(start), machine.real(end), Constant(None)])
    frame.stack.append(machine.get_item(owner, key))


@handles("STORE_SLICE")
def store_slice(machine: Machine, frame: Frame, ins: Instruction) -> None:
    value, owner, start, end = take(frame, 4)
    key = SliceValue([machine.real(start), machine.real(end), Constant(None)])
    machine.real(owner).set_item(machine, key, value)


# ---- match


@handles("GET_LEN")
def get_len(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(Constant(machine.real(frame.stack[-1]).length(machine)))


@handles("MATCH_SEQUENCE")
def match_sequence(machine: Machine, frame: Frame, ins: Instruction) -> None:
    cls = machine.real(frame.stack[-1]).python_type()
    frame.stack.append(Constant(bool(cls.__flags__ & (1 << 5))))


@handles("MATCH_MAPPING")
def match_mapping(machine: Machine, frame: Frame, ins: Instruction) -> None:
    cls = machine.real(frame.stack[-1]).python_type()
    frame.stack.append(Constant(bool(cls.__flags__ & (1 << 6))))


@handles("MATCH_KEYS")
def match_keys(machine: Machine, frame: Frame, ins: Instruction) -> None:
    """`case {key: ...}`: the values of the keys, or None where one is missing."""
    table, keys = machine.real(frame.stack[-2]), machine.items(frame.stack[-1])
    found = []
    for key in keys:
        if not table.contains(machine, machine.real(key)):
            frame.stack.append(Constant(None))
            return
        found.append(machine.get_item(table, key))
    frame.stack.append(TupleValue(found))


SELF_MATCHING = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


@handles("MATCH_CLASS")
def match_class(machine: Machine, frame: Frame, ins: Instruction) -> None:
    """`case Point(a, x=b)`: the attributes that the pattern names, or None where it does not fit.

    Positional patterns are named by `__match_args__`; int, str and the like match themselves.
    """
    subject, cls_value, names = (machine.real(value) for value in take(frame, 3))
    cls = cls_value.known()
    if not isinstance(cls, type):
        machine.type_error("called match pattern must be a class")
    if not machine.truth(machine.call_native(isinstance, [subject, cls_value], {})):
        frame.stack.append(Constant(None))
        return
    count = ins.argument
    wanted = list(names.known())
    found: list[Value] = []
    if count:
        fields = None
        if machine.has(cls_value, "__match_args__"):
            fields = machine.real(machine.get_attribute(cls_value, "__match_args__")).known()
        elif issubclass(cls, SELF_MATCHING):
            found.append(subject)
            count -= 1
        if fields is not None and type(fields) is not tuple:
            machine.type_error(f"{cls.__name__}.__match_args__ must be a tuple "
                               f"(got {type(fields).__name__})")  # fmt: skip
        fields = fields or ()
        if len(fields) < count:
            most = f"{len(fields)} positional sub-pattern{'s' if len(fields) != 1 else ''}"
            machine.type_error(f"{cls.__name__}() accepts {most} ({count} given)")
        wanted = [*fields[:count], *wanted]
    for place, name in enumerate(wanted):
        if name in wanted[:place]:
            text = f"{cls.__name__}() got multiple sub-patterns for attribute {name!r}"
            machine.type_error(text)
        part = machine.attribute_or_none(subject, name)
        if part is None:
            frame.stack.append(Constant(None))
            return
        found.append(part)
    frame.stack.append(TupleValue(found))

"""`copy.copy` and `copy.deepcopy` over values.

In: a value. Out: a new one of the same kind with the same items, or with copies of them; what
cannot change is shared. A tensor is cloned. What is none of the kinds here is Python's to copy, or
to refuse.

Source: the `copy` module's documentation.
"""

from __future__ import annotations

import copy
import math
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch2.jit import guards as kinds
from minitorch2.jit.capture.source import MadeSource
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value
from minitorch2.jit.capture.values.classes import ClassValue
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.containers import ContainerObject
from minitorch2.jit.capture.values.deques import DequeValue
from minitorch2.jit.capture.values.functions import FunctionValue, MethodValue, NativeValue
from minitorch2.jit.capture.values.instance_dicts import InstanceDict, slots_of
from minitorch2.jit.capture.values.keys import IdentityValue, Key
from minitorch2.jit.capture.values.mappings import DictValue
from minitorch2.jit.capture.values.natives import NativeObject
from minitorch2.jit.capture.values.objects import ObjectValue
from minitorch2.jit.capture.values.partials import PartialValue
from minitorch2.jit.capture.values.sequences import ListValue, SliceValue, TupleValue
from minitorch2.jit.capture.values.sets import SetValue
from minitorch2.jit.capture.values.tensors import TensorValue
from minitorch2.jit.capture.values.weak import WeakValue, check_lifetime
from minitorch2.tensors import Tensor

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine

ATOMIC = (Constant, SliceValue, FunctionValue, NativeValue, ClassValue, WeakValue, IdentityValue)
NEW_ARGUMENTS = ("__getnewargs_ex__", "__getnewargs__")


def shallow(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """`copy.copy(value)`."""
    value = machine.real(args[0])
    if isinstance(value, ListValue | DictValue | SetValue | DequeValue):
        return value.call_method(machine, "copy", [], {})
    if isinstance(value, NativeObject):
        return machine.from_python(copy.copy(value.object))
    if isinstance(value, ObjectValue):
        if machine.class_lookup(value.cls, "__copy__") is not None:
            return machine.call(machine.class_attribute(value, "__copy__"), [], {})
        return _instance(machine, value, lambda item: item)
    if isinstance(value, PartialValue):
        return value.copied(machine, lambda part: part)
    if isinstance(value, MethodValue):  # by its name, as Python does
        return machine.get_attribute(value.owner, machine.get_attribute(value, "__name__").known())
    return _plain(machine, "copy", value)


def _plain(machine: Machine, name: str, value: Value) -> Value:
    """What cannot change is its own copy; a tuple of a class is a new one."""
    if isinstance(value, TupleValue):
        return value if value.cls is tuple else TupleValue(list(value.values), value.cls)
    if not isinstance(value, ATOMIC):
        machine.stop("unknown-call", f"copy.{name}() of {value.describe()}")
    return value


def deep(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """`copy.deepcopy(value)`."""
    given = machine.real(args[1] if len(args) > 1 else kwargs.get("memo", Constant(None)))
    memo = DictValue({}) if isinstance(given, Constant) else given
    if not isinstance(memo, DictValue):
        machine.stop("unknown-call", "copy.deepcopy() with a memo that is no dict")
    return _deep(machine, machine.real(args[0]), memo)


def _deep(machine: Machine, value: Value, memo: DictValue) -> Value:
    """A copy; `memo` holds those that were made so far, by the `id` of the original."""
    value = machine.real(value)
    if isinstance(value, Constant):
        return value
    number = IdentityValue(value)
    if memo.contains(machine, number):
        return machine.real(memo.get_item(machine, number))
    made = machine.real(_copied(machine, value, memo))
    if made is not value:
        _note(machine, memo, value, made)
        kept = IdentityValue(memo)  # those that were copied live as long as the memo does
        if memo.contains(machine, kept):
            machine.method(memo.get_item(machine, kept), "append", [value])
        else:
            memo.set_item(machine, kept, ListValue([value]))
    return made


def _note(machine: Machine, memo: DictValue, value: Value, made: Value) -> None:
    memo.set_item(machine, IdentityValue(value), made)


def _copied(machine: Machine, value: Value, memo: DictValue) -> Value:
    def inner(item: Value) -> Value:
        return _deep(machine, item, memo)

    if isinstance(value, ListValue):
        made = ListValue([])
        _note(machine, memo, value, made)
        made.values.extend(inner(item) for item in list(value.values))
        return made
    if isinstance(value, DequeValue):
        line = DequeValue([], value.limit)
        _note(machine, memo, value, line)
        line.values.extend(inner(item) for item in list(value.values))
        return line
    if isinstance(value, DictValue):
        value.all_keys(machine)
        table = DictValue({}, None, value.cls, value.factory)
        _note(machine, memo, value, table)
        for key, item in value.entries.items():
            copied = machine.key(inner(key.value)) if isinstance(key, Key) else key
            table.entries[copied] = inner(item)
        return table
    if isinstance(value, SetValue):
        return _copied_set(machine, value, inner)
    if isinstance(value, TupleValue):
        items, number = [inner(item) for item in value.values], IdentityValue(value)
        if memo.contains(machine, number):  # it is a part of itself
            return memo.get_item(machine, number)
        same = all(a is machine.real(b) for a, b in zip(items, value.values, strict=True))
        return value if same and value.cls is tuple else TupleValue(items, value.cls)
    if isinstance(value, MethodValue):
        return MethodValue(inner(value.owner), value.function)
    if isinstance(value, PartialValue):
        return value.copied(machine, inner)
    if isinstance(value, TensorValue):
        return _tensor(machine, value, memo)
    if isinstance(value, NativeObject):
        return machine.from_python(copy.deepcopy(value.object))
    if isinstance(value, ObjectValue):
        if machine.class_lookup(value.cls, "__deepcopy__") is not None:
            return machine.call(machine.class_attribute(value, "__deepcopy__"), [memo], {})
        return _instance(machine, value, inner, memo)
    if isinstance(value, SliceValue):
        return SliceValue([inner(part) for part in value.parts])
    return _plain(machine, "deepcopy", value)


def _copied_set(machine: Machine, value: SetValue, inner: Callable[[Value], Value]) -> Value:
    """A set of the copies: plain items are their own, objects are new ones."""
    copies = [inner(value.keys[key]) for key in value.order]
    found = SetValue((machine.key(item), item) for item in copies)
    return value.made(machine, found.keys, value.cls(found.order))


def _tensor(machine: Machine, value: TensorValue, memo: DictValue) -> Value:
    """By the method of its class; a plain one is a leaf, with a copy of the gradient."""
    own = machine.class_lookup(value.python_type(), "__deepcopy__")
    if own is not None and own[0] is not Tensor:
        return machine.call(machine.class_member(own[0], "__deepcopy__"), [value, memo], {})
    if not value.fake.is_leaf:
        machine.stop("gradient-machinery", "copy.deepcopy() of a tensor with a history")
    if not _is_whole(machine, value):
        machine.stop("unknown-call", "copy.deepcopy() of a tensor with attributes, of a part of "
                     "another one's memory, or of two tensors over one memory")  # fmt: skip
    flat = machine.run_python(Tensor.detach, [value], {})  # type: ignore[attr-defined]
    made = machine.run_python(Tensor.clone, [flat], {})  # type: ignore[attr-defined]
    if value.fake.requires_grad:
        machine.require_grad(made)
        gradient = machine.real(machine.get_attribute(value, "grad"))
        if isinstance(gradient, TensorValue):
            made.set_attribute(machine, "grad", _deep(machine, gradient, memo))
    return made


def _is_whole(machine: Machine, value: TensorValue) -> bool:
    """Whether a clone is all there is to the copy of a tensor: it has memory of its own, which is
    copied once, all of which it shows, and no attributes."""
    state, fake = machine.state, value.fake
    if not fake.layout.is_dense() or fake.layout.offset or value.attributes.keys() - {"grad"}:
        return False
    count = math.prod(fake.layout.shape)
    others = [other for other in state.fakes if other.storage is fake.storage]
    if any(math.prod(other.layout.shape) != count for other in others):
        return False
    if state.copied.setdefault(id(fake.storage), value) is not value:
        return False
    if value.object is None or value.source is None or isinstance(value.source, MadeSource):
        return True
    meaning = "was a whole tensor without attributes"
    guard = kinds.plain_guard("value", (value.source,), "not <IS_WHOLE>({0})", meaning,
                              state.span(), IS_WHOLE=shows_all)  # fmt: skip
    state.add(guard)
    return shows_all(value.object)


def shows_all(tensor: Tensor) -> bool:
    """Whether a tensor shows all of its memory and has no attributes of the program's."""
    layout = tensor.layout
    size = math.prod(layout.shape) * tensor.dtype.itemsize
    return not (layout.offset or tensor.__dict__) and size == tensor.storage.nbytes


def _instance(
    machine: Machine, value: ObjectValue, of: Callable, memo: DictValue | None = None
) -> Value:
    """Another instance, with what `of` gives for its parts; by what its class says of that."""
    cls = value.cls
    if any(_is_own(machine, cls, name) for name in NEW_ARGUMENTS):
        machine.stop("unknown-call", f"copying a {cls.__name__}, by its __getnewargs__")
    if _is_own(machine, cls, "__reduce_ex__"):
        return _rebuilt(machine, value, [Constant(4)], "__reduce_ex__", of, memo)
    if _is_own(machine, cls, "__reduce__"):
        return _rebuilt(machine, value, [], "__reduce__", of, memo)
    check_lifetime(machine, cls)
    if value.native is not None:
        part = shallow(machine, None, [value.native], {}) if memo is None else of(value.native)
        made: ObjectValue = ContainerObject(cls, part)
    else:
        made = ObjectValue(cls)
    if memo is not None:
        _note(machine, memo, value, made)
    if _is_own(machine, cls, "__getstate__"):
        _set_state(machine, made, machine.method(value, "__getstate__", []), of)
        return made
    held = {name: value.own(machine, name) for name in InstanceDict(value).names(machine)}
    slots = [slot for slot in slots_of(cls) if machine.has(value, slot)]
    if _is_own(machine, cls, "__setstate__"):
        table: Value = machine.dict_of({k: v for k, v in held.items() if v is not None})
        if slots:
            filled = {slot: machine.get_attribute(value, slot) for slot in slots}
            rest = table if held else Constant(None)
            _set_state(machine, made, TupleValue([rest, machine.dict_of(filled)]), of)
        elif held:
            _set_state(machine, made, table, of)
        return made
    for name, item in held.items():
        assert item is not None
        made.attributes[name] = of(item)
    for slot in slots:
        made.attributes[slot] = of(machine.get_attribute(value, slot))
    return made


def _is_own(machine: Machine, cls: type, name: str) -> bool:
    """Whether a class has a method of this name that is written in Python."""
    found = machine.class_lookup(cls, name)
    return found is not None and isinstance(found[1], types.FunctionType)


def _set_state(machine: Machine, made: Value, state: Value, of: Callable) -> None:
    """What `__getstate__` gave, put into a copy: by its `__setstate__`, or as attributes."""
    state = machine.real(of(state))
    if _is_own(machine, made.python_type(), "__setstate__"):
        machine.method(made, "__setstate__", [state])
        return
    parts: Arguments = [state]
    if isinstance(state, TupleValue) and len(state.values) == 2:
        parts = list(state.values)
    for number, part in enumerate(parts):
        if isinstance(machine.real(part), Constant):  # None: there is nothing
            continue
        for key, item in machine.pairs([part], {}):
            if number:  # of slots
                machine.real(made).set_attribute(machine, key.known(), item)
            else:
                InstanceDict(made).set_item(machine, key, item)  # type: ignore[arg-type]


def _rebuilt(
    machine: Machine, value: ObjectValue, args: Arguments, name: str, of: Callable,
    memo: DictValue | None,
) -> Value:  # fmt: skip
    """What `__reduce__` tells to do: a function, its arguments, a state, items, pairs."""
    told = machine.real(machine.method(value, name, args))
    if not isinstance(told, TupleValue):
        return value  # the name of something that there is once
    function, given, *rest = told.values
    parts = [of(item) for item in machine.items(given)]
    made = machine.real(machine.call(function, parts, {}))
    if memo is not None:
        _note(machine, memo, value, made)
    state, items, pairs = [*map(machine.real, rest), *[Constant(None)] * 3][:3]
    if not (isinstance(state, Constant) and state.value is None):
        _set_state(machine, made, state, of)
    if not isinstance(items, Constant):
        for item in machine.items(items):
            machine.method(made, "append", [of(item)])
    if not isinstance(pairs, Constant):
        for pair in machine.items(pairs):
            key, item = machine.items(pair)
            made.set_item(machine, of(key), of(item))
    return made

"""`copy.copy` and `copy.deepcopy` over values.

In: a value. Out: a new one of the same kind with the same items, or with copies of them; what
cannot change is shared. A tensor is cloned.

Source: the `copy` module's documentation.
"""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.values.base import Arguments, Keywords, Value
from minitorch2.jit.capture.values.containers import ContainerObject
from minitorch2.jit.capture.values.deques import DequeValue
from minitorch2.jit.capture.values.instance_dicts import InstanceDict
from minitorch2.jit.capture.values.keys import Key
from minitorch2.jit.capture.values.mappings import DictValue
from minitorch2.jit.capture.values.natives import NativeObject
from minitorch2.jit.capture.values.objects import ObjectValue
from minitorch2.jit.capture.values.sequences import ListValue, TupleValue
from minitorch2.jit.capture.values.sets import SetValue
from minitorch2.jit.capture.values.tensors import TensorValue
from minitorch2.jit.capture.values.weak import check_lifetime
from minitorch2.tensors import Tensor

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine

Memo = dict[int, Value]
CUSTOM = ("__reduce_ex__", "__reduce__", "__getstate__", "__setstate__", "__getnewargs__")


def shallow(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """`copy.copy(value)`."""
    value = machine.real(args[0])
    if isinstance(value, ListValue | DictValue | SetValue | DequeValue):
        return value.call_method(machine, "copy", [], {})
    if isinstance(value, NativeObject):
        return machine.from_python(copy.copy(value.object))
    if isinstance(value, ObjectValue):
        custom = machine.class_lookup(value.cls, "__copy__")
        if custom is not None:
            return machine.call(machine.class_attribute(value, "__copy__"), [], {})
        return _instance(machine, value, lambda item: item)
    if isinstance(value, TensorValue):
        machine.stop("unknown-call", "copy.copy() of a tensor")
    return value


def deep(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """`copy.deepcopy(value)`."""
    if len(args) > 1 or kwargs:
        machine.stop("unknown-call", "copy.deepcopy() with a memo")
    return _deep(machine, machine.real(args[0]), {})


def _deep(machine: Machine, value: Value, memo: Memo) -> Value:
    value = machine.real(value)
    known = memo.get(id(value))
    if known is not None:
        return known
    made = _copied(machine, value, memo)
    memo[id(value)] = made
    return made


def _copied(machine: Machine, value: Value, memo: Memo) -> Value:
    def inner(item: Value) -> Value:
        return _deep(machine, item, memo)

    if isinstance(value, ListValue):
        made = memo[id(value)] = ListValue([])
        made.values.extend(inner(item) for item in list(value.values))
        return made
    if isinstance(value, DequeValue):
        return DequeValue([inner(item) for item in value.values], value.limit)
    if isinstance(value, DictValue):
        value.all_keys(machine)
        table = memo[id(value)] = DictValue({}, None, value.cls, value.factory)
        for key, item in value.entries.items():
            copied = machine.key(inner(key.value)) if isinstance(key, Key) else key
            table.entries[copied] = inner(item)
        return table
    if isinstance(value, SetValue):
        return _copied_set(machine, value, inner)
    if isinstance(value, TupleValue):
        items = [inner(item) for item in value.values]
        same = all(a is machine.real(b) for a, b in zip(items, value.values, strict=True))
        return value if same else TupleValue(items, value.cls)
    if isinstance(value, TensorValue):
        return _tensor(machine, value)
    if isinstance(value, NativeObject):
        return machine.from_python(copy.deepcopy(value.object))
    if isinstance(value, ObjectValue):
        if machine.class_lookup(value.cls, "__deepcopy__") is not None:
            machine.stop("unknown-call", f"{value.cls.__name__}.__deepcopy__()")
        return _instance(machine, value, inner, memo)
    return value


def _copied_set(machine: Machine, value: SetValue, inner: Callable[[Value], Value]) -> Value:
    """A set of the copies: plain items are their own, objects are new ones."""
    if not any(isinstance(key, Key) for key in value.keys):
        return value.call_method(machine, "copy", [], {})
    copies = [inner(value.keys[key]) for key in value.order]
    found = SetValue((machine.key(item), item) for item in copies)
    return value.made(machine, found.keys, value.cls(found.order))


def _tensor(machine: Machine, value: TensorValue) -> Value:
    if value.fake.requires_grad:
        machine.stop("gradient-machinery", "copy.deepcopy() of a tensor that requires grad")
    return machine.run_python(Tensor.clone, [value], {})  # type: ignore[attr-defined]


def _instance(machine: Machine, value: ObjectValue, of: Any, memo: Memo | None = None) -> Value:
    """An instance of the same class with the attributes copied by `of`."""
    for name in CUSTOM:
        found = machine.class_lookup(value.cls, name)
        if found is not None and isinstance(found[1], types.FunctionType):
            machine.stop("unknown-call", f"copying a {value.cls.__name__}, by its {name}")
    check_lifetime(machine, value.cls)
    if machine.is_module_class(value.cls):
        machine.stop("unknown-call", "copying a module")
    if value.native is not None:
        part = shallow(machine, None, [value.native], {}) if memo is None else of(value.native)
        made: ObjectValue = ContainerObject(value.cls, part)
    else:
        made = ObjectValue(value.cls)
    if memo is not None:
        memo[id(value)] = made
    for name in InstanceDict(value).names(machine):
        held = value.own(machine, name)
        assert held is not None
        made.attributes[name] = of(held)
    for slot in _slots(value.cls):
        if machine.has(value, slot):
            made.attributes[slot] = of(machine.get_attribute(value, slot))
    return made


def _slots(cls: type) -> list[str]:
    kind = types.MemberDescriptorType
    found = [n for c in cls.__mro__ for n, held in c.__dict__.items() if isinstance(held, kind)]
    return [name for name in found if name != "__dict__"]  # of a SimpleNamespace, its attributes

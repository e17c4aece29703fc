"""Python objects to values: with a source and guards, or as the result of something just computed.

In: an object met in the call (`wrap`) or made during capture (`from_python`). Out: the value that
models it. An object met twice is one value; when it was met under two sources, a guard says so.
"""

from __future__ import annotations

import _string  # type: ignore[import-not-found]
import collections
import contextvars
import enum
import functools
import itertools
import re
import string
import struct
import types
import weakref
from typing import TYPE_CHECKING, Any

import numpy

from minitorch2.errors import is_own_file
from minitorch2.jit.capture.source import (
    MODULE_TABLES,
    AttributeSource,
    CellSource,
    ConstantSource,
    ItemSource,
    KeyedSource,
    NativeItemSource,
    Source,
)
from minitorch2.jit.capture.values import outside
from minitorch2.jit.capture.values.base import Lazy, NativeMethod, Value
from minitorch2.jit.capture.values.classes import ClassValue
from minitorch2.jit.capture.values.constants import LITERALS, Constant, is_constant
from minitorch2.jit.capture.values.containers import ContainerObject, native_base
from minitorch2.jit.capture.values.context_variables import context_variable
from minitorch2.jit.capture.values.contexts import MODE_VALUES
from minitorch2.jit.capture.values.counters import counter
from minitorch2.jit.capture.values.deques import DequeValue
from minitorch2.jit.capture.values.exceptions import CaughtValue, ExceptionValue
from minitorch2.jit.capture.values.functions import FunctionValue, MethodValue, NativeValue
from minitorch2.jit.capture.values.mappings import DictValue
from minitorch2.jit.capture.values.namespaces import (
    CellValue,
    GlobalsValue,
    ModuleValue,
    is_namespace,
)
from minitorch2.jit.capture.values.natives import MUTABLE, NativeObject
from minitorch2.jit.capture.values.objects import (
    HOOK_TABLES,
    ObjectValue,
    OpaqueValue,
    is_user_class,
)
from minitorch2.jit.capture.values.partials import outside_partial
from minitorch2.jit.capture.values.random_states import random_state
from minitorch2.jit.capture.values.sequences import (
    ListValue,
    SliceValue,
    TupleValue,
    is_plain_tuple,
)
from minitorch2.jit.capture.values.sets import SetValue
from minitorch2.jit.capture.values.weak import outside_reference
from minitorch2.jit.shapes.symbolic_size import SymbolicSize
from minitorch2.random import Generator
from minitorch2.tensors import Size, Tensor

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine

OWN_TABLES = frozenset((*MODULE_TABLES, *HOOK_TABLES))  # always dicts: nn.Module makes them
NATIVE_CALLABLES = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    property,
    staticmethod,
    classmethod,
    functools._lru_cache_wrapper,
    numpy.ufunc,
    type(numpy.concatenate),
)


def wrap(machine: Machine, object: Any, source: Source) -> Value:
    """The value of an object that stands at a source; guards what its kind depends on."""
    if machine.in_place and (change := machine.in_place.get(str(source))) is not None:
        object = change(object)
    known = machine.state.by_id.get(id(object))
    if known is not None:
        machine.state.guard_same(known.source, source)
        return known
    kind = type(object)  # `isinstance` would ask the object for its `__class__`
    state = machine.state
    if issubclass(kind, Tensor):
        return machine.input_tensor(object, source)
    if kind in LITERALS or issubclass(kind, enum.Enum):
        return machine.input_constant(object, source)
    maker = MAKERS.get(kind)
    if maker is not None:
        own_table = isinstance(source, AttributeSource) and source.name in OWN_TABLES
        if not own_table and not issubclass(kind, (types.FunctionType, *NATIVE_CALLABLES)):
            state.guard_type(source, kind)
        return maker(machine, object, source)
    if is_constant(object):
        return machine.input_constant(object, source)
    if issubclass(kind, type):
        state.guard_class(source, object)
        return ClassValue(object, source)
    if issubclass(kind, types.ModuleType):
        state.guard_identity(source, object)
        return ModuleValue(object, source)
    if issubclass(kind, NATIVE_CALLABLES):
        return _native(machine, object, source)
    state.guard_type(source, kind)
    if issubclass(kind, tuple) and is_plain_tuple(kind):
        return _tuple(machine, object, source)
    if is_user_class(kind) and native_base(kind) is not None:
        return _container(machine, object, source)
    if issubclass(kind, BaseException):
        value: Value = CaughtValue(object, source)
    elif is_user_class(kind) or kind is types.SimpleNamespace:
        value = ObjectValue(kind, object, source)
    else:
        value = OpaqueValue(object, source)
    state.remember(object, value)
    return value


def _tuple(machine: Machine, object: tuple, source: Source, base: type | None = None) -> Value:
    machine.state.guard_length(source, len(object))
    return TupleValue(_items(machine, object, source, base), base or type(object), source)


def _items(machine: Machine, object: Any, source: Source, base: type | None = None) -> list[Value]:
    cls: Any = base or type(object)
    items = cls.__iter__(object)
    return [Lazy(item, _item(source, i, base), machine) for i, item in enumerate(items)]


def _item(source: Source, key: Any, base: type | None) -> Source:
    """The place of an item, past the methods of a class that extends `base`."""
    return ItemSource(source, key) if base is None else NativeItemSource(source, key, base)


def _list(machine: Machine, object: list, source: Source, base: type | None = None) -> Value:
    value = ListValue(_items(machine, object, source, base), source)
    length = list.__len__(object)
    value.on_read = lambda: machine.state.guard_length(source, length)
    machine.state.remember(object, value)
    return value


def _deque(machine: Machine, object: Any, source: Source, base: type | None = None) -> Value:
    machine.state.guard_length(source, len(object))
    limit = machine.wrap(object.maxlen, AttributeSource(source, "maxlen")).known()
    value = DequeValue(_items(machine, object, source, base), limit, source)
    machine.state.remember(object, value)
    return value


def _container(machine: Machine, object: Any, source: Source) -> Value:
    """An instance of a user class that extends a native one."""
    kind = type(object)
    base: Any = native_base(kind)
    makers: dict[type, Any] = {
        list: _list, dict: _dict, collections.OrderedDict: _dict, tuple: _tuple,
        collections.defaultdict: _dict, collections.deque: _deque,
    }  # fmt: skip
    maker = makers.get(base)
    if maker is not None:
        native: Value = maker(machine, object, source, base)
    elif base in (set, frozenset):
        if base is frozenset or not all(is_constant(item) for item in object):
            return OpaqueValue(object, source)
        machine.state.guard_same_items(source, base, object)
        native = _known_set(base(object), source)
    else:
        plain = base.__getnewargs__(object)[0] if base is not complex else complex(object)
        machine.state.guard_native_value(source, base, plain)
        native = Constant(plain)
    value = ContainerObject(kind, native, object, source)
    machine.state.remember(object, value)
    return value


def _dict(machine: Machine, object: dict, source: Source, base: type | None = None) -> Value:
    if type(object) is dict and is_namespace(object):
        machine.state.guard_identity(source, object)
        return globals_value(machine, object)
    value = DictValue({}, source, base or type(object))
    entries = value.entries
    machine.state.remember(object, value)
    for key, item in dict.items(object):
        if is_constant(key):
            place: Source = _item(source, key, base)
            if not _readable(key):
                place = KeyedSource(source, ConstantSource(key, type(key).__name__))
            entries[key] = Lazy(item, place, machine)
            continue
        held = machine.state.by_id.get(id(key))
        if held is None:
            held = wrap(machine, key, ConstantSource(key, f"a {type(key).__name__}", False))
            machine.state.remember(key, held)
        where = held.source or ConstantSource(key, type(key).__name__)
        entries[machine.key(held)] = Lazy(item, KeyedSource(source, where), machine)
    value.original = tuple(entries)
    if type(object) is collections.OrderedDict:
        value.object = object
    if isinstance(object, collections.defaultdict) and object.default_factory is not None:
        value.factory = wrap(
            machine, object.default_factory, AttributeSource(source, "default_factory")
        )
    return value


def _readable(key: Any) -> bool:
    if type(key) is tuple:
        return all(_readable(item) for item in key)
    return type(key) in (str, int, bool, bytes, type(None))


def _set(machine: Machine, object: Any, source: Source) -> Value:
    if not all(is_constant(item) or isinstance(item, type) for item in object):
        value: Value = OpaqueValue(object, source)
    else:
        machine.state.guard_value(source, object.copy())
        value = _known_set(object, source)
    machine.state.remember(object, value)
    return value


def _known_set(object: Any, source: Source | None) -> SetValue:
    """A set of plain items; the order goes along."""
    pairs = [(i, ClassValue(i) if isinstance(i, type) else Constant(i)) for i in object]
    return SetValue(pairs, source, type(object), object.copy())


def _frozenset(machine: Machine, object: Any, source: Source) -> Value:
    if is_constant(object):
        return machine.input_constant(object, source)
    return _set(machine, object, source)


def _slice(machine: Machine, object: slice, source: Source) -> Value:
    parts: list[Value] = [
        Lazy(getattr(object, name), AttributeSource(source, name), machine)
        for name in ("start", "stop", "step")
    ]
    return SliceValue(parts, source)


def function_value(machine: Machine, object: types.FunctionType, source: Source) -> Value:
    """A Python function with its cells and globals."""
    if is_own_file(object.__code__.co_filename):  # many of ours share one body
        machine.state.guard_identity(source, object)
    else:
        machine.state.guard_code(source, object.__code__)
    cells = [
        cell_value(machine, cell, CellSource(source, index, name))
        for index, (cell, name) in enumerate(
            zip(object.__closure__ or (), object.__code__.co_freevars, strict=True)
        )
    ]
    scope = machine.globals_value(object.__globals__)
    return FunctionValue(object.__code__, scope, cells, object, source)


def cell_value(
    machine: Machine, cell: types.CellType, source: Source, name: str = "cell"
) -> CellValue:
    """A closure cell; one object, one value."""
    known = machine.state.by_id.get(id(cell))
    if isinstance(known, CellValue):
        return known
    name = source.name if isinstance(source, CellSource) else name
    value = CellValue(name, None, cell, source)
    machine.state.remember(cell, value)
    return value


def _method(machine: Machine, object: types.MethodType, source: Source) -> Value:
    if type(object.__self__) in MODE_VALUES:  # what a `with` block keeps across a break
        held = wrap(machine, object.__self__, AttributeSource(source, "__self__"))
        return NativeMethod(held, object.__name__)
    name = object.__func__.__name__
    if isinstance(object.__self__, Tensor) and hasattr(type(object.__self__), name):
        held = wrap(machine, object.__self__, AttributeSource(source, "__self__"))
        return held.get_attribute(machine, name)
    owner = Lazy(object.__self__, AttributeSource(source, "__self__"), machine)
    function = wrap(machine, object.__func__, AttributeSource(source, "__func__"))
    value = MethodValue(owner, function, source)
    machine.state.remember(object, value)
    return value


def _native(machine: Machine, object: Any, source: Source) -> Value:
    owner = getattr(object, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType | type):
        if isinstance(object, types.BuiltinFunctionType | types.MethodWrapperType):
            held = wrap(machine, owner, AttributeSource(source, "__self__"))
            return NativeMethod(held, object.__name__)
    machine.state.guard_identity(source, object)
    return NativeValue(object, source)


MADE_ITERATORS: tuple[type, ...] = (
    type(re.finditer("", "")), type(reversed([])), type(iter([])),
    type(struct.iter_unpack("b", b"")), type(string.Formatter().parse("")),
    type(_string.formatter_field_name_split("")[1]),
)  # fmt: skip
MAKERS: dict[type, Any] = {
    tuple: _tuple,
    Size: _tuple,
    list: _list,
    dict: _dict,
    collections.OrderedDict: _dict,
    collections.defaultdict: _dict,
    collections.deque: _deque,
    set: _set,
    frozenset: _frozenset,
    slice: _slice,
    types.FunctionType: function_value,
    types.MethodType: _method,
    types.CellType: cell_value,
    functools.partial: outside_partial,
    contextvars.ContextVar: context_variable,
    weakref.ref: outside_reference,
    weakref.KeyedRef: outside_reference,
    **MODE_VALUES,
}
for _kind in (*outside.PLAIN, enumerate, zip):
    MAKERS[_kind] = outside.outside_iterator
MAKERS[itertools.count] = counter
MAKERS[Generator] = random_state
for _kind in NATIVE_CALLABLES:
    MAKERS[_kind] = _native


def from_python(machine: Machine, object: Any) -> Value:
    """The value of something computed during capture."""
    kind = type(object)
    if kind in LITERALS or isinstance(object, SymbolicSize):
        return Constant(object)
    if isinstance(object, Tensor):
        return machine.tensor_result(object)
    known = machine.state.by_id.get(id(object))
    if known is not None:
        return known
    if isinstance(object, tuple):
        return TupleValue([from_python(machine, item) for item in object], kind)
    if kind is list:
        return ListValue([from_python(machine, item) for item in object])
    if kind in (dict, collections.OrderedDict):
        entries = {key: from_python(machine, item) for key, item in object.items()}
        return DictValue(entries, None, kind)
    if kind is set:
        return SetValue(((i, from_python(machine, i)) for i in object), None, set, set(object))
    if kind is collections.deque:
        return DequeValue([from_python(machine, item) for item in object], object.maxlen)
    if kind is slice:
        parts = (object.start, object.stop, object.step)
        return SliceValue([from_python(machine, part) for part in parts])
    if is_constant(object):
        return Constant(object)
    if isinstance(object, MUTABLE):
        made = NativeObject(object)
        machine.state.remember(object, made)
        return made
    if kind is types.MappingProxyType:
        return DictValue({k: from_python(machine, v) for k, v in object.items()}, None, kind)
    if kind in MADE_ITERATORS:
        return machine.iterate_over(from_python(machine, item) for item in object)
    if isinstance(object, type):
        return ClassValue(object)
    if isinstance(object, BaseException):
        args = [from_python(machine, item) for item in object.args]
        return ExceptionValue(kind, args, object)
    label = str(getattr(object, "__name__", kind.__name__))
    return wrap(machine, object, ConstantSource(object, label))


def globals_value(machine: Machine, table: dict[str, Any]) -> GlobalsValue:
    """The globals of a module; one dict, one value."""
    known = machine.state.by_id.get(id(table))
    if isinstance(known, GlobalsValue):
        return known
    value = GlobalsValue(table)
    machine.state.remember(table, value)
    return value

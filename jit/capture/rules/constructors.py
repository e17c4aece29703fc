"""Calling builtin classes: list, dict, range, enumerate, zip, map, super, type and the rest.

In: the values of a call. Out: the value made. Iterators are written as Python generators over
values, so that they compute no more than the program asks for.
"""

from __future__ import annotations

import collections
import functools
import operator
import threading
import types
import typing
import weakref
from typing import TYPE_CHECKING

from minitorch2 import creation
from minitorch2.dtypes import get_default_dtype
from minitorch2.jit.capture import protocols
from minitorch2.jit.capture.leaves import LEAVES, make_parameter
from minitorch2.jit.capture.rules.builtins import Rule, run_or_refuse
from minitorch2.jit.capture.rules.class_statements import descriptor, type_call
from minitorch2.jit.capture.rules.iteration import ITERATORS
from minitorch2.jit.capture.rules.twins import twin_of
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value
from minitorch2.jit.capture.values.classes import ClassValue, SuperValue
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.deques import DequeValue
from minitorch2.jit.capture.values.floats import FloatValue
from minitorch2.jit.capture.values.functions import HostFunctionValue, MethodValue
from minitorch2.jit.capture.values.instance_dicts import InstanceDict
from minitorch2.jit.capture.values.keys import Key
from minitorch2.jit.capture.values.locks import LockValue
from minitorch2.jit.capture.values.mappings import DictValue
from minitorch2.jit.capture.values.namespaces import CellValue
from minitorch2.jit.capture.values.objects import ObjectValue
from minitorch2.jit.capture.values.partials import PartialValue
from minitorch2.jit.capture.values.random_states import new_generator
from minitorch2.jit.capture.values.sequences import (
    ListValue,
    SliceValue,
    TupleValue,
)
from minitorch2.jit.capture.values.sets import SetValue
from minitorch2.jit.capture.values.tensors import TensorValue
from minitorch2.jit.capture.values.weak import weak_reference
from minitorch2.random import Generator
from minitorch2.tensors import Size, Tensor

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


def _list(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return ListValue(machine.items(args[0]) if args else [])


def _tuple(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return TupleValue(machine.items(args[0]) if args else [])


def _size(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return TupleValue(machine.items(args[0]) if args else [], Size)


def _dict(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    made = DictValue({})
    for key, value in machine.pairs(args, kwargs):
        made.set_item(machine, key, value)
    return made


def _set(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    made = SetValue()
    if args:
        made.call_method(machine, "update", args[:1], {})
    return made


def _frozenset(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    found = _set(machine, args, kwargs)
    assert isinstance(found, SetValue)
    order = frozenset(found.order)
    if any(isinstance(key, Key) for key in order):
        return SetValue(found.keys.items(), None, frozenset, order)
    return Constant(order)


def _slice(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    parts = [machine.real(argument) for argument in args]
    none: Value = Constant(None)
    parts = [none, *parts, none] if len(parts) == 1 else [*parts, none]
    return SliceValue(parts[:3])


def _number(cls: type, method: str) -> Rule:
    def apply(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        value = machine.real(args[0]) if args else Constant(0)
        if isinstance(value, TensorValue):
            machine.stop("data-dependent", f"{cls.__name__}() of a tensor")
        if cls is float and isinstance(value, FloatValue):
            return value
        if isinstance(value, ObjectValue):
            found = value.special(machine, method)
            if found is None and cls is not complex and value.native is None:
                found = value.special(machine, "__index__")
                found = found if found is None else machine.run_python(cls, [found], {})
            if found is not None:
                return found
        return run_or_refuse(machine, cls, args, kwargs)

    return apply


def _bool(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return Constant(machine.truth(args[0]) if args else False)


def _str(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    if len(args) != 1 or kwargs:
        return machine.run_python(str, args, kwargs)
    return protocols.text_of(machine, args[0], str)


def _type(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    if len(args) == 3:
        return type_call(machine, args, kwargs)
    return ClassValue(machine.real(args[0]).python_type())


def _type_variable(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    """`TypeVar("T")`, which says in which module it was made."""
    plain = [machine.real(argument).known() for argument in args]
    named = {key: machine.real(value).known() for key, value in kwargs.items()}
    made = machine.guarded(lambda: typing.TypeVar(*plain, **named))
    made.__module__ = machine.state.frames[-1].globals.table.get("__name__")
    return machine.from_python(made)


def _tensor(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    """`Tensor(2, 3)`, of sizes, or `Tensor([1, 2])`, of numbers; always floats."""
    given = [machine.real(argument) for argument in args]
    if kwargs or any(isinstance(argument, TensorValue) for argument in given):
        machine.stop("unknown-object", "a Tensor made inside the function")
    element = Constant(get_default_dtype())
    if len(given) == 1 and isinstance(given[0], (ListValue, TupleValue)):
        if given[0].python_type() is not Size:
            make = machine.trusted(creation.tensor, "tensor")
            return machine.call(make, given, {"dtype": element})
    return machine.call(machine.trusted(creation.empty, "empty"), given or [Constant(0)], {})


def _leaf(cls: type) -> Rule:
    def apply(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        return make_parameter(machine, cls, args, kwargs)

    return apply


def _object(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    if args or kwargs:
        machine.type_error("object() takes no arguments")
    return ObjectValue(object)


def _super(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    if args:
        cls, owner = (machine.real(argument) for argument in args)
        return SuperValue(cls.known(), owner)
    frame = machine.state.frames[-1]
    owner = frame.slots[0]
    if isinstance(owner, CellValue):
        owner = owner.load(machine)
    for index, held in enumerate(frame.slots):
        if isinstance(held, CellValue) and frame.name_of(index) == "__class__":
            return SuperValue(machine.real(held.load(machine)).known(), machine.real(owner))
    return machine.raise_(RuntimeError, "super(): __class__ cell not found")


# ---- ranges and functions


def _range(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    whole = [machine.native(argument) for argument in args]
    if all(isinstance(argument, Constant) for argument in whole):
        return machine.run_python(range, whole, kwargs)
    bounds: Arguments = [Constant(machine.index_of(argument)) for argument in whole]
    return machine.run_python(range, bounds, kwargs)


def _partial(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    if not args:
        machine.type_error("type 'partial' takes at least one argument")
    function, given = machine.real(args[0]), list(args[1:])
    if not machine.truth(machine.call_native(callable, [function], {})):
        machine.type_error("the first argument must be callable")
    if isinstance(function, ObjectValue) and issubclass(function.cls, functools.partial):
        function = _plain_partial(machine, function)
    if isinstance(function, PartialValue) and function.is_bare(machine):  # the two are one
        return function.extended(machine, given, kwargs)
    return PartialValue(function, TupleValue(given), DictValue(dict(kwargs)))


def _plain_partial(machine: Machine, value: ObjectValue) -> Value:
    """An instance of a subclass as Python takes it apart: when nothing was added to it."""
    own = machine.class_lookup(value.cls, "__call__")[0]
    if own is not functools.partial or InstanceDict(value).names(machine):
        return value
    function, args, named = (
        machine.real(machine.get_attribute(value, name)) for name in ("func", "args", "keywords")
    )
    pairs = machine.pairs([named], {})
    table = DictValue({key.known(): item for key, item in pairs})
    return PartialValue(function, TupleValue(machine.items(args)), table)


def _itemgetter(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    def get(machine: Machine, given: Arguments, named: Keywords) -> Value:
        found = [machine.get_item(given[0], key) for key in args]
        return found[0] if len(found) == 1 else TupleValue(found)

    return HostFunctionValue(get, operator.itemgetter)


def _attrgetter(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    paths = [machine.real(argument).known().split(".") for argument in args]

    def get(machine: Machine, given: Arguments, named: Keywords) -> Value:
        found = []
        for path in paths:
            value = given[0]
            for name in path:
                value = machine.get_attribute(value, name)
            found.append(value)
        return found[0] if len(found) == 1 else TupleValue(found)

    return HostFunctionValue(get, operator.attrgetter)


def _methodcaller(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    name = machine.real(args[0]).known()

    def call(machine: Machine, given: Arguments, named: Keywords) -> Value:
        return machine.call(machine.get_attribute(given[0], name), list(args[1:]), kwargs)

    return HostFunctionValue(call, operator.methodcaller)


def _namespace(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    made = ObjectValue(types.SimpleNamespace)
    for name, value in kwargs.items():
        made.store(machine, name, value)
    return made


def _deque(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    made = DequeValue([], None)
    made.call_method(machine, "__init__", args, kwargs)
    return made


def _mapping(cls: type) -> Rule:
    def apply(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        made = DictValue({}, None, cls)
        made.call_method(machine, "__init__", args, kwargs)
        return made

    return apply


def _method(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    function, owner = args
    return MethodValue(machine.real(owner), machine.real(function))


def _proxy(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    table = machine.native(args[0])
    if not isinstance(table, DictValue):
        machine.stop("unknown-call", "a mappingproxy of an object")
    table.all_keys(machine)
    made = DictValue({}, None, types.MappingProxyType)
    made.entries = table.entries  # one dict: it follows what becomes of the other
    return made


def _lru_cache(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    twin = twin_of(functools._lru_cache_wrapper)
    return machine.call(machine.wrap_function(twin), args, kwargs)


def _lock(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return LockValue()


def _weak(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    if len(args) == 2 and args[1].python_type() is not type(None):
        machine.stop("lifetime", "weakref.ref() with a callback")
    if kwargs or len(args) not in (1, 2):
        machine.stop("unknown-call", "weakref.ref() with other arguments")
    return weak_reference(machine, machine.real(args[0]))


CLASS_RULES: dict[type, Rule] = {
    weakref.ref: _weak,
    **ITERATORS,
    list: _list,
    tuple: _tuple,
    Size: _size,
    dict: _dict,
    set: _set,
    frozenset: _frozenset,
    slice: _slice,
    int: _number(int, "__int__"),
    float: _number(float, "__float__"),
    complex: _number(complex, "__complex__"),
    bool: _bool,
    str: _str,
    type: _type,
    object: _object,
    property: descriptor(property),
    staticmethod: descriptor(staticmethod),
    classmethod: descriptor(classmethod),
    super: _super,
    Tensor: _tensor,
    Generator: new_generator,
    **{cls: _leaf(cls) for cls in LEAVES},
    typing.TypeVar: _type_variable,
    range: _range,
    functools.partial: _partial,
    collections.deque: _deque,
    collections.OrderedDict: _mapping(collections.OrderedDict),
    collections.defaultdict: _mapping(collections.defaultdict),
    operator.itemgetter: _itemgetter,
    operator.attrgetter: _attrgetter,
    operator.methodcaller: _methodcaller,
    types.SimpleNamespace: _namespace,
    types.MethodType: _method,
    types.MappingProxyType: _proxy,
    functools._lru_cache_wrapper: _lru_cache,
    type(threading.RLock()): _lock,
}

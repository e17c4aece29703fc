"""Native functions of the standard library, and slots such as `object.__setattr__`.

In: the function and the values of a call. Out: the value it returns. Functions of `math` and
`operator` are pure and run on what is known; the rest have a rule each.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import functools
import math
import operator
import sys
import types
import weakref
from typing import TYPE_CHECKING, Any

import numpy

from minitorch2.jit.capture import protocols, symbols
from minitorch2.jit.capture.rules.arrays import run_numpy
from minitorch2.jit.capture.rules.builtins import RULES, rule
from minitorch2.jit.capture.rules.iteration import FUNCTIONS
from minitorch2.jit.capture.rules.kept_answers import call_kept
from minitorch2.jit.capture.rules.twins import twin_of
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value
from minitorch2.jit.capture.values.classes import new_container, new_object
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.containers import native_base
from minitorch2.jit.capture.values.exceptions import traceback_of
from minitorch2.jit.capture.values.mappings import DictValue
from minitorch2.jit.capture.values.objects import ObjectValue
from minitorch2.jit.capture.values.sequences import TupleValue, is_plain_tuple
from minitorch2.jit.capture.values.tensors import TensorValue
from minitorch2.jit.capture.values.weak import check_lifetime

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine

PURE_MODULES = ("math", "_operator", "cmath", "_bisect", "binascii", "_string", "_struct")
PATHS = ("fspath", "_path_normpath", "_path_splitroot_ex")
WORLD = ("time", "_warnings", "posix", "_thread", "_io", "_socket", "_signal")
CLOCKS = ("now", "today", "utcnow", "fromtimestamp", "utcfromtimestamp")  # time, or the time zone
PURE_OWNERS = (int, float, str, bytes, complex)
FIXED_KINDS = (decimal.Decimal, datetime.date, datetime.time, datetime.timedelta)
PURE_FUNCTIONS = (str.maketrans, bytes.maketrans, sys.intern, sys.getrecursionlimit)


@rule(object.__new__)
def _new(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    cls = machine.real(args[0]).known()
    if args[1:] or kwargs:
        if machine.class_lookup(cls, "__new__")[0] is not object:
            text = "object.__new__() takes exactly one argument (the type to instantiate)"
            machine.type_error(text)
        if machine.class_lookup(cls, "__init__")[0] is object:
            machine.type_error(f"{cls.__name__}() takes no arguments")
    return new_object(machine, cls)


@rule(weakref.proxy)
def _proxy(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    machine.stop("lifetime", "weakref.proxy()")


@rule(collections._count_elements)  # type: ignore[attr-defined]
def _count_elements(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    table = machine.real(args[0])
    for item in machine.items(args[1]):
        seen = machine.method(table, "get", [item, Constant(0)])
        machine.real(table).set_item(
            machine, machine.real(item), protocols.binary(machine, "+", seen, Constant(1))
        )
    return Constant(None)


@rule(object.__init__)
def _init(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    if args[1:] or kwargs:
        cls = args[0].python_type()
        if machine.class_lookup(cls, "__init__")[0] is not object:
            text = "object.__init__() takes exactly one argument (the instance to initialize)"
            machine.type_error(text)
        if machine.class_lookup(cls, "__new__")[0] is object:
            text = f"{cls.__name__}.__init__() takes exactly one argument"
            machine.type_error(f"{text} (the instance to initialize)")
    return Constant(None)


@rule(object.__setattr__)
def _setattr(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    owner, name = machine.real(args[0]), machine.real(args[1]).known()
    if isinstance(owner, ObjectValue):
        owner.generic_set(machine, name, args[2])
    else:
        owner.set_attribute(machine, name, args[2])
    return Constant(None)


@rule(object.__getattribute__)
def _getattribute(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    owner, name = machine.real(args[0]), machine.real(args[1]).known()
    if not isinstance(owner, ObjectValue):
        return owner.get_attribute(machine, name)
    found = owner.find(machine, name)
    if found is None:
        text = f"'{owner.cls.__name__}' object has no attribute '{name}'"
        machine.raise_(AttributeError, text)
    return found


@rule(object.__delattr__)
def _delattr(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    owner, name = machine.real(args[0]), machine.real(args[1]).known()
    if not isinstance(owner, ObjectValue) or owner.own(machine, name) is None:
        kind = owner.python_type().__name__
        machine.raise_(AttributeError, f"'{kind}' object has no attribute '{name}'")
    owner.store(machine, name, None)
    return Constant(None)


@rule(object.__eq__, object.__ne__)
def _eq(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    same = protocols.identical(machine, args[0], args[1])
    return Constant(True) if same else Constant(NotImplemented)


@rule(dict.fromkeys)
def _fromkeys(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    value = args[1] if len(args) > 1 else Constant(None)
    return DictValue({machine.key(key): value for key in machine.items(args[0])})


@rule(functools.reduce)
def _reduce(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    items = machine.items(args[1])
    if len(args) > 2:
        items.insert(0, args[2])
    if not items:
        machine.type_error("reduce() of empty iterable with no initial value")
    total = items[0]
    for item in items[1:]:
        total = machine.call(args[0], [total, item], {})
    return total


def _operator_rules() -> None:
    for symbol, (function, _, _) in symbols.BINARY.items():
        RULES[function] = _binary(symbol)
    for symbol, function in symbols.INPLACE.items():
        RULES[function] = _inplace(symbol)
    for symbol, (function, _, _) in symbols.COMPARE.items():
        RULES[function] = _compare(symbol)
    for symbol, (function, _) in symbols.UNARY.items():
        RULES[function] = _unary(symbol)


def _binary(symbol: str) -> Any:
    return lambda machine, args, kwargs: protocols.binary(machine, symbol, *args)


def _inplace(symbol: str) -> Any:
    return lambda machine, args, kwargs: protocols.inplace(machine, symbol, *args)


def _compare(symbol: str) -> Any:
    return lambda machine, args, kwargs: protocols.compare(machine, symbol, *args)


def _unary(symbol: str) -> Any:
    return lambda machine, args, kwargs: protocols.unary(machine, symbol, *args)


_operator_rules()
RULES.update(FUNCTIONS)


@rule(operator.getitem)
def _getitem(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return machine.get_item(*args)


@rule(operator.setitem)
def _setitem(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    machine.real(args[0]).set_item(machine, machine.real(args[1]), args[2])
    return Constant(None)


@rule(operator.not_)
def _not(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return Constant(not machine.truth(args[0]))


@rule(operator.truth)
def _truth(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return Constant(machine.truth(args[0]))


@rule(operator.is_)
def _is(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return Constant(protocols.identical(machine, *args))


@rule(operator.contains)
def _contains(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return Constant(machine.real(args[0]).contains(machine, machine.real(args[1])))


@rule(operator.index)
def _index(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return Constant(machine.index_of(args[0]))


@rule(sys.exc_info)
def _exc_info(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    error = machine.state.exception
    if error is None:
        return TupleValue([Constant(None)] * 3)
    cls = machine.from_python(error.python_type())
    return TupleValue([cls, error, traceback_of(machine, error)])


@rule(sys.exception)
def _exception(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return machine.state.exception or Constant(None)


def call_descriptor(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """A method of a native class called through the class: `list.append(x, 1)`."""
    if not args:
        machine.type_error(f"unbound method {function.__name__}() needs an argument")
    owner = machine.real(args[0])
    name = function.__name__
    if not issubclass(owner.python_type(), function.__objclass__):
        cls = function.__objclass__.__name__
        kind = owner.python_type().__name__
        machine.type_error(f"descriptor '{name}' for '{cls}' objects doesn't apply to a "
                           f"'{kind}' object")  # fmt: skip
    if name in ("__eq__", "__ne__") and function.__objclass__ is object:
        return _eq(machine, args, kwargs)
    return owner.call_method(machine, name, list(args[1:]), kwargs)


def call_library(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """A native function without a rule of its own."""
    module = getattr(function, "__module__", None)
    owner = getattr(function, "__self__", None)
    twin = twin_of(function)
    if twin is not None:
        return machine.call(machine.wrap_function(twin), args, kwargs)
    if isinstance(function, functools._lru_cache_wrapper):
        return call_kept(machine, function, args, kwargs)
    if module in PURE_MODULES or owner is math or function.__name__ in PATHS:
        if any(isinstance(machine.real(argument), TensorValue) for argument in args):
            machine.stop("data-dependent", f"{function.__name__}() of a tensor")
        return machine.run_python(function, args, kwargs)
    if isinstance(owner, type) and function.__name__ == "__new__":
        return _native_new(machine, owner, args, kwargs)
    if isinstance(owner, type) and function.__name__ in CLOCKS:
        machine.stop("input-output", f"{owner.__name__}.{function.__name__}()")
    if isinstance(owner, type) and issubclass(owner, (*PURE_OWNERS, *FIXED_KINDS)):
        return machine.run_python(function, args, kwargs)
    if function in PURE_FUNCTIONS:
        return machine.run_python(function, args, kwargs)
    if (module or "").partition(".")[0] == "numpy" or isinstance(function, numpy.ufunc):
        return run_numpy(machine, function, args, kwargs)
    name = getattr(function, "__qualname__", type(function).__name__)
    code = "input-output" if module in WORLD else "unknown-call"
    return machine.stop(code, f"{module + '.' if module else ''}{name}()")


def _native_new(machine: Machine, owner: type, args: Arguments, kwargs: Keywords) -> Value:
    """`tuple.__new__(cls, items)` and its likes."""
    cls = machine.real(args[0]).known()
    check_lifetime(machine, cls)
    if issubclass(cls, weakref.ref):
        machine.stop("lifetime", f"a {cls.__name__}")
    if issubclass(cls, BaseException):
        return machine.exception(cls, list(args[1:]))
    if is_plain_tuple(cls) and issubclass(cls, tuple):
        return TupleValue(machine.items(args[1]) if len(args) > 1 else [], cls)
    if cls is owner:
        return machine.call(machine.from_python(cls), list(args[1:]), kwargs)
    if native_base(cls) is None:
        machine.stop("unknown-call", f"{owner.__name__}.__new__()")
    return new_container(machine, cls, list(args[1:]), kwargs)


def is_descriptor(function: Any) -> bool:
    """Whether a native callable is an unbound method of a native class."""
    return isinstance(function, types.WrapperDescriptorType | types.MethodDescriptorType)

"""Which rule answers a call.

In: the callable. Out: for native callables the result of their rule, for Python functions the rule
of the package (or None: inline), for builtin classes their constructor.
"""

from __future__ import annotations

import functools
import inspect
import random
import types
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.rules import class_statements, kinds  # noqa: F401 -- their rules
from minitorch2.jit.capture.rules.arrays import run_numpy
from minitorch2.jit.capture.rules.builtins import RULES, Rule, check_arity, fits_no_rule
from minitorch2.jit.capture.rules.constructors import CLASS_RULES
from minitorch2.jit.capture.rules.copying import deep, shallow
from minitorch2.jit.capture.rules.library import call_descriptor, call_library, is_descriptor
from minitorch2.jit.capture.rules.package import package_rule, run_directly, stopping
from minitorch2.jit.capture.source import ConstantSource
from minitorch2.jit.capture.values.base import Arguments, Keywords, NotKnown, Value
from minitorch2.jit.capture.values.constants import FIXED, is_constant
from minitorch2.jit.capture.values.mappings import DictValue
from minitorch2.jit.capture.values.natives import MAKERS, MUTABLE
from minitorch2.jit.capture.values.objects import ObjectValue
from minitorch2.jit.capture.values.sequences import ListValue, TupleValue
from minitorch2.jit.capture.values.tensors import TensorValue
from minitorch2.tensors import Tensor

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


PURE_LIBRARY = frozenset(
    "re fnmatch textwrap posixpath genericpath colorsys calendar html base64 keyword math json "
    "json.decoder json.encoder string statistics".split()
)  # standard library modules of which every function is pure
READING = ("json", "statistics", "textwrap")  # these only read the lists and dicts they are given


def call_native(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """A call of something that is no Python function."""
    try:
        rule = RULES.get(function)
    except TypeError:  # not hashable
        rule = None
    if rule is not None:
        check_arity(machine, function, args, kwargs)
        try:
            return rule(machine, args, kwargs)
        except (IndexError, KeyError, ValueError, TypeError) as error:
            return fits_no_rule(machine, function, args, kwargs, error)
    if getattr(function, "op", None) is not None:
        found = run_directly(machine, function, args, kwargs)
        assert found is not None
        return found
    if is_descriptor(function):
        return call_descriptor(machine, function, args, kwargs)
    return call_library(machine, function, args, kwargs)


def class_rule(cls: type) -> Rule | None:
    """The constructor of a builtin class."""
    rule = CLASS_RULES.get(cls)
    if rule is None and (cls in MAKERS or (issubclass(cls, KINDS) and not by_python(cls))):
        return _making(cls)
    if rule is None:
        return None
    found = rule

    def apply(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        try:
            return found(machine, args, kwargs)
        except (IndexError, KeyError, ValueError, TypeError) as error:
            return fits_no_rule(machine, cls, args, kwargs, error)

    return apply


KINDS = (*FIXED, *MUTABLE)


def by_python(cls: type) -> bool:
    """Whether a class was made by a class statement: it has functions of Python."""
    return any(isinstance(held, types.FunctionType) for held in cls.__dict__.values())


def _making(cls: type) -> Rule:
    """A native class whose instances capture makes for real."""

    def make(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        if cls is random.Random and not args:
            machine.stop("random-generator", "random.Random() without a seed")
        if any(isinstance(machine.real(argument), TensorValue) for argument in args):
            machine.stop("data-dependent", f"{cls.__name__}() of a tensor")
        return machine.run_python(cls, args, kwargs)

    return make


def function_rule(function: Any) -> Any:
    """The rule for a Python function, or None when it is inlined."""
    if function.__dict__:
        if "_minitorch2_disabled" in function.__dict__:
            return stopping("disabled")
        if "_minitorch2_in_graph" in function.__dict__:
            return run_directly
        if "_minitorch2_constant" in function.__dict__:
            return run_once
    if function.__module__ == "copy" and function.__name__ in COPIES:
        return COPIES[function.__name__]
    if function in class_statements.FUNCTIONS:
        return class_statements.FUNCTIONS[function]
    if (function.__module__ or "").partition(".")[0] == "numpy":
        return run_numpy
    if function.__module__ in PURE_LIBRARY and not inspect.isgeneratorfunction(function):
        return run_known
    if function.__module__ in ("logging", "warnings"):
        return stopping("input-output")
    if function.__code__ is DISPATCH:
        return dispatched
    if function.__module__ == "pdb" and function.__name__ == "set_trace":
        return lambda machine, function, args, kwargs: RULES[breakpoint](machine, args, kwargs)
    return package_rule(function)


DISPATCH = functools.singledispatch(len).dispatch.__code__


def dispatched(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value | None:
    """The `dispatch` of a singledispatch function: which implementation a class has."""
    registry = function.__closure__[function.__code__.co_freevars.index("registry")].cell_contents
    table = machine.wrap(registry, ConstantSource(registry, "registry", False))
    machine.state.guard_length(table.source, len(registry))
    found = machine.guarded(function, machine.real(args[0]).known())
    return machine.wrap(found, ConstantSource(found, getattr(found, "__name__", "function"), False))


COPIES = {"copy": shallow, "deepcopy": deep}


def run_once(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """A function whose result is the same in each call, says the user: it is called now."""
    plain = [_object_of(machine, argument) for argument in args]
    named = {key: _object_of(machine, value) for key, value in kwargs.items()}
    found = machine.guarded(lambda: function(*plain, **named))
    if isinstance(found, Tensor):
        return machine.wrap(found, ConstantSource(found, f"{function.__name__}()"))
    return machine.from_python(found)


def _object_of(machine: Machine, value: Value) -> Any:
    """Plain data, or an instance from outside as it is when nothing was written yet: a `self`."""
    value = machine.real(value)
    if not isinstance(value, ObjectValue) or value.source is None or value.native is not None:
        return data_of(machine, value)
    if machine.state.effects.items:
        machine.stop("unknown-operation", f"{value.describe()} is given away after a write")
    machine.state.guard_identity(value.source, value.object)
    return value.object


def run_known(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value | None:
    """A pure function of the standard library on plain data; None when there are other values."""
    try:
        plain = [data_of(machine, argument) for argument in args]
        named = {key: data_of(machine, value) for key, value in kwargs.items()}
    except NotKnown:
        return None
    whole = all(map(is_constant, (*plain, *named.values())))
    if not whole and function.__module__ not in READING:
        return None
    return machine.from_python(machine.guarded(lambda: function(*plain, **named)))


def data_of(machine: Machine, value: Value) -> Any:
    """Plain data, lists and dicts included; NotKnown when there are other values in it."""
    value = machine.native(machine.number(value))
    if isinstance(value, ListValue) or type(value) is TupleValue:
        return value.cls(data_of(machine, item) for item in value.values)
    if isinstance(value, DictValue):
        value.all_keys(machine)
        return {
            data_of(machine, machine.key_value(key)): data_of(machine, item)
            for key, item in value.entries.items()
        }
    return value.known()

"""What an object is: `isinstance` and `issubclass`.

In: a value and classes. Out: the answer, by the class's line of bases; by a metaclass of the
program's, whose `__instancecheck__` or `__subclasscheck__` is inlined; or by what abstract base
classes and protocols find, guarded, since a class may be registered or given a method later.

Source: Python data model, "Customizing instance and subclass checks".
"""

from __future__ import annotations

import abc
import types
import typing
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.rules.builtins import rule
from minitorch2.jit.capture.source import ConstantSource
from minitorch2.jit.capture.values.base import Arguments, Keywords, NotKnown, Value
from minitorch2.jit.capture.values.classes import ClassValue
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.namespaces import is_trusted_module
from minitorch2.jit.capture.values.objects import ObjectValue
from minitorch2.jit.capture.values.tensors import TensorValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


@rule(isinstance)
def _isinstance(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    value, classes = (machine.real(argument) for argument in args)
    wanted = classes.known()
    if any(_own_hook(machine, one, "__instancecheck__") for one in _flat(wanted)):
        return Constant(any(_is_one(machine, value, each) for each in _flat(wanted)))
    if any(_has_python_hook(each, "__instancecheck__") for each in _flat(wanted)):
        found = _by_library(machine, value, wanted)
    else:
        try:
            found = issubclass(value.python_type(), wanted)
        except TypeError:
            found = machine.guarded(isinstance, None, wanted)  # which says what is wrong
    _guard(machine, value.python_type(), wanted, found)
    return Constant(found)


@rule(issubclass)
def _issubclass(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    cls, wanted = (machine.real(argument).known() for argument in args)
    flat = _flat(wanted)
    hooks = [_own_hook(machine, one, "__subclasscheck__") for one in flat]
    if isinstance(cls, type) and any(hooks):
        pairs = zip(flat, hooks, strict=True)
        return Constant(any(_is_below(machine, cls, one, hook) for one, hook in pairs))
    found = machine.guarded(issubclass, cls, wanted)
    _guard(machine, cls, wanted, found)
    return Constant(found)


def _is_below(machine: Machine, cls: type, wanted: Any, hook: Value | None) -> bool:
    """`issubclass(cls, wanted)` for a single class."""
    if hook is not None:
        return machine.truth(machine.call(hook, [ClassValue(cls)], {}))
    return machine.truth(_issubclass(machine, [ClassValue(cls), machine.from_python(wanted)], {}))


def _guard(machine: Machine, cls: Any, wanted: Any, found: bool) -> None:
    """What abstract classes say may change, as long as the program's classes have part in it."""
    state = machine.state
    asked = [one for one in _flat(wanted) if isinstance(one, abc.ABCMeta)]
    asked = [one for one in asked if one not in cls.__mro__ and one not in state.made_classes]
    if cls in state.made_classes or not asked:
        return
    if any(not is_trusted_module(one.__module__) for one in (cls, *asked)):
        source = state.class_sources.get(cls) or ConstantSource(cls, cls.__name__, False)
        state.guard_subclass(source, tuple(asked), issubclass(cls, tuple(asked)))


def _flat(classes: Any) -> list:
    """The single classes of a class, a tuple, or `A | B`."""
    if isinstance(classes, types.UnionType):
        classes = classes.__args__
    if isinstance(classes, tuple):
        return [one for item in classes for one in _flat(item)]
    return [classes]


def _is_one(machine: Machine, value: Value, wanted: Any) -> bool:
    """`isinstance(value, wanted)` for a single class."""
    cls = value.python_type()
    hook = _own_hook(machine, wanted, "__instancecheck__")
    if cls is wanted:
        return True
    if hook is not None:
        return machine.truth(machine.call(hook, [value], {}))
    return machine.truth(_isinstance(machine, [value, machine.from_python(wanted)], {}))


def _own_hook(machine: Machine, wanted: Any, name: str) -> Value | None:
    """What a metaclass of the program's says about it, bound to the class."""
    found = machine.class_lookup(type(wanted), name) if isinstance(wanted, type) else None
    if found is None or not isinstance(found[1], types.FunctionType):
        return None
    if is_trusted_module(found[0].__module__):
        return None
    return machine.bind_attribute(ClassValue(wanted), found[0], name, found[1])


def _has_python_hook(cls: Any, name: str) -> bool:
    found = getattr(type(cls), name, None)
    return hasattr(found, "__code__") and type(cls).__module__ != "abc"


def _by_library(machine: Machine, value: Value, wanted: Any) -> bool:
    """What a class of the library's says of the object: of protocols, of parameters."""
    if isinstance(value, ObjectValue) and any(
        _has_parts(machine, value, one) for one in _flat(wanted)
    ):
        return True
    if isinstance(value, TensorValue):
        held = value.fake if value.object is None else value.object
        return isinstance(held, wanted)
    try:
        return machine.guarded(isinstance, value.known(), wanted)
    except NotKnown:
        return issubclass(value.python_type(), wanted)


def _has_parts(machine: Machine, value: Value, wanted: Any) -> bool:
    """Whether an object has what a protocol names, itself or by its class."""
    if not getattr(wanted, "_is_runtime_protocol", False):
        return False
    names = getattr(wanted, "__protocol_attrs__", None)  # since 3.12
    if names is None:
        names = typing._get_protocol_attrs(wanted)  # type: ignore[attr-defined]
    for name in sorted(names):
        found = machine.attribute_or_none(value, name)
        refused = isinstance(found, Constant) and found.value is None
        if found is None or (refused and callable(getattr(wanted, name, None))):
            return False
    return True

"""Attributes of classes and instances: where Python finds them and how they are bound.

In: a class and a name. Out: the raw attribute with its source, or the attribute bound to an
instance (method, property, static and class methods, descriptors written in Python).

Source: Python "Descriptor HowTo Guide".
"""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.protocols import compare_items
from minitorch2.jit.capture.source import (
    AttributeSource,
    ClassAttributeSource,
    ConstantSource,
    Source,
)
from minitorch2.jit.capture.specials import special_method
from minitorch2.jit.capture.state import ClassWrite
from minitorch2.jit.capture.values.base import Arguments, Keywords, NotKnown, UserRaise, Value
from minitorch2.jit.capture.values.classes import ClassValue
from minitorch2.jit.capture.values.exceptions import ExceptionValue
from minitorch2.jit.capture.values.functions import FunctionValue, MethodValue
from minitorch2.jit.capture.values.keys import key_value
from minitorch2.jit.capture.values.namespaces import is_settled, is_trusted_module
from minitorch2.jit.capture.values.objects import is_user_class

if TYPE_CHECKING:
    pass

PUBLIC = ("minitorch2.nn.", "minitorch2.optim.")  # classes whose methods programs replace
NATIVE_DESCRIPTORS = (
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
)


class Members:
    """The part of the machine that looks attributes up."""

    def get_attribute(self: Any, value: Value, name: str) -> Value:
        """`value.name`."""
        value = self.real(value)
        try:
            return value.get_attribute(self, name)
        except UserRaise as raised:
            self._tell_name(raised.value, value, name)
            raise

    def _tell_name(self: Any, error: Value, owner: Value, name: str) -> None:
        """An AttributeError that leaves a look-up knows of what it is, as Python sees to it."""
        if type(error) is ExceptionValue and issubclass(error.cls, AttributeError):
            if not error.attributes.keys() & {"name", "obj"} and error.real is None:
                error.attributes.update(name=self.from_python(name), obj=owner)

    def has(self: Any, value: Value, name: str) -> bool:
        """`hasattr(value, name)`."""
        return self.attribute_or_none(value, name) is not None

    def attribute_or_none(self: Any, value: Value, name: str) -> Value | None:
        """`value.name`, or None where there is no such attribute."""
        try:
            return self.get_attribute(value, name)
        except UserRaise as raised:
            if issubclass(raised.value.python_type(), AttributeError):
                return None
            raise

    def class_lookup(self: Any, cls: type, name: str) -> Any:
        """(class that holds it, raw attribute) along the MRO, or None."""
        writes = self.state.class_writes
        self.asked.add(cls)
        for owner in cls.__mro__:
            if writes and (owner, name) in writes:
                return owner, writes[owner, name]
            if name in owner.__dict__:
                return owner, owner.__dict__[name]
            self.absent.setdefault(owner, set()).add(name)
        return None

    def guard_absent_names(self: Any) -> None:
        """No class of the program's has a name by now under which it was passed over."""
        for owner, names in self.absent.items():
            if self._may_change(owner):
                source = self.state.class_sources.get(owner)
                source = source or ConstantSource(owner, owner.__name__, False)
                self.state.guard_class_lacks(source, frozenset(names))
        for cls in self.asked - self.state.class_sources.keys():
            if self._may_change(cls) and cls.__base__ is not object:  # has bases that can change
                line = AttributeSource(ConstantSource(cls, cls.__name__, False), "__mro__")
                self.state.guard_identity(line, cls.__mro__)

    def _may_change(self: Any, cls: type) -> bool:
        """Whether a class is the program's, and was there before."""
        home = getattr(cls, "__module__", "")  # none in a class that `type` made so
        made = cls in self.state.made_classes
        return not made and is_user_class(cls) and not is_trusted_module(home)

    def class_member(self: Any, owner: type, name: str, *path: str) -> Value:
        """The raw attribute that a class holds, with its source; `path` goes on from there."""
        made = self.state.made_classes.get(owner)
        if made is not None and not path and name in made.members:
            return self.real(made.members[name])
        found = owner.__dict__[name]
        module = owner.__module__
        trusted = made is not None or (is_trusted_module(module) and is_settled(found, module))
        if trusted and made is None and module.startswith(PUBLIC):
            self.state.guard_name(owner, owner.__name__, name, found)
        base = self.state.class_sources.get(owner)
        base = base or ConstantSource(owner, owner.__name__, trusted)
        source: Source = ClassAttributeSource(base, name)
        for step in path:
            source = AttributeSource(source, step)
            found = getattr(found, step)
        return self.real(self.lazy(found, source))

    def no_attribute(self: Any, owner: Value, name: str) -> Any:
        """The AttributeError of an object that has no attribute of this name."""
        kind = owner.python_type()
        text = "types.SimpleNamespace" if kind is types.SimpleNamespace else kind.__name__
        text = f"'{text}' object has no attribute '{name}'"
        return self.raise_(AttributeError, text, name=name, obj=owner)

    def class_attribute(self: Any, owner: Value, name: str) -> Value:
        """A special method (or other class attribute) bound to an instance."""
        cls = owner.python_type()
        found = self.class_lookup(cls, name)
        if found is None:
            self.no_attribute(owner, name)
        return self.bind_attribute(owner, found[0], name, found[1])

    def bind_attribute(self: Any, owner: Value, cls: type, name: str, raw: Any) -> Value:
        """`raw.__get__(owner)` for an attribute of class `cls`."""
        if isinstance(raw, ClassWrite):
            bound = isinstance(raw.value, FunctionValue)
            return MethodValue(owner, raw.value) if bound else raw.value
        if isinstance(raw, types.FunctionType | functools._lru_cache_wrapper):
            return MethodValue(owner, self.class_member(cls, name))
        if isinstance(raw, staticmethod):
            return self.class_member(cls, name, "__func__")
        if isinstance(raw, classmethod):
            function = self.class_member(cls, name, "__func__")
            return MethodValue(ClassValue(owner.python_type()), function)
        if isinstance(raw, property):
            if raw.fget is None:
                self.refuse(raw, "__get__", owner)
            return self.call(self.class_member(cls, name, "fget"), [owner], {})
        if isinstance(raw, NATIVE_DESCRIPTORS):
            return MethodValue(owner, self.trusted(raw, name))
        getter = self.class_lookup(type(raw), "__get__")
        if getter is None or isinstance(raw, types.BuiltinFunctionType | type):
            return self.class_member(cls, name)
        if isinstance(getter[1], types.FunctionType):
            function = self.class_member(getter[0], "__get__")
            where = ClassValue(owner.python_type())
            return self.call(function, [self.class_member(cls, name), owner, where], {})
        return self.stop("unknown-attribute", f"{cls.__name__}.{name}, a {type(raw).__name__}")

    def refuse(self: Any, found: property, method: str, owner: Value, *args: Any) -> None:
        """Raise what a property says that has no getter, setter or deleter, in its own words."""
        cls = owner.python_type()
        other = type(cls.__name__, (), {"__qualname__": cls.__qualname__})()
        self.guarded(getattr(found, method), other, *args)

    def native(self: Any, value: Value) -> Value:
        """The native part of an instance of a subclass of list, dict and the like; else itself."""
        value = self.real(value)
        part = getattr(value, "native", None)
        return value if part is None else part

    def key_value(self: Any, key: Any) -> Value:
        """The value that a key of a dict or set stands for."""
        return key_value(self, key)

    def is_plain(self: Any, value: Value) -> bool:
        """Whether a value is known as a Python object."""
        try:
            self.native(value).known()
        except NotKnown:
            return False
        return True

    def special_method(
        self: Any, owner: Value, name: str, args: Arguments, kwargs: Keywords
    ) -> Value:
        """A method of a native class, by name."""
        return special_method(self, owner, name, args, kwargs)

    def compare_items(self: Any, symbol: str, left: list[Value], right: list[Value]) -> Value:
        """`left symbol right` of two sequences."""
        return compare_items(self, symbol, left, right)

    def raising(self: Any, cls: type, args: list[Value]) -> UserRaise:
        """An exception of the captured program, to be raised."""
        return UserRaise(self.exception(cls, [self.real(argument) for argument in args]))

    def bind_method(self: Any, owner: Value, function: Value) -> Value:
        """A bound method."""
        return MethodValue(owner, function)

    def wrap_function(self: Any, function: Any) -> Value:
        """A function that a class or descriptor holds."""
        name = getattr(function, "__qualname__", type(function).__name__)
        module = getattr(function, "__module__", None) or "builtins"
        return self.wrap(function, ConstantSource(function, name, is_trusted_module(module)))

    def trusted(self: Any, object: Any, label: str) -> Value:
        """Something of Python's or minitorch2's own, which needs no guard."""
        return self.wrap(object, ConstantSource(object, label))

    def is_module_class(self: Any, cls: type) -> bool:
        """Whether a class is an nn.Module with minitorch2's own attribute lookup."""
        for base in cls.__mro__:
            if base.__name__ == "Module" and base.__module__.startswith("minitorch2.nn"):
                found = self.class_lookup(cls, "__getattr__")
                return found is not None and found[0] is base
        return False

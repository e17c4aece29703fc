"""Classes, what calling one makes, and `super()`.

In: a class object. Out: attribute lookup along the MRO, and construction: containers, exceptions
and grad modes become their own kind of value, an ordinary class becomes an instance whose
`__init__` is inlined, classes of plain data are made for real from known arguments.
"""

from __future__ import annotations

import collections
import enum
import types
from typing import TYPE_CHECKING, Any

import numpy

from minitorch2.amp.autocast import autocast
from minitorch2.devices import device
from minitorch2.dtypes import dtype
from minitorch2.errors import Mt2Error
from minitorch2.jit.capture.source import (
    AttributeSource,
    ClassAttributeSource,
    ConstantSource,
    Source,
)
from minitorch2.jit.capture.state import ClassWrite
from minitorch2.jit.capture.values.base import Arguments, Keywords, NativeMethod, Value
from minitorch2.jit.capture.values.containers import FIXED, ContainerObject, native_base
from minitorch2.jit.capture.values.contexts import MODES, AutocastValue, GradModeValue
from minitorch2.jit.capture.values.deques import DequeValue
from minitorch2.jit.capture.values.exceptions import ExceptionValue
from minitorch2.jit.capture.values.functions import FunctionValue, MethodValue
from minitorch2.jit.capture.values.mappings import DictValue
from minitorch2.jit.capture.values.namespaces import is_trusted_module
from minitorch2.jit.capture.values.objects import HEAP, ObjectValue
from minitorch2.jit.capture.values.sequences import ListValue, TupleValue, is_plain_tuple
from minitorch2.jit.capture.values.sets import SetValue
from minitorch2.jit.capture.values.weak import check_lifetime
from minitorch2.tensors import Tensor

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine

ABSTRACT = 1 << 20  # flag of classes with abstract methods
PLAIN_DATA: tuple[type, ...] = (
    int, float, complex, bool, str, bytes, range, dtype, device, numpy.iinfo, numpy.finfo,
)  # fmt: skip


class ClassValue(Value):
    """A class."""

    __slots__ = ("cls",)

    def __init__(self, cls: type, source: Source | None = None):
        super().__init__(source)
        self.cls = cls

    def python_type(self) -> type:
        return type(self.cls)

    def known(self) -> Any:
        return self.cls

    def describe(self) -> str:
        return f"class {self.cls.__name__}"

    def same_as(self, machine: Machine, other: Value) -> bool:
        return isinstance(other, ClassValue) and other.cls is self.cls

    def get_attribute(self, machine: Machine, name: str) -> Value:
        """`cls.name`: along the classes it extends, methods bound, then its metaclass."""
        cls = self.cls
        if name == "__dict__":
            return self._dict(machine)
        if name == "mro":
            return NativeMethod(self, name)
        found = machine.class_lookup(cls, name)
        if found is None:
            return self._from_metaclass(machine, name)
        owner, attribute = found
        if isinstance(attribute, ClassWrite):
            return attribute.value
        if isinstance(cls, enum.EnumMeta) or name in ("__name__", "__doc__", "__module__"):
            return machine.from_python(getattr(cls, name))
        if isinstance(attribute, staticmethod):
            return machine.class_member(owner, name, "__func__")
        if isinstance(attribute, classmethod):
            return MethodValue(self, machine.class_member(owner, name, "__func__"))
        if isinstance(attribute, types.ClassMethodDescriptorType):
            return machine.from_python(getattr(cls, name))
        member = machine.class_member(owner, name)
        getter = machine.class_lookup(type(attribute), "__get__")
        if getter is not None and isinstance(getter[1], types.FunctionType):
            function = machine.class_member(getter[0], "__get__")
            return machine.call(function, [member, machine.from_python(None), self], {})
        return member

    def _dict(self, machine: Machine) -> Value:
        """`cls.__dict__`, with what the captured program put into it."""
        base, state = self._place(machine), machine.state
        if self.cls not in state.made_classes:
            state.guard_keys(AttributeSource(base, "__dict__"), tuple(self.cls.__dict__))
        names: dict[Any, Value] = {
            key: machine.lazy(held, ClassAttributeSource(base, key))
            for key, held in self.cls.__dict__.items()
        }
        for (owner, name), written in state.class_writes.items():
            if owner is self.cls:
                names[name] = written.value
        return DictValue(names, None, types.MappingProxyType)

    def _place(self, machine: Machine) -> Source:
        """Where the class is found in each call."""
        place = machine.state.class_sources.get(self.cls)
        fixed = self.cls in machine.state.made_classes or is_trusted_module(self.cls.__module__)
        return place or ConstantSource(self.cls, self.cls.__name__, fixed)

    def _from_metaclass(self, machine: Machine, name: str) -> Value:
        kind = type(self.cls)
        found = machine.class_lookup(kind, name)
        if found is not None and not is_trusted_module(found[0].__module__):
            return machine.bind_attribute(self, found[0], name, found[1])
        fallback = machine.class_lookup(kind, "__getattr__") if found is None else None
        if fallback is not None and not is_trusted_module(fallback[0].__module__):
            method = machine.bind_attribute(self, fallback[0], "__getattr__", fallback[1])
            return machine.call(method, [machine.from_python(name)], {})
        try:
            held = getattr(self.cls, name)
        except AttributeError as error:
            machine.raise_real(error)
        if isinstance(held, types.MethodType):
            return MethodValue(self, machine.wrap_function(held.__func__))
        return machine.from_python(held)

    def set_attribute(self, machine: Machine, name: str, value: Value) -> None:
        custom = machine.class_lookup(type(self.cls), "__setattr__")
        if isinstance(custom[1], types.FunctionType):
            if not is_trusted_module(custom[0].__module__):
                method = machine.class_attribute(self, "__setattr__")
                machine.call(method, [machine.from_python(name), value], {})
                return
        self.store(machine, name, value)

    def store(self, machine: Machine, name: str, value: Value) -> None:
        """`type.__setattr__(cls, name, value)`."""
        cls = self.cls
        if cls in machine.state.made_classes:
            machine.state.made_classes[cls].set_attribute(machine, name, value)
            return
        value = machine.real(value)
        bound = hasattr(value.python_type(), "__get__")  # when an instance is asked for it
        if bound and (name.startswith("__") or not isinstance(value, FunctionValue)):
            machine.stop("unknown-attribute", f"setting {cls.__name__}.{name} (a class)")
        if type(cls).__setattr__ is not type.__setattr__:
            machine.stop("unknown-attribute", f"setting {cls.__name__}.{name} (a class)")
        machine.state.class_writes[cls, name] = ClassWrite(value)
        place = machine.state.class_sources.get(cls) or ConstantSource(cls, cls.__name__)
        target = ClassValue(cls, place)
        machine.state.effects.record(target, f"{{0}}.{name} = {{1}}", value)

    def special(self, machine: Machine, name: str, *args: Value) -> Value | None:
        """Call a special method that the program's metaclass has, or answer None."""
        owner = self._special_owner(machine, name)
        return owner and machine.call(machine.class_member(owner, name), [self, *args], {})

    def _special_owner(self, machine: Machine, name: str) -> Any:
        """The metaclass of the program's own that has this method; enums have none."""
        found = machine.class_lookup(type(self.cls), name)
        own = found is not None and isinstance(found[1], types.FunctionType)
        return found[0] if own and not is_trusted_module(found[0].__module__) else None

    def get_item(self, machine: Machine, key: Value) -> Value:
        found = self.special(machine, "__getitem__", key)
        if found is not None:
            return found
        own = machine.class_lookup(self.cls, "__class_getitem__")
        if own is not None and not is_trusted_module(own[0].__module__):
            return machine.call(self.get_attribute(machine, "__class_getitem__"), [key], {})
        return machine.run_python(lambda cls, item: cls[item], [self, key], {})

    def iterator(self, machine: Machine) -> Value:
        found = self.special(machine, "__iter__")
        if found is not None:
            return found
        if not isinstance(self.cls, enum.EnumMeta):
            return super().iterator(machine)
        return machine.iterate_over([machine.from_python(item) for item in list[Any](self.cls)])

    def contains(self, machine: Machine, item: Value) -> bool:
        found = self.special(machine, "__contains__", item)
        if found is not None:
            return machine.truth(found)
        if isinstance(self.cls, enum.EnumMeta):
            return item.known() in self.cls
        return super().contains(machine, item)

    def truth(self, machine: Machine) -> bool:
        found = self.special(machine, "__bool__")
        if found is not None:
            return machine.truth(found)
        return self.length(machine) != 0 if self._special_owner(machine, "__len__") else True

    def length(self, machine: Machine) -> int:
        found = self.special(machine, "__len__")
        return machine.guarded(len, self.cls) if found is None else machine.index_of(found)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        if name == "__call__":
            return make(machine, self, args, kwargs)
        return machine.run_python(getattr(type, name), [self, *args], kwargs)

    def call(self, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        return construct(machine, self, args, kwargs)

    def emit(self, emitter: Emitter) -> str:
        return emitter.object(self.cls, self.cls.__name__)


def construct(machine: Machine, value: ClassValue, args: Arguments, kwargs: Keywords) -> Value:
    """What calling a class makes."""
    cls = value.cls
    builtin = machine.class_rule(cls)
    if builtin is not None:
        return builtin(machine, args, kwargs)
    by = machine.class_lookup(type(cls), "__call__")
    if by is not None and isinstance(by[1], types.FunctionType) and not plain_metaclass(cls):
        function = machine.class_member(by[0], "__call__")
        return machine.call(function, [value, *args], kwargs)
    if by is not None and isinstance(by[1], type):  # a TypedDict is made by dict
        return machine.call(machine.class_member(by[0], "__call__"), args, kwargs)
    return make(machine, value, args, kwargs)


def plain_metaclass(cls: type) -> bool:
    """Whether the class of a class is one that capture knows: enums."""
    return isinstance(cls, enum.EnumMeta)


def make(machine: Machine, value: ClassValue, args: Arguments, kwargs: Keywords) -> Value:
    """`type.__call__(cls, ...)`."""
    cls = value.cls
    check_lifetime(machine, cls)
    if issubclass(cls, BaseException):
        return _exception(machine, value, args, kwargs)
    if cls.__name__ in MODES and cls.__module__.startswith("minitorch2."):
        if args and cls.__name__ != "set_grad_enabled" and _is_called(machine, args[0]):
            return GradModeValue(cls, bool(MODES[cls.__name__])).call(machine, args, {})
        mode = _grad_mode(machine, cls, args, kwargs)
        return GradModeValue(cls, mode, cls.__name__ == "inference_mode" and not mode)
    if cls is autocast:
        plain = [machine.real(argument).known() for argument in args]
        named = {key: machine.real(item).known() for key, item in kwargs.items()}
        return AutocastValue(machine.guarded(lambda: autocast(*plain, **named)))
    if cls in PLAIN_DATA or isinstance(cls, enum.EnumMeta):
        return machine.run_python(cls, args, kwargs)
    if issubclass(cls, Tensor):
        machine.stop("unknown-object", f"a {cls.__name__} made inside the function")
    if issubclass(cls, tuple) and hasattr(cls, "_fields") and is_plain_tuple(cls):
        return _named_tuple(machine, cls, args, kwargs)
    return _instance(machine, value, args, kwargs)


def _grad_mode(machine: Machine, cls: type, args: Arguments, kwargs: Keywords) -> bool:
    """The mode a grad-mode context manager sets."""
    given = [machine.real(value) for value in [*args, *kwargs.values()]]
    if cls.__name__ == "set_grad_enabled":
        return machine.truth(given[0])
    if cls.__name__ == "inference_mode" and given and not machine.truth(given[0]):
        return True  # the ordinary mode, with recording
    return bool(MODES[cls.__name__])


def _is_called(machine: Machine, value: Value) -> bool:
    """Whether a value is a function or the like."""
    return machine.truth(machine.call_native(callable, [value], {}))


def _exception(machine: Machine, value: ClassValue, args: Arguments, kwargs: Keywords) -> Value:
    cls = value.cls
    if cls is OSError and len(args) > 1:  # which class it is depends on the number
        cls = type(cls(*(machine.real(argument).known() for argument in args)))
    if issubclass(cls, Mt2Error):
        return _own_error(machine, cls, args, kwargs)
    if cls in (BaseExceptionGroup, ExceptionGroup):
        return machine.exception_group(list(args))
    made = ExceptionValue(cls, list(args))
    init = machine.class_lookup(value.cls, "__init__")
    if init is not None and isinstance(init[1], types.FunctionType):
        machine.call(machine.class_attribute(made, "__init__"), args, kwargs)
    elif kwargs:
        machine.stop("unknown-call", f"{value.cls.__name__} with keywords")
    return made


def _own_error(machine: Machine, cls: type, args: Arguments, kwargs: Keywords) -> Value:
    """An error of minitorch2, which names the user's line: made now, with that line."""
    plain = [machine.real(argument).known() for argument in args]
    named = {key: machine.real(value).known() for key, value in kwargs.items()}
    made = machine.guarded(lambda: cls(*plain, **named))
    span = machine.state.span()
    if span is not None:
        made.move_to(span.file, span.line)
    return machine.from_python(made)


def _named_tuple(machine: Machine, cls: Any, args: Arguments, kwargs: Keywords) -> Value:
    fields, defaults = cls._fields, cls._field_defaults
    given = dict(zip(fields, args, strict=False)) | kwargs
    missing = [name for name in fields if name not in given and name not in defaults]
    if missing or len(args) > len(fields) or any(name not in fields for name in kwargs):
        machine.type_error(f"{cls.__name__}() got arguments that do not fit {fields}")
    values = [given[n] if n in given else machine.from_python(defaults[n]) for n in fields]
    return TupleValue(values, cls)


def _instance(machine: Machine, value: ClassValue, args: Arguments, kwargs: Keywords) -> Value:
    cls = value.cls
    heap = bool(cls.__flags__ & HEAP)
    new = machine.class_lookup(cls, "__new__")
    if heap and new is not None and isinstance(new[1], staticmethod):
        made = machine.call(
            machine.class_member(new[0], "__new__", "__func__"), [value, *args], kwargs
        )
        if cls not in made.python_type().__mro__:
            return made
    elif heap and cls.__new__ is object.__new__:
        if (args or kwargs) and cls.__init__ is object.__init__:  # type: ignore[misc]
            machine.type_error(f"{cls.__name__}() takes no arguments")
        made = new_object(machine, cls)
    elif issubclass(cls, type):
        made = machine.call_native(type.__new__, [value, *args], kwargs)
    elif heap and native_base(cls) is not None:
        made = new_container(machine, cls, args, kwargs)
    else:
        machine.stop("unknown-call", f"{cls.__name__}(), a class of native code")
    init = machine.class_lookup(cls, "__init__")
    if init is not None and isinstance(init[1], types.FunctionType):
        machine.call(machine.class_attribute(made, "__init__"), args, kwargs)
    elif native_base(cls) is not None and native_base(cls) not in FIXED:
        made.call_method(machine, "__init__", args, kwargs)
    return made


def new_object(machine: Machine, cls: type) -> Value:
    """`object.__new__(cls)`."""
    check_lifetime(machine, cls)
    if cls.__flags__ & ABSTRACT:
        try:
            object.__new__(cls)  # which refuses, in Python's own words
        except TypeError as error:
            machine.raise_real(error)
    return ObjectValue(cls)


def new_container(machine: Machine, cls: type, args: Arguments, kwargs: Keywords) -> Value:
    """`base.__new__(cls, ...)` of a class that extends a native one."""
    base: Any = native_base(cls)
    if base in FIXED:
        native = machine.real(machine.call(machine.from_python(base), args, kwargs))
    elif base is list:
        native = ListValue([])
    elif base is set:
        native = SetValue()
    elif base is collections.deque:
        native = DequeValue([], None)
    else:
        native = DictValue({}, None, base)
    if native.outer is not None or isinstance(native, ObjectValue):
        machine.stop("unknown-call", f"{cls.__name__}() of an instance of such a class")
    return ContainerObject(cls, native)


class SuperValue(Value):
    """`super(cls, owner)`."""

    __slots__ = ("cls", "owner")

    def __init__(self, cls: type, owner: Value):
        super().__init__(None)
        self.cls, self.owner = cls, owner

    def python_type(self) -> type:
        return super

    def describe(self) -> str:
        return f"super of {self.owner.describe()}"

    def get_attribute(self, machine: Machine, name: str) -> Value:
        """The attribute that stands behind `cls` in the order of the owner, bound to it."""
        owner = self.owner
        of_class = isinstance(owner, ClassValue)
        if isinstance(owner, ClassValue) and self.cls not in owner.cls.__mro__:
            of_class = False  # the class of the class
        first = owner.cls if of_class else owner.python_type()  # type: ignore[attr-defined]
        order = first.__mro__
        for cls in order[order.index(self.cls) + 1 :]:
            if name not in cls.__dict__:
                continue
            attribute = cls.__dict__[name]
            if isinstance(attribute, classmethod):
                bound = owner if of_class else ClassValue(owner.python_type())
                return MethodValue(bound, machine.class_member(cls, name, "__func__"))
            if isinstance(attribute, types.ClassMethodDescriptorType):
                bound = owner if of_class else ClassValue(owner.python_type())
                return MethodValue(bound, machine.class_member(cls, name))
            if of_class:
                if isinstance(attribute, staticmethod):
                    return machine.class_member(cls, name, "__func__")
                return machine.class_member(cls, name)
            return machine.bind_attribute(owner, cls, name, attribute)
        return machine.raise_(AttributeError, f"'super' object has no attribute '{name}'")

"""Instances of ordinary classes, nn.Modules among them.

In: an instance that exists (with a source) or a class whose instance the captured program makes.
Out: Python's attribute lookup, read through guards, with writes overlaid and recorded; special
methods are inlined.

Source: Python data model, "Invoking descriptors"; Objects/object.c, PyObject_GenericGetAttr.
"""

from __future__ import annotations

import functools
import types
import typing
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.instructions import PY313
from minitorch2.jit.capture.side_effects import is_generic
from minitorch2.jit.capture.source import (
    AttributeSource,
    InstanceDictSource,
    ItemSource,
    Source,
    instance_dict,
)
from minitorch2.jit.capture.values.base import (
    Arguments,
    Keywords,
    Lazy,
    NativeMethod,
    UserRaise,
    Value,
)
from minitorch2.jit.capture.values.functions import MethodValue
from minitorch2.jit.capture.values.instance_dicts import InstanceDict
from minitorch2.jit.capture.values.namespaces import is_foreign, is_trusted_module

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine

SLOT = types.MemberDescriptorType
HEAP, IMMUTABLE = 1 << 9, 1 << 8  # flags of classes
TABLES = ("_parameters", "_buffers", "_modules")
HOOK_TABLES = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")


def is_user_class(cls: type) -> bool:
    """Whether a class statement made the class; native ones are static or cannot be changed."""
    return bool(cls.__flags__ & HEAP) and not cls.__flags__ & IMMUTABLE


def has_its_own(found: tuple[type, Any] | None) -> bool:
    """Whether a class has a way of its own to read, set or delete attributes: a function, or a
    native method under that name, as in `__setattr__ = dict.__setitem__`."""
    return found is not None and not is_generic(found[1])


class ObjectValue(Value):
    """An instance; `attributes` overlays the instance dict (None: deleted)."""

    __slots__ = ("cls", "object", "attributes", "added", "native")

    def __init__(self, cls: type, object: Any = None, source: Source | None = None):
        super().__init__(source)
        self.cls, self.object = cls, object
        self.native: Value | None = None  # see `containers`
        self.attributes: dict[str, Value | None] = {}
        self.added: dict[str, None] = {}  # names that were not there, in their order

    def python_type(self) -> type:
        return self.cls

    def known(self) -> Any:
        """Only what nobody changes is known; to read anything else is to guard it."""
        if self.object is not None and self.source is not None and self.source.trusted:
            return self.object
        return super().known()

    def describe(self) -> str:
        return f"{self.source}" if self.source is not None else f"new {self.cls.__name__}"

    def same_as(self, machine: Machine, other: Value) -> bool:
        if self is not other and isinstance(other, ObjectValue):
            machine.state.guard_distinct(self, other)
        return self is other

    # ---- attributes

    def has_dict(self) -> bool:
        """Whether it can hold attributes other than in slots."""
        return bool(self.cls.__dictoffset__) or self.cls is types.SimpleNamespace

    def own(self, machine: Machine, name: str, quiet: bool = False) -> Value | None:
        """An entry of the instance dict, or None when there is none."""
        if name in self.attributes:
            return self.attributes[name]
        if self.object is None or self.source is None:
            return None
        if not _plain_getattribute(self.cls):
            return self._own_unasked(machine, name)
        held = getattr(self.object, "__dict__", None)
        if held is None or name not in held:
            if held is not None and not quiet:
                machine.state.guard_no_attribute(self.source, name)
            return None
        found = Lazy(held[name], AttributeSource(self.source, name), machine)
        if self._is_asked(machine):
            machine.state.guard_key(AttributeSource(self.source, "__dict__"), name, True)
            found.is_there = True
        self.attributes[name] = found
        return found

    def _is_asked(self, machine: Machine) -> bool:
        """Whether the program hears of an attribute that is not there: a guard must not ask."""
        found = machine.class_lookup(self.cls, "__getattr__")
        own = found is not None and isinstance(found[1], types.FunctionType)
        return own and not is_trusted_module(found[0].__module__)

    def table(self) -> tuple[dict[str, Any], Source]:
        """The instance dict of one that exists, and where it is found."""
        assert self.source is not None
        if isinstance(self.cls.__getattribute__, types.FunctionType):
            return instance_dict(self.object), InstanceDictSource(self.source)
        return self.object.__dict__, AttributeSource(self.source, "__dict__")

    def _own_unasked(self, machine: Machine, name: str) -> Value | None:
        """The same past the `__getattribute__` of the class, in each call too."""
        if not self.has_dict():
            return None
        held, place = self.table()
        machine.state.guard_key(place, name, name in held)
        if name not in held:
            return None
        found = machine.lazy(held[name], ItemSource(place, name))
        self.attributes[name] = found
        return found

    def get_attribute(self, machine: Machine, name: str) -> Value:
        if has_its_own(machine.class_lookup(self.cls, "__getattribute__")):
            return machine.call(
                machine.class_attribute(self, "__getattribute__"), [machine.from_python(name)], {}
            )
        return self.generic_attribute(machine, name)

    def generic_attribute(self, machine: Machine, name: str) -> Value:
        """`object.__getattribute__`, and then the class's own `__getattr__`."""
        fallback = machine.class_lookup(self.cls, "__getattr__")
        try:
            found = self.find(machine, name)
        except UserRaise as raised:  # by an empty slot, a property, a descriptor
            if fallback is None or not issubclass(raised.value.python_type(), AttributeError):
                raise
            found = None
        if found is not None:
            return found
        part = self._module_part(machine, name)
        if part is not None:
            return part
        if fallback is None:
            return machine.no_attribute(self, name)
        if machine.is_module_class(self.cls):
            machine.state.guard_no_attribute(self.source, name)
        function = machine.class_attribute(self, "__getattr__")
        return machine.call(function, [machine.from_python(name)], {})

    def find(self, machine: Machine, name: str) -> Value | None:
        """Data descriptors of the class, then the instance dict, then the rest of the class."""
        if name == "__dict__" and self.has_dict():
            return InstanceDict(self)
        if name == "__class__":
            return machine.from_python(self.cls)
        found = machine.class_lookup(self.cls, name)
        if found is not None:
            attribute = found[1]
            if isinstance(attribute, SLOT):
                return self._slot(machine, name)
            if hasattr(type(attribute), "__set__"):
                return machine.bind_attribute(self, found[0], name, attribute)
        trusted = found is not None and is_trusted_module(found[0].__module__)
        # A part of a module is never in the instance dict as well: nn.Module sees to it.
        quiet = trusted or (found is None and machine.is_module_class(self.cls))
        own = self.own(machine, name, quiet=quiet and name != "forward")
        if own is not None or found is None:
            return own
        if isinstance(found[1], functools.cached_property):
            value = machine.call(machine.class_member(found[0], name, "func"), [self], {})
            self.store(machine, name, value)
            return value
        return machine.bind_attribute(self, found[0], name, found[1])

    def _slot(self, machine: Machine, name: str) -> Value:
        found = self._held(machine, name)
        if found is None:
            kind = self.cls.__name__
            if PY313:
                home, kind = self.cls.__module__, self.cls.__qualname__
                kind = kind if home in ("builtins", "__main__") else f"{home}.{kind}"
            text = f"'{kind}' object has no attribute '{name}'"
            machine.raise_(AttributeError, text, name=name, obj=self)
        return found

    def _held(self, machine: Machine, name: str) -> Value | None:
        """What a slot holds, or None."""
        if name in self.attributes:
            return self.attributes[name]
        if self.object is None or self.source is None:
            return None
        slot = machine.class_lookup(self.cls, name)[1]
        try:
            held = slot.__get__(self.object)
        except AttributeError:
            machine.state.guard_slot(self.source, name, slot, False)
            return None
        found = Lazy(held, AttributeSource(self.source, name), machine)
        if self._is_asked(machine):
            machine.state.guard_slot(self.source, name, slot, True)
            found.is_there = True
        self.attributes[name] = found
        return found

    def _module_part(self, machine: Machine, name: str) -> Value | None:
        """A parameter, buffer or child of an nn.Module, straight from the dict that holds it."""
        if not machine.is_module_class(self.cls):
            return None
        for table in TABLES:
            parts = self.own(machine, table, quiet=True)
            if parts is None:
                continue
            found = machine.real(parts).entries.get(name)  # type: ignore[attr-defined]
            if found is not None:
                return found
        return None

    def set_attribute(self, machine: Machine, name: str, value: Value) -> None:
        if has_its_own(machine.class_lookup(self.cls, "__setattr__")):
            method = machine.class_attribute(self, "__setattr__")
            machine.call(method, [machine.from_python(name), value], {})
            return
        self.generic_set(machine, name, value)

    def generic_set(self, machine: Machine, name: str, value: Value) -> None:
        """`object.__setattr__`."""
        found = machine.class_lookup(self.cls, name)
        if found is not None:
            attribute = found[1]
            if isinstance(attribute, property):
                if attribute.fset is None:
                    machine.refuse(attribute, "__set__", self, None)
                machine.call(machine.class_member(found[0], name, "fset"), [self, value], {})
                return
            if hasattr(type(attribute), "__set__") and not isinstance(attribute, SLOT):
                setter = machine.class_lookup(type(attribute), "__set__")
                if setter is None or not isinstance(setter[1], types.FunctionType):
                    machine.stop("unknown-attribute", f"setting {self.cls.__name__}.{name}")
                descriptor = machine.class_member(found[0], name)
                function = machine.class_member(setter[0], "__set__")
                machine.call(function, [descriptor, self, value], {})
                return
        self.store(machine, name, value)

    def store(self, machine: Machine, name: str, value: Value | None) -> None:
        """Put a value into the instance dict (None takes it out)."""
        if not self.has_dict():
            slot = machine.class_lookup(self.cls, name)
            if slot is None or not isinstance(slot[1], SLOT):
                machine.raise_(AttributeError, _no_place(self.cls, name, slot is not None))
        if value is None:
            self.added.pop(name, None)
        elif self.own(machine, name, True) is None:
            self.attributes.pop(name, None)
            self.added[name] = None
        self.attributes[name] = value
        machine.state.effects.set_attribute(self, name, value)

    def delete_attribute(self, machine: Machine, name: str) -> None:
        """`del self.name`: by `__delattr__`, a property, a slot, a descriptor, or from the dict."""
        if has_its_own(machine.class_lookup(self.cls, "__delattr__")):
            method = machine.class_attribute(self, "__delattr__")
            machine.call(method, [machine.from_python(name)], {})
            return
        found = machine.class_lookup(self.cls, name)
        if found is not None and isinstance(found[1], property):
            if found[1].fdel is None:
                machine.refuse(found[1], "__delete__", self)
            machine.call(machine.class_member(found[0], name, "fdel"), [self], {})
            return
        if found is not None and isinstance(found[1], SLOT):
            if self._held(machine, name) is None:
                machine.raise_(AttributeError, name)
        elif found is not None and hasattr(type(found[1]), "__delete__"):
            deleter = machine.class_lookup(type(found[1]), "__delete__")
            if not isinstance(deleter[1], types.FunctionType):
                machine.stop("unknown-attribute", f"deleting {self.cls.__name__}.{name}")
            descriptor = machine.class_member(found[0], name)
            function = machine.class_member(deleter[0], "__delete__")
            machine.call(function, [descriptor, self], {})
            return
        elif self.own(machine, name) is None:
            machine.no_attribute(self, name)
        self.store(machine, name, None)

    # ---- special methods

    def special(self, machine: Machine, name: str, *args: Value) -> Value | None:
        """Call a special method of the class, or answer None when it has none."""
        found = machine.class_lookup(self.cls, name)
        if found is None or found[1] is None:
            return None
        return machine.call(machine.class_attribute(self, name), list(args), {})

    def call(self, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        found = machine.class_lookup(self.cls, "__call__")
        if found is None:
            return super().call(machine, args, kwargs)
        plain = found[0].__name__ == "Module" and not is_foreign(found[1])
        if plain and self._has_no_hooks(machine):
            machine.state.guard_name(found[0], "Module", "__call__", found[1])
            return machine.call(self.get_attribute(machine, "forward"), args, kwargs)
        return machine.call(machine.class_attribute(self, "__call__"), args, kwargs)

    def _has_no_hooks(self, machine: Machine) -> bool:
        """Whether calling this module is calling its forward; guarded as one fact."""
        if self.object is None or self.source is None or not machine.is_module_class(self.cls):
            return False
        if any(name in self.attributes for name in HOOK_TABLES):
            return False
        if any(getattr(self.object, name) for name in HOOK_TABLES):
            return False
        machine.state.guard_no_hooks(self.source, HOOK_TABLES)
        return True

    def get_item(self, machine: Machine, key: Value) -> Value:
        if self.cls.__module__ == "typing" and isinstance(self.object, typing._Final):
            return machine.run_python(lambda form: self.object[form], [key], {})
        found = self.special(machine, "__getitem__", key)
        return found if found is not None else super().get_item(machine, key)

    def set_item(self, machine: Machine, key: Value, value: Value) -> None:
        if self.special(machine, "__setitem__", key, value) is None:
            super().set_item(machine, key, value)

    def delete_item(self, machine: Machine, key: Value) -> None:
        if self.special(machine, "__delitem__", key) is None:
            super().delete_item(machine, key)

    def truth(self, machine: Machine) -> bool:
        found = machine.class_lookup(self.cls, "__bool__")
        if found is not None:
            if found[1] is None:
                machine.type_error("'NoneType' object is not callable")
            return machine.truth(machine.call(machine.class_attribute(self, "__bool__"), [], {}))
        if machine.class_lookup(self.cls, "__len__") is not None:
            return self.length(machine) != 0
        return True

    def length(self, machine: Machine) -> int:
        found = self.special(machine, "__len__")
        if found is None:
            return super().length(machine)
        count = machine.index_of(found)
        if count < 0:
            machine.raise_(ValueError, "__len__() should return >= 0")
        return count

    def contains(self, machine: Machine, item: Value) -> bool:
        found = self.special(machine, "__contains__", item)
        return machine.truth(found) if found is not None else super().contains(machine, item)

    def iterator(self, machine: Machine) -> Value:
        found = self.special(machine, "__iter__")
        if found is not None:
            return machine.real(found)
        if machine.class_lookup(self.cls, "__getitem__") is None:
            return super().iterator(machine)
        return machine.iterate_by_index(self)

    def advance(self, machine: Machine) -> Value | None:
        """`next(self)`; None at the end."""
        if machine.class_lookup(self.cls, "__next__") is None:
            machine.type_error(f"'{self.cls.__name__}' object is not an iterator")
        method = machine.class_attribute(self, "__next__")
        return machine.until_stop(lambda: machine.call(method, [], {}))

    def emit(self, emitter: Emitter) -> str:
        if self.source is not None:
            return emitter.fetch(self.source)
        return emitter.new_object(self)


def _no_place(cls: type, name: str, read_only: bool) -> str:
    """What Python says when an instance without a dict is given an attribute."""
    if read_only:
        return f"'{cls.__name__}' object attribute '{name}' is read-only"
    if not PY313:
        return f"'{cls.__name__}' object has no attribute '{name}'"
    extra = " and no __dict__ for setting new attributes"
    return f"'{cls.__name__}' object has no attribute '{name}'{extra}"


def _plain_getattribute(cls: type) -> bool:
    return cls.__getattribute__ is object.__getattribute__


class OpaqueValue(Value):
    """An object without a model: it may be passed on and compared by identity, no more."""

    __slots__ = ("object",)

    def __init__(self, object: Any, source: Source | None = None):
        super().__init__(source)
        self.object = object

    def python_type(self) -> type:
        return type(self.object)

    def describe(self) -> str:
        return f"{type(self.object).__name__} object"

    def same_as(self, machine: Machine, other: Value) -> bool:
        return isinstance(other, OpaqueValue) and other.object is self.object

    def get_attribute(self, machine: Machine, name: str) -> Value:
        """A method of a native class does nothing until it is called."""
        cls = type(self.object)
        if isinstance(getattr(cls, name, None), types.MethodDescriptorType):
            return NativeMethod(self, name)
        return super().get_attribute(machine, name)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        machine.stop("unknown-call", f"{type(self.object).__name__}.{name}()")

    def call(self, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        """A function compiled by Cython, as numpy's random ones, is none of Python's."""
        name = getattr(self.object, "__qualname__", None)
        if name is None or not callable(self.object):
            return machine.stop("unknown-object", f"calling a {type(self.object).__name__}")
        code = "random-generator" if "random" in repr(self.object).lower() else "unknown-call"
        return machine.stop(code, f"{name}()")

    def lower(self, machine: Machine) -> Any:
        return machine.stop("unknown-object", f"an object of type {type(self.object).__name__}")

    def truth(self, machine: Machine) -> bool:
        return machine.stop("unknown-object", f"the truth of a {type(self.object).__name__}")

    def iterator(self, machine: Machine) -> Value:
        if hasattr(type(self.object), "__next__"):
            if not is_user_class(type(self.object)) and iter(self.object) is self.object:
                return self  # a generator, an iterator of native code
            machine.stop("iterator-argument", f"a {type(self.object).__name__} from outside")
        return machine.stop("unknown-object", f"iterating a {type(self.object).__name__}")

    def advance(self, machine: Machine) -> Value | None:
        """An iterator from outside would have to be moved to be read."""
        return machine.stop("iterator-argument", f"a {type(self.object).__name__} from outside")

    get_item = length = contains = (  # type: ignore[assignment]
        lambda self, machine, *_: machine.stop(
            "unknown-object", f"an object of type {type(self.object).__name__}"
        )
    )

    def emit(self, emitter: Emitter) -> str:
        if self.source is not None:
            return emitter.fetch(self.source)
        return emitter.object(self.object, type(self.object).__name__)


def bound(owner: Value, function: Value) -> Value:
    """`function.__get__(owner)`."""
    return MethodValue(owner, function)

"""Things that are called: Python functions, bound methods, native callables.

In: a function object with its source, or the parts that MAKE_FUNCTION puts together. Out: calls:
Python functions are inlined by their bytecode, native ones go through `call_rules`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.source import AttributeSource, ConstantSource, ItemSource, Source
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value, native_attribute
from minitorch2.jit.capture.values.constants import Constant

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine
    from minitorch2.jit.capture.values.namespaces import CellValue, GlobalsValue

DESCRIPTORS = (property, staticmethod, classmethod)


class FunctionValue(Value):
    """A Python function: `object` when it exists already, else made inside from its parts."""

    __slots__ = (
        "code", "globals", "cells", "defaults", "keyword_defaults", "object", "attributes",
        "guarded",
    )  # fmt: skip

    def __init__(
        self,
        code: CodeType,
        globals: GlobalsValue,
        cells: list[CellValue],
        object: FunctionType | None = None,
        source: Source | None = None,
    ):
        super().__init__(source)
        self.code = code
        self.globals = globals
        self.cells = cells
        self.object = object
        self.defaults: list[Value] = []
        self.keyword_defaults: dict[str, Value] = {}
        self.attributes: dict[str, Value] = {}
        self.guarded = source is None

    def python_type(self) -> type:
        return FunctionType

    def known(self) -> Any:
        if self.object is None:
            return super().known()
        return self.object

    def describe(self) -> str:
        return f"function {self.code.co_name}"

    def same_as(self, machine: Machine, other: Value) -> bool:
        if self is other or not isinstance(other, FunctionValue) or self.object is None:
            return self is other
        machine.state.guard_identity(self.source, self.object)
        machine.state.guard_identity(other.source, other.object)
        return self.object is other.object

    def get_attribute(self, machine: Machine, name: str) -> Value:
        """What was set here, then what the function holds that exists, or what any new one has."""
        if name in self.attributes:
            return self.attributes[name]
        if name in ("__name__", "__qualname__"):
            text = self.code.co_name if name == "__name__" else self.code.co_qualname
            return machine.from_python(text if self.object is None else getattr(self.object, name))
        if self.object is not None and self.source is not None:
            if name in ("__get__", "__call__"):
                return native_attribute(machine, self, name)
            return self._attribute_of_old(machine, self.object, self.source, name)
        return self._attribute_of_new(machine, name)

    def _attribute_of_old(
        self, machine: Machine, function: FunctionType, source: Source, name: str
    ) -> Value:
        """An attribute of a function that exists: as it was, or as the program has set it."""
        written = machine.state.function_writes
        if written:
            machine.state.guard_identity(source, function)
            writes = written.get(function, {})
            if name == "__dict__" and writes:
                machine.stop("unknown-attribute", f"reading __dict__ of {self.describe()}")
            if name in writes:
                return writes[name] or self._has_none(machine, name)
        if not hasattr(function, name):
            machine.state.guard_no_attribute(source, name)
            self._has_none(machine, name)
        return machine.wrap(getattr(function, name), AttributeSource(source, name))

    def _has_none(self, machine: Machine, name: str) -> Any:
        text = f"'function' object has no attribute '{name}'"
        return machine.raise_(AttributeError, text, name=name, obj=self)

    def _attribute_of_new(self, machine: Machine, name: str) -> Value:
        """An attribute of a function made inside."""
        if name == "__module__":
            return machine.from_python(self.globals.table.get("__name__"))
        if name == "__doc__":
            first = self.code.co_consts[0] if self.code.co_consts else None
            return machine.from_python(first if isinstance(first, str) else None)
        if name == "__dict__":
            hidden = ("__annotations__", "__type_params__", "__doc__", "__name__", "__qualname__")
            held = {key: value for key, value in self.attributes.items() if key not in hidden}
            return machine.dict_of(held)
        if name == "__annotations__":
            self.attributes[name] = machine.dict_of({})
            return self.attributes[name]
        if name == "__code__":
            return machine.from_python(self.code)
        if name == "__defaults__":
            made = machine.tuple_of(list(self.defaults))
            return made if self.defaults else machine.from_python(None)
        if name == "__kwdefaults__":
            table = machine.dict_of(dict(self.keyword_defaults))
            return table if self.keyword_defaults else machine.from_python(None)
        if name == "__closure__":
            cells: list[Value] = list(self.cells)
            return machine.tuple_of(cells) if cells else machine.from_python(None)
        if name == "__globals__":
            return self.globals
        if name == "__type_params__":
            return machine.tuple_of([])
        if name in ("__get__", "__call__"):
            return native_attribute(machine, self, name)
        return self._has_none(machine, name)

    def set_attribute(self, machine: Machine, name: str, value: Value) -> None:
        if name.startswith("__code") or (self.object is not None and hasattr(FunctionType, name)):
            machine.stop("unknown-attribute", f"setting {name} of {self.describe()}")
        if self.object is None:
            machine.state.effects.touch(self.birth)
            self.attributes[name] = value
        else:
            self._write(machine, self.object, name, value)

    def delete_attribute(self, machine: Machine, name: str) -> None:
        if hasattr(FunctionType, name):
            machine.stop("unknown-attribute", f"deleting {name} of {self.describe()}")
        machine.get_attribute(self, name)  # raises where there is none
        if self.object is None:
            machine.state.effects.touch(self.birth)
            del self.attributes[name]
        else:
            self._write(machine, self.object, name, None)

    def _write(
        self, machine: Machine, function: FunctionType, name: str, value: Value | None
    ) -> None:
        """Set an attribute of a function that exists, or take it away.

        A function is met under many names, each guarded by its code only; once one is written, each
        whose attributes are asked for is guarded to be this very one.
        """
        if self.source is None:
            machine.stop("unknown-attribute", f"setting {name} of {self.describe()}")
        machine.state.guard_identity(self.source, function)
        machine.state.function_writes.setdefault(function, {})[name] = value
        machine.state.effects.set_attribute(self, name, value)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        if name == "__get__":
            return self._bound(machine, *args)
        if name == "__call__":
            return self.call(machine, args, kwargs)
        return super().call_method(machine, name, args, kwargs)

    def _bound(self, machine: Machine, owner: Value, cls: Value | None = None) -> Value:
        """What `function.__get__(owner, cls)` gives: without an owner, the function itself."""
        given = [machine.real(owner), machine.real(cls) if cls is not None else Constant(None)]
        lacks = [isinstance(each, Constant) and each.value is None for each in given]
        if all(lacks):
            machine.type_error("__get__(None, None) is invalid")
        return self if lacks[0] else MethodValue(owner, self)

    def call(self, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        return machine.call_function(self, args, kwargs)

    def default(self, machine: Machine, index: int) -> Value:
        """The default number `index` of the positional parameters."""
        if self.object is None:
            return self.defaults[index]
        defaults = self.object.__defaults__ or ()
        from_end = index - len(defaults)  # whatever other parameters come to have
        place = ItemSource(AttributeSource(self._source(), "__defaults__"), from_end)
        return machine.lazy(defaults[index], place)

    def defaults_count(self, machine: Machine) -> int:
        """How many positional parameters have a default."""
        return len(self.defaults if self.object is None else self.object.__defaults__ or ())

    def keyword_default(self, machine: Machine, name: str) -> Value | None:
        """The default of a keyword-only parameter."""
        if self.object is None:
            return self.keyword_defaults.get(name)
        table = self.object.__kwdefaults__ or {}
        if name not in table:
            return None
        place = ItemSource(AttributeSource(self._source(), "__kwdefaults__"), name)
        return machine.lazy(table[name], place)

    def _source(self) -> Source:
        return self.source or ConstantSource(self.object, self.code.co_name)

    def emit(self, emitter: Emitter) -> str:
        if self.source is not None:
            return emitter.fetch(self.source)
        if self.object is not None:
            return emitter.object(self.object, self.code.co_name)
        return emitter.function(self)


class MethodValue(Value):
    """A bound method: the instance and the function."""

    __slots__ = ("owner", "function")

    def __init__(self, owner: Value, function: Value, source: Source | None = None):
        super().__init__(source)
        self.owner, self.function = owner, function

    def python_type(self) -> type:
        return MethodType

    def describe(self) -> str:
        return f"method {self.function.describe().removeprefix('function ')}"

    def same_as(self, machine: Machine, other: Value) -> bool:
        return self is other

    def compare_with(
        self, machine: Machine, symbol: str, other: Value, reflected: bool
    ) -> Value | None:
        """Two are equal when they bind one function to one object."""
        if symbol not in ("==", "!=") or not isinstance(other, MethodValue):
            return None
        mine, theirs = (machine.real(each.owner) for each in (self, other))
        same = mine.same_as(machine, theirs)
        mine, theirs = (machine.real(each.function) for each in (self, other))
        same = same and mine.same_as(machine, theirs)
        return machine.from_python(same == (symbol == "=="))

    def get_attribute(self, machine: Machine, name: str) -> Value:
        if name == "__self__":
            return self.owner
        if name == "__func__":
            return self.function
        return machine.get_attribute(self.function, name)

    def call(self, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        return machine.call(self.function, [self.owner, *args], kwargs)

    def emit(self, emitter: Emitter) -> str:
        if self.source is not None:
            return emitter.fetch(self.source)
        method = emitter.object(MethodType, "MethodType")
        return f"{method}({emitter.value(self.function)}, {emitter.value(self.owner)})"


class NativeValue(Value):
    """A callable of native code or of minitorch2's op table, known by identity."""

    __slots__ = ("object",)

    def __init__(self, object: Any, source: Source | None = None):
        super().__init__(source)
        self.object = object

    def python_type(self) -> type:
        return type(self.object)

    def known(self) -> Any:
        return self.object

    def describe(self) -> str:
        return f"native {getattr(self.object, '__name__', type(self.object).__name__)}"

    def same_as(self, machine: Machine, other: Value) -> bool:
        return isinstance(other, NativeValue) and other.object is self.object

    def get_attribute(self, machine: Machine, name: str) -> Value:
        if not hasattr(self.object, name):
            kind = type(self.object).__name__
            machine.raise_(AttributeError, f"'{kind}' object has no attribute '{name}'")
        if self.source is not None and not self.source.trusted:
            return machine.wrap(getattr(self.object, name), AttributeSource(self.source, name))
        return machine.from_python(getattr(self.object, name))

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        if name == "__get__" and isinstance(self.object, DESCRIPTORS):
            return self._bound(machine, *map(machine.real, args))
        if name == "__call__":
            return self.call(machine, args, kwargs)
        if isinstance(self.object, functools._lru_cache_wrapper):  # its counts are Python's
            machine.stop("kept-answer", f"{self.describe()}.{name}()")
        return super().call_method(machine, name, args, kwargs)

    def _bound(self, machine: Machine, owner: Value, cls: Value | None = None) -> Value:
        """What a property or a static or class method gives, asked by its `__get__`."""
        alone = isinstance(owner, Constant) and owner.value is None
        if isinstance(self.object, property):
            fget = self.get_attribute(machine, "fget")
            return self if alone else machine.call(fget, [owner], {})
        function = self.get_attribute(machine, "__func__")
        if isinstance(self.object, staticmethod):
            return function
        if cls is None or (isinstance(cls, Constant) and cls.value is None):
            cls = machine.from_python(owner.python_type())
        return machine.bind_method(cls, function)

    def call(self, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        return machine.call_native(self.object, args, kwargs)

    def emit(self, emitter: Emitter) -> str:
        return emitter.object(self.object, getattr(self.object, "__name__", "native"))


class HostFunctionValue(Value):
    """A callable that capture computes itself: what `operator.itemgetter(1)` makes."""

    __slots__ = ("function", "cls")

    def __init__(self, function: Callable[[Machine, Arguments, Keywords], Value], cls: type):
        super().__init__(None)
        self.function, self.cls = function, cls

    def python_type(self) -> type:
        return self.cls

    def call(self, machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        return self.function(machine, args, kwargs)

"""Exception instances that the captured program raises, catches and looks at.

In: a class and its arguments, or a real exception that an operation raised during capture.
Out: a value with `args`, `__cause__`, own attributes and the text Python gives it.
"""

from __future__ import annotations

import re
import types
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.rules.groups import split
from minitorch2.jit.capture.source import AttributeSource, Source
from minitorch2.jit.capture.values.base import Arguments, Keywords, NativeMethod, Value

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine


class PreviousException:
    """The stack item of PUSH_EXC_INFO: the exception that was active before, or None.

    `pending` until POP_EXCEPT makes it the active one again; what is left of it then is nothing.
    """

    __slots__ = ("value", "pending")

    def __init__(self, value: Value | None):
        self.value = value
        self.pending = True

    def describe(self) -> str:
        return "the exception before"


class LastInstruction:
    """The stack item of some exception handlers: the offset of the instruction that raised."""

    __slots__ = ("offset",)

    def __init__(self, offset: int):
        self.offset = offset

    def describe(self) -> str:
        return f"offset {self.offset}"


SIZES = re.compile(r"\bs\d+\b")  # as shapes are written during capture
FIELDS = (types.MemberDescriptorType, types.GetSetDescriptorType)
LINKS = ("__cause__", "__context__", "__suppress_context__", "__traceback__", "__notes__")


class ExceptionValue(Value):
    """An exception instance; `real` is the object when an operation raised it during capture."""

    __slots__ = ("cls", "args", "attributes", "real")

    def __init__(self, cls: type, args: Arguments, real: BaseException | None = None):
        super().__init__(None)
        self.cls, self.args, self.real = cls, args, real
        self.attributes: dict[str, Value] = {}

    def python_type(self) -> type:
        return self.cls

    def describe(self) -> str:
        return f"{self.cls.__name__} instance"

    def known(self) -> Any:
        """The exception itself, made without a second run of an `__init__` in Python."""
        if self.real is not None:
            return self.real
        args = [argument.known() for argument in self.args]
        made = self.cls.__new__(self.cls, *args) if self._has_init() else self.cls(*args)
        made.args = tuple(args)
        for name, value in self.attributes.items():
            if name not in LINKS and name != "obj":  # which need not be known
                object.__setattr__(made, name, value.known())
        return made

    def check_text(self, machine: Machine) -> None:
        """What an operation says of sizes that vary is for Python to say: it knows the numbers."""
        if self._tells_sizes():
            machine.stop("unknown-operation", f"the text of a {self.cls.__name__} about sizes")

    def _tells_sizes(self) -> bool:
        return self.real is not None and SIZES.search(str(self.real)) is not None

    def _has_init(self) -> bool:
        """Whether an `__init__` in Python was run, which is not to be run again."""
        return isinstance(getattr(self.cls, "__init__", None), types.FunctionType)

    def compare_with(
        self, machine: Machine, symbol: str, other: Value, reflected: bool
    ) -> Value | None:
        if symbol not in ("==", "!="):
            return None
        return machine.from_python((self is other) == (symbol == "=="))

    def get_attribute(self, machine: Machine, name: str) -> Value:
        """`args`, links, own attributes, fields of native exceptions, then what the class holds."""
        if name in self.attributes:
            return self.attributes[name]
        if name == "args":
            self.check_text(machine)
            return machine.tuple_of(list(self.args))
        if name in ("message", "exceptions") and issubclass(self.cls, BaseExceptionGroup):
            if name == "message":
                return self.args[0]
            return machine.tuple_of(machine.items(self.args[1]))
        if name == "__class__":
            return machine.from_python(self.cls)
        if name in LINKS:
            if name == "__traceback__":
                machine.stop("unknown-attribute", "the traceback of an exception")
            if name == "__notes__":
                text = f"'{self.cls.__name__}' object has no attribute '__notes__'"
                machine.raise_(AttributeError, text)
            return machine.from_python(False if name == "__suppress_context__" else None)
        if name in ("with_traceback", "add_note"):
            return NativeMethod(self, name)
        if name == "value" and issubclass(self.cls, StopIteration):
            return self.args[0] if self.args else machine.from_python(None)
        if self.real is not None and name in getattr(self.real, "__dict__", {}):
            return machine.from_python(getattr(self.real, name))
        found = machine.class_lookup(self.cls, name)
        if found is not None and isinstance(found[1], FIELDS):
            return machine.from_python(getattr(self.known(), name))
        if found is not None:
            return machine.class_attribute(self, name)
        kind = self.cls.__name__
        return machine.raise_(AttributeError, f"'{kind}' object has no attribute '{name}'")

    def set_attribute(self, machine: Machine, name: str, value: Value) -> None:
        if name == "args":
            self.args = machine.items(value)
        elif name != "__traceback__" or not isinstance(value, TracebackValue):  # that is its own
            self.attributes[name] = value
            if name == "__cause__":
                self.attributes["__suppress_context__"] = machine.from_python(True)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        if name == "with_traceback":
            return self
        if issubclass(self.cls, BaseExceptionGroup) and name in ("split", "subgroup", "derive"):
            if name == "derive":
                return machine.exception_group([self.args[0], *args])
            parts = machine.call(machine.trusted(split, "split"), [self, *args], kwargs)
            return parts if name == "split" else machine.items(parts)[0]
        if name == "add_note":
            if "__notes__" not in self.attributes:
                self.attributes["__notes__"] = machine.from_python([])
            return machine.method(self.attributes["__notes__"], "append", args)
        if name in ("__str__", "__repr__"):
            return machine.run_python(str if name == "__str__" else repr, [self], {})
        if name == "__init__":
            self.args = list(args)
            return machine.from_python(None)
        return super().call_method(machine, name, args, kwargs)

    def emit(self, emitter: Emitter) -> str:
        if self._tells_sizes():
            raise GraphBreak("unknown-object", f"a {self.cls.__name__} about sizes that vary")
        inside = ", ".join(emitter.value(argument) for argument in self.args)
        cls = emitter.object(self.cls, self.cls.__name__)
        made = f"{cls}.__new__({cls}, {inside})" if self._has_init() else f"{cls}({inside})"
        return emitter.with_attributes(self, made, self.attributes)


class TracebackValue(Value):
    """The traceback of an exception, which may be passed on but not looked at."""

    __slots__ = ()

    def python_type(self) -> type:
        return types.TracebackType

    def describe(self) -> str:
        return "the traceback of an exception"

    def same_as(self, machine: Machine, other: Value) -> bool:
        if isinstance(machine.real(other), TracebackValue):
            machine.stop("unknown-attribute", "whether two tracebacks are one")
        return False

    def compare_with(
        self, machine: Machine, symbol: str, other: Value, reflected: bool
    ) -> Value | None:
        if symbol not in ("==", "!="):
            return None
        return machine.from_python(self.same_as(machine, other) == (symbol == "=="))


def traceback_of(machine: Machine, error: Value) -> Value:
    """What `__exit__` and `sys.exc_info()` are given beside an exception."""
    if isinstance(error, CaughtValue):
        return error.get_attribute(machine, "__traceback__")
    return TracebackValue()


class CaughtValue(Value):
    """An exception that Python raised, or that an argument brings: attributes are read from it."""

    __slots__ = ("object", "attributes")

    def __init__(self, object: BaseException, source: Source):
        super().__init__(source)
        self.object = object
        self.attributes: dict[str, Value] = {}

    def python_type(self) -> type:
        return type(self.object)

    def describe(self) -> str:
        return f"{type(self.object).__name__} instance"

    def get_attribute(self, machine: Machine, name: str) -> Value:
        """Read from the exception that exists, with a source."""
        if name in self.attributes:
            return self.attributes[name]
        cls = type(self.object)
        if name == "__class__":
            return machine.from_python(cls)
        own = name in getattr(self.object, "__dict__", {})
        found = machine.class_lookup(cls, name)
        field = found is not None and isinstance(found[1], FIELDS) and hasattr(self.object, name)
        if own or field or name in LINKS:
            assert self.source is not None
            return machine.lazy(getattr(self.object, name), AttributeSource(self.source, name))
        if found is not None:
            return machine.class_attribute(self, name)
        return super().get_attribute(machine, name)

    def set_attribute(self, machine: Machine, name: str, value: Value) -> None:
        if name in (*LINKS, "args"):
            super().set_attribute(machine, name, value)
        self.attributes[name] = value
        machine.state.effects.set_attribute(self, name, value)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        machine.stop("unknown-call", f"{type(self.object).__name__}.{name}()")

    def emit(self, emitter: Emitter) -> str:
        assert self.source is not None
        return emitter.fetch(self.source)

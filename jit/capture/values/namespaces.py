"""Where names live: dicts of globals, closure cells, Python modules.

In: the real dict, cell or module. Out: reads that guard what they found, and writes that are
overlaid here and recorded as effects. Globals of minitorch2 and of the standard library are
trusted not to change.
"""

from __future__ import annotations

import builtins
import functools
import re
import sys
from types import (
    BuiltinFunctionType,
    CellType,
    ClassMethodDescriptorType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any, NoReturn

from minitorch2.compat import Window
from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.source import (
    AttributeSource,
    CellContents,
    ConstantSource,
    GlobalSource,
    Source,
)
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value, native_attribute
from minitorch2.jit.capture.values.constants import is_constant

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine


def is_trusted_module(name: str) -> bool:
    """Whether a module is minitorch2's or Python's own."""
    top = name.partition(".")[0]
    return top == "minitorch2" or (top != "__main__" and top in sys.stdlib_module_names)


def is_settled(object: Any, module: str) -> bool:
    """Whether nobody changes an object that such a module holds: its contents are its own too.

    The standard library keeps state of the program: `os.environ`, `sys.stdout`, `random`'s numbers.
    """
    if is_foreign(object):
        return False
    if isinstance(object, SETTLED) or is_constant(object):
        return True
    top = type(object).__module__.partition(".")[0]
    of_ours = module.partition(".")[0] == "minitorch2"
    return top == "typing" or (of_ours and top in ("minitorch2", "builtins", *BENEATH, *OF_STATE))


def is_as_named(object: Any, name: str, of_user: bool) -> bool:
    """Whether a module of ours can only have made an attribute itself: it bears the name. Numbers
    and the like bear none: where the program asks for one, it may have put it there."""
    if isinstance(object, functools.partial | MethodType | functools._lru_cache_wrapper):
        return False
    if isinstance(object, SETTLED) and not isinstance(object, ModuleType):
        return getattr(object, "__name__", name) == name
    return type(object).__module__ != "builtins" or isinstance(object, ModuleType) or not of_user


def is_foreign(object: Any) -> bool:
    """Whether a function or class is the program's: what `torch.rand = mine` does may be undone.

    A function tells by its globals, since functools.wraps gives it the name of what it replaces.
    """
    while isinstance(object, functools.partial | MethodType | functools._lru_cache_wrapper):
        inner = {functools.partial: "func", MethodType: "__func__"}
        object = getattr(object, inner.get(type(object), "__wrapped__"))
    if isinstance(object, FunctionType):
        home = object.__globals__.get("__name__")
    elif isinstance(object, ModuleType):
        home = _loaded_name(object)
    else:
        home = object.__module__ if isinstance(object, type) else None
    return (
        isinstance(home, str)
        and not is_trusted_module(home)
        and home.partition(".")[0] not in BENEATH
    )


# What minitorch2 calls itself for a script that imports torch, and the packages that it stands on:
# what its modules hold of them stays.
BENEATH = ("torch", "numpy", "ml_dtypes", "llvmlite")
OF_STATE = ("_thread", "weakref", "_weakrefset", "itertools", "collections", "functools", "types")

SETTLED = (
    type, ModuleType, FunctionType, BuiltinFunctionType, MethodDescriptorType,
    WrapperDescriptorType, ClassMethodDescriptorType, GetSetDescriptorType, MemberDescriptorType,
    MethodType, property, staticmethod, classmethod, functools.partial, re.Pattern,
    functools.cached_property,
)  # fmt: skip


def is_namespace(table: dict) -> bool:
    """Whether a dict is the globals of a module that was imported."""
    name = table.get("__name__")
    return type(name) is str and getattr(sys.modules.get(name), "__dict__", None) is table


class GlobalsValue(Value):
    """The globals of one Python module; `overlay` is what was written (None: deleted), under these
    names or as attributes of the module. Of these attributes, `believed` were read without a guard;
    all are written to the module as it was first met, `written`: one object, one target."""

    __slots__ = ("table", "overlay", "believed", "written")

    def __init__(self, table: dict[str, Any]):
        name = table.get("__name__", "?")
        super().__init__(ConstantSource(table, f"globals of {name}", is_trusted_module(name)))
        self.table = table
        self.overlay: dict[str, Value | None] = {}
        self.believed: set[str] = set()
        self.written: ModuleValue | None = None

    def python_type(self) -> type:
        return dict

    def find(self, machine: Machine, name: str) -> Value:
        """The value of a global or builtin name."""
        assert self.source is not None
        if name in self.overlay:
            found = self.overlay[name]
            if found is not None:
                return found
        elif name in self.table:
            found = self.table[name]
            source = self.source
            if source.trusted and not is_settled(found, self.table.get("__name__", "?")):
                source = ConstantSource(self.table, str(source), False)
            return machine.lazy(found, GlobalSource(source, name))
        if name not in self.overlay:
            place = ConstantSource(self.table, str(self.source), self.source.trusted)
            machine.state.guard_key(place, name, False)
        return self._builtin(machine, name)

    def _builtin(self, machine: Machine, name: str) -> Value:
        """A name of `builtins`, where the program may have put something too."""
        table = ConstantSource(vars(builtins), "builtins", False)
        if name not in table.object:
            machine.state.guard_key(table, name, False)
            machine.raise_(NameError, f"name '{name}' is not defined", name=name)
        found = table.object[name]
        if not is_settled(found, "builtins"):
            return machine.lazy(found, GlobalSource(table, name))
        if machine.state.frames[-1].is_user:
            machine.state.guard_name(builtins, "builtins", name, found)
        return machine.trusted(found, name)

    def store(self, machine: Machine, name: str, value: Value) -> None:
        """Rebind a global name."""
        self.overlay[name] = value
        machine.state.effects.record(self, f"{{0}}[{name!r}] = {{1}}", value)

    def delete(self, machine: Machine, name: str) -> None:
        """Unbind a global name."""
        if not self.has(machine, machine.from_python(name)):
            machine.raise_(NameError, f"name '{name}' is not defined", name=name)
        self.overlay[name] = None
        machine.state.effects.record(self, f"del {{0}}[{name!r}]")

    # ---- as the dict that `globals()` returns

    def has(self, machine: Machine, key: Value) -> bool:
        """Whether the module has a name."""
        assert self.source is not None
        name = machine.key(key)
        if name in self.overlay:
            return self.overlay[name] is not None
        machine.state.guard_key(ConstantSource(self.table, str(self.source), self.source.trusted),
                                name, name in self.table)  # fmt: skip
        return name in self.table

    def contains(self, machine: Machine, item: Value) -> bool:
        return self.has(machine, item)

    def iterator(self, machine: Machine) -> Value:
        assert self.source is not None
        place = ConstantSource(self.table, str(self.source), self.source.trusted)
        machine.state.guard_keys(place, tuple(self.table))
        names = {**self.table, **self.overlay}
        kept = [name for name in names if self.overlay.get(name, self) is not None]
        return machine.iterate_over(machine.from_python(name) for name in kept)

    def get_item(self, machine: Machine, key: Value) -> Value:
        if not self.has(machine, key):
            machine.raise_(KeyError, machine.key(key))
        return self.find(machine, machine.key(key))

    def set_item(self, machine: Machine, key: Value, value: Value) -> None:
        self.store(machine, machine.key(key), value)

    def delete_item(self, machine: Machine, key: Value) -> None:
        if not self.has(machine, key):
            machine.raise_(KeyError, machine.key(key))
        self.delete(machine, machine.key(key))

    def get_attribute(self, machine: Machine, name: str) -> Value:
        return native_attribute(machine, self, name)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        if name == "get" and args:
            if self.has(machine, args[0]):
                return self.get_item(machine, args[0])
            return args[1] if len(args) > 1 else machine.from_python(None)
        machine.stop("unknown-operation", f"globals().{name}()")

    def emit(self, emitter: Emitter) -> str:
        return emitter.object(self.table, "GLOBALS")


class CellValue(Value):
    """A closure cell: made inside (no source), or one of a function that exists already."""

    __slots__ = ("contents", "name", "object")

    def __init__(
        self,
        name: str,
        contents: Value | None = None,
        object: CellType | None = None,
        source: Source | None = None,
    ):
        super().__init__(source)
        self.name, self.contents, self.object = name, contents, object

    def python_type(self) -> type:
        return CellType

    def describe(self) -> str:
        return f"cell {self.name}"

    def load(self, machine: Machine) -> Value:
        """What the cell holds."""
        if self.contents is None:
            if self.source is None or self.object is None:
                text = f"cannot access free variable '{self.name}' where it is not associated"
                text = f"{text} with a value in enclosing scope"
                machine.raise_(NameError, text, name=self.name)
            try:
                held = self.object.cell_contents
            except ValueError:
                raise GraphBreak("unknown-object", f"empty cell {self.name}") from None
            self.contents = machine.lazy(held, CellContents(self.source, self.name))
        return self.contents

    def store(self, machine: Machine, value: Value | None) -> None:
        """Rebind the variable."""
        self.contents = value
        if value is None:
            if self.source is not None:
                machine.stop("unknown-operation", f"deleting the outer variable {self.name}")
        else:
            machine.state.effects.record(self, "{0}.cell_contents = {1}", value)

    def get_attribute(self, machine: Machine, name: str) -> Value:
        if name == "cell_contents":
            return self.load(machine)
        return super().get_attribute(machine, name)

    def emit(self, emitter: Emitter) -> str:
        if self.source is not None:
            return emitter.fetch(self.source)
        return emitter.cell(self)


def _loaded_name(module: ModuleType) -> str:
    """The name that a module was loaded by: `torch.__name__` may be what scripts expect."""
    return module.__spec__.name if module.__spec__ else module.__name__


def _holder(module: ModuleType, name: str) -> ModuleType:
    """The module that a name lives in: behind a window under torch's name, ours."""
    if isinstance(module, Window) and name not in vars(module) and not name.startswith("__"):
        return vars(module)["_module"]
    return module


class ModuleValue(Value):
    """A Python module (not an nn.Module). What is written is kept by the value of its globals, of
    which there is one, wherever the module is met."""

    __slots__ = ("module",)

    def __init__(self, module: ModuleType, source: Source | None):
        super().__init__(source)
        self.module = module

    def python_type(self) -> type:
        return ModuleType

    def known(self) -> Any:
        return self.module

    def describe(self) -> str:
        return f"module {self.module.__name__}"

    def same_as(self, machine: Machine, other: Value) -> bool:
        return isinstance(other, ModuleValue) and other.module is self.module

    def _names(self, machine: Machine, name: str) -> GlobalsValue:
        return machine.globals_value(vars(_holder(self.module, name)))

    def get_attribute(self, machine: Machine, name: str) -> Value:
        names = self._names(machine, name)
        if name == "__dict__":
            return names
        if name in names.overlay:
            written = names.overlay[name]
            return self._missing(machine, name) if written is None else written
        own = _loaded_name(self.module)
        trusted = is_trusted_module(own)
        of_user = machine.state.frames[-1].is_user
        try:
            found = getattr(self.module, name)
        except AttributeError as error:
            place = ConstantSource(names.table, str(names.source), trusted and not of_user)
            machine.state.guard_key(place, name, False)
            machine.raise_real(error)
        trusted = trusted and is_settled(found, own)
        if trusted and own.partition(".")[0] == "minitorch2":
            trusted = is_as_named(found, name, of_user)
        base = ConstantSource(self.module, own, trusted)
        if trusted:
            names.believed.add(name)
            if of_user or callable(found):
                machine.state.guard_name(_holder(self.module, name), own, name, found)
            return machine.trusted(found, f"{own}.{name}")
        return machine.lazy(found, AttributeSource(base, name))

    def _missing(self, machine: Machine, name: str) -> NoReturn:
        """A name that was deleted."""
        if "__getattr__" in vars(self.module) or type(self.module) is not ModuleType:
            machine.stop("unknown-operation", f"{self.describe()}.__getattr__({name!r})")
        text = f"module {self.module.__name__!r} has no attribute {name!r}"
        machine.raise_(AttributeError, text, name=name, obj=self)

    def _write(self, machine: Machine, name: str, value: Value | None) -> None:
        """Set or delete a name; what was believed of it before is guarded from now on."""
        kind = type(self.module)
        own_way = kind.__setattr__ is not ModuleType.__setattr__ and kind is not Window
        if own_way or any(name in vars(cls) for cls in kind.__mro__):
            machine.stop("unknown-operation", f"writing {self.describe()}.{name}")
        names = self._names(machine, name)
        if name in names.believed and name not in names.overlay:
            found = getattr(self.module, name)
            base = ConstantSource(self.module, _loaded_name(self.module), False)
            guard = (
                machine.state.guard_value if is_constant(found) else machine.state.guard_identity
            )
            guard(AttributeSource(base, name), found)
        names.overlay[name] = value
        target = self
        if type(self.module) is not Window:
            names.written = target = names.written or self
        if value is None:
            machine.state.effects.record(target, f"del {{0}}.{name}")
        else:
            machine.state.effects.record(target, f"{{0}}.{name} = {{1}}", value)

    def set_attribute(self, machine: Machine, name: str, value: Value) -> None:
        self._write(machine, name, value)

    def delete_attribute(self, machine: Machine, name: str) -> None:
        if type(self.module) is not ModuleType:
            machine.stop("unknown-operation", f"deleting {self.describe()}.{name}")
        if not self._names(machine, name).has(machine, machine.from_python(name)):
            try:
                delattr(ModuleType(self.module.__name__), name)
            except AttributeError as error:
                machine.raise_real(error)
        self._write(machine, name, None)

    def emit(self, emitter: Emitter) -> str:
        return emitter.object(self.module, self.module.__name__.replace(".", "_"))

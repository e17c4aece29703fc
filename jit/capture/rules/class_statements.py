"""Classes made inside: class statements, `type(name, bases, body)`, named tuples, decorators.

In: what makes the class, as values: for a statement the function of its body, its name, bases,
keywords. Out: a class value of a stand-in (see `values.made_classes`), and a record from
which the host function makes the class anew in each call in which it leaves. The body runs on the
machine like any function, with the names it binds in a dict.

What a hook of the program would see while Python makes a class (`__init_subclass__`, a metaclass
with methods of its own) is a graph break: it would see the stand-in.

Source: Python's reference, "Customizing class creation"; `dataclasses` and `collections`.
"""

from __future__ import annotations

import builtins
import collections
import dataclasses
import enum
import functools
import types
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.rules.builtins import rule
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value
from minitorch2.jit.capture.values.classes import ClassValue
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.functions import FunctionValue
from minitorch2.jit.capture.values.made_classes import (
    DescriptorValue,
    MadeClass,
    Placeholder,
    sets_name,
    stand_in,
)
from minitorch2.jit.capture.values.mappings import DictValue
from minitorch2.jit.capture.values.namespaces import CellValue, is_trusted_module
from minitorch2.jit.capture.values.sequences import TupleValue
from minitorch2.jit.class_series import begin_series

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine

REASON = "class-statement"
CELLS = ("__classcell__", "__classdictcell__")  # what the compiler hands to `type.__new__`


def build_class(name: str, bases: tuple, names: dict[str, Any], **keywords: Any) -> type:
    """What a class statement does once its body has run and left `names`.

    >>> build_class("Two", (int,), {"half": lambda self: self // 2})(4).half()
    2
    """
    made = types.new_class(name, bases, keywords, lambda space: fill(space, names))
    begin_series(made)
    return made


def fill(space: Any, names: dict[str, Any]) -> None:
    """Bind names in the namespace of a class, one after the other."""
    for name, value in names.items():
        space[name] = value


@rule(builtins.__build_class__)
def _build_class(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    """A class statement."""
    body, name = machine.real(args[0]), machine.real(args[1])
    if not isinstance(body, FunctionValue):
        machine.stop(REASON, "a class body that is no function")
    frame = machine.enter(body, [], {})
    frame.names = DictValue({})
    frame.space = prepared(machine, name, args[2:], kwargs)
    cell = machine.real(machine.run(frame))
    bases: Value = TupleValue([machine.real(base) for base in args[2:]])
    return make(machine, build_class, [name, bases, frame.names], kwargs,
                cell if isinstance(cell, CellValue) else None)  # fmt: skip


def prepared(machine: Machine, name: Value, bases: Arguments, kwargs: Keywords) -> Any:
    """The namespace that the metaclass gives to the body, or None when it is a dict."""
    plain = [stand_in(machine, base) for base in bases]
    named = {key: stand_in(machine, value) for key, value in kwargs.items()}
    refuse_hooks(machine, tuple(plain), named)
    space = machine.guarded(
        lambda: types.prepare_class(name.known(), types.resolve_bases(plain), named)[1]
    )
    return None if type(space) is dict else space


def type_call(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    """`type(name, bases, names)`."""
    name, bases, names = (machine.real(argument) for argument in args)
    return make(machine, type, [name, bases, names], kwargs)


def make(
    machine: Machine, how: Callable, args: Arguments, kwargs: Keywords,
    cell: CellValue | None = None,
) -> Value:  # fmt: skip
    """A class from its name, bases and the names that its body bound."""
    name, bases, names = args
    if not isinstance(names, DictValue) or not isinstance(bases, TupleValue):
        machine.stop(REASON, "a class whose bases or names are not known")
    bases.values[:] = [machine.real(base) for base in bases.values]
    names.all_keys(machine)
    held = {key: value for key, value in names.entries.items() if key not in CELLS}
    later: dict[str, Any] = {}
    plain: dict[str, Any] = {}
    for key, value in held.items():
        found = stand_in(machine, value)
        (later if sets_name(found) else plain)[key] = found
    real_bases = tuple(stand_in(machine, base) for base in bases.values)
    real_kwargs = {key: stand_in(machine, value) for key, value in kwargs.items()}
    refuse_hooks(machine, real_bases, real_kwargs)
    cls = machine.guarded(lambda: how(name.known(), real_bases, plain, **real_kwargs))
    at_once = DictValue({key: held[key] for key in plain})
    made = MadeClass(cls, how, [name, bases, at_once], kwargs, dict(held), at_once, cell)
    found = register(machine, made)
    for key, thing in later.items():
        _bind_late(machine, made, key, thing)
    return found


def _bind_late(machine: Machine, made: MadeClass, name: str, thing: Any) -> None:
    """An attribute with a `__set_name__` of the program, which the machine calls itself."""
    value = made.members[name]
    type.__setattr__(made.cls, name, thing)
    made.after.append((type.__setattr__, [Constant(name), value]))
    hook = machine.class_attribute(value, "__set_name__")
    machine.call(hook, [ClassValue(made.cls), Constant(name)], {})


def register(machine: Machine, made: MadeClass) -> Value:
    """The value of a class that was just made."""
    machine.state.made_classes[made.cls] = made
    value = ClassValue(made.cls)
    if made.cell is not None:
        made.cell.contents = value
    return value


def refuse_hooks(machine: Machine, bases: tuple, keywords: dict[str, Any]) -> None:
    """End the graph where code of the program would be handed the stand-in."""
    kinds = [type(base) for base in bases if isinstance(base, type)]
    kinds += [keywords["metaclass"]] if "metaclass" in keywords else []
    for kind in kinds:
        if not isinstance(kind, type) or not is_trusted_module(kind.__module__):
            machine.stop(REASON, f"a class with the metaclass {getattr(kind, '__name__', kind)}")
    for base in bases:
        if isinstance(base, Placeholder):
            machine.stop(REASON, "a class with a base that is not known")
        hook = getattr(base, "__init_subclass__", None)
        function = getattr(hook, "__func__", None)
        if function is not None and not is_trusted_module(function.__module__ or ""):
            machine.stop(REASON, f"{base.__name__}.__init_subclass__()")
        if hasattr(type(base), "__mro_entries__") and not is_trusted_module(type(base).__module__):
            machine.stop(REASON, "a base with __mro_entries__")


# ---- functions that make or change a class


def made_by_call(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """`namedtuple("P", "a b")`, `make_dataclass(...)`: a class made by a call of the library."""
    plain = [stand_in(machine, argument) for argument in args]
    named = {key: stand_in(machine, value) for key, value in kwargs.items()}
    module = machine.state.frames[-1].globals.table.get("__name__")
    named.setdefault("module", module)
    cls = machine.guarded(lambda: function(*plain, **named))
    kwargs = {**kwargs, "module": Constant(named["module"])}
    return register(machine, MadeClass(cls, function, list(args), kwargs))


def decorated(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value | None:
    """A decorator of the library that adds methods to a class made inside."""
    cls = machine.real(args[0])
    made = machine.state.made_classes.get(cls.cls) if isinstance(cls, ClassValue) else None
    if made is None:
        return None
    plain = [stand_in(machine, argument) for argument in args[1:]]
    named = {key: stand_in(machine, value) for key, value in kwargs.items()}
    found = machine.guarded(lambda: function(made.cls, *plain, **named))
    if found is not made.cls:
        machine.stop(REASON, f"{function.__name__}() that makes another class")
    if kwargs:
        function = functools.partial(function, **named)
    made.after.append((function, list(args[1:])))
    for name in [name for name in made.members if name not in made.cls.__dict__]:
        del made.members[name]  # a field without a default is no attribute any more
    for name, value in list(made.members.items()):
        if made.cls.__dict__[name] is not stand_in(machine, value):
            del made.members[name]
    return cls


def field(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value | None:
    """`dataclasses.field(...)`: a record that is made anew for each class."""
    named = {key: stand_in(machine, value) for key, value in kwargs.items()}
    return FieldValue(machine.guarded(lambda: function(**named)), kwargs)


class FieldValue(Value):
    """What `dataclasses.field` returned."""

    __slots__ = ("object", "keywords")

    def __init__(self, object: Any, keywords: Keywords):
        super().__init__(None)
        self.object, self.keywords = object, keywords

    def python_type(self) -> type:
        return dataclasses.Field

    def known(self) -> Any:
        return self.object

    def emit(self, emitter: Any) -> str:
        given = ", ".join(f"{name}={emitter.value(v)}" for name, v in self.keywords.items())
        return f"{emitter.object(dataclasses.field, 'field')}({given})"


PROPERTY = ("fget", "fset", "fdel", "doc")


def descriptor(kind: type) -> Callable[..., Value]:
    """The rule for `property`, `staticmethod` and `classmethod`."""

    def apply(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        plain = [stand_in(machine, argument) for argument in args]
        named = {name: stand_in(machine, value) for name, value in kwargs.items()}
        machine.guarded(lambda: kind(*plain, **named))  # which says what is wrong with them
        if kind is not property:
            return DescriptorValue(machine, kind, args)
        rest = [kwargs.get(name, Constant(None)) for name in PROPERTY[len(args) :]]
        return DescriptorValue(machine, kind, [*args, *rest])

    return apply


FUNCTIONS: dict[Any, Any] = {
    collections.namedtuple: made_by_call,
    dataclasses._process_class: decorated,  # type: ignore[attr-defined]
    dataclasses.field: field,
    functools.total_ordering: decorated,
    enum.unique: decorated,
    typing.final: decorated,
    typing.runtime_checkable: decorated,
}

"""Classes made inside: class statements, `type(name, bases, body)`, named tuples, decorators.

In: what makes the class, as values: for a statement the function of its body, its name, bases,
keywords. Out: a class value of a stand-in (see `values.made_classes`), and a record from
which the host function makes the class anew in each call in which it leaves. The body runs on the
machine like any function, with the names it binds in a dict.

Hooks of the program (a metaclass with methods of its own, `__init_subclass__`, `__set_name__`) run
on the machine: the stand-in and the class of each call are made without them (`quiet_class`), and
what they did to the class is done again.

Source: Python's reference, "Customizing class creation"; `dataclasses` and `collections`.
"""

from __future__ import annotations

import abc
import builtins
import collections
import dataclasses
import enum
import functools
import types
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.instructions import PY312
from minitorch2.jit.capture.rules.builtins import rule
from minitorch2.jit.capture.values.base import Arguments, Keywords, UserRaise, Value
from minitorch2.jit.capture.values.classes import ClassValue
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.exceptions import ExceptionValue
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
_END: Any = object.__dict__["__init_subclass__"]
CELLS = ("__classcell__", "__classdictcell__")  # what the compiler hands to `type.__new__`


def build_class(name: str, bases: tuple, names: dict[str, Any], **keywords: Any) -> type:
    """What a class statement does once its body has run and left `names`.

    >>> build_class("Two", (int,), {"half": lambda self: self // 2})(4).half()
    2
    """
    made = types.new_class(name, bases, keywords, lambda space: fill(space, names))
    begin_series(made)
    return made


@functools.lru_cache(64)
def quiet_base(root: type, has_dict: bool) -> type:
    """A class that stands first among the bases while a class is made: no other one hears of it."""

    def hear(cls: type, **keywords: Any) -> None:
        """Nothing."""

    names: dict[str, Any] = {"__init_subclass__": classmethod(hear)}
    return type.__new__(type, "Quiet", (root,), names if has_dict else {**names, "__slots__": ()})


def _quiet_root(bases: tuple) -> type:
    """What the bases extend, up to where somebody hears of classes: with the same layout."""
    order = next(base for base in bases if base.__base__ is not None).__mro__
    silent = [cls for cls in order if all("__init_subclass__" not in each.__dict__
                                          for each in cls.__mro__[:-1])]  # fmt: skip
    return silent[0]


def quiet_class(native: Any, kind: type, name: str, bases: tuple, names: dict[str, Any]) -> type:
    """`native.__new__(kind, name, bases, names)` without a call of the `__init_subclass__` that a
    program wrote: capture runs that itself."""
    told = any(_is_own(getattr(base, "__init_subclass__", None)) for base in bases)
    if not told:
        made = native.__new__(kind, name, bases, names)
    elif kind is type:
        first = quiet_base(_quiet_root(bases), any(base.__dictoffset__ for base in bases))
        made = type.__new__(type, name, (first, *bases), names)
        made.__bases__ = bases
    else:
        made = native.__new__(_quiet_kind(kind), name, bases, names)
        made.__class__ = kind
        made.__bases__ = made.__bases__  # in the order that its own kind gives them
    begin_series(made)
    return made


def _quiet_kind(kind: Any) -> type:
    """A metaclass like another, for whose classes a silent one is the next to be asked."""

    def mro(cls: type) -> list[type]:
        first, *rest = kind.mro(cls)
        return [first, quiet_base(object, False), *rest]

    return type.__new__(type(kind), kind.__name__, (kind,), {"__slots__": (), "mro": mro})


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
    kind = metaclass(machine, args[2:], kwargs)
    if kind is not None:
        return hooked_statement(machine, kind, body, name, args[2:], kwargs)
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
    space = machine.guarded(
        lambda: types.prepare_class(name.known(), types.resolve_bases(plain), named)[1]
    )
    return None if type(space) is dict else space


def metaclass(machine: Machine, bases: Arguments, kwargs: Keywords) -> Value | None:
    """What makes a class, when code of the program has a say in it; None when it has none."""
    plain = [stand_in(machine, base) for base in bases]
    refuse_bases(machine, plain)
    if "metaclass" in kwargs and not isinstance(machine.real(kwargs["metaclass"]), ClassValue):
        return machine.real(kwargs["metaclass"])  # a function, or what can be called like one
    given = machine.real(kwargs["metaclass"]).known() if "metaclass" in kwargs else type
    plain = machine.guarded(lambda: types.resolve_bases(plain))
    winner: type = machine.guarded(lambda: types._calculate_meta(given, plain))  # type: ignore
    told = any(_is_own(getattr(base, "__init_subclass__", None)) for base in plain)
    return ClassValue(winner) if told or not is_trusted_module(winner.__module__) else None


def _is_own(hook: Any) -> bool:
    """Whether a hook is a function of the program's."""
    function = getattr(hook, "__func__", hook)
    return isinstance(function, types.FunctionType) and (
        not is_trusted_module(function.__module__ or "")
    )


def hooked_statement(
    machine: Machine, kind: Value, body: FunctionValue, name: Value, bases: Arguments,
    kwargs: Keywords,
) -> Value:  # fmt: skip
    """A class statement of which the program's hooks are told, one after the other."""
    rest = {key: value for key, value in kwargs.items() if key != "metaclass"}
    given = TupleValue([machine.real(base) for base in bases])
    frame = machine.enter(body, [], {})
    frame.names = DictValue({})
    if isinstance(kind, ClassValue):
        owner = machine.class_lookup(kind.cls, "__prepare__")[0]
        if not is_trusted_module(owner.__module__):
            prepare = machine.get_attribute(kind, "__prepare__")
            frame.names = machine.real(machine.call(prepare, [name, given], rest))
        elif owner is not type:
            machine.stop(REASON, f"a class with the metaclass {kind.cls.__name__}")
    if not isinstance(frame.names, DictValue) or frame.names.cls is not dict:
        machine.stop(REASON, "a class whose names are kept in something else than a dict")
    machine.run(frame)
    return machine.call(kind, [name, given, frame.names], rest)


def type_call(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    """`type(name, bases, names)`: by the metaclass of the bases."""
    name, bases, names = (machine.real(argument) for argument in args)
    kind = metaclass(machine, machine.items(bases), {})
    if kind is None:
        return make(machine, type, [name, bases, names], kwargs)
    if isinstance(kind, ClassValue) and kind.cls is not type:
        return machine.call(kind, [name, bases, names], kwargs)
    return quiet(machine, type, [ClassValue(type), name, bases, names], kwargs)


@rule(type.__new__)
def _type_new(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    """What the `__new__` of a metaclass calls in the end."""
    return quiet(machine, type, args, kwargs)


@rule(type.__init__)
def _type_init(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return Constant(None)


@rule(_END)
def _init_subclass(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    """The end of a chain of `super().__init_subclass__()`."""
    cls = machine.real(args[0]).known()
    machine.guarded(lambda: _END.__get__(None, cls)(**dict.fromkeys(kwargs)))
    return Constant(None)


@rule(type.__setattr__)
def _type_setattr(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    cls, name, value = (machine.real(argument) for argument in args)
    if not isinstance(cls, ClassValue):
        machine.type_error("descriptor '__setattr__' requires a 'type' object")
    cls.store(machine, name.known(), value)
    return Constant(None)


def quiet(machine: Machine, native: type, args: Arguments, kwargs: Keywords) -> Value:
    """A class made by the `__new__` of a native metaclass, and then its hooks."""
    kind, name, bases, names = (machine.real(argument) for argument in args)
    plain = [stand_in(machine, base) for base in machine.items(bases)]
    refuse_bases(machine, plain)
    parts: Arguments = [ClassValue(native), kind, name, bases, names]
    found = make(machine, quiet_class, parts, {})
    for base in found.known().__mro__[1:]:
        if "__init_subclass__" not in base.__dict__:
            continue
        if base is object:
            _init_subclass(machine, [found], kwargs)
        else:
            hook = machine.class_member(base, "__init_subclass__", "__func__")
            machine.call(hook, [found], kwargs)
        break
    return found


def make(
    machine: Machine, how: Callable, args: Arguments, kwargs: Keywords,
    cell: CellValue | None = None,
) -> Value:  # fmt: skip
    """A class from its name, bases and the names that its body bound, the last arguments."""
    *first, name, bases, names = args
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
    before = [stand_in(machine, value) for value in first]
    cls = machine.guarded(lambda: how(*before, name.known(), real_bases, plain, **real_kwargs))
    at_once = DictValue({key: held[key] for key in plain})
    found = names.entries.get("__classcell__", cell)
    cell = found if isinstance(found, CellValue) else None
    made = MadeClass(cls, how, [*first, name, bases, at_once], kwargs, dict(held), at_once, cell)
    value = register(machine, made)
    for key, thing in later.items():
        _bind_late(machine, made, key, thing)
    return value


def _bind_late(machine: Machine, made: MadeClass, name: str, thing: Any) -> None:
    """An attribute with a `__set_name__` of the program, which the machine calls itself."""
    value = made.members[name]
    type.__setattr__(made.cls, name, thing)
    made.after.append((type.__setattr__, [Constant(name), value]))
    hook = machine.class_attribute(value, "__set_name__")
    try:
        machine.call(hook, [ClassValue(made.cls), Constant(name)], {})
    except UserRaise as raised:
        kind = value.python_type().__name__
        text = f"Error calling __set_name__ on '{kind}' instance {name!r} in '{made.cls.__name__}'"
        raise _told(machine, raised, Constant(text)) from None


def _told(machine: Machine, raised: UserRaise, text: Value) -> UserRaise:
    """What a failing `__set_name__` raises: in 3.11 a RuntimeError from it, then it with a note."""
    if PY312:
        machine.method(raised.value, "add_note", [text])
        return raised
    error = machine.real(machine.exception(RuntimeError, [text]))
    links = dict.fromkeys(("__cause__", "__context__"), raised.value)
    assert isinstance(error, ExceptionValue)
    error.attributes.update(links, __suppress_context__=Constant(True))
    return UserRaise(error)


def register(machine: Machine, made: MadeClass) -> Value:
    """The value of a class that was just made."""
    machine.state.made_classes[made.cls] = made
    value = ClassValue(made.cls)
    if made.cell is not None:
        made.cell.contents = value
    return value


def refuse_bases(machine: Machine, bases: Any) -> None:
    """End the graph at bases that nobody knows, or that tell themselves what they stand for."""
    for base in bases:
        if isinstance(base, Placeholder):
            machine.stop(REASON, "a class with a base that is not known")
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


def abstract_new(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """`ABCMeta.__new__(...)`."""
    return quiet(machine, abc.ABCMeta, args, kwargs)


def refused_new(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """`EnumMeta.__new__(...)`, called by a metaclass of the program's."""
    return machine.stop(REASON, "a metaclass that extends that of enums")


FUNCTIONS: dict[Any, Any] = {
    abc.ABCMeta.__new__: abstract_new,
    enum.EnumMeta.__new__: refused_new,
    collections.namedtuple: made_by_call,
    dataclasses._process_class: decorated,  # type: ignore[attr-defined]
    dataclasses.field: field,
    functools.total_ordering: decorated,
    enum.unique: decorated,
    typing.final: decorated,
    typing.runtime_checkable: decorated,
}

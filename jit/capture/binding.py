"""Arguments to parameters, as CPython binds them, with Python's own error texts.

In: a function value and the values of a call. Out: the locals of a new frame.

Source: `initialize_locals` in CPython's Python/ceval.c.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NoReturn

from minitorch2.jit.capture.values.base import Arguments, Keywords, Value

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine
    from minitorch2.jit.capture.values.functions import FunctionValue


def bind(
    machine: Machine, function: FunctionValue, args: Arguments, kwargs: Keywords
) -> dict[str, Value]:
    """The parameters by name; a TypeError in the captured program when they do not fit."""
    code = function.code
    count, positional_only = code.co_argcount, code.co_posonlyargcount
    names = code.co_varnames[:count]
    keyword_only = code.co_varnames[count : count + code.co_kwonlyargcount]
    bound: dict[str, Value] = dict(zip(names, args, strict=False))
    extra = list(args[count:])
    rest: dict[str, Value] = {}
    has_rest = bool(code.co_flags & inspect.CO_VARKEYWORDS)
    for name, value in kwargs.items():
        if name in keyword_only or name in names[positional_only:]:
            if name in bound:
                refuse(machine, function, args, kwargs)
            bound[name] = value
        elif has_rest:
            rest[name] = value
        else:
            refuse(machine, function, args, kwargs)
    if extra and not code.co_flags & inspect.CO_VARARGS:
        refuse(machine, function, args, kwargs)
    first = count - function.defaults_count(machine)
    for index, name in enumerate(names):
        if name not in bound:
            if index < first:
                refuse(machine, function, args, kwargs)
            bound[name] = function.default(machine, index - first)
    for name in keyword_only:
        if name not in bound:
            default = function.keyword_default(machine, name)
            if default is None:
                refuse(machine, function, args, kwargs)
            bound[name] = default
    place = count + len(keyword_only)
    if code.co_flags & inspect.CO_VARARGS:
        bound[code.co_varnames[place]] = machine.tuple_of(extra)
        place += 1
    if has_rest:
        bound[code.co_varnames[place]] = machine.dict_of(dict(rest))
    return bound


def refuse(
    machine: Machine, function: FunctionValue, args: Arguments, kwargs: Keywords
) -> NoReturn:
    """Raise in the program what Python raises, by calling a function of the same signature."""
    code = function.code
    count, only = code.co_argcount, code.co_kwonlyargcount
    first = count - function.defaults_count(machine)
    names = code.co_varnames
    parts = [name if i < first else f"{name}=None" for i, name in enumerate(names[:count])]
    if code.co_posonlyargcount:
        parts.insert(code.co_posonlyargcount, "/")
    star = bool(code.co_flags & inspect.CO_VARARGS)
    if star or only:
        parts.append(f"*{names[count + only]}" if star else "*")
    for name in names[count : count + only]:
        has_default = function.keyword_default(machine, name) is not None
        parts.append(f"{name}=None" if has_default else name)
    if code.co_flags & inspect.CO_VARKEYWORDS:
        parts.append(f"**{names[count + only + star]}")
    scope: dict[str, Any] = {}
    exec(f"def refusing({', '.join(parts)}): pass", scope)
    refusing = scope["refusing"]
    told = code.co_qualname if function.object is None else function.object.__qualname__
    refusing.__name__, refusing.__qualname__ = code.co_name, told
    machine.guarded(lambda: refusing(*[None] * len(args), **dict.fromkeys(kwargs)))
    machine.stop("unknown-call", f"{code.co_name}() with arguments that do not fit")

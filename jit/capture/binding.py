"""Arguments to parameters, as CPython binds them, with Python's own error texts.

In: a function value and the values of a call. Out: the locals of a new frame.

Source: `initialize_locals` in CPython's Python/ceval.c.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

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
                text = f"{code.co_qualname}() got multiple values for argument '{name}'"
                machine.raise_(TypeError, text)
            bound[name] = value
        elif has_rest:
            rest[name] = value
        else:
            text = f"{code.co_qualname}() got an unexpected keyword argument '{name}'"
            machine.raise_(TypeError, text)
    if extra and not code.co_flags & inspect.CO_VARARGS:
        given = len(args)
        text = f"{code.co_qualname}() takes {count} positional arguments but {given} were given"
        machine.raise_(TypeError, text)
    _fill_defaults(machine, function, names, bound)
    for name in keyword_only:
        if name not in bound:
            default = function.keyword_default(machine, name)
            if default is None:
                text = f"{code.co_qualname}() missing 1 required keyword-only argument: '{name}'"
                machine.raise_(TypeError, text)
            bound[name] = default
    place = count + len(keyword_only)
    if code.co_flags & inspect.CO_VARARGS:
        bound[code.co_varnames[place]] = machine.tuple_of(extra)
        place += 1
    if has_rest:
        bound[code.co_varnames[place]] = machine.dict_of(dict(rest))
    return bound


def _fill_defaults(
    machine: Machine, function: FunctionValue, names: tuple[str, ...], bound: dict[str, Value]
) -> None:
    if all(name in bound for name in names):
        return
    first = len(names) - function.defaults_count(machine)
    missing = [name for name in names[: max(first, 0)] if name not in bound]
    if missing:
        listed = ", ".join(repr(name) for name in missing)
        plural = "s" if len(missing) > 1 else ""
        text = f"missing {len(missing)} required positional argument{plural}: {listed}"
        machine.raise_(TypeError, f"{function.code.co_qualname}() {text}")
    for index, name in enumerate(names):
        if name not in bound:
            bound[name] = function.default(machine, index - first)

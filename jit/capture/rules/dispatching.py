"""Which rule answers a call.

In: the callable. Out: for native callables the result of their rule, for Python functions the rule
of the package (or None: inline), for builtin classes their constructor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.rules.builtins import RULES, Rule
from minitorch2.jit.capture.rules.constructors import CLASS_RULES
from minitorch2.jit.capture.rules.library import call_descriptor, call_library, is_descriptor
from minitorch2.jit.capture.rules.package import package_rule, run_directly
from minitorch2.jit.capture.values.base import Arguments, Keywords, NotKnown, Value
from minitorch2.jit.capture.values.constants import is_constant

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


PURE_LIBRARY = frozenset(
    "re fnmatch textwrap posixpath genericpath colorsys calendar html base64 keyword math".split()
)  # standard library modules of which every function is pure


def call_native(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """A call of something that is no Python function."""
    try:
        rule = RULES.get(function)
    except TypeError:  # not hashable
        rule = None
    if rule is not None:
        return rule(machine, args, kwargs)
    if getattr(function, "op", None) is not None:
        found = run_directly(machine, function, args, kwargs)
        assert found is not None
        return found
    if is_descriptor(function):
        return call_descriptor(machine, function, args, kwargs)
    return call_library(machine, function, args, kwargs)


def class_rule(cls: type) -> Rule | None:
    """The constructor of a builtin class."""
    return CLASS_RULES.get(cls)


def function_rule(function: Any) -> Any:
    """The rule for a Python function, or None when it is inlined."""
    if function.__module__ in PURE_LIBRARY and not function.__code__.co_flags & 0x20:
        return run_known
    return package_rule(function)


def run_known(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value | None:
    """A pure function of the standard library on plain data; None when there are other values."""
    try:
        plain = [machine.real(argument).known() for argument in args]
        named = {key: machine.real(value).known() for key, value in kwargs.items()}
    except NotKnown:
        return None
    if not all(map(is_constant, (*plain, *named.values()))):
        return None
    return machine.from_python(machine.guarded(lambda: function(*plain, **named)))

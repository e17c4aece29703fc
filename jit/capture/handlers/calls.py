"""Calls, and the making of function objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from minitorch2.jit.capture.handlers.containers import take
from minitorch2.jit.capture.handlers.naming import called
from minitorch2.jit.capture.handlers.registry import handles
from minitorch2.jit.capture.instructions import PY313, Instruction
from minitorch2.jit.capture.state import Frame
from minitorch2.jit.capture.values.base import NULL, Value
from minitorch2.jit.capture.values.functions import FunctionValue
from minitorch2.jit.capture.values.mappings import DictValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


def callee(frame: Frame, args: list[Value]) -> tuple[Value, list[Value]]:
    """Pop the function and the self that may stand beside it."""
    if PY313:
        owner = frame.stack.pop()
        function = frame.stack.pop()
        return function, args if owner is NULL else [owner, *args]
    function = frame.stack.pop()
    first = frame.stack.pop()
    return (function, args) if first is NULL else (first, [function, *args])


@handles("KW_NAMES")
def kw_names(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.keywords = frame.code.co_consts[ins.argument]


def call_with(machine: Machine, frame: Frame, count: int, names: tuple[str, ...]) -> None:
    """Call with `count` arguments, the last of which have names."""
    args = take(frame, count)
    function, args = callee(frame, args)
    cut = len(args) - len(names)
    kwargs = dict(zip(names, args[cut:], strict=True))
    frame.stack.append(machine.call(function, args[:cut], kwargs))


@handles("CALL")
def call(machine: Machine, frame: Frame, ins: Instruction) -> None:
    names, frame.keywords = frame.keywords, ()
    call_with(machine, frame, ins.argument, names)


@handles("CALL_KW")
def call_kw(machine: Machine, frame: Frame, ins: Instruction) -> None:
    names = machine.real(frame.stack.pop()).known()
    call_with(machine, frame, ins.argument, names)


@handles("CALL_FUNCTION_EX")
def call_function_ex(machine: Machine, frame: Frame, ins: Instruction) -> None:
    """`f(*args, **kwargs)`: what stands behind the stars is read here."""
    kwargs: dict[str, Value] = {}
    if ins.argument & 1:
        table = machine.real(frame.stack.pop())
        if not isinstance(table, DictValue):
            table = DictValue({machine.key(k): v for k, v in machine.pairs([table], {})})
        table.all_keys(machine)
        kwargs = dict(table.entries)
    starred = machine.real(frame.stack.pop())
    function, more = callee(frame, [])
    if not _is_iterable(starred.python_type()):
        kind = starred.python_type().__name__
        name = called(machine, function)
        machine.type_error(f"{name} argument after * must be an iterable, not {kind}")
    args = machine.items(starred)
    frame.stack.append(machine.call(function, [*more, *args], kwargs))


def _is_iterable(cls: type) -> bool:
    return hasattr(cls, "__iter__") or hasattr(cls, "__getitem__")


# ---- function objects

DEFAULTS, KEYWORD_DEFAULTS, ANNOTATIONS, CLOSURE = 1, 2, 4, 8


@handles("MAKE_FUNCTION")
def make_function(machine: Machine, frame: Frame, ins: Instruction) -> None:
    code = machine.real(frame.stack.pop()).known()
    function = FunctionValue(code, frame.globals, [])
    if not PY313:
        for flag in (CLOSURE, ANNOTATIONS, KEYWORD_DEFAULTS, DEFAULTS):
            if ins.argument & flag:
                set_part(machine, function, flag, frame.stack.pop())
    frame.stack.append(function)


@handles("SET_FUNCTION_ATTRIBUTE")
def set_function_attribute(machine: Machine, frame: Frame, ins: Instruction) -> None:
    function = frame.stack.pop()
    if function.source is not None:
        machine.stop("unknown-operation", "a function that was half made before the last break")
    set_part(machine, function, ins.argument, frame.stack.pop())
    frame.stack.append(function)


def set_part(machine: Machine, function: FunctionValue, flag: int, value: Value) -> None:
    """Give a new function its defaults, annotations or closure."""
    if flag == CLOSURE:
        cells = [machine.real(cell) for cell in machine.items(value)]
        function.cells = cells  # type: ignore[assignment]
    elif flag == ANNOTATIONS:
        items = machine.items(value)  # name, annotation, name, annotation ...
        pairs = zip(items[::2], items[1::2], strict=True)
        table = {machine.key(name): annotation for name, annotation in pairs}
        function.attributes["__annotations__"] = DictValue(table)
    elif flag == DEFAULTS:
        function.defaults = machine.items(value)
    elif flag == KEYWORD_DEFAULTS:
        found = machine.real(value)
        assert isinstance(found, DictValue)
        function.keyword_defaults = dict(found.entries)

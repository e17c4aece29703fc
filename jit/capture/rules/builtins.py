"""Python's builtin functions over values.

In: the values of a call. Out: the value it returns. `RULES` maps each function to its rule.
"""

from __future__ import annotations

import builtins
import inspect
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture import protocols
from minitorch2.jit.capture.instructions import PY313
from minitorch2.jit.capture.values.base import Arguments, Keywords, NotKnown, UserRaise, Value
from minitorch2.jit.capture.values.classes import ClassValue
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.functions import FunctionValue, MethodValue, NativeValue
from minitorch2.jit.capture.values.iterators import IteratorValue
from minitorch2.jit.capture.values.keys import IdentityValue
from minitorch2.jit.capture.values.mappings import DictValue
from minitorch2.jit.capture.values.namespaces import CellValue
from minitorch2.jit.capture.values.objects import ObjectValue
from minitorch2.jit.capture.values.sequences import ListValue
from minitorch2.jit.capture.values.sets import SetValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine

_RULES_PACKAGE = __name__.rpartition(".")[0] + "."  # an error raised there is one of a rule
Rule = Callable[["Machine", Arguments, Keywords], Value]
RULES: dict[Any, Rule] = {}


def rule(*functions: Any) -> Callable[[Rule], Rule]:
    """Register a rule for native functions."""

    def register(found: Rule) -> Rule:
        for function in functions:
            RULES[function] = found
        return found

    return register


@rule(len)
def _len(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return machine.from_python(machine.real(args[0]).length(machine))


@rule(getattr)
def _getattr(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    name = machine.real(args[1]).known()
    if len(args) == 2:
        return machine.get_attribute(args[0], name)
    try:
        return machine.get_attribute(args[0], name)
    except UserRaise as raised:
        if issubclass(raised.value.python_type(), AttributeError):
            return args[2]
        raise


@rule(hasattr)
def _hasattr(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return Constant(machine.has(args[0], machine.real(args[1]).known()))


@rule(setattr)
def _setattr(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    machine.real(args[0]).set_attribute(machine, machine.real(args[1]).known(), args[2])
    return Constant(None)


@rule(delattr)
def _delattr(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    machine.real(args[0]).delete_attribute(machine, machine.real(args[1]).known())
    return Constant(None)


@rule(callable)
def _callable(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    value = machine.real(args[0])
    if isinstance(value, ObjectValue):
        return Constant(machine.class_lookup(value.cls, "__call__") is not None)
    kinds = (FunctionValue, MethodValue, NativeValue, ClassValue)
    known = isinstance(value, kinds)
    return Constant(known or machine.class_lookup(value.python_type(), "__call__") is not None)


@rule(iter)
def _iter(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    if len(args) == 1:
        return machine.iterator(args[0])

    def steps() -> Any:
        while not machine.equal(item := machine.call(args[0], [], {}), args[1]):
            yield item

    return IteratorValue(steps())


@rule(next)
def _next(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    iterator = machine.real(args[0])
    if len(args) == 1:
        return machine.next(iterator)
    found = machine.advance_iterator(iterator)
    return args[1] if found is None else found


def _numeric(function: Any, method: str) -> Rule:
    def apply(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        value = machine.real(args[0])
        if isinstance(value, ObjectValue):
            found = value.special(machine, method, *args[1:])
            if found is not None:
                return found
        return run_or_refuse(machine, function, args, kwargs)

    return apply


def run_or_refuse(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """Run on known values; an instance without the special method is refused as Python does."""
    whole = [machine.native(argument) for argument in args]
    if function in (bin, oct, hex, chr):
        whole = [Constant(machine.index_of(one)) if isinstance(one, ObjectValue) else one
                 for one in whole]  # fmt: skip
    if any(isinstance(argument, ObjectValue) for argument in whole):
        plain = [blank(machine, argument) for argument in whole]
        machine.guarded(lambda: function(*plain))
    return machine.run_python(function, whole, kwargs)


for _function in (abs, round, divmod, pow, bin, oct, hex, chr, ord):
    RULES[_function] = _numeric(_function, f"__{_function.__name__}__")


@rule(repr)
def _repr(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return protocols.text_of(machine, args[0], repr)


@rule(ascii)
def _ascii(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return protocols.text_of(machine, args[0], ascii)


@rule(format)
def _format(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    spec = machine.real(args[1]).known() if len(args) > 1 else ""
    return protocols.text_of(machine, args[0], format, spec)


@rule(hash)
def _hash(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return protocols.hash_of(machine, args[0])


@rule(sum)
def _sum(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    total = machine.real(kwargs.get("start", args[1] if len(args) > 1 else Constant(0)))
    kind = total.python_type()
    if kind in (str, bytes, bytearray):
        what, joined = ("strings", "''") if kind is str else (kind.__name__, "b''")
        machine.type_error(f"sum() can't sum {what} [use {joined}.join(seq) instead]")
    for item in machine.items(args[0]):
        total = protocols.binary(machine, "+", total, item)
    return total


def _quantifier(wanted: bool) -> Rule:
    def apply(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        iterator = machine.iterator(args[0])
        while (item := machine.advance_iterator(iterator)) is not None:
            if machine.truth(item) == wanted:
                return Constant(wanted)
        return Constant(not wanted)

    return apply


RULES[any] = _quantifier(True)
RULES[all] = _quantifier(False)


def is_none(machine: Machine, value: Value) -> bool:
    """Whether a value is None."""
    return machine.real(value).python_type() is type(None)


def _extreme(name: str, symbol: str) -> Rule:
    def apply(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        """The smallest or largest item (or argument) by its key; the first one of several."""
        if not args or (len(args) > 1 and "default" in kwargs):
            raise TypeError
        items = list(args)
        if len(args) == 1:
            items = items_in_any_order(machine, args[0], kwargs)
        if not items:
            if "default" in kwargs:
                return kwargs["default"]
            machine.guarded(getattr(builtins, name), [])  # which has Python's own words for it
        if unknown := set(kwargs) - {"key", "default"}:
            raise TypeError(*unknown)
        key = kwargs.get("key")
        if key is not None and is_none(machine, key):
            key = None
        best, best_key = items[0], items[0] if key is None else machine.call(key, [items[0]], {})
        for item in items[1:]:
            other = item if key is None else machine.call(key, [item], {})
            if machine.truth(protocols.compare(machine, symbol, other, best_key)):
                best, best_key = item, other
        return best

    return apply


RULES[min] = _extreme("min", "<")
RULES[max] = _extreme("max", ">")


@rule(sorted)
def _sorted(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return ListValue(machine.sort(items_in_any_order(machine, args[0], kwargs), kwargs))


def items_in_any_order(machine: Machine, value: Value, kwargs: Keywords) -> list[Value]:
    """The items of an iterable for something that does not depend on their order."""
    found = machine.native(value)
    return (
        list(found.keys.values())
        if isinstance(found, SetValue) and "key" not in kwargs
        else (machine.items(value))
    )


def _talking(name: str) -> Rule:
    def apply(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        machine.stop("input-output", f"{name}()")

    return apply


for _talker in (print, input, open, exec, eval, compile):
    RULES[_talker] = _talking(getattr(_talker, "__name__", "a builtin"))


@rule(breakpoint)
def _breakpoint(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    own = len(machine.state.frames) == 1
    machine.stop("debugger" if own else "input-output", "breakpoint()")


@rule(sys._getframe)
def _getframe(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    """Whether it is the frame of the compiled function that is taken."""
    above = machine.index_of(args[0]) if args else 0
    own = len(machine.state.frames) == above + 1
    machine.stop("frame" if own else "unknown-call", "sys._getframe()")


@rule(id)
def _id(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    value = machine.real(args[0])
    if isinstance(value, Constant):
        machine.stop("unknown-operation", "id() of a plain value, an address")
    return IdentityValue(value)


def fits_no_rule(
    machine: Machine, function: Any, args: Arguments, kwargs: Keywords, error: Exception
) -> Value:
    """A call that its rule was not made for: Python says what is wrong with it."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    own = step is not None and step.tb_frame.f_globals["__name__"].startswith(_RULES_PACKAGE)
    if not own:
        raise error
    plain = [blank(machine, argument) for argument in args]
    named = {name: blank(machine, value) for name, value in kwargs.items()}
    try:
        function(*plain, **named)
    except TypeError as refused:
        machine.raise_real(refused)
    raise error


_signatures: dict[types.BuiltinFunctionType, inspect.Signature | None] = {}


def _signature_of(function: types.BuiltinFunctionType) -> inspect.Signature | None:
    """What a native function takes; None where it has several signatures.

    It is read from text, which takes long: those of a module's functions, which stay, are kept.
    """
    if function in _signatures:
        return _signatures[function]
    try:
        found = inspect.signature(function)
    except ValueError:
        found = None
    if isinstance(function.__self__, types.ModuleType):
        _signatures[function] = found
    return found


def check_arity(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> None:
    """A native function that is given too many or too few: Python says so."""
    if not isinstance(function, types.BuiltinFunctionType):
        return
    signature = _signature_of(function)
    if signature is None:
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        machine.guarded(lambda: function(*map(str, args), **dict.fromkeys(kwargs, "")))


def blank(machine: Machine, value: Value) -> Any:
    """A value as a plain object, or an object that knows nothing of a class of the same name."""
    value = machine.native(value)
    try:
        return value.known()
    except NotKnown:
        return type(value.python_type().__name__, (), {})()


@rule(vars)
def _vars(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    if not args:
        return _locals(machine, args, kwargs)
    found = machine.attribute_or_none(args[0], "__dict__")
    return found or machine.type_error("vars() argument must have __dict__ attribute")


@rule(locals)
def _locals(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    frame = machine.state.frames[-1]
    if frame.space is not None:
        machine.stop("class-statement", "locals() where a metaclass prepared a namespace")
    if frame.names is not None:
        return frame.names
    if frame.snapshot is None or PY313:  # before, it was one dict, brought up to date
        frame.snapshot = DictValue({})
    for slot, held in enumerate(frame.slots):
        if isinstance(held, CellValue):
            held = held.load(machine) if held.contents or held.source else None
        if held is not None:
            frame.snapshot.entries[frame.name_of(slot)] = held
        else:
            frame.snapshot.entries.pop(frame.name_of(slot), None)
    return frame.snapshot


@rule(globals)
def _globals(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return machine.state.frames[-1].globals


@rule(dir)
def _dir(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    machine.stop("unknown-operation", "dir()")

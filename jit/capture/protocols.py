"""Python's protocols over values: arithmetic, comparison, equality, keys, sorting, formatting.

In: values. Out: values. Tensors go to the graph through their own operators, known values are
computed, containers item by item, instances through their special methods.

Source: Python data model, "Emulating numeric types" and "Rich comparison methods".
"""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.symbols import BINARY, COMPARE, INPLACE, MIRRORED, UNARY, inplace_method
from minitorch2.jit.capture.values.base import Keywords, NotKnown, Value
from minitorch2.jit.capture.values.classes import ClassValue
from minitorch2.jit.capture.values.constants import Constant, is_constant
from minitorch2.jit.capture.values.counters import CountedNumber
from minitorch2.jit.capture.values.deques import DequeValue
from minitorch2.jit.capture.values.exceptions import ExceptionValue
from minitorch2.jit.capture.values.floats import FloatValue, float_arithmetic
from minitorch2.jit.capture.values.functions import FunctionValue, MethodValue, NativeValue
from minitorch2.jit.capture.values.keys import (
    HashedKey,
    IdentityKey,
    IdentityValue,
    Key,
    MethodKey,
    ObjectKey,
    TupleKey,
    WeakKey,
)
from minitorch2.jit.capture.values.mappings import DictValue
from minitorch2.jit.capture.values.namespaces import ModuleValue
from minitorch2.jit.capture.values.objects import ObjectValue, OpaqueValue
from minitorch2.jit.capture.values.sequences import ListValue, TupleValue
from minitorch2.jit.capture.values.sets import SetValue
from minitorch2.jit.capture.values.tensors import TensorValue
from minitorch2.jit.capture.values.views import DictView
from minitorch2.jit.capture.values.weak import WeakValue
from minitorch2.jit.shapes.symbolic_size import SymbolicSize

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


def binary(machine: Machine, symbol: str, left: Value, right: Value) -> Value:
    """`left symbol right`."""
    left, right = machine.real(left), machine.real(right)
    function, method, reflected = BINARY[symbol]
    found = _of_tensors(machine, left, method, right, reflected)
    if found is not None:
        return found
    if symbol == "%" and isinstance(left, Constant) and type(left.value) is str:
        own = machine.class_lookup(right.python_type(), "__rmod__")
        if not issubclass(right.python_type(), str) or own is None or own[0] is str:
            return machine.percent(left.value, right)
    if isinstance(left, ObjectValue) or isinstance(right, ObjectValue):
        return _special(machine, symbol, left, right, method, reflected)
    found = float_arithmetic(machine, symbol, function, [left, right])
    if found is not None:
        return found
    if not isinstance(left, TensorValue) and not isinstance(right, TensorValue):
        found = left.operate(machine, symbol, right, False)
        found = found or right.operate(machine, symbol, left, True)
        if found is not None:
            return found
    try:
        plain = [left.lower(machine), right.lower(machine)]
    except NotKnown:
        return _unsupported(machine, symbol, left, right)
    return machine.from_python(machine.run_lowered(function, plain, {}))


def _of_tensors(
    machine: Machine, left: Value, method: str, right: Value, reflected: str
) -> Value | None:
    """An operator of a tensor, where the program put its own method into the class."""
    if isinstance(left, TensorValue):
        return left.special(machine, method, right)
    return right.special(machine, reflected, left) if isinstance(right, TensorValue) else None


def _unsupported(machine: Machine, symbol: str, left: Value, right: Value) -> Value:
    """An operator on something that has none: functions, modules, iterators."""
    for value in (left, right):
        if isinstance(value, OpaqueValue | TensorValue):
            machine.stop("unknown-operation", f"{symbol} of {value.describe()}")
    name = f"{symbol} or pow()" if symbol == "**" else symbol
    kinds = f"'{left.python_type().__name__}' and '{right.python_type().__name__}'"
    return machine.type_error(f"unsupported operand type(s) for {name}: {kinds}")


def inplace(machine: Machine, symbol: str, left: Value, right: Value) -> Value:
    """`left symbol= right`."""
    left, right = machine.real(left), machine.real(right)
    if isinstance(left, TensorValue):
        own = left.special(machine, inplace_method(symbol), right)
        if own is not None:
            return own
        found = float_arithmetic(machine, symbol, INPLACE[symbol], [left, right])
        return found or machine.run_python(INPLACE[symbol], [left, right], {})
    if isinstance(left, ObjectValue):
        name = inplace_method(symbol)
        found = left.special(machine, name, right)
        if found is not None and not is_not_implemented(machine, found):
            return found
    elif not isinstance(right, TensorValue):
        found = left.operate_inplace(machine, symbol, right)
        if found is not None:
            return found
    return binary(machine, symbol, left, right)


def is_not_implemented(machine: Machine, value: Value) -> bool:
    """Whether a special method answered NotImplemented."""
    value = machine.real(value)
    return isinstance(value, Constant) and value.value is NotImplemented


def _special(
    machine: Machine, symbol: str, left: Value, right: Value, method: str, reflected: str
) -> Value:
    """The special methods of two operands, in Python's order."""
    tries = [(left, method, right), (right, reflected, left)]
    left_type, right_type = left.python_type(), right.python_type()
    if right_type is not left_type and issubclass(right_type, left_type):
        tries.reverse()
    for owner, name, other in tries:
        if isinstance(owner, ObjectValue):
            found = owner.special(machine, name, other)
            if found is not None and not is_not_implemented(machine, found):
                return found
        elif other.native is not None:  # type: ignore[attr-defined]
            return binary(machine, symbol, machine.native(left), machine.native(right))
        elif isinstance(owner, TensorValue):
            machine.stop("unknown-operation", f"{symbol} of a tensor and {other.describe()}")
    names = f"'{left_type.__name__}' and '{right_type.__name__}'"
    return machine.type_error(f"unsupported operand type(s) for {symbol}: {names}")


def unary(machine: Machine, symbol: str, value: Value) -> Value:
    """`symbol value`."""
    function, method = UNARY[symbol]
    value = machine.real(value)
    if isinstance(value, TensorValue):
        own = value.special(machine, method)
        if own is not None:
            return own
    if isinstance(value, ObjectValue):
        found = value.special(machine, method)
        if found is None:
            name = value.python_type().__name__
            return machine.type_error(f"bad operand type for unary {symbol}: '{name}'")
        return found
    if symbol == "-" and isinstance(value, FloatValue):
        return binary(machine, "*", value, Constant(-1))
    try:
        plain = value.lower(machine)
    except NotKnown:
        return machine.type_error(
            f"bad operand type for unary {symbol}: '{value.python_type().__name__}'"
        )
    return machine.from_python(machine.run_lowered(function, [plain], {}))


def compare(machine: Machine, symbol: str, left: Value, right: Value) -> Value:
    """`left symbol right` for the six comparisons."""
    left, right = machine.real(left), machine.real(right)
    function, method, reflected = COMPARE[symbol]
    if isinstance(left, ObjectValue) or isinstance(right, ObjectValue):
        return _compare_objects(machine, symbol, left, right)
    if isinstance(left, TensorValue) or isinstance(right, TensorValue):
        own = _of_tensors(machine, left, method, right, reflected)
        return own or machine.run_python(function, [left, right], {})
    found = left.compare_with(machine, symbol, right, False)
    found = found or right.compare_with(machine, MIRRORED[symbol], left, True)
    if found is not None:
        return found
    try:
        left.known(), right.known()
    except NotKnown:
        if symbol in ("==", "!="):  # functions and the like compare by identity
            return machine.from_python(left.same_as(machine, right) == (symbol == "=="))
    return machine.run_python(function, [left, right], {})


def _compare_objects(machine: Machine, symbol: str, left: Value, right: Value) -> Value:
    _, method, reflected = COMPARE[symbol]
    kinds = left.python_type(), right.python_type()
    if symbol in ("==", "!=") and kinds == (types.SimpleNamespace,) * 2:
        return compare(machine, symbol, *(_own_table(machine, value) for value in (left, right)))
    for owner, name, other in ((left, method, right), (right, reflected, left)):
        if not isinstance(owner, ObjectValue):
            continue
        found = machine.class_lookup(owner.cls, name)
        if found is not None and found[0] is not object:
            answer = owner.special(machine, name, other)
            if answer is not None and not is_not_implemented(machine, answer):
                return answer
        elif name == "__ne__" and machine.class_lookup(owner.cls, "__eq__")[0] is not object:
            answer = owner.special(machine, "__eq__", other)
            if answer is not None and not is_not_implemented(machine, answer):
                return machine.from_python(not machine.truth(answer))
    if machine.native(left) is not left or machine.native(right) is not right:
        if not isinstance(machine.native(left), ObjectValue):
            if not isinstance(machine.native(right), ObjectValue):
                return compare(machine, symbol, machine.native(left), machine.native(right))
    if symbol in ("==", "!="):
        return machine.from_python(left.same_as(machine, right) == (symbol == "=="))
    names = f"'{left.python_type().__name__}' and '{right.python_type().__name__}'"
    return machine.type_error(f"'{symbol}' not supported between instances of {names}")


def _own_table(machine: Machine, value: Value) -> Value:
    """A copy of the instance dict."""
    return machine.method(machine.get_attribute(value, "__dict__"), "copy", [])


def compare_items(machine: Machine, symbol: str, left: list[Value], right: list[Value]) -> Value:
    """Two sequences, item by item."""
    if symbol in ("==", "!=") and len(left) != len(right):
        return Constant(symbol == "!=")
    for mine, theirs in zip(list(left), list(right), strict=False):
        if not equal(machine, mine, theirs):
            if symbol in ("==", "!="):
                return Constant(symbol == "!=")
            return compare(machine, symbol, mine, theirs)
    return Constant(COMPARE[symbol][0](len(left), len(right)))


def equal(machine: Machine, left: Value, right: Value) -> bool:
    """`left is right or left == right`, as containers compare."""
    left, right = machine.real(left), machine.real(right)
    if left is right:
        return True
    return machine.truth(compare(machine, "==", left, right))


def plain_key(machine: Machine, value: Value) -> Any:
    """The key of a value in a dict or set: plain data, or a Key that compares as it does."""
    value = machine.real(value)
    if isinstance(value, Constant):
        if isinstance(value.value, SymbolicSize):
            return int(value.value)
        return value.value
    if isinstance(value, IdentityValue):
        return IdentityKey(value, _identity_key(machine, machine.real(value.owner)))
    if isinstance(value, CountedNumber):
        machine.state.counted = True
        return value.key
    if isinstance(value, ObjectValue):
        return _object_key(machine, value)
    if isinstance(value, TupleValue):
        parts = tuple(plain_key(machine, item) for item in value.values)
        plain = value.cls is tuple and not any(isinstance(part, Key) for part in parts)
        return parts if plain else TupleKey(value, parts)
    if isinstance(value, MethodValue):
        owner, function = machine.real(value.owner), machine.real(value.function)
        return MethodKey(machine, value, owner, function)
    if value.python_type().__hash__ is None:
        machine.type_error(f"unhashable type: '{value.python_type().__name__}'")
    if isinstance(value, WeakValue):
        return WeakKey(machine, value, plain_key(machine, value.referent(machine)))
    try:
        known = value.known()
    except NotKnown:
        return _identity_key(machine, value)
    return known if _is_plain_key(known) else _identity_key(machine, value)


MET_AGAIN = (FunctionValue, NativeValue, ModuleValue, ClassValue)  # one object, several values


def _identity_key(machine: Machine, value: Value) -> ObjectKey:
    """The key of an object that is hashed by identity: one or two, they are so in each call."""
    known = isinstance(value, MET_AGAIN) and machine.is_plain(value)
    first = machine.state.keyed.setdefault(id(value.known() if known else value), value)
    if first is not value:
        machine.state.guard_same(first.source, value.source)
    return ObjectKey(first)


def hash_of(machine: Machine, value: Value) -> Value:
    """`hash(value)`, where that is no address."""
    key = plain_key(machine, value)
    if isinstance(key, Key) and not key.has_order:
        machine.stop("unknown-operation", f"hash() of {key.value.describe()}, its address")
    return Constant(hash(key))


def _object_key(machine: Machine, value: ObjectValue) -> Any:
    owner, function = machine.class_lookup(value.cls, "__hash__")
    if function is None:
        machine.type_error(f"unhashable type: '{value.cls.__name__}'")
    if owner is object or machine.is_module_class(value.cls):
        return _identity_key(machine, value)
    if value.native is not None and not isinstance(function, types.FunctionType):
        return plain_key(machine, value.native)
    answer = machine.call(machine.class_attribute(value, "__hash__"), [], {})
    answer = machine.real(answer)
    if answer.python_type() is not int:
        machine.type_error("__hash__ method should return an integer")
    return HashedKey(machine, value, hash(machine.number(answer).known()))


def _is_plain_key(known: Any) -> bool:
    """Whether an object is a key that no program can change: data, classes, tuples of them."""
    if isinstance(known, tuple):
        return all(_is_plain_key(item) for item in known)
    if isinstance(known, slice):
        return all(map(_is_plain_key, (known.start, known.stop, known.step)))
    return is_constant(known) or isinstance(known, type)


def sort(machine: Machine, values: list[Value], kwargs: Keywords) -> list[Value]:
    """`sorted(values, key=..., reverse=...)`, stable, with comparisons done by `compare`."""
    key = kwargs.get("key")
    key = machine.real(key) if key is not None else None
    keyed = list(values)
    if key is not None and not (isinstance(key, Constant) and key.value is None):
        keyed = [machine.call(key, [value], {}) for value in values]
    reverse = "reverse" in kwargs and machine.truth(kwargs["reverse"])

    def before(left: tuple, right: tuple) -> int:
        if machine.truth(compare(machine, "<", left[0], right[0])):
            return -1
        return 1 if machine.truth(compare(machine, "<", right[0], left[0])) else 0

    pairs = list(zip(keyed, values, strict=True))
    pairs.sort(key=functools.cmp_to_key(before), reverse=reverse)
    return [value for _, value in pairs]


def identical(machine: Machine, left: Value, right: Value) -> bool:
    """`left is right`."""
    left, right = machine.real(left), machine.real(right)
    return left is right or left.same_as(machine, right)


def _repr(machine: Machine, value: ObjectValue) -> Value | None:
    """`repr(value)`; what dataclasses wrap around theirs, against cycles, is left out."""
    owner, function = machine.class_lookup(value.cls, "__repr__")
    inner = getattr(function, "__wrapped__", None)
    if inner is not None and function.__code__.co_filename.endswith("reprlib.py"):
        return machine.call(machine.class_member(owner, "__repr__", "__wrapped__"), [value], {})
    if inner is not None and function.__globals__["__name__"] == "dataclasses":
        return machine.call(machine.class_member(owner, "__repr__", "__wrapped__"), [value], {})
    return value.special(machine, "__repr__")


def text_of(machine: Machine, value: Value, how: Callable[..., str], spec: str = "") -> Value:
    """`str(value)`, `repr(value)` or `format(value, spec)`."""
    value = machine.number(value)
    if isinstance(value, TensorValue):
        machine.stop("data-dependent", "the text of a tensor")
    if isinstance(value, ExceptionValue):
        value.check_text(machine)
        value.args = [machine.number(argument) for argument in value.args]
    if isinstance(value, (ExceptionValue, TupleValue)):
        name = _text_method(machine, value, how)
        if name is not None:
            given: list[Value] = [Constant(spec)] if name == "__format__" else []
            text = machine.call(machine.class_attribute(value, name), given, {})
            if how is ascii:
                return machine.run_python(_to_ascii, [text], {})
            plain = how is not format or name == "__format__"
            return text if plain else machine.run_python(lambda it: format(it, spec), [text], {})
        if isinstance(value, ExceptionValue) and issubclass(value.cls, BaseExceptionGroup):
            return _group_text(machine, value, how)
    if isinstance(value, ObjectValue):
        found = None
        owner = machine.class_lookup(value.cls, "__format__")
        if how is format and owner is not None and owner[0] is not object:
            return machine.call(machine.get_attribute(value, "__format__"), [Constant(spec)], {})
        if how not in (repr, ascii):
            owner = machine.class_lookup(value.cls, "__str__")
            if owner is not None and owner[0] is not object:
                found = value.special(machine, "__str__")
        if found is None and machine.class_lookup(value.cls, "__repr__")[0] is not object:
            found = _repr(machine, value)
        if found is None:
            machine.stop("unknown-operation", f"the text of a {value.cls.__name__}, an address")
        if how is format and spec:
            refused = f"unsupported format string passed to {value.cls.__name__}.__format__"
            machine.type_error(refused)
        return found if how is not ascii else machine.run_python(_to_ascii, [found], {})
    if isinstance(value, CONTAINERS) and not (how is format and spec):
        text = _container_text(machine, value)
        return text if how is not ascii else machine.run_python(_to_ascii, [text], {})
    if how is format:
        return machine.run_python(lambda it: format(it, spec), [value], {})
    return machine.run_python(how, [value], {})


def _group_text(machine: Machine, value: ExceptionValue, how: Callable[..., str]) -> Value:
    """The text of an exception group."""
    message, errors = value.args[0], machine.items(value.args[1])
    if how in (repr, ascii):
        listed = text_of(machine, ListValue(errors), repr)
        parts = [text_of(machine, message, repr), listed]
        inside = ", ".join(machine.real(part).known() for part in parts)
        return Constant(f"{value.cls.__name__}({inside})")
    plural = "" if len(errors) == 1 else "s"
    text = machine.real(text_of(machine, message, str)).known()
    return Constant(f"{text} ({len(errors)} sub-exception{plural})")


NO_TEXT_OF_THEIR_OWN = ("collections", "minitorch2.tensors")  # named tuples, Size: by their items


def _text_method(machine: Machine, value: Value, how: Callable[..., str]) -> str | None:
    """The method of a class statement that gives the text of an exception or a named tuple."""
    names = ("__repr__",) if how in (repr, ascii) else ("__str__", "__repr__")
    for name in ("__format__", *names) if how is format else names:
        owner, method = machine.class_lookup(value.python_type(), name)
        if isinstance(method, types.FunctionType) and method.__module__ not in NO_TEXT_OF_THEIR_OWN:
            return name
        if owner is not object:
            return None
    return None


CONTAINERS = (ListValue, TupleValue, DictValue, SetValue, DictView, DequeValue)


def _to_ascii(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()


def _container_text(machine: Machine, value: Any) -> Value:
    """`repr` of a container, item by item, into the form that Python gives one of its kind."""
    cls = value.python_type()

    def shown(item: Value) -> Shown:
        return Shown(machine.real(text_of(machine, item, repr)).known())

    if isinstance(value, DictValue):
        keys = value.keys(machine)
        pairs = zip(keys, value.entries.values(), strict=True)
        plain: Any = {shown(key): shown(item) for key, item in pairs}
        if issubclass(cls, collections.defaultdict):
            factory = value.factory.known() if value.factory is not None else None
            return Constant(repr(collections.defaultdict(factory, plain)))
        return Constant(repr(plain if cls is dict else cls(plain)))
    if isinstance(value, SetValue):
        if not value.keys:
            return Constant(f"{cls.__name__}()")
        inside = ", ".join(shown(item).text for item in value.ordered(machine))
        return Constant(f"{{{inside}}}" if cls is set else f"frozenset({{{inside}}})")
    if isinstance(value, DictView):
        return Constant(f"{cls.__name__}({repr([shown(i) for i in value.held(machine)])})")
    items = [shown(item) for item in value.values]
    if isinstance(value, DequeValue):
        return Constant(repr(collections.deque(items, value.limit)))
    if isinstance(value, TupleValue) and hasattr(cls, "_make"):
        return Constant(repr(cls._make(items)))
    return Constant(repr(cls(items)))


class Shown:
    """An item whose text is known."""

    __slots__ = ("text",)

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text

"""`str.format` and `%` over values: each operand's text is what the captured program says it is.

In: a native function that fills texts in, and values. Out: the text, as a value. The native
function is given stand-ins in place of instances and containers; whatever it asks of one (its text,
a format, an attribute, an item, a number) is asked of the value, so that methods of the program's
own count.

Source: Python documentation, "Format String Syntax" and "printf-style String Formatting".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture import protocols
from minitorch2.jit.capture.values.base import Arguments, Keywords, NotKnown, Value
from minitorch2.jit.capture.values.containers import ContainerObject, native_base
from minitorch2.jit.capture.values.objects import ObjectValue
from minitorch2.jit.capture.values.sequences import TupleValue
from minitorch2.jit.capture.values.tensors import TensorValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine

# Numbers that a native function reads from the object itself, past methods of its class.
OWN_NUMBER: dict[type | None, tuple[str, ...]] = {
    int: ("__index__", "__int__"),
    float: ("__float__",),
}
NUMBERS = ("__index__", "__int__", "__float__")
ASKED = (ObjectValue, TensorValue, *protocols.CONTAINERS)


def filled_in(machine: Machine, fill: Callable, args: Arguments, kwargs: Keywords) -> Value:
    """`fill(*args, **kwargs)`, a text."""
    try:
        plain = [worded(machine, each) for each in args]
        named = {name: worded(machine, each) for name, each in kwargs.items()}
    except NotKnown as unknown:
        machine.stop("unknown-operation", f"the text of {unknown.args[0].describe()}")
    return machine.from_python(machine.guarded(lambda: fill(*plain, **named)))


def percent(machine: Machine, text: str, value: Value) -> Value:
    """`text % value`: a tuple of any kind is its items."""
    whole = value.native if isinstance(value, ContainerObject) else value
    if isinstance(whole, TupleValue):
        value = TupleValue(list(whole.values))
    return filled_in(machine, text.__mod__, [value], {})


def worded(machine: Machine, value: Value) -> Any:
    """A value as an object whose texts are those of the captured program."""
    value = machine.number(value)
    if isinstance(value, TupleValue) and value.cls is tuple:
        return tuple(worded(machine, each) for each in value.values)
    return _stand_in(machine, value) if isinstance(value, ASKED) else value.lower(machine)


def _stand_in(machine: Machine, value: Value) -> Any:
    """An object of a class of the same name, with those special methods that the value's has."""
    cls = value.python_type()

    def text(how: Callable[..., str], spec: str = "") -> str:
        return machine.real(protocols.text_of(machine, value, how, spec)).known()

    def attribute(self: Any, name: str) -> Any:
        if name.startswith("__"):  # what a class statement gives stands for no value's own
            machine.stop("unknown-operation", f"{name} of {value.describe()} in a text")
        return worded(machine, value.get_attribute(machine, name))

    def number(name: str) -> Callable[[Any], Any]:
        def asked(self: Any) -> Any:
            if isinstance(value, TensorValue):
                machine.stop("data-dependent", "the text of a tensor")
            if isinstance(value, ContainerObject) and name in OWN_NUMBER.get(native_base(cls), ()):
                return value.known()
            return worded(machine, machine.call(value.get_attribute(machine, name), [], {}))

        return asked

    methods: dict[str, Any] = {
        "__str__": lambda self: text(str),
        "__repr__": lambda self: text(repr),
        "__format__": lambda self, spec: text(format, spec),
        "__getattribute__": attribute,
    }
    methods |= {name: number(name) for name in NUMBERS if hasattr(cls, name)}
    if hasattr(cls, "__getitem__") and not issubclass(cls, str):
        methods["__getitem__"] = lambda self, key: worded(
            machine, value.get_item(machine, machine.from_python(key))
        )
    return type(cls.__name__, (), methods)()

"""Calling builtin classes: list, dict, range, enumerate, zip, map, super, type and the rest.

In: the values of a call. Out: the value made. Iterators are written as Python generators over
values, so that they compute no more than the program asks for.
"""

from __future__ import annotations

import collections
import functools
import itertools
import operator
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING

from minitorch2.jit.capture import protocols
from minitorch2.jit.capture.rules.builtins import Rule
from minitorch2.jit.capture.values.base import Arguments, Keywords, NotKnown, Value
from minitorch2.jit.capture.values.classes import ClassValue, SuperValue
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.functions import HostFunctionValue, PartialValue
from minitorch2.jit.capture.values.iterators import IteratorValue
from minitorch2.jit.capture.values.mappings import DictValue
from minitorch2.jit.capture.values.namespaces import CellValue
from minitorch2.jit.capture.values.objects import ObjectValue
from minitorch2.jit.capture.values.sequences import (
    ListValue,
    SequenceValue,
    SetValue,
    SliceValue,
    TupleValue,
)
from minitorch2.jit.capture.values.tensors import TensorValue
from minitorch2.tensors import Size

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


def _list(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return ListValue(machine.items(args[0]) if args else [])


def _tuple(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return TupleValue(machine.items(args[0]) if args else [])


def _size(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return TupleValue(machine.items(args[0]) if args else [], Size)


def _dict(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    made = DictValue({})
    for key, value in machine.pairs(args, kwargs):
        made.set_item(machine, key, value)
    return made


def _set(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    items = machine.items(args[0]) if args else []
    return SetValue({machine.key(item): machine.real(item) for item in items})


def _frozenset(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    items = machine.items(args[0]) if args else []
    try:
        return Constant(frozenset(machine.real(item).known() for item in items))
    except NotKnown:
        return machine.stop("unknown-operation", "a frozenset of objects")


def _slice(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    parts = [machine.real(argument) for argument in args]
    none: Value = Constant(None)
    parts = [none, *parts, none] if len(parts) == 1 else [*parts, none]
    return SliceValue(parts[:3])


def _number(cls: type, method: str) -> Rule:
    def apply(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        value = machine.real(args[0]) if args else Constant(0)
        if isinstance(value, TensorValue):
            machine.stop("data-dependent", f"{cls.__name__}() of a tensor")
        if isinstance(value, ObjectValue):
            found = value.special(machine, method)
            if found is not None:
                return found
        return machine.run_python(cls, args, kwargs)

    return apply


def _bool(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return Constant(machine.truth(args[0]) if args else False)


def _str(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    if len(args) != 1 or kwargs:
        return machine.run_python(str, args, kwargs)
    return protocols.text_of(machine, args[0], str)


def _type(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    if len(args) != 1:
        machine.stop("unhandled-opcode", "a class made inside the function")
    return ClassValue(machine.real(args[0]).python_type())


def _object(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return ObjectValue(object)


def _super(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    if args:
        cls, owner = (machine.real(argument) for argument in args)
        return SuperValue(cls.known(), owner)
    frame = machine.state.frames[-1]
    owner = frame.slots[0]
    if isinstance(owner, CellValue):
        owner = owner.load(machine)
    for index, held in enumerate(frame.slots):
        if isinstance(held, CellValue) and frame.name_of(index) == "__class__":
            return SuperValue(machine.real(held.load(machine)).known(), machine.real(owner))
    return machine.raise_(RuntimeError, "super(): __class__ cell not found")


# ---- iterators


def _range(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return machine.run_python(range, args, kwargs)


def _each(machine: Machine, value: Value) -> Iterator[Value]:
    iterator = machine.iterator(value)
    while (item := machine.advance_iterator(iterator)) is not None:
        yield item


def _enumerate(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    given = kwargs.get("start", args[1] if len(args) > 1 else Constant(0))
    start = machine.real(given).known()
    pairs = enumerate(_each(machine, args[0]), start)
    return IteratorValue((TupleValue([Constant(i), item]) for i, item in pairs), enumerate)


def _zip(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    strict = "strict" in kwargs and machine.truth(kwargs["strict"])

    def steps() -> Iterator[Value]:
        iterators = [machine.iterator(argument) for argument in args]
        while iterators:
            items = []
            for place, iterator in enumerate(iterators):
                item = machine.advance_iterator(iterator)
                if item is None:
                    if strict:
                        _check_lengths(machine, iterators, place)
                    return
                items.append(item)
            yield TupleValue(items)

    return IteratorValue(steps(), zip)


def _check_lengths(machine: Machine, iterators: list[Value], place: int) -> None:
    if place:
        text = f"zip() argument {place + 1} is shorter than argument" + (
            " 1" if place == 1 else f"s 1-{place}"
        )
        machine.raise_(ValueError, text)
    for index, other in enumerate(iterators[1:], 2):
        if machine.advance_iterator(other) is not None:
            text = f"zip() argument {index} is longer than argument" + (
                " 1" if index == 2 else f"s 1-{index - 1}"
            )
            machine.raise_(ValueError, text)


def _map(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    def steps() -> Iterator[Value]:
        iterators = [machine.iterator(argument) for argument in args[1:]]
        while True:
            items = []
            for iterator in iterators:
                item = machine.advance_iterator(iterator)
                if item is None:
                    return
                items.append(item)
            yield machine.call(args[0], items, {})

    return IteratorValue(steps(), map)


def _filter(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    test = machine.real(args[0])
    plain = isinstance(test, Constant) and test.value is None

    def keep(item: Value) -> bool:
        return machine.truth(item if plain else machine.call(test, [item], {}))

    return IteratorValue((item for item in _each(machine, args[1]) if keep(item)), filter)


def _reversed(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    value = machine.real(args[0])
    if isinstance(value, ObjectValue):
        found = value.special(machine, "__reversed__")
        if found is not None:
            return found
        length = value.length(machine)
        keys = [Constant(index) for index in reversed(range(length))]
        return IteratorValue(value.get_item(machine, key) for key in keys)
    if isinstance(value, SequenceValue | DictValue):
        return IteratorValue(iter(machine.items(value)[::-1]), reversed)
    if isinstance(value, Constant):
        items = machine.guarded(lambda: list(reversed(value.value)))
        return machine.iterate_over([machine.from_python(item) for item in items])
    return machine.type_error(f"'{value.python_type().__name__}' object is not reversible")


# ---- itertools and functools


def _chain(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    steps = (item for argument in args for item in _each(machine, argument))
    return IteratorValue(steps, itertools.chain)


def _islice(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    bounds = [machine.real(argument).known() for argument in args[1:]]
    return IteratorValue(itertools.islice(_each(machine, args[0]), *bounds), itertools.islice)


def _product(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    repeat = machine.real(kwargs["repeat"]).known() if "repeat" in kwargs else 1
    lists = [machine.items(argument) for argument in args]
    found = itertools.product(*lists, repeat=repeat)
    return IteratorValue((TupleValue(list(items)) for items in found), itertools.product)


def _arranged(cls: type) -> Rule:
    def apply(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        counts = [machine.real(argument).known() for argument in args[1:]]
        found = cls(machine.items(args[0]), *counts)
        return IteratorValue((TupleValue(list(items)) for items in found), cls)

    return apply


def _repeat(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    counts = [machine.real(argument).known() for argument in args[1:]]
    return IteratorValue(itertools.repeat(args[0], *counts), itertools.repeat)


def _count(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    numbers = itertools.count(*(machine.real(argument).known() for argument in args))
    return IteratorValue((Constant(number) for number in numbers), itertools.count)


def _partial(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return PartialValue(args[0], list(args[1:]), dict(kwargs))


def _itemgetter(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    def get(machine: Machine, given: Arguments) -> Value:
        found = [machine.get_item(given[0], key) for key in args]
        return found[0] if len(found) == 1 else TupleValue(found)

    return HostFunctionValue(get, operator.itemgetter)


def _attrgetter(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    paths = [machine.real(argument).known().split(".") for argument in args]

    def get(machine: Machine, given: Arguments) -> Value:
        found = []
        for path in paths:
            value = given[0]
            for name in path:
                value = machine.get_attribute(value, name)
            found.append(value)
        return found[0] if len(found) == 1 else TupleValue(found)

    return HostFunctionValue(get, operator.attrgetter)


def _methodcaller(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    name = machine.real(args[0]).known()

    def call(machine: Machine, given: Arguments) -> Value:
        return machine.call(machine.get_attribute(given[0], name), list(args[1:]), kwargs)

    return HostFunctionValue(call, operator.methodcaller)


def _accumulate(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    function = args[1] if len(args) > 1 else kwargs.get("func")

    def steps() -> Iterator[Value]:
        total = kwargs.get("initial")
        if total is not None:
            yield total
        for item in _each(machine, args[0]):
            if total is None:
                total = item
            elif function is None:
                total = protocols.binary(machine, "+", total, item)
            else:
                total = machine.call(function, [total, item], {})
            yield total

    return IteratorValue(steps(), itertools.accumulate)


def _namespace(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    made = ObjectValue(types.SimpleNamespace)
    for name, value in kwargs.items():
        made.store(machine, name, value)
    return made


def _deque(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return machine.stop("unknown-object", "a deque made inside the function")


CLASS_RULES: dict[type, Rule] = {
    list: _list,
    tuple: _tuple,
    Size: _size,
    dict: _dict,
    set: _set,
    frozenset: _frozenset,
    slice: _slice,
    int: _number(int, "__int__"),
    float: _number(float, "__float__"),
    complex: _number(complex, "__complex__"),
    bool: _bool,
    str: _str,
    type: _type,
    object: _object,
    super: _super,
    range: _range,
    enumerate: _enumerate,
    zip: _zip,
    map: _map,
    filter: _filter,
    reversed: _reversed,
    itertools.chain: _chain,
    itertools.islice: _islice,
    itertools.product: _product,
    itertools.permutations: _arranged(itertools.permutations),
    itertools.combinations: _arranged(itertools.combinations),
    itertools.repeat: _repeat,
    itertools.count: _count,
    functools.partial: _partial,
    collections.deque: _deque,
    itertools.accumulate: _accumulate,
    operator.itemgetter: _itemgetter,
    operator.attrgetter: _attrgetter,
    operator.methodcaller: _methodcaller,
    types.SimpleNamespace: _namespace,
}

"""The iterators of the builtins and of itertools.

In: the values of a call. Out: an iterator, written as a Python generator over values, so that it
computes no more than the program asks for. What they are made of is looked at when they are made.

Source: the `itertools` module's documentation.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture import protocols
from minitorch2.jit.capture.rules.builtins import Rule, is_none
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.iterators import Combined, IteratorValue, Numbered
from minitorch2.jit.capture.values.mappings import DictValue
from minitorch2.jit.capture.values.objects import ObjectValue
from minitorch2.jit.capture.values.sequences import SequenceValue, TupleValue
from minitorch2.jit.capture.values.views import KINDS, DictView

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


def each(machine: Machine, iterator: Value) -> Iterator[Value]:
    """The items of an iterator."""
    while (item := machine.advance_iterator(iterator)) is not None:
        yield item


def over(machine: Machine, value: Value) -> Iterator[Value]:
    """The items of an iterable, of which the iterator is made now."""
    return each(machine, machine.iterator(value))


def known(machine: Machine, value: Value) -> Any:
    """The plain object of a value."""
    return machine.real(value).known()


# ---- builtins


def _enumerate(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    given = kwargs.get("start", args[1] if len(args) > 1 else Constant(0))
    start = machine.index_of(given, "enumerate")
    return IteratorValue(Numbered(machine, machine.iterator(args[0]), start), enumerate)


def _zip(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    strict = "strict" in kwargs and machine.truth(kwargs["strict"])
    iterators = [machine.iterator(argument) for argument in args]

    def steps() -> Iterator[Value]:
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

    return IteratorValue(Combined(steps(), zip, iterators, strict), zip)


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
    if len(args) < 2:
        machine.type_error("map() must have at least two arguments.")
    iterators = [machine.iterator(argument) for argument in args[1:]]

    def steps() -> Iterator[Value]:
        while True:
            items = []
            for iterator in iterators:
                item = machine.advance_iterator(iterator)
                if item is None:
                    return
                items.append(item)
            yield machine.call(args[0], items, {})

    return IteratorValue(Combined(steps(), map, [args[0], *iterators]), map)


def _tester(machine: Machine, function: Value) -> Callable[[Value], bool]:
    """What `filter` and the like ask of each item."""
    if is_none(machine, function):
        return machine.truth
    return lambda item: machine.truth(machine.call(function, [item], {}))


def _filter(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    keep, inner = _tester(machine, args[0]), machine.iterator(args[1])
    steps = (item for item in each(machine, inner) if keep(item))
    return IteratorValue(Combined(steps, filter, [args[0], inner]), filter)


def _reversed(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    value = machine.native(args[0]) if args else Constant(None)
    if isinstance(value, ObjectValue):
        found = value.special(machine, "__reversed__")
        if found is not None:
            return found
        length = value.length(machine)
        keys = [Constant(index) for index in reversed(range(length))]
        return IteratorValue((value.get_item(machine, key) for key in keys), reversed)
    if isinstance(value, SequenceValue):
        cls: type = type(reversed([])) if value.python_type() is list else reversed
        return IteratorValue(iter(list(value.values)[::-1]), cls)
    if isinstance(value, DictValue):
        value = DictView(value, "keys")
    if isinstance(value, DictView):
        return machine.iterate_over(value.walk(machine, True), KINDS[value.kind][2])
    if isinstance(value, Constant):
        items = machine.guarded(lambda: list(reversed(value.value)))
        return machine.iterate_over([machine.from_python(item) for item in items])
    return machine.type_error(f"'{value.python_type().__name__}' object is not reversible")


# ---- itertools


def _chain(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    steps = (item for argument in args for item in over(machine, argument))
    return IteratorValue(steps, itertools.chain)


def _from_iterable(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    outer = over(machine, args[0])
    steps = (item for argument in outer for item in over(machine, argument))
    return IteratorValue(steps, itertools.chain)


def _islice(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    bounds = [known(machine, argument) for argument in args[1:]]
    items = over(machine, args[0])
    return IteratorValue(machine.guarded(itertools.islice, items, *bounds), itertools.islice)


def _product(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    repeat = known(machine, kwargs["repeat"]) if "repeat" in kwargs else 1
    lists = [machine.items(argument) for argument in args]
    found = itertools.product(*lists, repeat=repeat)
    return IteratorValue((TupleValue(list(items)) for items in found), itertools.product)


def _arranged(cls: type) -> Rule:
    def apply(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        counts = [known(machine, value) for value in [*args[1:], *kwargs.values()]]
        found = machine.guarded(cls, machine.items(args[0]), *counts)
        return IteratorValue((TupleValue(list(items)) for items in found), cls)

    return apply


def _repeat(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    counts = [known(machine, value) for value in [*args[1:], *kwargs.values()]]
    return IteratorValue(machine.guarded(itertools.repeat, args[0], *counts), itertools.repeat)


def _count(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    plain = [known(machine, argument) for argument in args]
    named = {name: known(machine, value) for name, value in kwargs.items()}
    numbers = machine.guarded(lambda: itertools.count(*plain, **named))
    return IteratorValue((Constant(number) for number in numbers), itertools.count)


def _cycle(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return IteratorValue(itertools.cycle(over(machine, args[0])), itertools.cycle)


def _accumulate(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    function = args[1] if len(args) > 1 else kwargs.get("func", Constant(None))
    start = kwargs.get("initial", Constant(None))
    items = over(machine, args[0])
    plain = is_none(machine, function)

    def steps() -> Iterator[Value]:
        total = None if is_none(machine, start) else start
        if total is not None:
            yield total
        for item in items:
            if total is None:
                total = item
            elif plain:
                total = protocols.binary(machine, "+", total, item)
            else:
                total = machine.call(function, [total, item], {})
            yield total

    return IteratorValue(steps(), itertools.accumulate)


def _testing(cls: type, choose: Callable) -> Rule:
    """takewhile, dropwhile, filterfalse: Python's own, over values."""

    def apply(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        test = _tester(machine, args[0]) if cls is itertools.filterfalse else _called(machine, args)
        return IteratorValue(choose(test, over(machine, args[1])), cls)

    return apply


def _called(machine: Machine, args: Arguments) -> Callable[[Value], bool]:
    return lambda item: machine.truth(machine.call(args[0], [item], {}))


def _starmap(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    items = over(machine, args[1])
    steps = (machine.call(args[0], machine.items(item), {}) for item in items)
    return IteratorValue(steps, itertools.starmap)


def _compress(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    data, wanted = over(machine, args[0]), over(machine, args[1])
    pairs = zip(data, wanted, strict=False)
    return IteratorValue((item for item, keep in pairs if machine.truth(keep)), itertools.compress)


def _pairwise(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    pairs = itertools.pairwise(over(machine, args[0]))
    return IteratorValue((TupleValue(list(pair)) for pair in pairs), itertools.pairwise)


def _zip_longest(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    fill = kwargs.get("fillvalue", Constant(None))
    rows = itertools.zip_longest(*(over(machine, item) for item in args), fillvalue=fill)
    return IteratorValue((TupleValue(list(row)) for row in rows), itertools.zip_longest)


def _groupby(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    function = args[1] if len(args) > 1 else kwargs.get("key", Constant(None))
    plain = is_none(machine, function)
    items = over(machine, args[0])

    class Compared:
        """A key that compares as the program's object does."""

        def __init__(self, value: Value):
            self.value = value

        def __eq__(self, other: Any) -> bool:
            return machine.equal(self.value, other.value)

        __hash__ = None  # type: ignore[assignment]

    def key(item: Value) -> Compared:
        return Compared(item if plain else machine.call(function, [item], {}))

    def steps() -> Iterator[Value]:
        for found, group in itertools.groupby(items, key):
            yield TupleValue([found.value, IteratorValue(group, GROUPER)])

    return IteratorValue(steps(), itertools.groupby)


GROUPER: type = type(next(itertools.groupby("a"))[1])
BATCHED: Any = getattr(itertools, "batched", None)  # from 3.12 on


def _batched(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    count = known(machine, args[1] if len(args) > 1 else kwargs["n"])
    strict = "strict" in kwargs and machine.truth(kwargs["strict"])
    if strict:
        machine.stop("unknown-call", "itertools.batched(strict=True)")
    rows = machine.guarded(BATCHED, over(machine, args[0]), count)
    return IteratorValue((TupleValue(list(row)) for row in rows), BATCHED)


def tee(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    """`itertools.tee(iterable, n)`."""
    count = known(machine, args[1]) if len(args) > 1 else 2
    copies = itertools.tee(over(machine, args[0]), count)
    return TupleValue([IteratorValue(copy, TEE) for copy in copies])


TEE: type = type(itertools.tee("")[0])
FUNCTIONS: dict[Any, Rule] = {
    itertools.tee: tee,
    itertools.chain.from_iterable: _from_iterable,
}
ITERATORS: dict[type, Rule] = {
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
    itertools.combinations_with_replacement: _arranged(itertools.combinations_with_replacement),
    itertools.repeat: _repeat,
    itertools.count: _count,
    itertools.cycle: _cycle,
    itertools.accumulate: _accumulate,
    itertools.takewhile: _testing(itertools.takewhile, itertools.takewhile),
    itertools.dropwhile: _testing(itertools.dropwhile, itertools.dropwhile),
    itertools.filterfalse: _testing(itertools.filterfalse, itertools.filterfalse),
    itertools.starmap: _starmap,
    itertools.compress: _compress,
    itertools.pairwise: _pairwise,
    itertools.zip_longest: _zip_longest,
    itertools.groupby: _groupby,
}
if BATCHED is not None:
    ITERATORS[BATCHED] = _batched

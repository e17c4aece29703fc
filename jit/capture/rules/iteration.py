"""The iterators of the builtins and of itertools.

In: the values of a call. Out: an iterator: Python's own over values, so that it computes no more
than the program asks for, and goes on after an exception where Python's does. What they are made of
is looked at when they are made.

Source: the `itertools` module's documentation.
"""

from __future__ import annotations

import collections
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture import protocols
from minitorch2.jit.capture.rules.builtins import Rule, is_none
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value
from minitorch2.jit.capture.values.classes import ClassValue
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.deques import DequeValue, DequeWalk
from minitorch2.jit.capture.values.instance_dicts import InstanceDict
from minitorch2.jit.capture.values.iterators import Backwards, Combined, IteratorValue, Numbered
from minitorch2.jit.capture.values.mappings import DictValue
from minitorch2.jit.capture.values.objects import ObjectValue
from minitorch2.jit.capture.values.sequences import SequenceValue, TupleValue
from minitorch2.jit.capture.values.views import DictView

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


class Each(Iterator[Value]):
    """The items of an iterator."""

    __slots__ = ("machine", "iterator")

    def __init__(self, machine: Machine, iterator: Value):
        self.machine, self.iterator = machine, iterator

    def __next__(self) -> Value:
        item = self.machine.advance_iterator(self.iterator)
        if item is None:
            raise StopIteration
        return item


class Later(Iterable[Value]):
    """The items of an iterable, of which the iterator is made when it is asked for."""

    __slots__ = ("machine", "value")

    def __init__(self, machine: Machine, value: Value):
        self.machine, self.value = machine, value

    def __iter__(self) -> Iterator[Value]:
        return over(self.machine, self.value)


def over(machine: Machine, value: Value) -> Iterator[Value]:
    """The items of an iterable, of which the iterator is made now."""
    return Each(machine, machine.iterator(value))


def row(items: Iterable[Value]) -> Value:
    """A tuple."""
    return TupleValue(list(items))


def known(machine: Machine, value: Value) -> Any:
    """The plain object of a value."""
    return machine.real(value).known()


# ---- builtins


def _enumerate(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    given = kwargs.get("start", args[1] if len(args) > 1 else Constant(0))
    start = machine.index_of(given)
    return IteratorValue(Numbered(machine, machine.iterator(args[0]), start), enumerate)


def _zip(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    strict = "strict" in kwargs and machine.truth(kwargs["strict"])
    iterators = [machine.iterator(argument) for argument in args]
    rows = zip(*(Each(machine, iterator) for iterator in iterators), strict=strict)
    return IteratorValue(Combined(machine, map(row, rows), zip, iterators, strict), zip)


def _map(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    if len(args) < 2:
        machine.type_error("map() must have at least two arguments.")
    iterators = [machine.iterator(argument) for argument in args[1:]]
    steps = map(
        lambda *items: machine.call(args[0], list(items), {}),
        *(Each(machine, iterator) for iterator in iterators),
    )
    return IteratorValue(Combined(machine, steps, map, [args[0], *iterators]), map)


def _tester(machine: Machine, function: Value) -> Callable[[Value], bool]:
    """What `filter` and the like ask of each item."""
    if is_none(machine, function):
        return machine.truth
    return lambda item: machine.truth(machine.call(function, [item], {}))


def _filter(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    keep, inner = _tester(machine, args[0]), machine.iterator(args[1])
    steps = filter(keep, Each(machine, inner))
    return IteratorValue(Combined(machine, steps, filter, [args[0], inner]), filter)


def _reversed(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    value = machine.native(args[0]) if args else Constant(None)
    if isinstance(value, ObjectValue | ClassValue):
        found = value.special(machine, "__reversed__")
        if found is not None:
            return found
    if isinstance(value, ObjectValue):
        length = value.length(machine)
        keys = [Constant(index) for index in reversed(range(length))]
        return IteratorValue((value.get_item(machine, key) for key in keys), reversed)
    if isinstance(value, DequeValue):
        return IteratorValue(DequeWalk(machine, value, True), type(reversed(collections.deque())))
    if isinstance(value, SequenceValue):
        cls: type = type(reversed([])) if value.python_type() is list else reversed
        return IteratorValue(Backwards(value), cls)
    if isinstance(value, DictValue | InstanceDict):
        value = DictView(value, "keys")
    if isinstance(value, DictView):
        return value.reversed(machine)
    if isinstance(value, Constant):
        items = machine.guarded(lambda: list(reversed(value.value)))
        return machine.iterate_over([machine.from_python(item) for item in items])
    return machine.type_error(f"'{value.python_type().__name__}' object is not reversible")


# ---- itertools


def _chain(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    steps = itertools.chain(*(Later(machine, argument) for argument in args))
    return IteratorValue(steps, itertools.chain)


def _from_iterable(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    parts = map(functools.partial(Later, machine), over(machine, args[0]))
    steps = itertools.chain.from_iterable(parts)
    return IteratorValue(steps, itertools.chain)


def _islice(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    bounds = [known(machine, argument) for argument in args[1:]]
    items = over(machine, args[0])
    return IteratorValue(machine.guarded(itertools.islice, items, *bounds), itertools.islice)


def _product(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    repeat = known(machine, kwargs["repeat"]) if "repeat" in kwargs else 1
    lists = [machine.items(argument) for argument in args]
    found = itertools.product(*lists, repeat=repeat)
    return IteratorValue(map(row, found), itertools.product)


def _arranged(cls: type) -> Rule:
    def apply(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
        counts = [known(machine, value) for value in [*args[1:], *kwargs.values()]]
        found = machine.guarded(cls, machine.items(args[0]), *counts)
        return IteratorValue(map(row, found), cls)

    return apply


def _repeat(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    counts = [known(machine, value) for value in [*args[1:], *kwargs.values()]]
    return IteratorValue(machine.guarded(itertools.repeat, args[0], *counts), itertools.repeat)


def _count(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    plain = [known(machine, argument) for argument in args]
    named = {name: known(machine, value) for name, value in kwargs.items()}
    numbers = machine.guarded(lambda: itertools.count(*plain, **named))
    return IteratorValue(map(Constant, numbers), itertools.count)


def _cycle(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    return IteratorValue(itertools.cycle(over(machine, args[0])), itertools.cycle)


def _accumulate(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    function = args[1] if len(args) > 1 else kwargs.get("func", Constant(None))
    start = kwargs.get("initial", Constant(None))
    items = over(machine, args[0])
    plain = is_none(machine, function)

    def add(total: Value, item: Value) -> Value:
        if plain:
            return protocols.binary(machine, "+", total, item)
        return machine.call(function, [total, item], {})

    first = None if is_none(machine, start) else start
    return IteratorValue(itertools.accumulate(items, add, initial=first), itertools.accumulate)


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

    def apply(item: Value) -> Value:
        return machine.call(args[0], machine.items(item), {})

    steps = map(apply, items)  # no generator: it would end at an exception
    return IteratorValue(steps, itertools.starmap)


def _compress(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    data, wanted = over(machine, args[0]), over(machine, args[1])
    steps = itertools.compress(data, map(machine.truth, wanted))
    return IteratorValue(steps, itertools.compress)


def _pairwise(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    pairs = itertools.pairwise(over(machine, args[0]))
    return IteratorValue(map(row, pairs), itertools.pairwise)


def _zip_longest(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    fill = kwargs.get("fillvalue", Constant(None))
    rows = itertools.zip_longest(*(over(machine, item) for item in args), fillvalue=fill)
    return IteratorValue(map(row, rows), itertools.zip_longest)


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

    def pair(found: tuple[Compared, Iterator[Value]]) -> Value:
        return TupleValue([found[0].value, IteratorValue(found[1], GROUPER)])

    return IteratorValue(map(pair, itertools.groupby(items, key)), itertools.groupby)


GROUPER: type = type(next(itertools.groupby("a"))[1])
BATCHED: Any = getattr(itertools, "batched", None)  # from 3.12 on


def _batched(machine: Machine, args: Arguments, kwargs: Keywords) -> Value:
    count = known(machine, args[1] if len(args) > 1 else kwargs["n"])
    strict = "strict" in kwargs and machine.truth(kwargs["strict"])
    if strict:
        machine.stop("unknown-call", "itertools.batched(strict=True)")
    rows = machine.guarded(BATCHED, over(machine, args[0]), count)
    return IteratorValue(map(row, rows), BATCHED)


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

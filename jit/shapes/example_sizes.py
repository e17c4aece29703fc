"""Example sizes for a graph whose own example is not at hand.

In: the conditions that hold for a graph's symbols. Out: a value for each symbol under which all
of them hold, or None when the search finds none. Without conditions the values are distinct
primes, so nothing divides, equals or broadcasts by accident.

    >>> from minitorch2.jit.shapes.parser import parse_condition
    >>> find_example(("s0", "s1"), [parse_condition("s0%8==0"), parse_condition("s1<=s0")])
    {'s0': 8072, 's1': 1013}

Complexity: a backtracking search over a few dozen candidates for each symbol; conditions are
checked as soon as their symbols have values. It gives up after TRIES values.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

from minitorch2.jit.shapes.conditions import SizeCondition, compare
from minitorch2.jit.shapes.size_expression import Apply, Size

LARGE = 1009
TRIES = 2000
MOST_WISHES = 16  # sizes that are kept from being 0 or 1


def find_example(
    names: Sequence[str], conditions: Sequence[SizeCondition]
) -> dict[str, int] | None:
    """A value for each name under which every condition holds, or None."""
    return _search(list(names), conditions, _constants(conditions), {}, iter(range(TRIES)))


def find_generic_example(
    conditions: Sequence[SizeCondition], sizes: Iterable[Size]
) -> dict[str, int]:
    """Values under which the conditions hold, and each of `sizes` is 2 or more where it can be.

    >>> from minitorch2.jit.shapes.parser import parse_size
    >>> find_generic_example((), [parse_size("28-6*s0")])
    {'s0': 4}
    """
    kept = tuple(conditions)
    found = find_example(_names(kept), kept) or {}
    wanted = (compare(">=", size, 2) for size in sizes)
    for wish in itertools.islice((w for w in wanted if isinstance(w, SizeCondition)), MOST_WISHES):
        if found.keys() >= {*wish.symbols()} and _holds(wish, found):
            kept = (*kept, wish)
            continue
        better = find_example(_names((*kept, wish)), (*kept, wish))
        if better is not None:
            found, kept = better, (*kept, wish)
    return found


def _names(conditions: Sequence[SizeCondition]) -> tuple[str, ...]:
    """The symbols in the order of the search: those of equalities, which few values fulfil, first,
    so that no other symbol's values are gone through in between."""
    ordered = sorted(conditions, key=lambda each: each.relation != "==")
    return tuple(dict.fromkeys(name for each in ordered for name in each.symbols()))


def generic_example(name: str) -> int:
    """The value of a symbol that no condition mentions: a prime that belongs to it alone.

    >>> generic_example("s0"), generic_example("s1")
    (1009, 1013)
    """
    return next(itertools.islice(_primes(), int(name.removeprefix("s")), None))


def _search(
    names: list[str],
    conditions: Sequence[SizeCondition],
    constants: list[int],
    bindings: dict[str, int],
    tries: Iterator[int],
) -> dict[str, int] | None:
    if not names:
        return bindings
    name, *rest = names
    for value in _candidates(name, constants, bindings):
        if next(tries, None) is None:
            return None
        extended = {**bindings, name: value}
        ready = (c for c in conditions if name in c.symbols() and extended.keys() >= {*c.symbols()})
        if all(_holds(condition, extended) for condition in ready):
            found = _search(rest, conditions, constants, extended, tries)
            if found is not None:
                return found
    return None


def _holds(condition: SizeCondition, bindings: dict[str, int]) -> bool:
    try:
        return condition.evaluate(bindings)
    except ZeroDivisionError:
        return False


def _candidates(name: str, constants: list[int], bindings: dict[str, int]) -> Iterator[int]:
    """A prime, its multiples, the constants and other sizes, and what lies around all of these.

    0 and 1 come last: a symbol stands for a size that is neither wherever that is possible.
    """
    prime = generic_example(name)
    period = math.lcm(*(constant for constant in constants if 0 < constant <= LARGE))
    seeds = [prime, prime * period, period, *constants, *bindings.values()]
    seeds += [seed * period for seed in (2, 3, *bindings.values())]
    seeds += [seed + step for seed in seeds for step in (-1, 1)]
    seeds += range(2, 9)
    yield from sorted(dict.fromkeys(seed for seed in seeds if seed >= 0), key=lambda seed: seed < 2)


def _constants(conditions: Sequence[SizeCondition]) -> list[int]:
    found: list[int] = []
    for condition in conditions:
        for size in (condition.left, condition.right):
            found += _constants_of(size)
    return list(dict.fromkeys(abs(constant) for constant in found))


def _constants_of(size: Size) -> Iterator[int]:
    if isinstance(size, int):
        yield size
        return
    for coefficient, factors in size.terms:
        yield coefficient
        for atom in factors:
            if isinstance(atom, Apply):
                for argument in atom.arguments:
                    yield from _constants_of(argument)


def _primes() -> Iterator[int]:
    for number in itertools.count(LARGE):
        if all(number % divisor for divisor in range(2, math.isqrt(number) + 1)):
            yield number

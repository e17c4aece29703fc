"""Objects as keys of dicts and sets: two that become one in a later call, weak references."""

import copy
import functools
import weakref

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


class Thing:
    def method(self):
        return 1


class Equal:
    def __init__(self, size):
        self.size = size

    def __eq__(self, other):
        return isinstance(other, Equal) and other.size == self.size

    def __hash__(self):
        return self.size


def first(x):
    return x + 1


def second(x):
    return x + 2


MADE = {
    "objects": lambda: (Thing(), Thing()),
    "functions": lambda: (first, second),
    "partials": lambda: (functools.partial(first), functools.partial(first)),
    "tensors": lambda: (torch.ones(2), torch.ones(2)),
    "modules": lambda: (torch.nn.ReLU(), torch.nn.ReLU()),
    "methods": lambda: (Thing().method, Thing().method),
    "exceptions": lambda: (ValueError(), ValueError()),
    "equal objects": lambda: (Equal(1), Equal(2)),
}


def as_keys(a, b):
    return {a: 1, b: 2}, len({a: 1, b: 2}), {a: 1, b: 2}[a], {a: 1}.get(b)


def as_items(a, b):
    known = {a}
    known.add(b)
    return len(known), len({a, b}), b in {a}, {a} == {b}, len({a} | {b})


def inside_tuples(a, b):
    return {(a, 1): 2}.get((b, 1)), len({(a, 1), (b, 1)})


def by_number(a, b):
    return len({id(a), id(b)}), {id(a): 1}.get(id(b))


def by_copies(a, b):
    left, right = copy.deepcopy([a, b])
    return left is right


def by_references(a, b):
    return weakref.ref(a) == weakref.ref(b), weakref.ref(a) is weakref.ref(b)


USES = (as_keys, as_items, inside_tuples, by_number, by_copies, by_references)


def becoming_one(use, kind):
    """Two objects, then one in both places, then two again."""

    def made():
        one, other = MADE[kind]()
        calls = iter(((one, other), (one, other), (one, one), (one, one), (other, one)))

        def fn(a, b):
            return use(a, b), torch.ones(2) + 1

        return fn, lambda: next(calls), lambda: None

    return made


# What cannot be referred to weakly, or for no longer than a statement; copies of methods have tests
# of their own.
APART = {by_copies: ("methods",), by_references: ("methods", "exceptions")}
PAIRS = [(use, kind) for use in USES for kind in MADE if kind not in APART.get(use, ())]


@pytest.mark.parametrize(("use", "kind"), PAIRS)
def test_two_become_one(use, kind):
    each = Programs()
    # To look at a partial gives it a dict; copies of exceptions are Python's.
    breaks = use is by_copies and kind in ("partials", "exceptions")
    each.known["program"] = becoming_one(use, kind), {"calls": 5, "again": True, "breaks": breaks}
    each.judge("program")


@program
def references_to_one_object():
    thing = Thing()

    def fn(x):
        one, other = weakref.ref(thing), weakref.ref(thing, None)
        held = {one: 3}
        return (
            one == other, one is other, one != other, held[other], other in held, one in [other],
            one() is thing, len({one, other}), one.__callback__, x + 1,
        )  # fmt: skip

    return fn, (torch.ones(2),), lambda: None


@program(calls=6, again=True)
def one_from_outside():
    thing, other = Thing(), Thing()
    plain, called = weakref.ref(thing), weakref.ref(thing, lambda _: None)
    gone = weakref.ref(Thing())
    calls = iter((plain, plain, called, gone, weakref.ref(other), plain))

    def fn(x, given):
        fresh = weakref.ref(thing)
        same = given == fresh, given is fresh, given == given, given == called, given != fresh
        return same, given() is thing, x + 1

    return fn, lambda: (torch.ones(2), next(calls)), lambda: None


@program
def references_to_equal_objects():
    one, other, third = Equal(1), Equal(1), Equal(2)

    def fn(x):
        refs = {weakref.ref(one): 1, weakref.ref(third): 2}
        same = weakref.ref(one) == weakref.ref(other), weakref.ref(one) is weakref.ref(other)
        return same, refs[weakref.ref(other)], len(refs), x + 1

    return fn, (torch.ones(2),), lambda: None


@program(breaks=True)
def tables_from_outside():
    thing, other = Thing(), Thing()
    keys, values = weakref.WeakKeyDictionary({thing: 2}), weakref.WeakValueDictionary(a=thing)
    members = weakref.WeakSet([thing])

    def fn(x):
        return (
            x * keys[thing], thing in keys, other in keys, thing in members, other in members,
            values["a"] is thing, "b" in values, keys.get(other, 7), len(keys),
        )  # fmt: skip

    return fn, (torch.ones(2),), lambda: None


@program
def native_callables(x):
    table = {len: 1, sum: 2, torch.relu: 3, functools.partial: 4, print: 5}
    return x + table[len], table[torch.relu], table[print], table.get(max), len({len, len, sum})


@program(breaks=True)
def a_hash_that_is_an_address():
    thing = Thing()

    def fn(x):
        numbers = thing.__hash__(), object.__hash__(thing), hash(thing), hash(weakref.ref(thing))
        tuples = (thing, 1).__hash__() == hash((thing, 1))
        return len(set(numbers)), numbers[0] == hash(thing), tuples, x + 1

    return fn, (torch.ones(2),), lambda: None


@program(breaks=True)
def asked_after_a_write_that_frees_it():
    holder = [Thing()]

    def fn(x):
        if not holder:
            holder.append(Thing())
        seen = weakref.ref(holder[0])
        holder.pop()
        return seen() is None, x + 1

    return fn, (torch.ones(2),), lambda: len(holder)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)

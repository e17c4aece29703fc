"""What programs change in the world: exactly, in order, and the same objects afterwards."""

import collections

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()
X = torch.tensor([1.0, 2.0])


class Thing:
    total = 0

    def __init__(self, value=None):
        self.value = value


class Watched(dict):
    """Notes every write that goes through it."""

    def __init__(self, *args):
        super().__init__(*args)
        self.log = []

    def __setitem__(self, key, value):
        self.log.append(key)
        super().__setitem__(key, value)


class Careful:
    def __init__(self):
        object.__setattr__(self, "written", [])

    def __setattr__(self, name, value):
        self.written.append(name)
        object.__setattr__(self, name, value)


@program(again=True)
def lists():
    items = [3, 1, 2]

    def fn(x):
        nonlocal items
        items.append(x)
        items.insert(0, "new")
        items[1] = "set"
        del items[2]
        last = items.pop()
        items.extend(["e", x])
        items += [5]
        items.remove("e")
        items.reverse()
        items[1:2] = ["p", "q"]
        size = len(items)
        items.append(items[0])
        del items[8:]
        return last, size, items

    return fn, (X,), lambda: items


@program
def list_that_stays():
    items = [3, 1, 2]

    def fn(x):
        nonlocal items
        items.sort()
        items[:] = [n * 2 for n in items]
        items.sort(reverse=True)
        for i in range(len(items)):
            items[i] //= 2
        items.clear()
        items.extend((3, 1, 2))
        items *= 1
        return x * len(items), items

    return fn, (X,), lambda: items


@program(again=True)
def dicts():
    table = {"a": 1, "b": [2]}

    def fn(x):
        nonlocal table
        table["new"] = x
        table["a"] += 1
        table["b"].append(table["a"])
        table.setdefault("s", []).append(1)
        table.update(u=2, a=table["a"])
        gone = table.pop("u")
        table.pop("never", None)
        table |= {"z": 3}
        del table["z"]
        keys = list(table)
        return gone, keys, table

    return fn, (X,), lambda: table


@program(again=True)
def dict_kinds():
    ordered = collections.OrderedDict(a=1, b=2, c=3)
    default = collections.defaultdict(list, k=[0])
    counted = collections.Counter("aab")
    chain = collections.deque([1, 2, 3], maxlen=3)
    watched = Watched({"w": 0})

    def fn(x):
        ordered.move_to_end("a")
        ordered["b"] = 5
        default["k"] = [x]
        default["k"].append(1)
        default["made"] = default["made"] + ["m"] if "made" not in default else []
        counted["a"] = 2
        chain.append(x)
        chain.rotate(3)
        chain.appendleft(chain.pop())
        watched["w"] = 1
        return len(chain), list(ordered), ordered["b"], watched

    return fn, (X,), lambda: (ordered, default, counted, chain, watched)


@program
def sets():
    numbers = {1, 2, 3}

    def fn(x):
        numbers.add(9)
        numbers.discard(2)
        numbers.update([4, 5])
        numbers.remove(9)
        numbers.difference_update({4})
        numbers.add(2)
        numbers.intersection_update(range(4))
        return x, 3 in numbers, len(numbers), sorted(numbers)

    return fn, (X,), lambda: sorted(numbers)


@program(again=True)
def order_of_effects():
    log, thing, table = [], Thing(), {}

    def fn(x):
        log.append("one")
        thing.first = x
        table["one"] = log
        log.append("two")
        thing.second = table
        table["two"] = thing
        del thing.first
        thing.first = "again"
        log.append(list(table))
        return thing.second is table, table["one"] is log

    return fn, (X,), lambda: (log, thing, table)


@program
def attributes_and_classes():
    thing = Thing([1])
    careful = Careful()

    def fn(x):
        Thing.total = 5
        Thing.fresh = "f"
        thing.total = Thing.total + 1
        thing.value.append(x)
        thing.value = (thing.value, thing)
        careful.name = x
        careful.name = 2
        return thing.total, Thing.total, type(thing).fresh, careful.written

    def clean():
        found = Thing.total, Thing.fresh, thing, careful
        Thing.total = 0
        del Thing.fresh
        thing.value = [1]
        return found

    return fn, (X,), clean


@program
def aliases():
    shared = [1]
    pair = {"a": shared, "b": shared}
    thing = Thing(shared)

    def fn(x):
        pair["a"].append(2)
        thing.value.append(3)
        pair["b"] = [x]
        thing.other = pair["a"]
        return pair["a"] is shared, pair["b"] is shared, thing.value is pair["a"], len(shared)

    def restore():
        found = shared[:], pair, thing
        shared[:] = [1]
        pair["b"] = shared
        return found

    return fn, (X,), restore


@program
def same_object_twice():
    items = [1]

    def fn(x):
        made = [x]
        items.append(made)
        items.append(made)
        both = {"p": made, "q": made}
        made.append("late")
        inner = Thing(made)
        items.append(inner)
        inner.value.append("later")
        return both, made, items[-1] is inner

    def restore():
        found = list(items)
        items[:] = [1]
        return found

    return fn, (X,), restore


@program
def cycles_made_inside():
    kept = Thing()

    def fn(x):
        one, two = Thing(x), Thing()
        one.next, two.next = two, one
        ring = [one]
        ring.append(ring)
        table = {}
        table["self"] = table
        kept.value = one
        return two, ring, table

    return fn, (X,), lambda: kept


@program
def cycles_from_outside():
    one, two = Thing(1), Thing(2)
    one.next, two.next = two, one
    ring = [one]
    ring.append(ring)

    def fn(x):
        one.next.next.value = x
        ring[1][1][0] = "changed"
        return two.next is one, ring[1] is ring, ring

    def restore():
        ring[0] = one
        return one, two, ring

    return fn, (X,), restore


@program
def arguments_changed(x, items, table, names):
    items.append(len(table))
    table["x"] = x
    names[0], names[1] = names[1], names[0]
    table["other"].append(items)
    return items, table["other"][1] is items, names


@program
def same_argument_twice():
    both = [1]

    def fn(p, q, x):
        p.append(x)
        q.append("q")
        return p is q, len(p)

    def restore():
        found = list(both)
        both[:] = [1]
        return found

    return fn, (both, both, X), restore


@program
def failing_effects():
    log, table = [], {"k": 1}

    def fn(x):
        log.append("before")
        try:
            table["missing"]  # noqa: B018
        except KeyError:
            log.append("handled")
        table["k"] = x
        log.pop(0)
        return log

    def restore():
        found = list(log), dict(table)
        log.clear()
        table["k"] = 1
        return found

    return fn, (X,), restore


@program(again=True)
def iterators_of_the_world():
    count = iter(range(100))
    state = {"n": 0}

    def fn(x):
        state["n"] += 1
        made = iter([1, 2, 3])
        next(made)
        return x + state["n"], list(made)

    return fn, (X,), lambda: (next(count), state)


@program
def tensors_of_the_world():
    weight = torch.ones(2)
    table = {"w": weight}

    def fn(x):
        weight.add_(x)
        table["w"].mul_(2)
        weight[0] = 5
        view = weight.view(2, 1)
        view[1] = 7
        weight.tag = "t"
        return weight is table["w"], weight.sum(), view

    def restore():
        found = weight.clone(), weight.tag
        weight.fill_(1)
        return found

    return fn, (X,), restore


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)

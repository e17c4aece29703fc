"""`copy` and `deepcopy` of every kind of object: what is shared, new, and refused by Python."""

import collections
import copy
import enum
import functools
import math

import pytest

import minitorch2 as torch
from minitorch2 import nn
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()
Pair = collections.namedtuple("Pair", "a b")  # noqa: PYI024


class Colour(enum.Enum):
    RED = [1]  # noqa: RUF012


class Box:
    def __init__(self):
        self.items = [1]

    def get(self):
        return self.items


class Coded(Exception):
    def __init__(self, text, codes):
        super().__init__(text)
        self.codes = codes


def both(value):
    """A copy and a deep copy, or what is raised instead."""
    found = []
    for function in (copy.copy, copy.deepcopy):
        try:
            found.append(function(value))
        except TypeError as error:
            found.append(str(error))
    return found


@program
def bound_methods(x):
    box = Box()
    one, other = both(box.get)
    return x + 1, one() is box.items, other() is box.items, one == box.get, other.__self__ is box


@program
def what_cannot_change(x):
    kept = (len, Box, both, 1, "a", None, range(3), Colour.RED, slice(1, 2), (1, 2), ..., math.inf)
    pairs = [(one, *both(one)) for one in kept]
    return x + 1, [(copied is one, one == deep) for one, copied, deep in pairs], copy.copy(kept)


@program
def tuples_of_classes(x):
    pair = Pair([1], x)
    one, other = both(pair)
    return one, other, one is pair, other is pair, one.a is pair.a, other.a is pair.a, one.b is x


@program
def slices_and_tuples(x):
    part, items = slice(1, [2]), ([1], 2)
    one, other = both(part), both(items)
    return x + 1, one[0] is part, one[1] is part, one[1].stop is part.stop, other[0] is items, other


@program
def lines(x):
    line = collections.deque([1], maxlen=3)
    line.append(line)
    one, other = both(line)
    return x + 1, one[1] is line, other[1] is other, other.maxlen


@program
def sets(x):
    box = Box()
    held, frozen = {box, 1}, frozenset([box])
    one, other, alone = copy.deepcopy((held, frozen, box))
    return x + 1, alone in one, alone in other, box in one, copy.copy(frozen) is frozen


@program
def what_is_a_part_of_itself(x):
    items: list = []
    pair = (items, 1)
    items.append(pair)
    table: dict = {"items": items}
    table["table"] = table
    one, other = copy.deepcopy(pair), copy.deepcopy(table)
    return x, one[0][0] is one, one is pair, other["table"] is other, other["items"] is items


@program
def a_memo_that_is_looked_at(x):
    items, table = [1], {"k": [2]}
    memo: dict = {}
    one, other = copy.deepcopy(items, memo), copy.deepcopy(table, memo)
    again = copy.deepcopy(items, memo)
    return x + 1, one is again, other, len(memo), memo[id(memo)], memo[id(items)] is one


@program
def a_memo_that_stands_in(x):
    items = [1]
    return x + 1, copy.deepcopy([items, items], {id(items): "instead"})


@program
def attributes_that_are_bound_methods(x):
    box = Box()
    box.call = box.get
    copied = copy.deepcopy(box)
    return x, copied.call.__self__ is copied, copied.call() is copied.items


@program(breaks=True)
def iterators(x):
    walk, deep = iter([1, 2, 3]), iter([[1], [2]])
    next(walk)
    copied, other = copy.copy(walk), copy.deepcopy(deep)
    return x + 1, list(walk), list(copied), next(other) is next(deep)


@program(breaks=True)
def views_and_generators(x):
    table = {"a": 1}
    found = [both(one)[0] for one in (table.keys(), table.items(), (n for n in range(3)), math)]
    return x + 1, found


@program(breaks=True)
def errors(x):
    error = ValueError([1], {"a": 2})
    error.note = [3]
    one, other = both(error)
    same = one.args[0] is error.args[0], one.note is error.note, other.note is error.note
    return x + 1, one, other, same, both(Coded("a", [1]))


@program(breaks=True)
def shallow_tensors(x):
    made = copy.copy(x)
    made.add_(1)
    return made, x


@program(breaks=True)
def tensors_over_one_memory(x):
    whole = x + 0
    copied = copy.deepcopy([whole, whole[1:], whole.view(-1), whole])
    copied[0].zero_()
    return whole, copied, copied[0] is copied[3]


@program(breaks=True)
def parts_of_memory(x):
    copied = copy.deepcopy((x[1:], x[:1].expand(4, 3)))
    return copied, [one.stride() for one in copied], copied[0].storage_offset()


@program(breaks=True)
def tensors_with_attributes():
    def make():
        x = torch.ones(2)
        x.tag = [1]
        return (x,)

    def fn(x):
        made = copy.deepcopy(x)
        return made, made.tag, made.tag is x.tag

    return fn, make, lambda: None


@program(breaks=True)
def inputs_over_one_memory():
    def make():
        x = torch.zeros(4)
        return x, x[1:]

    def fn(x, y):
        copied = copy.deepcopy([x, y, x])
        copied[0].add_(1)
        return copied, x

    return fn, make, lambda: None


@program
def inputs_apart(x, y):
    copied = copy.deepcopy([x, y, x])
    copied[0].add_(1)
    return copied, copied[0] is copied[2], x


@program
def modules_with_buffers(x):
    module = nn.BatchNorm1d(3)
    module.tied = module.weight
    copied = copy.deepcopy(module)
    copied.running_mean.add_(1)
    return copied(x), copied.tied is copied.weight, module.running_mean


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_the_next_call_gives(backend):
    """Tensors that come apart, come together, are parts, have attributes: each call is eager's."""

    def fn(x, y):
        one, other = copy.deepcopy((x, y))
        one.add_(1)
        return one, other, one.storage_offset(), sorted(one.__dict__)

    compiled = torch.compile(fn, backend=backend)
    base, tagged = torch.zeros(6), torch.zeros(3)
    tagged.tag = 1
    for x, y in ((torch.zeros(3), torch.ones(3)), (base[:3], base[1:4]), (tagged, torch.ones(3)),
                 (base[2:5], torch.ones(3)), (torch.zeros(3), torch.ones(3))):  # fmt: skip
        got, wanted = compiled(x, y), fn(x, y)
        assert [one.tolist() for one in got[:2]] == [one.tolist() for one in wanted[:2]]
        assert got[2:] == wanted[2:]


@pytest.mark.parametrize("backend", BACKENDS)
def test_offsets_of_inputs(backend):
    def fn(x):
        return x + 1, x.storage_offset(), x[1:].storage_offset(), (x * 2)[1:].storage_offset()

    compiled, base = torch.compile(fn, backend=backend), torch.zeros(6)
    for x in (base, base[2:], base[1:5], torch.zeros(5)[1:]):
        assert compiled(x)[1:] == fn(x)[1:]


def test_a_partial_keeps_its_arguments():
    compiled = torch.compile(
        lambda x: copy.deepcopy(functools.partial(Box.get, Box())), fullgraph=True
    )
    made = compiled(torch.ones(1))
    assert made() == [1]

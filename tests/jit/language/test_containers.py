"""Tuples, lists, dicts, sets, ranges, slices, strings: made, unpacked, changed, compared."""
# ruff: noqa: E501, C400, C416, UP031 -- odd on purpose

import collections

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()
Pair = collections.namedtuple("Pair", "left right", defaults=[7])


@program
def unpacking(x, items, table, text):
    first, *middle, last = items
    (a, b), [c, *d] = (x, 2), "word"
    *head, tail = range(4)
    [e], f = [[x + 1]], {**table, "k": 5, **{"z": 1}}
    (g,) = {3}
    h = i = [first, *middle, *text[:2], *f]
    return a * b, first, middle, last, c, d, head, tail, e, f, g, h is i, h


@program
def unpacking_that_fails(x, items):
    found = []
    for unpack in (
        lambda: [0 for a, b in [items]], lambda: [0 for a, b, c, d in [items]],
        lambda: (lambda a, *, b: 0)(*items), lambda: [*5], lambda: {**items},
    ):  # fmt: skip
        try:
            unpack()
        except (ValueError, TypeError) as error:
            found.append((type(error).__name__, str(error).replace("test_containers.", "")))
    return x, found


@program
def comprehensions(x, items, table):
    squares = [item * item for item in items if item > 1]
    grid = [(i, j) for i in range(3) for j in range(i) if i + j]
    by_name = {name: x * count for count, name in enumerate("abc")}
    kinds = {type(value) for value in table.values()}
    nested = [[cell * 2 for cell in row] for row in x]
    lazy = sum(item for item in items if item % 2)
    outer = 5
    shadows = [outer for outer in items]
    return squares, grid, by_name, sorted(map(repr, kinds)), nested, lazy, outer, shadows


@program
def lists(x, items):
    same = items
    items += [x]
    items.extend(range(2))
    items[1:2] = ["a", "b"]
    items[::3] = [0] * len(items[::3])
    items.insert(-1, [items[2]])
    items.reverse()
    del items[2::3]
    copy = items[:]
    copy.append(same)
    popped = items.pop(0), items.pop()
    return same is items, copy, popped, items * 2, [1] < [1, 0]


@program
def dicts(x, table):
    table["x"] = x
    table |= {"k": [1], 3: "three"}
    table.setdefault("list", []).append(table.get("none", "no"))
    merged = {"first": 0} | table
    view = table.keys()
    table["late"] = True
    found = [list(view), list(merged.items())[0], "k" in table, table.pop("k"), table.popitem()]
    table.update([("p", 1)], q=2)
    ordered = dict(sorted(((str(k), v) for k, v in table.items() if k != "x"), reverse=True))
    return found, ordered, list(reversed(table)), view & {"p"}, table.keys() - {"x"}


@program
def sets(x, items):
    numbers = set(items) | {9}
    numbers ^= {9, 10}
    frozen = frozenset(numbers)
    numbers.discard(99)
    numbers -= {1}
    return (
        sorted(numbers), sorted(frozen), numbers < frozen, numbers.isdisjoint({7}),
        {frozen: x}[frozen], sorted(frozen & {3, 10}), 3 in numbers, len(numbers),
    )  # fmt: skip


@program
def tuples_and_named(x, b):
    pair = Pair(x, b)
    moved = pair._replace(left=b)
    left, right = moved
    return (
        pair, moved, pair[0] is x, left + right, Pair(1), pair._fields, moved < (4, 0),
        (1, 2) + (b,), ((),) * 2, tuple(range(b)), moved._asdict(),
        hash((1, "a")) == hash((1, "a")),
    )  # fmt: skip


@program
def slices_and_ranges(x, items, text):
    whole = slice(None, None, 2)
    steps = range(10, 0, -3)
    return (
        items[whole], text[-4:], text[::-1], list(steps), steps[1], steps[1:], 4 in steps,
        len(steps), slice(1, 9, 3).indices(6), x[whole], x[:, slice(0, 2)], range(3) == range(0, 3),
    )  # fmt: skip


@program
def strings(x, text, a, f, names):
    label = f"{text!r:>15}|{a:03d}|{f:.2%}|{x.shape}|{x.dtype}|{len(names)=}"
    return (
        label, "%s-%d" % (text, a), "%(k)5.1f" % {"k": a}, f"{a}{f}",
        ",".join(sorted(names)), text.title().split(), text.partition(" "), text.encode()[:3],
        "a" * 3 < "b", text.replace("e", "").center(20, "*"), b"ab" + bytes([1]), text.find("t"),
        "tab\tend".expandtabs(4), text.startswith(("so", "x")), "12".zfill(4).isdigit(), ord("a"),
    )  # fmt: skip


@program
def deques_and_counters(x, items, text):
    line = collections.deque(items, maxlen=3)
    line.append(x)
    line.rotate(1)
    line.appendleft(0)
    counts = collections.Counter(text)
    counts.update("eee")
    groups = collections.defaultdict(list)
    for item in items:
        groups[item % 2].append(item)
    ordered = collections.OrderedDict(a=1, b=2)
    ordered.move_to_end("a")
    return line, counts.most_common(2), dict(groups), list(ordered), counts["z"], groups[5]


@program
def tensors_inside(x, y, table):
    pile = [x, y, x]
    index = [number for number, item in enumerate(pile) if item is x]
    table["tensors"] = {"x": x, "list": pile}
    pile[0] = pile[1]
    pile.append(torch.stack(pile[:2]))
    first, *others = x
    return index, pile, table["tensors"]["list"] is pile, first, others, max(pile[:1], key=len)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)

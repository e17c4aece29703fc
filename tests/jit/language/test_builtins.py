"""Builtin functions over known values and tensors."""
# ruff: noqa: E721, B009, B010, B905, C400, C402, C406, C408, C409
# ruff: noqa: C414, C416, C417, C418, C419, E731, F524, UP031 -- odd on purpose

import pytest

from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


@program
def numbers(x, a, b, f):
    return (
        abs(-a), round(f * 5), round(2.675, 2), round(-1.5), divmod(7, b), pow(2, b), pow(2, 5, 7),
        int("12"), int(3.9), int("ff", 16), float("1.5"), float("-inf"), complex(a, b), bool(a),
        bin(5), oct(8), hex(255), chr(97), ord("b"), ascii("é"), hash(3), hash("k") == hash("k"),
        int(True), int.from_bytes(b"\x01\x02", "big"), (5).bit_length(), (0.5).as_integer_ratio(),
        float.fromhex("0x1p-1"), (3.0).is_integer(), -7 // 2, -7 % 3, 7.5 // 2, 2**-1, 1 << 4,
    ), x + abs(-f)  # fmt: skip


@program
def sequences(x, items, names):
    return (
        len(items), sorted(items), sorted(items, reverse=True),
        sorted(["b", "aa", "c"], key=len, reverse=True), sorted(names, key=str.upper),
        list(reversed(items)), min(items), max(items), min(items, key=lambda n: -n),
        max(3, 1, 2), min(names), max(names, key=len), max([], default=None), min("b", "a"),
        sum(items), sum(items, 10), sum([[1], [2]], []), any(items), all(items), any([]), all([]),
        list(enumerate(names)), list(enumerate(names, 5)), list(enumerate(names, start=2)),
        list(zip(items, names)), list(zip(items, names, range(2))), dict(zip(names, items)),
        list(map(str, items)), list(map(lambda p, q: p * q, items, items)), tuple(map(bool, [0])),
        list(filter(None, [0, 1, "", "a"])), list(filter(lambda n: n > 1, items)),
        list(range(5)), list(range(5, 0, -2)), range(3)[1], len(range(0, 10, 3)), 4 in range(5),
        range(10)[2:5], list(iter(items)), next(iter(items)), next(iter([]), "end"),
        slice(1, 2), list(items)[slice(0, 2)], slice(None, 4, 2).indices(10), tuple(names),
    ), x  # fmt: skip


@program
def sequences_of_tensors(x, y):
    ts = [x, y, x + y]
    return (
        sum(ts), sum(ts, x), sum(t.sum() for t in ts), list(map(lambda t: t * 2, ts)),
        [t + i for i, t in enumerate(ts)], [p * q for p, q in zip(ts, reversed(ts), strict=True)],
        sorted(ts, key=lambda t: t.dim()), max(ts, key=lambda t: t.numel()), len(ts), len(x),
        list(filter(lambda t: t.shape[0] == 2, ts)), all(t.dim() == 2 for t in ts),
        any(t is x for t in ts), list(x), [row.sum() for row in x], tuple(x.unbind(1)),
    )  # fmt: skip


@program
def kinds(x, a, items, table, text, none):
    return (
        isinstance(x, type(x)), isinstance(a, int), isinstance(a, (str, int)), isinstance(a, bool),
        isinstance(True, int), isinstance(a, int | str), issubclass(bool, int), type(a) is int,
        type(x).__name__, type(items) == list, type(none) is type(None), callable(len),

        callable(a), isinstance(items, list), isinstance(table, dict), isinstance(text, str),
        isinstance(len, object), type(type(a)), type([]) is type(items), isinstance(a, float),
    )  # fmt: skip


@program
def attributes(x, text):
    class_of = getattr(x, "shape")
    return (
        class_of, getattr(x, "nothing", 5), hasattr(x, "dim"), hasattr(x, "nothing"),
        getattr(text, "upper")(), hasattr(5, "real"), getattr(5, "imag"), getattr(x, "sum")(),
        getattr([], "nope", None), hasattr(text, "nope"),
    )  # fmt: skip


@program
def texts(x, a, f, items):
    return (
        str(a), repr("q"), format(f, ".3f"), format(a, "05d"), str(items), repr(items), str(None),
        format("s", ">4"), format(255, "#x"), str(1.0), repr(1e100), str((1,)), str({"a": 1}),
        ascii("ü"), str(b"x", "ascii"), repr({1}), str(True), format(1234567, ","), str(x.shape),
        str(x.dtype), repr(x.device), str(range(3)), repr(slice(1)), str(...), str(1j), "%s" % (a,),
    ), x  # fmt: skip


@program
def containers(x, items, names, table):
    return (
        list(), tuple(), dict(), set(), frozenset(), list("ab"), tuple(items), set(items),
        dict(a=1, b=2), dict([("a", 1)]), dict(table, z=3), dict({1: 2}, q=4), frozenset([1, 2]),
        list(table), list(table.items()), list(table.values()), dict(table.items()), set("aab"),
        bytes(3), bytes([1, 2]), bytearray(b"ab")[0], bytes("a", "utf8"), list({}.keys()),
        dict.fromkeys(names), dict.fromkeys("ab", 0), tuple(x.shape), list(zip()), sorted(table),
        sorted(set(names)), memoryview(b"ab")[1],
    ), x  # fmt: skip


@program
def iterators(x, items):
    it = iter(items)
    first = next(it)
    rest = list(it)
    done = next(it, "done")
    counter = iter(lambda: len(rest) or 5, 2)
    more = list(counter)
    z = zip("ab", items)
    pair = next(z)
    m = map(lambda n: n + 1, items)
    e = enumerate(items)
    next(e)
    return x + first, rest, done, more, pair, list(z), next(m), list(m), list(e), iter(it) is it


@program
def unpacks_into_calls(x, items, table):
    def inner(*args, key=0, **rest):
        return len(args), key, sorted(rest)

    return inner(*items, *"ab", key=1, **table), inner(*(), **{}), max(*items), x, [*items, *items]


@program
def stop_iteration_text(x):
    it = iter([1])
    next(it)
    try:
        next(it)
    except StopIteration as stop:
        return x, stop.value, stop.args


@program
def strict_zip(x, items):
    found = []
    for other in ([1], [1, 2, 3, 4]):
        try:
            list(zip(items, other, strict=True))
        except ValueError as error:
            found.append(str(error))
    return x, found


@program
def wrong_calls(x, a, items):
    found = []
    attempts = [
        lambda: len(5), lambda: int("x"), lambda: max([]), lambda: items[10], lambda: abs("a"),
        lambda: sum(["a"]), lambda: next(5), lambda: iter(5), lambda: a.nothing, lambda: a(),
        lambda: [] + (), lambda: "a" + 1, lambda: 1 / 0, lambda: {}["k"], lambda: sorted([1, "a"]),
        lambda: chr(-1), lambda: ord("ab"), lambda: float("y"), lambda: int([]), lambda: a[0],
        lambda: range(1.5), lambda: divmod(1, 0), lambda: pow(0, -1), lambda: [1][1:2:0],
        lambda: "a" < 1, lambda: isinstance(1, 2), lambda: issubclass(1, int), lambda: getattr(1),
        lambda: {[]: 1}, lambda: {[]}, lambda: hash([]), lambda: (1, 2)[5], lambda: "ab"[9],
        lambda: -"a", lambda: ~1.5, lambda: reversed(5), lambda: round("a"), lambda: dict([1]),
        lambda: list(5), lambda: tuple(1), lambda: set(3), lambda: [][0], lambda: {}.pop("a"),
        lambda: [].pop(), lambda: [].remove(1), lambda: set().pop(), lambda: [1].index(2),
        lambda: None + 1, lambda: None.x, lambda: x.nothing, lambda: (1).__getitem__(0),
        lambda: bytes([256]), lambda: 1 << -1, lambda: "%d" % "a",
        lambda: zip(1), lambda: map(abs, 1), lambda: enumerate(1), lambda: filter(None, 1),
        lambda: min(1), lambda: min(1, "a"), lambda: all(1), lambda: len(len),
        lambda: max(1, 2, default=3), lambda: min(1, 2, key=None, default=None),
    ]  # fmt: skip
    for number, attempt in enumerate(attempts):
        try:
            attempt()
            found.append((number, "nothing raised"))
        except Exception as error:
            found.append((number, type(error).__name__, str(error)))
    return x, found


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)

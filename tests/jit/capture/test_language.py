"""Each feature of the language: the captured graph, interpreted, gives what Python gives."""
# ruff: noqa: B010, C408, C409, C417, F821, UP031, UP032 -- odd spellings are what is tested

import collections
import functools
import itertools
import math
import operator
from dataclasses import dataclass, field

import pytest

import minitorch2 as torch
from tests.jit.capture.capturing import check, ones

X = ones(2, 3)


def arithmetic(x, a, b):
    return (x + a) * b - x / 2 + (-x) ** 2 - (x // 1) + 3 % b + (a << 1) + (b | 4)


def comparisons(x, a, b):
    if a < b <= 5 and a != b or not a == 1:
        return x + 1
    return x - 1


def boolean_values(x, a, b):
    return x + (a or b) + (a and b), a or "none", [] or None, not a


def conditional(x, a, b):
    y = x if a > b else x * 2
    return y + (1 if x.dim() == 2 else 0)


def loops(x, a, b):
    total = x
    for i in range(4):
        if i == 2:
            continue
        total = total + i
    else:
        total = total * 2
    n = 0
    while True:
        n += 1
        if n > 3:
            break
    return total, n


def unpacking(x, a, b):
    first, *middle, last = [a, b, x, 4]
    (p, q), r = (1, 2), 3
    p, q = q, p
    return first, middle, last, p, q, r, [*middle, *range(2)], {**{"a": x}, "b": 1}


def containers(x, a, b):
    items = [1, 2, 3]
    items.append(x)
    items.extend([a, b])
    items.insert(0, "first")
    items[1] = 10
    del items[2]
    table = {"k": x, 1: 2}
    table["new"] = x * 2
    table.setdefault("other", []).append(a)
    table.update(z=1)
    gone = table.pop("k")
    numbers = {1, 2} | {3}
    numbers.add(4)
    grid = [[0] * 2 for _ in range(2)]
    grid[1][0] = x
    return items, table, gone, sorted(numbers), items[-2:], items[::2], grid, len(table)


def comprehensions(x, a, b):
    squares = [i * i for i in range(4) if i % 2]
    table = {str(i): x * i for i in range(2)}
    unique = {i % 2 for i in range(5)}
    nested = [[x * y for x in squares] for y in squares]
    lazy = sum(i for i in range(4))
    return squares, table, sorted(unique), nested, lazy, any(v > 3 for v in squares)


def builtin_functions(x, a, b):
    pairs = list(zip([1, 2], "ab", strict=True))
    numbered = [(i, v) for i, v in enumerate(["p", "q"], 1)]
    mapped = list(map(lambda v: v + a, [1, 2]))
    kept = list(filter(None, [0, 1, 2]))
    return (
        pairs, numbered, mapped, kept, max(a, b), min([3, 1]), sum([x, x, x]), abs(-a),
        sorted([3, 1, 2], key=lambda v: -v), list(reversed([1, 2])), len(x),
        isinstance(x, torch.Tensor),
        isinstance(a, (int, str)), callable(len), getattr(x, "nope", 5), hasattr(x, "shape"),
        divmod(7, 2), round(2.6), int("3"), float(2), str(a), all([1, 1]), tuple([1]), bool([]),
        type(a) is int, max([1, 5], key=lambda v: -v), list(itertools.chain([1], [2])),
        functools.reduce(lambda p, q: p * q, [1, 2, 3]), operator.add(1, 2), math.sqrt(4.0),
        list(itertools.product([1, 2], [3])), next(iter([9])), dict(a=1), repr("s"),
    )  # fmt: skip


def formatting(x, a, b):
    return (
        f"{a} {b!r:>4} {1.5:.2f} {x.shape}",
        "%d-%s" % (a, b),
        "{} {k}".format(a, k=b),
        "-".join("ab"),
    )


def slices(x, a, b):
    y = x[0] + x[:, 1:].sum() + x[..., -1].mean() + x[None].squeeze(0)[1]
    s = slice(0, a)
    return y, x[s], [1, 2, 3][s]


def closures(x, a, b):
    count = 0

    def bump(n):
        nonlocal count
        count += n
        return x * count

    first = bump(1)
    second = bump(2)
    return first, second, count


def functions(x, a, b):
    def many(p, q=2, *rest, k=3, **named):
        return p + q + k, rest, sorted(named)

    part = functools.partial(many, 1, k=5)
    double = lambda v, times=2: v * times  # noqa: E731
    return many(1), many(1, 2, 3, 4, k=0, z=1), part(q=9), double(x), many(*[1, 2], **{"k": 4})


def recursion(x, a, b):
    def power(n):
        return x if n == 0 else power(n - 1) * 2

    return power(3)


def exceptions(x, a, b):
    log = []
    try:
        try:
            raise ValueError("bad", 3)
        except KeyError:
            log.append("wrong")
        except (ValueError, TypeError) as error:
            log.append(str(error.args))
            raise RuntimeError("next") from error
        finally:
            log.append("finally")
    except RuntimeError as error:
        log.append(str(error))
        log.append(type(error.__cause__).__name__)
    else:
        log.append("else")
    try:
        [][1]
    except IndexError as error:
        log.append(str(error))
    try:
        {}["k"]
    except KeyError as error:
        log.append(str(error))
    try:
        x.reshape(7)
    except RuntimeError:
        log.append("shape")
    return x + len(log), log


def finally_returns(x, a, b):
    for i in range(3):
        try:
            if i == 1:
                return x + i
        finally:
            x = x * 2
    return x


class Managed:
    def __init__(self, log, swallow=False):
        self.log, self.swallow = log, swallow

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, kind, error, trace):
        self.log.append("out" if kind is None else kind.__name__)
        return self.swallow


def context_managers(x, a, b):
    log = []
    with Managed(log) as one, Managed(log):
        x = x + len(one.log)
    with Managed(log, swallow=True):
        raise ValueError("gone")
    with torch.no_grad():
        y = x * 2
        enabled = torch.is_grad_enabled()
    return x, y, log, enabled, torch.is_grad_enabled()


def generators(x, a, b):
    def count(n):
        for i in range(n):
            got = yield i
            if got:
                yield got

    def both():
        yield from count(2)
        yield from [7, 8]
        return 5

    stepped = count(3)
    return list(both()), next(stepped), stepped.send("s"), list(stepped), sum(v for v in count(3))


class Base:
    scale = 2

    def __init__(self, n):
        self.n = n

    def apply(self, x):
        return x * self.n

    @property
    def doubled(self):
        return self.n * 2

    @staticmethod
    def static(v):
        return v + 1

    @classmethod
    def make(cls, n):
        return cls(n)

    def __add__(self, other):
        return self.n + (other.n if isinstance(other, Base) else other)

    __radd__ = __add__

    def __eq__(self, other):
        return isinstance(other, Base) and other.n == self.n

    def __lt__(self, other):
        return self.n < other.n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i >= self.n:
            raise IndexError(i)
        return i * 10

    def __call__(self, v):
        return v - self.n

    def __contains__(self, v):
        return v == self.n


class Derived(Base):
    def __init__(self, n):
        super().__init__(n + 1)
        self.extra = "e"

    def apply(self, x):
        return super().apply(x) + 1


def classes(x, a, b):
    one, two = Derived(a), Base.make(3)
    two.n += 1
    setattr(one, "late", 7)
    return (
        one.apply(x), two.doubled, one.static(1), one.scale, one + two, 1 + one,
        one == two, one < two,
        len(two), list(two), one(10), 4 in two, one.extra, one.late, bool(two),
        sorted([two, one])[0].n,
        hasattr(one, "nothing"), isinstance(one, Base), type(two).__name__, max(one, two).n,
    )  # fmt: skip


Point = collections.namedtuple("Point", "x y")


@dataclass
class Config:
    width: int = 2
    names: list = field(default_factory=list)


def plain_classes(x, a, b):
    point = Point(a, y=x)
    config = Config(3)
    config.names.append("n")
    other = point._replace(x=5)
    return point.x, point.y * 2, point[0], config.width, config.names, other.x, config == Config(3)


def matching(x, v, b):
    match v:
        case {"k": k, **rest}:
            return x + k, rest
        case Point(x=px, y=3):
            return x + px
        case [first, *others]:
            return x + first, len(others)
        case int() | float() if v > 3:
            return x + v
        case str(text):
            return x, text
        case _:
            return x - 1


def walrus_and_chains(x, a, b):
    if (n := a + b) > 3:
        return x + n
    p = q = n
    return x + p + q


def tensor_methods(x, a, b):
    y = x.add(1).mul_(2)
    y += 1
    y[0] = 5.0
    y[:, 1] *= 2
    z = torch.zeros(2, 3)
    z.copy_(y)
    rows = [row.sum() for row in x]
    p, q = x
    return y, z, x.shape, x.size(0), x.dtype, x.device, x.ndim, x.numel(), rows, p + q, x.T, x.mT


def imports(x, a, b):
    import math as m
    from functools import reduce

    return x * m.floor(2.5), reduce(max, [1, 3, 2])


def deleting(x, a, b):
    y = x
    del x
    try:
        return x
    except UnboundLocalError:
        return y + 1


CASES = [
    (arithmetic, (X, 2, 3)),
    (comparisons, (X, 2, 3)),
    (comparisons, (X, 1, 1)),
    (boolean_values, (X, 0, 3)),
    (conditional, (X, 2, 3)),
    (loops, (X, 2, 3)),
    (unpacking, (X, 2, 3)),
    (containers, (X, 2, 3)),
    (comprehensions, (X, 2, 3)),
    (builtin_functions, (X, 2, 3)),
    (formatting, (X, 2, 3)),
    (slices, (X, 2, 3)),
    (closures, (X, 2, 3)),
    (functions, (X, 2, 3)),
    (recursion, (X, 2, 3)),
    (exceptions, (X, 2, 3)),
    (finally_returns, (X, 2, 3)),
    (context_managers, (X, 2, 3)),
    (generators, (X, 2, 3)),
    (classes, (X, 2, 3)),
    (plain_classes, (X, 2, 3)),
    (matching, (X, {"k": 2, "z": 1}, 0)),
    (matching, (X, Point(2, 3), 0)),
    (matching, (X, [1, 2, 3], 0)),
    (matching, (X, 5, 0)),
    (matching, (X, "text", 0)),
    (matching, (X, None, 0)),
    (walrus_and_chains, (X, 2, 3)),
    (walrus_and_chains, (X, 1, 1)),
    (tensor_methods, (X, 2, 3)),
    (imports, (X, 2, 3)),
    (deleting, (X, 2, 3)),
]


@pytest.mark.parametrize("fn, args", CASES, ids=lambda value: getattr(value, "__name__", None))
def test_feature(fn, args):
    check(fn, *args)

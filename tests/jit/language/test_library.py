"""The standard library and numpy on known values."""
# ruff: noqa: E501, F401 -- one line, one program

import bisect
import cmath
import collections
import contextlib
import copy
import datetime
import decimal
import fractions
import functools
import heapq
import inspect
import itertools
import json
import math
import numbers
import operator
import os
import re
import statistics
import string
import sys
import textwrap
import types
import typing

import numpy as np
import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs


class Item:
    """Hashed by identity."""


class Numbered:
    """Hashed by a number of its own."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return self.number == other.number

    def __hash__(self):
        return self.number


LIBRARY = r"""
torch.finfo(x.dtype).min, torch.finfo(torch.bfloat16).eps, torch.iinfo(torch.int16).max,
    np.iinfo("i4").min
list(itertools.chain([1], (2,), "a")), list(itertools.chain.from_iterable([[1], [2]]))
list(itertools.islice(items, 2)), list(itertools.islice(items, 1, None)),
    list(itertools.islice(itertools.count(), 3, 9, 2))
list(itertools.product([1, 2], "ab")), list(itertools.product([0, 1], repeat=2)),
    list(itertools.permutations(items)), list(itertools.permutations(items, 2))
list(itertools.combinations(items, 2)), list(itertools.combinations_with_replacement(items, 2))
list(itertools.repeat(1, 3)), list(zip(itertools.count(), "ab")), list(zip(itertools.count(5, 2),
    "ab")), list(itertools.islice(itertools.repeat(2), 2))
list(itertools.accumulate(items)), list(itertools.accumulate(items, operator.mul)),
    list(itertools.accumulate(items, max, initial=0))
list(itertools.islice(itertools.cycle("ab"), 5))
list(itertools.takewhile(lambda n: n > 2, items)), list(itertools.dropwhile(lambda n: n > 2,
    items)), list(itertools.filterfalse(lambda n: n > 1, items))
list(itertools.starmap(pow, [(2, 3), (3, 2)])), list(itertools.compress("abc", [1, 0, 1])),
    list(itertools.pairwise(items))
list(itertools.zip_longest(items, "a")), list(itertools.zip_longest(items, "a", fillvalue=0))
[(k, list(g)) for k, g in itertools.groupby("aabc")], [(k, list(g)) for k,
    g in itertools.groupby(sorted(items), key=lambda n: n % 2)]
[list(t) for t in itertools.tee(items)], [list(t) for t in itertools.tee(items, 3)]
list(itertools.chain(*[items, items]))
next(itertools.count(3)), next(itertools.cycle(items))
functools.reduce(lambda p, q: p + q, items), functools.reduce(operator.add, items, 10),
    functools.reduce(operator.mul, [x, x])
functools.partial(pow, 2)(3), functools.partial(int, base=2)("101"), functools.partial(sorted,
    reverse=True)(items)
functools.partial(functools.partial(max, 5), 7)(9), functools.partial(pow, 2).func is pow,
    functools.partial(pow, 2).args, functools.partial(pow, exp=2).keywords
functools.wraps(len)(lambda q: q).__name__
operator.itemgetter(1)(items), operator.itemgetter(0, 2)(items), operator.attrgetter("real")(5),
    operator.methodcaller("upper")("a"), operator.attrgetter("shape")(x)
operator.add(1, 2), operator.mul(x, 2), operator.getitem(items, 0), operator.neg(x),
    operator.contains(items, 1), operator.index(3), operator.concat([1], [2]),
    operator.countOf(items, 1), operator.indexOf(items, 1), operator.truediv(1, 2),
    operator.floordiv(7, 2), operator.and_(1, 3), operator.is_not(a, b), operator.not_(0),
    operator.truth([]), operator.iadd([1], [2]), operator.abs(-1), operator.inv(5),
    operator.pos(1), operator.xor(1, 3), operator.le(1, 2), operator.ne(1, 2),
    operator.length_hint(items)
math.sqrt(4), math.pi, math.floor(2.5), math.ceil(f), math.log(8, 2), math.exp(0), math.gcd(4, 6),
    math.inf, math.isnan(math.nan), math.prod(items), math.factorial(4), math.comb(5, 2),
    math.hypot(3, 4), math.atan2(1, 1), math.fsum([0.1] * 3), math.isclose(1, 1.0),
    math.trunc(2.7), math.copysign(1, -0.0), math.log2(8), math.log10(100), math.e, math.tau,
    math.isqrt(10), math.dist([0], [1]), math.lcm(2, 3), math.modf(2.5), math.frexp(8),
    math.perm(3), math.radians(180), math.remainder(5, 3), math.cbrt(27)
math.sqrt(-1)
math.prod(x.shape), math.sqrt(x.shape[-1]), math.ceil(x.shape[0] / 2)
cmath.sqrt(-1), cmath.pi
collections.OrderedDict(a=1, b=2), collections.OrderedDict([("k", x)]), collections.OrderedDict()
(lambda d: (d.move_to_end("a"), d, d.popitem(last=False), d))(collections.OrderedDict(a=1, b=2))
(lambda d: (d["k"].append(1), d["z"], d, d.get("q")))(collections.defaultdict(list))
(lambda d: (d["k"], d))(collections.defaultdict(int, k=3)),
    collections.defaultdict(lambda: x)["q"], collections.defaultdict(None, {"a": 1})
collections.Counter("aab"), collections.Counter("aab").most_common(1),
    collections.Counter(a=1) + collections.Counter("ab"), collections.Counter(items)[3],
    collections.Counter("a")["q"]
(lambda c: (c.update("ab"), c, c.total(), list(c.elements()), c.subtract("a"),
    c))(collections.Counter("aab"))
(lambda d: (d.append(1), d.appendleft(2), d, len(d), d[0], d.pop(), d.popleft(),
    d))(collections.deque())
(lambda d: (d.extend([1, 2, 3]), d.rotate(1), list(d), d.maxlen, d.extendleft([7]), d, 1 in d,
    d.count(1), d.index(1), d.clear(), bool(d)))(collections.deque(maxlen=3))
collections.deque([1, 2]) == collections.deque([1, 2]), list(reversed(collections.deque([1, 2]))),
    collections.deque([x, 2])[0]
(lambda d: (d.insert(1, 9), d.remove(1), d.reverse(), d.copy(), d))(collections.deque([1, 2, 3]))
collections.ChainMap({"a": 1}, {"b": 2})["b"]
dict(collections.ChainMap({"a": 1}, {"b": 2}))
copy.copy(items), copy.deepcopy(items), copy.copy(items) is items, copy.copy(table),
    copy.deepcopy(table), copy.deepcopy([items, items])
(lambda a: [a in held for held in (copy.deepcopy({a}), copy.deepcopy(frozenset([a])),
    copy.deepcopy({a: 1}), copy.deepcopy({(a, 1): 1}), copy.copy({a}), copy.copy({a: 1}))])(Item())
(lambda a: [next(iter(held)) is a for held in (copy.deepcopy({a}), copy.deepcopy(frozenset([a])),
    copy.deepcopy({a: 1}), copy.copy({a}), copy.copy({a: 1}))])(Numbered(3))
(lambda c: (c[0] in c[1], next(iter(c[2])) is c[0]))((lambda a: copy.deepcopy([a, {a}, {a: 1}]))(
    Numbered(3)))
string.ascii_letters, string.digits, string.Template("$a b").substitute(a=1), string.capwords("a b")
re.match(r"(\w+) (\w+)", text).groups(), re.sub("s", "z", text), re.findall(r"\w", "ab"),
    re.split(" ", text), re.compile("s(o)").search(text).group(1), re.fullmatch("a", "b"),
    bool(re.search("x", text))
[re.compile("a").sub(lambda m: "x", "aaa", n) for n in (-1, 0, 1, 2, 5)],
    re.compile("a").subn(lambda m: "x", "aaa", count=2), re.compile("a").subn(lambda m: "x", "aaa")
[m.span() for m in re.finditer("[aeiou]", text)], re.escape("a.b"), re.compile("a",
    re.I).match("A").group()
fractions.Fraction(1, 3) + 1
decimal.Decimal("1.10") + 1
decimal.Decimal("1.10").quantize(decimal.Decimal("0.1"))
statistics.mean(items), statistics.median(items)
heapq.nsmallest(2, items), heapq.nlargest(1, items)
(lambda h: (heapq.heappush(h, 0), heapq.heappop(h), h))(items)
heapq.heapify(items), items
bisect.bisect([1, 3], 2), bisect.bisect_left([1, 2], 2)
bisect.insort([1, 3], 2)
json.dumps({"a": [1, 2.5, None]}), json.loads('{"a": [1]}')
textwrap.dedent("  a"), textwrap.wrap("a b c", 3)
os.path.join("a", "b"), os.path.basename("a/b.c"), os.path.splitext("a.b"), os.sep
sys.maxsize, sys.version_info >= (3, 11), sys.byteorder, sys.float_info.eps, sys.getsizeof(1) > 0
datetime.timedelta(days=1).total_seconds()
datetime.date(2020, 1, 2).isoformat()
inspect.isfunction(len), inspect.isclass(int)
numbers.Number, isinstance(5, numbers.Number), isinstance(5, numbers.Integral)
isinstance(items, collections.abc.Sequence), isinstance(table, collections.abc.Mapping),
    isinstance(iter([]), collections.abc.Iterator), isinstance(len, collections.abc.Callable),
    isinstance({1}, collections.abc.Set), isinstance(x, collections.abc.Iterable)
typing.cast(int, "a"), typing.TYPE_CHECKING, typing.Any, typing.get_type_hints, list[int],
    dict[str, int], int | None
np.array([1.0, 2.0]).sum()
np.sqrt(4.0), np.pi, np.prod([2, 3]), np.float32(1.5), np.int64(3) + 1, np.arange(3).tolist(),
    np.ceil(2.5), int(np.prod(x.shape)), np.log(2.0), np.max([1, 2])
np.linspace(0, 1, 3)
x * np.pi, x + np.float32(2.0), x * np.int64(3), x + float(np.sqrt(2))
x * np.sqrt(2.0)
torch.tensor(np.array([1.0, 2.0]))
x[np.array([0])]
np.array([1, 2])[0], np.zeros((2, 2)).shape, np.array([1, 2]).dtype, np.array([[1, 2]]).T.tolist()
isinstance(np.float32(1), np.floating), isinstance(5, np.integer)
x.view(np.int64(6)), x.sum(np.int64(0))
list(contextlib.nullcontext(5).__enter__() for _ in range(1))
types.SimpleNamespace(a=1).a, types.SimpleNamespace(a=1, b=x), types.MappingProxyType({"a": 1})["a"]
id(x) == id(x), id(items) == id(items)
"""
program = Programs()
program.lines(LIBRARY, globals())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)

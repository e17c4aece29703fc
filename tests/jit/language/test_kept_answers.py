"""Functions with an lru_cache whose answers depend on what changes between and within the calls.

Each program makes its own world, compiles a function by what it is given, and returns all that can
be seen of a few calls: answers, counts, which objects are one.
"""

import functools

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.jit.capture.rules.kept_answers import ABSENT, kept_answer
from tests.jit.language.judging import BACKENDS, OPTIONS, forget, picture

ONE, TWO = torch.ones(1), torch.ones(2)
PROGRAMS: list = []


def program(fn):
    """Register a program."""
    PROGRAMS.append(fn)
    return fn


@program
def a_cell_that_changes(compiling):
    factor = 1

    @functools.cache
    def scaled(n):
        return n * factor

    fn = compiling(lambda x, n: x * scaled(n))
    seen = []
    for factor in (1, 5, 7):
        seen += [fn(TWO, 2), fn(TWO, factor), scaled.cache_info()]
    scaled.cache_clear()
    return seen, fn(TWO, 2), scaled(2), scaled.cache_info()


@program
def an_answer_from_before(compiling):
    table = {"k": 1}

    @functools.cache
    def scaled(n):
        return n * table["k"]

    scaled(2)
    table["k"] = 4
    fn = compiling(lambda x: x * scaled(2) + scaled(3))
    return fn(TWO), fn(TWO), scaled.cache_info()


@program
def state_written_in_the_call(compiling):
    table = {"k": 1}

    @functools.cache
    def moved(n):
        return n + table["k"]

    def body(x):
        first = moved(1)
        table["k"] += 10
        return x + first, moved(1), moved(2)

    fn = compiling(body)
    return [fn(ONE) for _ in range(3)], moved.cache_info()


@program
def equal_keys(compiling):
    @functools.lru_cache
    def kind(n):
        return type(n).__name__, n

    @functools.lru_cache(typed=True)
    def own(n):
        return type(n).__name__

    def body(x):
        return x + 1, [kind(n) for n in (1, 1.0, True)], [own(n) for n in (1, 1.0, True)]

    kind(1.0)
    fn = compiling(body)
    return fn(ONE), fn(ONE), kind.cache_info(), own.cache_info(), own.cache_parameters()


@program
def equal_keys_of_one_made_inside(compiling):
    def body(x):
        @functools.lru_cache
        def kind(n):
            return type(n).__name__

        @functools.lru_cache(typed=True)
        def own(n):
            return type(n).__name__

        found = [(kind(n), own(n)) for n in (1, 1.0, True)]
        return x + 1, found, kind.cache_info(), own.cache_info()

    return compiling(body)(ONE)


@program
def counts_and_clears_inside(compiling):
    @functools.lru_cache
    def made(n):
        return [n]

    def body(x):
        first, before = made(1), made.cache_info()
        made.cache_clear()
        second = made(1)
        return x + 1, first is second, before, made.cache_info(), made.cache_parameters()

    fn = compiling(body)
    return [fn(ONE) for _ in range(3)], made.cache_info()


@program
def answers_pushed_out(compiling):
    factor = 0

    @functools.lru_cache(maxsize=2)
    def scaled(n):
        return n + factor

    fn = compiling(lambda x: (x + scaled(1) + scaled(2), scaled(3), scaled(1)))
    seen = []
    for factor in range(4):  # noqa: B007
        seen += [fn(ONE), scaled.cache_info()]
    return seen


@program
def a_full_cache_from_call_to_call(compiling):
    factor = 0

    @functools.lru_cache(maxsize=2)
    def scaled(n):
        return n + factor

    fn = compiling(lambda x, n: x + scaled(n))
    return [(fn(ONE, factor % 3), scaled.cache_info()) for factor in range(7)]


@program
def no_room_at_all(compiling):
    asked = []

    @functools.lru_cache(maxsize=0)
    def number(n):
        return n + len(asked)

    fn = compiling(lambda x: x + number(1))
    first = fn(ONE)
    asked.append(1)
    return first, fn(ONE), number.cache_info()


@program
def errors_are_not_kept(compiling):
    asked = []

    @functools.lru_cache
    def third(n):
        asked.append(n)
        if len(asked) < 3:
            raise ValueError(n)
        return n

    @functools.lru_cache
    def never(n):
        raise KeyError(n)

    def body(x):
        found = []
        for function in (third, never):
            try:
                found.append(function(1))
            except (ValueError, KeyError) as error:
                found.append(error.args)
        return x, found

    fn = compiling(body)
    return [fn(ONE) for _ in range(4)], asked, third.cache_info(), never.cache_info()


@program
def no_hash(compiling):
    @functools.lru_cache
    def one(n):
        return 1

    def body(x):
        try:
            return one([x])
        except TypeError as error:
            return x, str(error)

    return compiling(body)(ONE), one.cache_info()


@program
def methods(compiling):
    class Scale:
        factor = 2

        @functools.lru_cache  # noqa: B019
        def times(self, n):
            return n * self.factor

        @staticmethod
        @functools.lru_cache
        def fixed(n):
            return n * Scale.factor

        @classmethod
        @functools.lru_cache
        def own(cls, n):
            return n * cls.factor

    one = Scale()
    fn = compiling(lambda x: x * one.times(3) + one.fixed(4) + Scale.own(5))
    seen = [fn(ONE)]
    one.factor = Scale.factor = 5
    seen.append(fn(ONE))
    one = Scale()
    return seen, fn(ONE), Scale.times.cache_info(), Scale.fixed.cache_info()


@program
def a_mask_of_a_module(compiling):
    class Masked(nn.Module):
        factor = 2.0

        @functools.lru_cache(maxsize=8)  # noqa: B019
        def mask(self, n):
            return torch.full((n,), self.factor)

        def forward(self, x):
            return x * self.mask(x.shape[-1])

    module = Masked()
    fn = compiling(module)
    seen = [fn(TWO)]
    module.factor = 3.0
    seen += [fn(TWO), fn(torch.ones(2, 2)), module.mask.cache_info()]
    Masked.mask.cache_clear()
    return seen, fn(TWO), module.mask.cache_info()


@program
def tensors_and_modules_as_keys(compiling):
    factor = 1

    @functools.lru_cache
    def width(x, module):
        return x.shape[0] * module.in_features * factor

    module, x = nn.Linear(2, 3), torch.ones(2)
    fn = compiling(lambda x: x * width(x, module=module))
    seen = [fn(x)]
    factor = 5
    seen += [fn(x), fn(torch.ones(2))]
    return seen, width.cache_info(), width(x, module=module), width.cache_info()


@program
def keys_with_ways_of_their_own(compiling):
    class Key:
        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return self.n == other.n

        def __hash__(self):
            return self.n

    @functools.lru_cache
    def made(key):
        return [key.n]

    fn = compiling(lambda x, key: (x + 1, made(key) is made(Key(3)), made(Key(4)) is made(Key(4))))
    return fn(ONE, Key(3)), fn(ONE, Key(5)), made.cache_info()


@program
def answers_are_one_object(compiling):
    class Counter:
        def __init__(self):
            self.count, self.total = 0, torch.zeros(1)

    @functools.lru_cache
    def counter(n):
        return Counter()

    def body(x):
        counter(1).count += 1
        counter(1).total.add_(x)
        return x * counter(1).count, counter(1), counter(1).total

    fn = compiling(body)
    seen = [fn(ONE) for _ in range(3)]
    return seen, [found[1] is counter(1) for found in seen], counter.cache_info()


@program
def answers_of_many_kinds(compiling):
    asked = []

    @functools.lru_cache
    def found(kind):
        asked.append(kind)
        made = {"none": None, "list": [], "function": lambda y: y * 3, "module": nn.Identity(),
                "tensor": torch.full((1,), 4.0), "iterator": iter([5, 6, 7]), "class": int,
                "pair": (len, [1])}  # fmt: skip
        return made[kind]

    def body(x):
        found("list").append(x)
        scaled = found("function")(x) + found("module")(x) + found("tensor")
        size = found("pair")[0](found("list"))
        return found("none"), size, scaled, next(found("iterator")), found("class")("7")

    fn = compiling(body)
    return [fn(ONE) for _ in range(3)], asked, found.cache_info()


@program
def a_choice_of_functions(compiling):
    chosen = [len]

    @functools.lru_cache
    def choice(n):
        return chosen[0], chosen

    fn = compiling(lambda x, n: (x + 1, choice(n)[0]([4, 2]), choice(n)[1] is chosen))
    seen = [fn(ONE, 1)]
    chosen[0] = max
    return seen, fn(ONE, 1), fn(ONE, 2)


@program
def one_by_another(compiling):
    start = 1

    @functools.cache
    def fibonacci(n):
        return start if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    first = compiling(lambda x: x * fibonacci(8))
    seen = [first(ONE)]
    start = 2
    seen += [first(ONE), fibonacci(8)]
    return seen, compiling(lambda x: x * fibonacci(10))(ONE), fibonacci.cache_info()


@program
def called_by_others(compiling):
    factor = 1

    @functools.lru_cache
    def product(a, b=2):
        return a * b * factor

    double = functools.partial(product, 2)

    def body(x):
        return x * double(3), sum(map(product, [1, 2], [3, 4])), product(b=2, a=1), product(1)

    fn = compiling(body)
    seen = [fn(ONE)]
    factor = 3
    return seen, fn(ONE), product.__wrapped__(1), product.cache_info()


@program
def sizes_and_numbers_that_vary(compiling):
    @functools.lru_cache
    def doubled(n):
        return n * 2

    @functools.lru_cache
    def area(shape):
        return shape[0] * 3

    fn = compiling(lambda x, n: x * doubled(n) + area(x.shape))
    seen = [fn(torch.ones(n), k) for n, k in ((2, 2), (3, 2.5), (4, 3.5), (3, 4), (2, 2))]
    return seen, doubled.cache_info(), area.cache_info()


@program
def many_arguments(compiling):
    @functools.lru_cache
    def last(*args, **kwargs):
        return args[-1] + kwargs["k"]

    fn = compiling(lambda x: x * last(*range(12), k=3))
    return fn(ONE), fn(ONE), last.cache_info()


@program
def kept_properties(compiling):
    class Scale:
        def __init__(self):
            self.factor, self.asked = 1, 0

        @functools.cached_property
        def kept(self):
            self.asked += 1
            return self.factor

    one = Scale()
    fn = compiling(lambda x: x + one.kept)
    seen = [fn(ONE)]
    one.factor = 5
    seen.append(fn(ONE))
    del one.kept
    seen += [fn(ONE), one.asked]
    one.kept = 100
    return seen, fn(ONE), one


def outcome(program, compiling):
    """What is seen of a program, as plain data."""
    forget()
    return picture(program(compiling), {})


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs(program, backend):
    compiling = functools.partial(torch.compile, backend=backend, options=OPTIONS.get(backend))
    assert outcome(program, compiling) == outcome(program, lambda fn: fn)


def test_an_answer_that_is_there_is_captured_whole():
    """The first call leaves it to Python to make the answer; from then on there is one graph."""

    @functools.lru_cache
    def mask(n):
        return torch.ones(n)

    mask(2)
    fn = torch.compile(lambda x: x * mask(2), backend="eager", fullgraph=True)
    assert fn(TWO).tolist() == [1.0, 1.0]
    assert mask.cache_info().hits == 1


@pytest.mark.parametrize("maxsize", [None, 3])
@pytest.mark.parametrize("typed", [False, True])
def test_what_is_kept_is_seen_unasked(maxsize, typed):
    """For every form of key: what the cache answers is what is found, and nothing is counted."""

    @functools.lru_cache(maxsize=maxsize, typed=typed)
    def pair(*args, **kwargs):
        return [args, kwargs]

    calls = [((1,), {}), (("a",), {}), ((1.0,), {}), ((True,), {}), ((), {}), ((1, 2), {}),
             (((1, 2),), {}), ((1,), {"a": 1}), ((), {"a": 1, "b": 2}), ((), {"b": 2, "a": 1}),
             ((TWO,), {})]  # fmt: skip
    assert all(kept_answer(pair, *call) is ABSENT for call in calls)
    for number, (args, kwargs) in enumerate(calls):
        made = pair(*args, **kwargs)
        before = pair.cache_info()
        assert kept_answer(pair, args, kwargs) is made
        if maxsize is not None and number >= 2 * maxsize:
            assert kept_answer(pair, *calls[0]) is ABSENT
        assert pair.cache_info() == before
    pair.cache_clear()
    assert all(kept_answer(pair, *call) is ABSENT for call in calls)

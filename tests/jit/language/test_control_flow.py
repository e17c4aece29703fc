"""if, for, while, break, continue, else, match, with, assert, del: every way through a function."""
# ruff: noqa: B007, C416, E501, SIM102, PLR1714 -- odd on purpose

import contextlib
import itertools

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


class Point:
    __match_args__ = ("p", "q")

    def __init__(self, p, q):
        self.p, self.q = p, q


class Noting(contextlib.AbstractContextManager):
    """Writes down when it is entered and left, and may swallow."""

    def __init__(self, log, name, swallow=False):
        self.log, self.name, self.swallow = log, name, swallow

    def __enter__(self):
        self.log.append(("in", self.name))
        return self

    def __exit__(self, kind, value, trace):
        self.log.append(("out", self.name, kind.__name__ if kind else None))
        return self.swallow


@program
def loops_with_else(x, items):
    seen = []
    for item in items:
        if item == 9:
            break
        seen.append(item)
    else:
        seen.append("all")
    for item in items:
        if item == 1:
            break
    else:
        seen.append("never")
    while len(seen) < 6:
        seen.append(len(seen))
        if len(seen) == 7:
            break
    else:
        seen.append("filled")
    return x * len(seen), seen


@program
def nested_breaks_and_continues(x, b):
    found = []
    for i in range(4):
        for j in range(4):
            if j == i:
                continue
            if j > b - 1:
                break
            if (i + j) % 2:
                x = x + i * j
                continue
            found.append((i, j))
        else:
            found.append(i)
            continue
        found.append("broken")
    return x, found, i, j


@program
def whiles_over_shapes(x):
    steps = 0
    while x.dim() < 5:
        x = x.unsqueeze(steps)
        steps += 1
    while True:
        if x.shape[0] != 1:
            break
        x = x[0]
    return x, steps


@program
def ways_out_of_try(x, a):
    log = []

    def way(kind):
        for turn in range(3):
            try:
                log.append(("try", kind, turn))
                if kind == "return":
                    return turn
                if kind == "continue":
                    continue
                if kind == "break":
                    break
                if kind == "raise":
                    raise KeyError(turn)
            except KeyError as error:
                log.append(error.args)
            else:
                log.append("else")
            finally:
                log.append("finally")
        else:
            return "ended"
        return "broke"

    found = [way(kind) for kind in ("return", "continue", "break", "raise", "none")]
    return x + len(log), log, found


@program
def finally_that_overrules(x):
    def returns():
        try:
            return 1
        finally:
            return 2  # noqa: B012

    def swallows():
        while True:
            try:
                raise ValueError("lost")
            finally:
                break  # noqa: B012
        return "went on"

    return x * returns(), swallows()


@program
def with_blocks(x):
    log = []
    with Noting(log, "a") as a, Noting(log, "b", True):
        x = x + len(a.name)
        raise ValueError("swallowed")
    for turn in range(3):
        with Noting(log, turn):
            if turn == 1:
                break
            continue

    def left():
        with Noting(log, "c"), torch.no_grad():
            return torch.is_grad_enabled()

    log.append(left())
    with contextlib.suppress(KeyError), Noting(log, "d"):
        raise KeyError
    with contextlib.ExitStack() as stack:
        stack.enter_context(Noting(log, "e"))
        stack.callback(log.append, "called")
    return x, log


@program(raises=True)
def with_blocks_that_raise(x, items):
    with Noting(items, "a"):
        x = x + 1
        with Noting(items, "b"):
            items.append(x)
            raise IndexError("left")


@program
def matching(x, table):
    def kind(subject):
        match subject:
            case None | True:
                return "single"
            case 0 | 1.5 | "text":
                return "literal"
            case int(n) if n > 10:
                return "large", n
            case int() | float():
                return "number"
            case [] | [_]:
                return "short"
            case [first, *rest] if len(rest) > 2:
                return "long", first, rest
            case [Point(p=1, q=q), other]:
                return "point first", q, other
            case (first, second):
                return "pair", first, second
            case {"k": k, **rest}:
                return "mapping", k, rest
            case Point(0, q):
                return "on axis", q
            case Point(p, q) as point:
                return "point", p + q, point.p
            case str() as text:
                return "str", text
            case _:
                return "other", type(subject).__name__

    subjects = [
        None, True, 0, 1.5, 3, 12, 2.5, [], [1], (1, 2), [1, 2, 3, 4], [Point(1, 5), 2], table,
        Point(0, 2), Point(3, 4), "text", "word", {1}, {}, [3, 2, 1],
    ]  # fmt: skip
    return x.sum(), [kind(subject) for subject in subjects]


@program
def conditions(x, y, a, none, flag, items):
    found = []
    if x.shape == y.shape and x.dtype is torch.float32 and not none:
        found.append("like")
    if none or items and items[0] > 2:
        found.append("first")
    found.append("yes" if flag else "no" if a else "never")
    found.append(1 < a + 1 <= 2 != 3)
    found.append(a and items or none)
    if (n := len(items)) > 2 and (m := n * 2) != 5:
        found.append((n, m))
    return x * n, found, not found


# As text, because pytest rewrites the asserts of a test file.
program.text(
    """\
def assertions(x, items):
    assert x.dim() == 2
    try:
        assert not items, len(items)
    except AssertionError as error:
        items.append(error.args)
    assert x.dim() == 3, f"{x.dim()} dimensions"
""",
    {},
)
program.known["assertions"][1]["raises"] = True


@program
def deletions(x, table, items):
    value = x * 2
    del table["k"], items[0], items[-1:]
    found = [value]
    del value
    try:
        return value  # noqa: F821
    except UnboundLocalError as error:
        found.append(str(error))
    for left in range(2):
        pass
    del left
    return found, "left" in locals()


@program
def walking_iterators(x, items):
    steps = iter(items)
    first = next(steps)
    rest = [item for item in steps]
    counted = itertools.count(2, 3)
    pairs = list(zip(counted, rest, strict=False))
    taken = list(itertools.takewhile(lambda n: n < 12, counted))
    return x * first, rest, pairs, taken, next(steps, "done"), next(counted)


@program
def recursion(x):
    def powers(n):
        return [x] if n == 0 else [*powers(n - 1), powers(n - 1)[-1] * 2]

    def even(n):
        return True if n == 0 else odd(n - 1)

    def odd(n):
        return False if n == 0 else even(n - 1)

    return powers(4), even(10), odd(7)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)

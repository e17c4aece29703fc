"""Sizes that vary are numbers in every text: in containers, errors, formats, however they are asked
for. Each program is called with four sizes, of which the compiled one knows the numbers as little
as it can."""
# ruff: noqa: UP030, UP031, UP032 -- odd spellings are what is tested

import collections
import dataclasses
import math

import pytest

import minitorch2 as torch

Pair = collections.namedtuple("Pair", "a b")  # noqa: PYI024


@dataclasses.dataclass
class Data:
    a: object


class Shown:
    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"Shown({self.value})"


HOLDING = [
    lambda n: n, lambda n: -n, lambda n: n // 2, lambda n: n + 0.5, lambda n: n * 1j,
    lambda n: n > 3, lambda n: [n], lambda n: (n,), lambda n: {n}, lambda n: {n: n},
    lambda n: {"a": [n]}, lambda n: Pair(n, n), Data, Shown, lambda n: Shown([n]), slice,
    lambda n: slice(n, n + 1, -n), range, lambda n: collections.deque([n], n),
    lambda n: collections.OrderedDict(a=n), lambda n: collections.Counter({n: n}),
    lambda n: collections.defaultdict(int, {n: 1}), lambda n: frozenset([n]),
    lambda n: torch.Size([n]), ValueError, lambda n: ValueError([n]), lambda n: KeyError((n, n)),
    lambda n: [(n, [n, {"k": n}])], lambda n: {n: n}.keys(), lambda n: {n: n}.items(),
    lambda n: ExceptionGroup("of", [ValueError(n)]),
]  # fmt: skip
ASKING = [
    str, repr, ascii, lambda v: f"{v}", lambda v: f"{v!r}", lambda v: "%s" % (v,),
    lambda v: "{}".format(v), lambda v: "{!r:>20}".format(v),
]  # fmt: skip


def all_texts(x):
    n = x.shape[0]
    return x * 2, [ask(hold(n)) for hold in HOLDING for ask in ASKING]


def formats(x):
    n = x.shape[0]
    return (
        x * 2, f"{n:>{n}}", "%*d" % (n, n), "{:{}}".format(n, n + 3), str(n).zfill(n),
        "{0[0]} {1.a}".format([n], Data(n)), "a".ljust(n, "-"), ",".join(map(str, [n, n])),
        n.__repr__(), n.__str__(), n.__format__(">4"), bin(n), oct(n), hex(n), int.__repr__(n),
        "%x %o %e %g %c" % (n, n, n, n, n + 65), b"%d" % n, n.bit_length(), n.real, n.to_bytes(2),
    )  # fmt: skip


def said(run):
    """What is raised, in words and parts."""
    try:
        return run()
    except Exception as error:  # noqa: BLE001
        return type(error).__name__, str(error), repr(error), error.args


def errors(x):
    n = x.shape[0]
    failing = [
        lambda: {}[n], lambda: {}[(n, 1)], lambda: [1][n], lambda: [].pop(n), lambda: x[n],
        lambda: int("a" * n), lambda: n / 0, lambda: n % 0, lambda: "abc".index("z" * n),
        lambda: [1, 2].index(n + 5), lambda: list(range(n)).remove(n + 7), lambda: int(n, n),
        lambda: range(n, n, 0), lambda: bytes([n + 255]), lambda: math.sqrt(-n), lambda: chr(-n),
        lambda: n(), lambda: n[0], lambda: n + "a", lambda: "a" + n, lambda: len(n),
        lambda: n.nothing, lambda: Pair(n, n).nothing, lambda: (lambda a: a)(n, n),
        lambda: x + torch.ones(n + 1), lambda: x.view(n + 1), lambda: x.reshape(n, n + 5),
        lambda: x.sum(n), lambda: x.expand(n + 1), lambda: x @ torch.ones(n + 2),
        lambda: torch.zeros(-n), lambda: x.unsqueeze(n + 3), lambda: x.transpose(0, n),
        lambda: x.split([n, 1]), lambda: torch.stack([x, torch.ones(n + 1)]),
    ]  # fmt: skip
    return x * 2, [said(run) for run in failing]


def one_error_that_leaves(x):
    try:
        return x + torch.ones(x.shape[0] + 1)
    except RuntimeError as error:
        return x, error, str(error)


def one_error_that_is_passed_over(x):
    try:
        return x.view(-1, 2)
    except RuntimeError:
        return x * 2


def plain(value):
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return (type(value), str(value)) if isinstance(value, Exception) else value


@pytest.mark.parametrize("backend", ["eager", "numba"])
@pytest.mark.parametrize(
    "fn", [all_texts, formats, errors, one_error_that_leaves, one_error_that_is_passed_over]
)
def test_texts(fn, backend):
    compiled = torch.compile(fn, backend=backend, dynamic=True)
    for n in (2, 3, 5, 4):
        assert plain(compiled(torch.ones(n))) == plain(fn(torch.ones(n)))

"""What every program finds around it: classes, functions, globals, and its arguments.

In: nothing. Out: the text of a module, and the arguments of one call, made anew each time.
"""

from typing import Any

import minitorch2 as torch

TEXT = """
import collections, dataclasses, enum, functools, itertools, math, operator, typing
import minitorch2 as torch

COUNT = 3
LOG = []
TABLE = {"a": 1, "b": 2}
LIMITS = (2, 5)

class Trouble(Exception):
    def __init__(self, code=0):
        super().__init__(f"trouble {code}")
        self.code = code

class Worse(Trouble):
    pass

class Box:
    kind = "box"
    made = 0

    def __init__(self, count=0, tensor=None, items=None):
        self.count = count
        self.tensor = tensor
        self.items = [] if items is None else items
        self.name = "box"

    def add(self, n, *more, scale=1):
        self.count += n * scale + len(more)
        return self

    @property
    def double(self):
        return self.count * 2

    @double.setter
    def double(self, value):
        self.count = value // 2

    @classmethod
    def of(cls, count):
        cls.made += 1
        return cls(count)

    @staticmethod
    def twice(n):
        return n * 2

    def __len__(self):
        return len(self.items)

    def __getitem__(self, key):
        return self.items[key]

    def __setitem__(self, key, value):
        self.items[key] = value

    def __contains__(self, item):
        return item in self.items

    def __iter__(self):
        return iter(self.items)

    def __add__(self, other):
        return type(self)(self.count + (other.count if isinstance(other, Box) else other))

    def __eq__(self, other):
        return isinstance(other, Box) and self.count == other.count

    def __hash__(self):
        return hash(self.count)

    def __lt__(self, other):
        return self.count < other.count

    def __call__(self, n):
        return self.count + n

    def __enter__(self):
        LOG.append(("enter", self.count))
        return self

    def __exit__(self, kind, value, trace):
        LOG.append(("exit", kind.__name__ if kind else None))
        return kind is Worse

    def __bool__(self):
        return self.count != 0

class Crate(Box):
    kind = "crate"

    def add(self, n, *more, scale=2):
        super().add(n, *more, scale=scale)
        self.last = n
        return self

    def __getattr__(self, name):
        if name.startswith("auto"):
            return len(name)
        raise AttributeError(name)

@dataclasses.dataclass
class Point:
    p: int = 1
    q: int = 2

    def moved(self, by):
        return dataclasses.replace(self, p=self.p + by)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
        self.register_buffer("seen", torch.zeros(()))
        self.calls = 0

    def forward(self, x, scale=1):
        self.calls += 1
        self.seen += x.detach().sum()
        self.last = x.shape
        return x * self.weight * scale if self.training else x + self.weight

NET = Net()

Pair = collections.namedtuple("Pair", "left right")

def helper(n, *rest, k=2, **named):
    return n * k + len(rest) - len(named)

def fails(n):
    if n % 3 == 0:
        raise Trouble(n)
    if n % 3 == 1:
        raise Worse(n)
    return n

def counting(n):
    for i in range(n):
        got = yield i
        if got:
            yield got * 10
    return n

def changes(items, table):
    items.append(len(table))
    table["changed"] = len(items)
    return items

def wrap(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        LOG.append(fn.__name__)
        return fn(*args, **kwargs)
    return inner

@wrap
def wrapped(n):
    return n + 1
"""
CODE = compile(TEXT, "<world>", "exec")
PARAMETERS = ("x", "y", "n", "m", "items", "table", "box", "word")


def namespace() -> dict[str, Any]:
    """A new module."""
    scope: dict[str, Any] = {"__name__": "world"}
    exec(CODE, scope)
    return scope


def arguments(scope: dict[str, Any], number: int) -> tuple[Any, ...]:
    """The arguments of call `number`; some differ from one call to the next."""
    x = torch.tensor([[1.0, -2.0, 3.0], [0.0, 4.0, -1.0]])
    y = torch.tensor([[2.0, 1.0, 0.0], [-1.0, 3.0, 5.0]])
    items = [3, 1, 2]
    box = scope["Crate"](2, torch.ones(2, 3), [1, 2])
    box.child = scope["Box"](1, x, items)
    table = {"k": 1, "l": [5], "t": y}
    return x, y, (2, 2, 3)[number % 3], 5, items, table, box, "word"

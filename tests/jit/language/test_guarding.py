"""One program, called with things that differ from call to call: each call is answered afresh."""

import collections
import operator
import types

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()
X = torch.tensor([1.0, 2.0])


def calls(fn, *variants, breaks=False):
    """A program that is called with one variant after the other, then with the first again."""

    def made():
        given = iter([*(make() for make in variants), variants[0](), variants[-1]()])
        return fn, lambda: next(given), lambda: None

    made.__name__ = fn.__name__
    program(made, calls=len(variants) + 2, again=True, breaks=breaks)


class Cat:
    sound = "meow"

    def __init__(self, size=1):
        self.size = size

    def says(self):
        return self.sound


class Dog(Cat):
    def says(self):
        return "woof"


def kinds_of_sequences(x, items):
    return type(items).__name__, len(items), x + items[0], items == [1, 2], isinstance(items, list)


calls(
    kinds_of_sequences,
    lambda: (X, [1, 2]), lambda: (X, (1, 2)), lambda: (X, collections.deque([1, 2])),
    lambda: (X, range(1, 3)), lambda: (X, [1, 2, 3]), lambda: (X, torch.Size([1, 2])),
)  # fmt: skip


def kinds_of_numbers(x, n):
    return x + n, type(n).__name__, n is True, n / 2


calls(
    kinds_of_numbers,
    lambda: (X, 1), lambda: (X, True), lambda: (X, 1.0), lambda: (X, 2), lambda: (X, -0.0),
    lambda: (X, 0.0), lambda: (X, 1j),
)  # fmt: skip


def kinds_of_dicts(x, table):
    return (
        list(table),
        table == {"a": 1, "b": 2},
        type(table).__name__,
        x * len(table),
        table.get("c"),
    )


calls(
    kinds_of_dicts,
    lambda: (X, {"a": 1, "b": 2}), lambda: (X, {"b": 2, "a": 1}), lambda: (X, {"a": 1}),
    lambda: (X, collections.OrderedDict(a=1, b=2)), lambda: (X, {"a": 1, "b": 2, "c": None}),
    lambda: (X, collections.defaultdict(int, a=1, b=2)),
)  # fmt: skip


def classes_of_objects(x, pet):
    return pet.says(), pet.sound, x * pet.size, type(pet).__name__, isinstance(pet, Dog)


def _own(sound):
    pet = Cat()
    pet.sound = sound
    return pet


calls(
    classes_of_objects,
    lambda: (X, Cat()), lambda: (X, Dog()), lambda: (X, _own("purr")), lambda: (X, Cat(3)),
    lambda: (X, types.SimpleNamespace(says=lambda: "hi", sound="s", size=2)),
)  # fmt: skip


def only_the_class_differs(x, pet):
    return x + 1, pet.says()


calls(only_the_class_differs, lambda: (X, Cat()), lambda: (X, Dog()))


def own_attribute_comes_and_goes(x, pet):
    return pet.sound, x


calls(own_attribute_comes_and_goes, lambda: (X, Cat()), lambda: (X, _own("purr")))


def functions_given(x, op):
    return op(x, 3)


calls(
    functions_given,
    lambda: (X, operator.add), lambda: (X, torch.mul), lambda: (X, lambda p, q: p - q),
    lambda: (X, pow), lambda: (X, lambda p, q: p / q),
)  # fmt: skip


def classes_given(x, cls):
    return cls().says(), x, cls.__name__


calls(classes_given, lambda: (X, Cat), lambda: (X, Dog))


def same_or_not(x, p, q):
    return x + 1, p is q, p == q


_one, _two = Cat(), Cat()
_list, _other = [1], [1]
calls(
    same_or_not,
    lambda: (X, _one, _two), lambda: (X, _one, _one), lambda: (X, _list, _other),
    lambda: (X, _list, _list), lambda: (X, None, None), lambda: (X, None, 1),
)  # fmt: skip


def same_tensor_or_not(p, q):
    return p is q, p + q


calls(
    same_tensor_or_not,
    lambda: (torch.ones(2), torch.ones(2)), lambda: (_twice := torch.ones(2),) * 2,
)  # fmt: skip


def order_of_a_set(x, numbers):
    return x, list(numbers), [n + 1 for n in numbers]


calls(order_of_a_set, lambda: (X, {0, 8}), lambda: (X, {8, 0}), lambda: (X, {8, 0, 16}))


def writes_that_may_be_seen(p, q):
    p.add_(1)
    return q * 2


def _shared():
    base = torch.ones(4)
    return base[:2], base[:2]


calls(
    writes_that_may_be_seen,
    lambda: (torch.ones(2), torch.ones(2)), _shared, lambda: (_whole := torch.ones(2),) * 2,
    breaks=True,
)  # fmt: skip


def lists_that_share(x, p, q):
    p.append(1)
    return len(q), x


calls(lists_that_share, lambda: (X, [0], [0]), lambda: (X, *([[0]] * 2)))


def tensors(x):
    return x * 2 if x.dtype.is_floating_point and x.dim() == 1 else x + 1


calls(
    tensors,
    lambda: (X,), lambda: (X.double(),), lambda: (X.int(),), lambda: (torch.ones(2, 2),),
    lambda: (torch.ones(3),), lambda: (torch.ones(4)[::2],), lambda: (X.clone().requires_grad_(),),
)  # fmt: skip


def keyword_or_not(x, by=2, *, scale=3):
    return x * by + scale


calls(keyword_or_not, lambda: (X,), lambda: (X, 2), lambda: (X, 5), lambda: (X, None or 4.5))


def nested(x, config):
    return x * config["a"][0].size + len(config["b"]), config["b"][-1]


calls(
    nested,
    lambda: (X, {"a": [Cat(2)], "b": "text"}), lambda: (X, {"a": [Cat(3)], "b": "text"}),
    lambda: (X, {"a": (Cat(2),), "b": "text"}), lambda: (X, {"a": [Cat(2)], "b": [1, 2]}),
    lambda: (X, {"b": "text", "a": [Dog(2)]}),
)  # fmt: skip


def kinds_of_items(name):
    def items_of(x, items):
        return x + 1, [(type(item).__name__, str(item)) for item in items], 1 in items

    items_of.__name__ = f"items_of_a_{name}"
    return items_of


for make in (set, frozenset, list, tuple, collections.Counter, collections.deque):
    calls(
        kinds_of_items(make.__name__),
        *(lambda make=make, one=one: (X, make([one]))
          for one in (1, 1.0, True, "1", (1,), 0.0, -0.0)),
    )  # fmt: skip


def kinds_of_parts_of_keys(x, table):
    return x + 1, [(type(a).__name__, type(b).__name__) for a, b in table], table[1, 2]


calls(
    kinds_of_parts_of_keys,
    lambda: (X, {(1, 2): 3}), lambda: (X, {(1.0, 2): 3}), lambda: (X, {(1, 2): 4}),
    lambda: (X, {(True, 2.0): 3}),
)  # fmt: skip


def signs_of_zeros(x, number):
    return x + 1, str(number), number == 1


calls(
    signs_of_zeros,
    lambda: (X, complex(1, 0.0)), lambda: (X, complex(1, -0.0)), lambda: (X, 0.0),
    lambda: (X, -0.0), lambda: (X, complex(-0.0, 1)),
)  # fmt: skip


@program(again=True, calls=6)
def globals_that_change():
    scope = {"SCALE": 1, "torch": torch}
    text = "def fn(x):\n  try:\n    return x * SCALE, helper(x)\n  except NameError: return 0"
    exec(text, scope)
    states = iter([1, 1, 2, 2.5, "ab", 3])

    def given():
        scope["SCALE"] = next(states)
        if scope["SCALE"] == 2.5:
            scope["helper"] = lambda x: x + 1
        return (X,) if scope["SCALE"] != "ab" else (3,)

    return scope["fn"], given, lambda: None


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)

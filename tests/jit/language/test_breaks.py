"""What only Python can do, amid everything else: the rest is as if nothing was there."""
# ruff: noqa: E501, T201 -- odd on purpose

import collections
import contextlib
import dataclasses

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()
SEEN: list[object] = []


@dataclasses.dataclass
class Box:
    value: object
    count: int = 0

    def __enter__(self):
        self.count += 1
        return self.value

    def __exit__(self, kind, value, trace):
        self.count += 10
        return kind is KeyError


class Counting(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))
        self.register_buffer("total", torch.zeros(()))
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        self.total += x.sum()
        largest = self.total.item()
        self.seen = largest
        return x * self.weight + self.calls


@program(breaks=True)
def in_an_expression(x, items):
    return [x * 2, items[0] + int(x.max()), {"k": float(x.min()), **{"n": len(items)}}, x + 1]


@program(breaks=True)
def in_loops(x, items):
    for i, item in enumerate(items):
        x = x + item
        if x.sum() > 12:
            items.append(i)
            break
        print(i, x.sum())
    else:
        items.append("whole")
    return x, items


@program(breaks=True)
def in_nested_with_blocks(x, w):
    box = Box(w)
    with box as held, torch.no_grad():
        y = held * 2
        count = int(y.sum())
        with contextlib.suppress(ValueError):
            y = y + count
            raise ValueError(count)
    with box:
        print(torch.is_grad_enabled())
        raise KeyError(count)
    return y, box, count, y.requires_grad, (held * count).requires_grad


@program(breaks=True)
def in_try_statements(x, items):
    try:
        items.append(x.sum().item())
        raise LookupError(items[-1])
    except LookupError as error:
        items.append(str(error))
        print(error)
        try:
            items.append(1 / int(x.min() > 100))
        except ZeroDivisionError as inner:
            items.append((str(inner), inner.__context__ is error))
    finally:
        x = x * 2
        print("finally")
    return x, items


@program(breaks=True, raises=True)
def exceptions_that_leave_after_a_break(x, items):
    x = x + 1
    items.append(x.sum().item())
    raise RuntimeError(f"sum {items[-1]}")


@program(breaks=True)
def closures_across(x):
    count, log = 0, []

    def step(by):
        nonlocal count
        count += by
        log.append(int(x.sum()) + count)
        return x * count

    first = step(2)
    print(count)
    return first + step(3), count, log, step.__closure__ is not None


@program(breaks=True)
def generators_across(x, items):
    def produce():
        total = 0
        for item in items:
            got = yield x * item
            total += got or 0
        return total

    made = produce()
    found = [next(made)]
    print(len(found))
    found.append(made.send(5))
    found.append(made.send(float(found[0].sum())))
    try:
        made.send(1)
    except StopIteration as end:
        found.append(end.value)
    return found, list(zip(items, (n * 2 for n in items), strict=True))


@program(breaks=True)
def iterators_across(x, items, table):
    steps, pairs = iter(items), iter(table.items())
    counted = enumerate(zip(items, reversed(items), strict=True))
    first = next(steps), next(pairs), next(counted)
    value = x.sum().item()
    return first, value, list(steps), list(pairs), list(counted), x + next(steps, 1)


@program(breaks=True)
def objects_across(x):
    box = Box(x)
    alias = box
    box.parts = collections.deque([x, 1])
    box.count = int(x.max())
    alias.parts.append(box)
    copied = dataclasses.replace(box, count=box.count + 1)
    return box, copied, alias is box, box.parts[0] is box.value, copied.value is x


@program(breaks=True)
def views_across(x):
    view = x.t()[1:]
    view += 1
    base = x[0]
    print(base.sum())
    base.mul_(2)
    view[0, 0] = -1
    return x, view, base


@program(breaks=True)
def classes_made_across(x):
    class Local(Box):
        scale = int(x.sum())

        def scaled(self):
            return self.value * self.scale

    print(Local.scale)
    made = Local(x)
    return made.scaled(), Local.__name__, isinstance(made, Box), super(Local, made).__enter__() is x


@program(breaks=True)
def matching_across(x, table):
    match {"n": int(x.max()), **table}:
        case {"n": 4, "k": k, **rest} if float(x.min()) < 0:
            return x * k, rest
        case _:
            return x


@program(breaks=True)
def modules_with_state():
    net = Counting()
    return net, lambda: (torch.ones(3),), lambda: [net.calls, net.total, net.seen, net.weight]


@program(breaks=True)
def globals_across():
    def fn(x):
        SEEN.append(x.sum().item())
        SEEN[0] += 1
        return x * len(SEEN)

    SEEN.clear()
    return fn, lambda: (torch.ones(2),), lambda: list(SEEN)


@program(breaks=True)
def gradients_across(w):
    y = w * w
    print("squared")
    y = y * float(y.detach().max())
    y.sum().backward()
    return y, w.grad


@program(breaks=True)
def random_numbers_across(x):
    a = torch.rand(3)
    print(a.shape)
    b = torch.randn(2)
    count = int(torch.randint(2, 5, ()))
    return a, b, torch.rand(count)


@program(breaks=True, again=True)
def sizes_known_late(x):
    keep = x > 0
    picked = x[keep]
    spread = torch.zeros(int(keep.sum()), 2)
    return picked * 2, spread.shape, picked.shape[0] + spread.numel()


@program(breaks=True)
def comprehensions_across(x, items):
    doubled = [float(row.sum()) * item for row, item in zip(x, items, strict=False)]
    chosen = {item: x * item for item in items if x.sum() > item}
    return doubled, chosen


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)

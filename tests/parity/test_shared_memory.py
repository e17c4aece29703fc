"""What shares memory with what, and which writes are refused for it, judged by torch.

Each program returns what it changed; a refusal must come from both, in torch's words.
"""

import itertools
import math
import random
import re
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from minitorch2.layouts import Layout, view_strides  # noqa: E402
from tests.parity.both import alike  # noqa: E402


def number_as_index(t: Any) -> Any:
    x = t.arange(6.0).reshape(2, 3)
    x[t.tensor(1)].add_(10)
    x[t.tensor(0), 1:].mul_(3)
    x[:, t.tensor(2, dtype=t.int8)].zero_()
    return x


def number_as_index_out_of_range(t: Any) -> Any:
    return t.arange(4.0)[t.tensor(9)]


def truth_as_index(t: Any) -> Any:
    x = t.arange(4.0)
    x[t.tensor(True)] = 3
    return x


def mask_of_one(t: Any) -> Any:
    x = t.ones(2, 3)
    x[t.tensor([True])] = 1
    return x


def mask_that_would_broadcast(t: Any) -> Any:
    x = t.ones(2, 3)
    x[t.tensor([[True], [False]])] = 1
    return x


def mask_read(t: Any) -> Any:
    return t.ones(2, 3)[:, t.tensor([True, False])]


def extrema_of_a_number(t: Any) -> Any:
    x = t.tensor(3.0)
    for name in ("max", "min", "median", "mode", "cummax", "sort"):
        getattr(x, name)(0)[0].add_(1)
    return x


def times_its_column(t: Any) -> Any:
    x = t.arange(1.0, 4).reshape(1, 3)
    x *= x[..., :1]
    return x


def times_its_first(t: Any) -> Any:
    x = t.arange(1.0, 4)
    return x.mul_(x[0])


def plus_a_part(t: Any) -> Any:
    x = t.arange(1.0, 4)
    return x.add_(x[1:2])


def part_of_a_part(t: Any) -> Any:
    x = t.arange(4.0).reshape(1, 4)
    x[:1, :-1] -= x[0, :-1]
    return x


def one_element_of_any_strides(t: Any) -> Any:
    x = t.arange(4.0).as_strided((1, 1), (2, 2), 1)
    seen = x.view(x.shape[0], -1)
    seen[:] *= x
    return seen, list(seen.stride())


def itself(t: Any) -> Any:
    x = t.arange(4.0)
    return x.mul_(x), x.add_(x[:])


def stale_view(t: Any) -> Any:
    """A view of several, after a write that autograd did not see: what may still be asked."""
    base = t.ones(3, 2, requires_grad=True) * 1
    seen = base.unbind(0)[0]
    base.detach().add_(1)
    return seen.requires_grad, list(seen.shape), "Invalid" in repr(seen), seen.detach()


def stale_view_used(t: Any) -> Any:
    base = t.ones(3, 2, requires_grad=True) * 1
    seen = base.split(1)[0]
    base.add_(1)
    return seen + 1


def stale_view_of_no_grad(t: Any) -> Any:
    base = t.ones(3, 2, requires_grad=True) * 1
    with t.no_grad():
        seen = base[0]
    base.add_(1)
    return seen.requires_grad, seen * 2


def sorted_nans(t: Any) -> Any:
    found = []
    for dtype in (t.float32, t.float64, t.float16, t.bfloat16):
        x = t.tensor([1.0, math.nan, -math.inf, 3.0, math.nan, math.inf, 2.0], dtype=dtype)
        bounds = t.tensor([1.0, 2.0, 3.0], dtype=dtype)
        found += [t.sort(x, stable=True)[1], t.sort(x, descending=True, stable=True)[1]]
        found += [x.median(0)[1], x.kthvalue(3)[1], x[x == x].topk(2)[1], t.unique(x[x == x])]
        found += [t.searchsorted(bounds, x), t.bucketize(x, bounds), x[x == x].mode()[0]]
    return tuple(found)


def no_slope(t: Any) -> Any:
    x = t.tensor([0.5, 0.0, math.nan], requires_grad=True)
    found = []
    for name in ("floor", "ceil", "trunc", "round", "sign"):
        found += t.autograd.grad((getattr(t, name)(x) * math.inf).sum(), x)
    for mode in ("trunc", "floor"):
        found += t.autograd.grad(t.div(x, x, rounding_mode=mode).square().sum(), x)
    return tuple(found)


PROGRAMS = [
    stale_view,
    stale_view_used,
    stale_view_of_no_grad,
    sorted_nans,
    no_slope,
    number_as_index,
    number_as_index_out_of_range,
    truth_as_index,
    mask_of_one,
    mask_that_would_broadcast,
    mask_read,
    extrema_of_a_number,
    times_its_column,
    times_its_first,
    plus_a_part,
    part_of_a_part,
    one_element_of_any_strides,
    itself,
]


def outcome(program: Callable[[Any], Any], t: Any) -> Any:
    """Plain results, or the refusal."""
    try:
        found = program(t)
    except (RuntimeError, IndexError) as error:
        return error
    parts = found if isinstance(found, tuple) else (found,)
    return [part.tolist() if isinstance(part, t.Tensor) else part for part in parts]


def agree(here: Any, there: Any) -> bool:
    """Whether the results are equal, or both refuse and torch's first sentence is in ours."""
    if not isinstance(there, Exception):
        return not isinstance(here, Exception) and here == there
    said = str(there).split(". ")[0].split("\n")[0]
    return alike(here, there, re.sub(r"Output \d of \w+ ", "", said))  # nodes have other names


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program: Callable[[Any], Any]) -> None:
    """Equal results; or a refusal of the same kind that has torch's words in it."""
    here, there = outcome(program, minitorch2), outcome(program, torch)
    assert agree(here, there), (here, there)


def a_layout(draw: random.Random) -> Any:
    """A tensor of few elements, its dimensions turned, cut or of steps of their own."""
    sizes = [draw.choice([0, 1, 1, 2, 3, 4]) for _ in range(draw.randint(0, 4))]
    places = draw.sample(range(len(sizes)), len(sizes))
    found = torch.zeros(sizes).permute(places)
    if sizes and draw.random() < 0.4:
        at = draw.randrange(len(sizes))
        found = found[(slice(None),) * at + (slice(None, None, 2),)]
    if sizes and all(size <= 1 for size in found.shape):
        found = found.as_strided(found.shape, [draw.choice([1, 2, 3, 6]) for _ in sizes])
    return found


def a_shape(draw: random.Random, count: int) -> list[int]:
    """Sizes of so many elements, ones strewn in."""
    sizes = [0, draw.choice([1, 2, 3])] if count == 0 else []
    while count > 1:
        sizes.append(draw.choice([n for n in range(2, count + 1) if count % n == 0]))
        count //= sizes[-1]
    for _ in range(draw.randint(0, 2)):
        sizes.insert(draw.randint(0, len(sizes)), 1)
    return sizes


def test_the_strides_of_views() -> None:
    """`view_strides` gives the strides torch gives, of sizes of 1 too, and None when it refuses."""
    for seed in range(3000):
        draw = random.Random(seed)
        base = a_layout(draw)
        shape = a_shape(draw, base.numel())
        try:
            wanted = tuple(base.view(shape).stride())
        except RuntimeError:
            wanted = None
        layout = Layout(tuple(base.shape), tuple(base.stride()), 0)
        assert view_strides(layout, tuple(shape)) == wanted, (layout, shape)


def test_writes_that_read_what_they_change() -> None:
    """Every pair of slices of one small tensor: the same is refused, the rest gives the same."""
    parts = [slice(a, b) for a, b in itertools.combinations(range(5), 2)] + [slice(None, None, 2)]
    for written, read in itertools.product(parts, parts):

        def program(t: Any, written: slice = written, read: slice = read) -> Any:
            x = t.arange(1.0, 5)
            x[written].mul_(x[read])
            return x

        here, there = outcome(program, minitorch2), outcome(program, torch)
        assert agree(here, there), (written, read, here, there)


def turned(draw: random.Random, shape: list[int]) -> Any:
    """Zeros of a shape whose dimensions lie in memory in any order, some with gaps or repeated."""
    order = draw.sample(range(len(shape)), len(shape))
    back = [order.index(at) for at in range(len(shape))]
    at = draw.randrange(len(shape))
    step = draw.choice([1, 1, 2])
    sizes = [size * (step if place == at else 1) for place, size in enumerate(shape)]
    found = torch.zeros([sizes[place] for place in order]).permute(back)
    found = found[(slice(None),) * at + (slice(None, None, step),)]
    return found.narrow(at, 0, 1).expand(shape) if draw.random() < 0.2 else found


def test_the_strides_of_results() -> None:
    """Two or three operands of any layouts: the result is laid out as torch's iterator lays it."""
    for seed in range(1500):
        draw = random.Random(seed)
        shape = [draw.choice([1, 2, 3, 4]) for _ in range(draw.randint(1, 4))]
        there = [turned(draw, shape)]
        for _ in range(draw.choice([1, 1, 2])):
            sizes = [1 if draw.random() < 0.3 else size for size in shape]
            there.append(turned(draw, sizes[draw.choice([0, 0, len(sizes) - 1]) :]))
        here = []
        for each in there:
            reach = sum(
                (n - 1) * stride for n, stride in zip(each.shape, each.stride(), strict=True)
            )
            memory = minitorch2.zeros(1 + reach)
            here.append(memory.as_strided(tuple(each.shape), each.stride()))
        ours, theirs = sum(here[1:], here[0]), sum(there[1:], there[0])
        pairs = zip(ours.stride(), theirs.stride(), theirs.shape, strict=True)
        layouts = [(tuple(each.shape), each.stride()) for each in there]
        assert all(mine == wanted for mine, wanted, size in pairs if size > 1), layouts

"""numerics="eager": sums and products have eager's bits however their operands lie in memory.

Every layout of an input, every way to make a value of it and every reduction and product, beside
eager; values and gradients. Below 8,192 elements, where eager runs rows step by step.
"""

import itertools
from typing import Any

import pytest

import minitorch2 as torch
from minitorch2.artifacts import subscribe
from minitorch2.config import config

pytestmark = pytest.mark.numba

SHAPE = (6, 31, 40)
LAYOUTS = {
    "rows": (SHAPE, lambda x: x),
    "transposed": ((6, 40, 31), lambda x: x.mT),
    "first last": ((40, 6, 31), lambda x: x.permute(1, 2, 0)),
    "reversed": ((40, 31, 6), lambda x: x.permute(2, 1, 0)),
    "steps": ((6, 62, 40), lambda x: x[:, ::2]),
    "last steps": ((6, 31, 80), lambda x: x[..., ::2]),
    "narrow": ((6, 31, 50), lambda x: x[..., 3:43]),
    "narrow, transposed": ((6, 50, 31), lambda x: x[:, 3:43].mT),
    "first expanded": ((31, 40), lambda x: x.expand(6, 31, 40)),
    "middle expanded": ((6, 1, 40), lambda x: x.expand(6, 31, 40)),
    "last expanded": ((6, 31, 1), lambda x: x.expand(6, 31, 40)),
    "expanded, permuted": ((40, 1, 31), lambda x: x.expand(40, 6, 31).permute(1, 2, 0)),
}
MADE = {
    "as it is": lambda x: x,
    "pointwise": lambda x: x * 2 + 1,
    "contiguous": lambda x: (x * 3).contiguous(),
    "times one": lambda x: x * 1,
    "joined": lambda x: torch.cat([x[:2], x[2:]]),
    "a view of pointwise": lambda x: (x * 2)[:, 1:, ::2],
    "transposed pointwise": lambda x: (x * 2).transpose(0, 2),
    "reshaped": lambda x: (x * 2).reshape(6, -1).reshape(x.shape),
    "in place": lambda x: x.clone().mul_(3).add_(1),
    "written": lambda x: torch.zeros_like(x).copy_(x.contiguous()),
    "written by columns": lambda x: torch.zeros(SHAPE, dtype=x.dtype).copy_(x * 2),
    "softmax": lambda x: torch.softmax(x, 1) * 3,
    "broadcast": lambda x: x[0] * x,
    "cloned": lambda x: (x * 2).clone(),
    "like another": lambda x: torch.ones_like(x) * x + torch.full_like(x, 3),
    "picked": lambda x: (x * 2)[:, torch.tensor([3, 1, 2, 0])],
    "where": lambda x: torch.where(x > 0, x, x.exp()),
    "dropped out": lambda x: torch.nn.functional.dropout(x * 2, 0.3),
}
DIMS = (0, 1, 2, (0, 1), (0, 2), (1, 2), (2, 0), (0, 1, 2))
REDUCED: dict[str, Any] = {
    **{f"sum {dim}": lambda v, dim=dim: v.sum(dim) for dim in DIMS},
    **{f"kept mean {dim}": lambda v, dim=dim: v.mean(dim, keepdim=True) for dim in DIMS},
    **{f"var {dim}": lambda v, dim=dim: v.var(dim) for dim in DIMS},
    **{f"logsumexp {dim}": lambda v, dim=dim: v.logsumexp(dim) for dim in DIMS},
    **{f"norm {dim}": lambda v, dim=dim: torch.linalg.vector_norm(v, dim=dim) for dim in DIMS},
    **{f"prod {dim}": lambda v, dim=dim: (v * 0.1 + 1).prod(dim) for dim in (0, 1, 2)},
    **{f"cumsum {dim}": lambda v, dim=dim: v.cumsum(dim) for dim in (0, 1, 2)},
    **{f"softmax {dim}": lambda v, dim=dim: v.softmax(dim) for dim in (0, 1, 2)},
    **{f"log_softmax {dim}": lambda v, dim=dim: v.log_softmax(dim) for dim in (0, 1, 2)},
    "sum": lambda v: v.sum(),
    "sum in float64": lambda v: v.sum(dtype=torch.float64),
    "prod": lambda v: (v * 0.01 + 1).prod(),
    "var": lambda v: v.var(),
    "largest": lambda v: v.amax((0, 2)),
    "products": lambda v: v @ v.mT,
    "products of two": lambda v: (v * 2) @ (v * 2).mT,
    "with a vector": lambda v: v @ v[0, 0],
    "of a vector": lambda v: v[0, :, 0] @ v,
}
CASES = list(itertools.product(LAYOUTS, MADE))
QUICK = [case for at, case in enumerate(CASES) if at % 7 == 0]


@pytest.fixture(autouse=True)
def _quickly(monkeypatch):
    monkeypatch.setattr(config, "kernel_level", 0)  # the same bits, sooner


def _input(shape, dtype=torch.float32):
    numbers = torch.randn(shape, generator=torch.Generator().manual_seed(3)) * 2
    return numbers.to(dtype)


def _same(one, other):
    assert one.dtype is other.dtype and one.shape == other.shape
    return bool(((one == other) | (one.isnan() & other.isnan())).all())


def _different(case, dtype, wanted=REDUCED):
    """The reductions whose bits are not eager's."""
    layout, made = LAYOUTS[case[0]], MADE[case[1]]

    def function(x):
        value = made(x)
        return [reduce(value) for reduce in wanted.values()]

    x = layout[1](_input(layout[0], dtype))
    torch.manual_seed(1)
    eager = function(x)
    torch.manual_seed(1)
    found = torch.compile(function, options={"numerics": "eager"})(x)
    pairs = zip(wanted, eager, found, strict=True)
    return [name for name, one, other in pairs if not _same(one, other)]


@pytest.mark.parametrize("case", QUICK)
def test_values(case):
    assert not _different(case, torch.float32)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("case", CASES)
def test_values_in_every_dtype(case, dtype):
    """But for an expanded `x * 1`, which is `x` here: turned, its copy for BLAS lies by rows."""
    found = _different(case, dtype)
    left = ["products"] if "expanded" in case[0] and case[1] == "times one" else []
    assert [name for name in found if name not in left] == []


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sums_of_whole_numbers(layout):
    wanted = {name: REDUCED[name] for name in ("sum", "sum 1", "sum (0, 2)", "cumsum 1", "largest")}
    assert not _different((layout, "pointwise"), torch.int64, wanted)


GRADIENTS = [name for name in REDUCED if name not in ("largest",)]


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("layout", ["transposed", "reversed", "narrow, transposed", "last steps"])
def test_gradients(layout, made):
    """The gradient of an input that is laid out inside, through five reductions each."""
    shape, lay = LAYOUTS[layout]
    place = [*LAYOUTS].index(layout) + [*MADE].index(made)
    wanted = [REDUCED[name] for name in GRADIENTS[place % 9 :: 9]]

    def gradients(wrap):
        leaf = _input(shape).requires_grad_()

        def function(x):
            value = MADE[made](lay(x))
            return [reduce(value) for reduce in wanted]

        torch.manual_seed(1)
        found = wrap(function)(leaf)
        total = sum((each * _weights(each)).sum() for each in found)
        total.backward()
        return [*found, leaf.grad]

    eager = gradients(lambda function: function)
    exact = gradients(torch.compile(options={"numerics": "eager"}))
    assert all(map(_same, eager, exact))


def _weights(result):
    return torch.linspace(0.5, 1.5, result.numel(), dtype=result.dtype).reshape(result.shape)


def test_sizes_that_vary():
    def function(x, y):
        value = (x.mT * y).exp()
        return value.sum(), value.sum((0, 2)), value @ value[0, 0], value.softmax(1)

    run, events = torch.compile(function, options={"numerics": "eager"}, dynamic=True), []
    for rows, columns in ((5, 7), (31, 40), (12, 90)):
        x, y = _input((6, rows, columns)), _input((6, columns, rows))
        with subscribe(events.append):
            found = run(x, y)
        assert all(map(_same, function(x, y), found))
    assert sum(event.stage == "capture.graph" for event in events) == 1

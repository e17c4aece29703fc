"""The numerics contract, on random graphs: default, "eager" and "fast"."""

import itertools

import numpy
import pytest

import minitorch2 as torch
import minitorch2.nn.functional as functional
from minitorch2.artifacts import subscribe
from minitorch2.config import config
from minitorch2.ops.table import POINTWISE, all_ops
from tests.graphs.judging import Refused, differences
from tests.graphs.making import called, make
from tests.graphs.running import compiled, result
from tests.op_samples import samples

pytestmark = pytest.mark.numba


def cases(first, count):
    for seed in range(first, first + count):
        yield make(seed)


def test_default_numbers_stay_within_rounding():
    """Forward and backward, on every backend; see tests/graphs for what rounding is."""
    for case in cases(0, 25):
        try:
            found = differences(case, ["aot_eager", "interpreter", "budget", "numba"])
        except Refused:
            continue
        assert not found, f"python -m tests.graphs 1 --seed {case.seed}: {found}"


def test_eager_numerics_give_the_bits_of_eager():
    for case in cases(1000, 40):
        try:
            found = differences(case, ["exact"])
        except Refused:
            continue
        assert not found, f"seed {case.seed}: {found}"


def elementwise_calls():
    """A graph of one call for each sample of each elementwise row, in float32 and float64."""
    for op in all_ops():
        if op.kind != POINTWISE:
            continue
        for sample, narrow in itertools.product(samples(op), (False, True)):
            made = None if sample.fails else called(op, sample, narrow)
            if made is not None:
                yield op, made


@pytest.mark.slow
def test_eager_numerics_give_the_bits_of_every_elementwise_row(monkeypatch):
    monkeypatch.setattr(config, "kernel_level", 0)  # the same bits, sooner
    wrong, count = {}, 0
    for op, case in elementwise_calls():
        try:
            found = differences(case, ["exact"])
        except Refused:
            continue
        count += 1
        if found:
            wrong.setdefault(op.name, found)
    assert not wrong and count > 1000


def _step(x, w):
    hidden = torch.softmax(torch.tanh(x * w) * torch.rand_like(x), -1)
    return (
        hidden.sum(0),
        (hidden - hidden.mean()).pow(2).sum(),
        hidden.exp().cumsum(1),
        hidden.mT[1:],
    )


def _with_product(x, w):
    return _step(x @ w, w)


@pytest.mark.parametrize("size", [7, 300])
def test_eager_numerics_for_any_number_of_threads(size):
    x, w = torch.randn(size, size), torch.randn(size, size)
    before = torch.get_num_threads()
    for function, counts in ((_step, (before, 1, 2)), (_with_product, (before, before))):
        run = torch.compile(function, options={"numerics": "eager"})
        torch.manual_seed(1)
        eager = function(x, w)
        try:
            for threads in counts:
                torch.set_num_threads(threads)
                torch.manual_seed(1)
                for one, other in zip(eager, run(x, w), strict=True):
                    assert torch.equal(one, other)
        finally:
            torch.set_num_threads(before)


def _used_often(x, w):
    hidden = x * w
    return hidden.exp() + hidden.sin() * x - hidden / (1 + x * x) + x.tanh() * hidden


LARGE = {  # of more than 8,192 elements eager runs rows made of others as one program
    "used often": _used_often,
    "layer_norm": lambda x, w: functional.layer_norm(x * w, w.shape, w, w) + x,
    "rms_norm": lambda x, w: functional.rms_norm(x * w, w.shape, w) * w,
    "gelu": lambda x, w: functional.gelu(x * w) + functional.silu(x) * w,
    "losses": lambda x, w: functional.mse_loss(x * w, x.sin()) + functional.huber_loss(x, x * w),
    "sums": lambda x, w: (x * w).cumsum(-1) + (x * w).mean() + (x * w).sum(0),
    "dropout": lambda x, w: functional.dropout(x * w, 0.3) * x,
    "softmax": lambda x, w: torch.softmax(x * w, -1) * x,
    "softmax of columns": lambda x, w: torch.softmax(x * w, 0) * x,
    "log_softmax": lambda x, w: functional.log_softmax(x * w, 1) * x,
    "attention": lambda x, w: functional.scaled_dot_product_attention(x, x * w, x.sin()),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", LARGE)
def test_eager_numerics_give_the_bits_of_eager_s_gradients(name, dtype, monkeypatch):
    monkeypatch.setattr(config, "kernel_level", 0)  # the same bits, sooner
    generator = torch.Generator().manual_seed(3)
    numbers = [torch.randn(shape, dtype=dtype, generator=generator) for shape in ((96, 128), 128)]

    def gradients(function):
        x, w = (each.clone().requires_grad_() for each in numbers)
        torch.manual_seed(1)
        found = function(x, w)
        weights = torch.linspace(0.5, 1.5, found.numel(), dtype=dtype).reshape(found.shape)
        (found * weights).sum().backward()
        return found.detach(), x.grad, w.grad

    eager = gradients(LARGE[name])
    exact = gradients(torch.compile(LARGE[name], options={"numerics": "eager"}))
    for one, other in zip(eager, exact, strict=True):
        assert torch.equal(one, other)


def _loose(x):
    return ((x + 0.0) * 3.0 * 0.1 / 7.0 - (x - x)).sum()


def test_fast_numerics_list_what_they_did():
    x, events = torch.randn(50), []
    with subscribe(events.append):
        fast = torch.compile(_loose, options={"numerics": "fast"})(x)
    assert torch.allclose(fast, _loose(x), rtol=1e-4, atol=1e-4)
    (ledger,) = [event for event in events if event.stage == "passes.ledger"]
    changes = ledger.facts["changes"]
    assert any("mul_numbers_fast" in line for line in changes)
    assert all("test_numerics.py:" in line for line in changes)


@pytest.mark.parametrize("numerics", ["default", "eager"])
def test_nothing_is_listed_where_nothing_may_change(numerics):
    events = []
    with subscribe(events.append):
        torch.compile(_loose, options={"numerics": numerics})(torch.randn(50))
    assert not [event for event in events if event.stage == "passes.ledger"]


def test_a_level_that_is_not_there():
    with pytest.raises(
        ValueError, match=r"no such numerics: .loose.\n.*use one of default, eager, fast"
    ):
        torch.compile(_loose, options={"numerics": "loose"})


def test_results_are_the_same_on_every_run():
    case = make(77)
    run = compiled(case, "numba")
    first, second = result(case, run), result(case, run)
    for one, other in zip(first.arrays, second.arrays, strict=True):
        assert one is None or numpy.array_equal(one, other, equal_nan=one.dtype.kind == "f")

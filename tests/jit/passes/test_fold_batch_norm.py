"""A batch norm in eval mode scales the weight before it, when the numerics allow it."""

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.artifacts import subscribe
from minitorch2.jit.ir.compare import numeric_difference
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.verify import verify
from minitorch2.jit.passes.fold_batch_norm import fold_batch_norm
from minitorch2.jit.passes.notes import collected
from minitorch2.jit.passes.options import PassOptions
from tests.jit.passes.checking import check

HEAD = (
    "graph f(%x: f32[2,3,8,8], %w: f32[4,3,3,3], %s: f32[4]) { "
    "%0: f32[2,4,6,6] = convolution(%x, %w, (1, 1), (0, 0), (1, 1), 1) "
)
SCALED = HEAD + "%1: f32[1,4,1,1] = view(%s, (1, 4, 1, 1)) %2: f32[2,4,6,6] = mul(%0, %1) "
FAST = PassOptions("fast")


def test_the_weight_is_scaled():
    before = parse_graph(SCALED + "return %2: strides(144,36,6,1) }")
    expected = parse_graph(
        HEAD
        + "%1: f32[1,4,1,1] = view(%s, (1, 4, 1, 1)) %2: f32[4,1,1,1] = view(%s, (4, 1, 1, 1)) "
        "%3: f32[4,3,3,3] = mul(%w, %2) "
        "%4: f32[2,4,6,6] = convolution(%x, %3, (1, 1), (0, 0), (1, 1), 1) "
        "return %4: strides(144,36,6,1) }"
    )
    found = fold_batch_norm(before, FAST)
    assert str(found) == str(expected)
    verify(found)
    inputs = [torch.randn(2, 3, 8, 8), torch.randn(4, 3, 3, 3), torch.randn(4)]
    assert numeric_difference(before, found, inputs, 1e-4, 1e-4) is None
    assert str(fold_batch_norm(found, FAST)) == str(found)


@pytest.mark.parametrize("numerics", ["default", "eager"])
def test_other_numerics_leave_it_and_say_why(numerics):
    text = SCALED + "return %2: strides(144,36,6,1) }"
    with collected() as notes:
        check(fold_batch_norm, text, text, PassOptions(numerics))
    assert "it takes numerics='fast'" in str(notes[0])


def test_a_result_that_is_read_elsewhere_stays():
    text = SCALED + "return %2: strides(144,36,6,1), %0: strides(144,36,6,1) }"
    with collected() as notes:
        check(fold_batch_norm, text, text, FAST)
    assert "read elsewhere" in str(notes[0])


def test_a_factor_along_another_dimension_stays():
    text = (
        "graph f(%x: f32[2,3,6,6], %w: f32[4,3,3,3], %s: f32[4]) { "
        "%0: f32[2,4,4,4] = convolution(%x, %w, (1, 1), (0, 0), (1, 1), 1) "
        "%1: f32[1,1,4,1] = view(%s, (1, 1, 4, 1)) %2: f32[2,4,4,4] = mul(%0, %1) "
        "return %2: strides(64,16,4,1) }"
    )
    check(fold_batch_norm, text, text, FAST)


def test_a_model_in_eval_mode():
    net = nn.Sequential(nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU()).eval()
    net[1].running_mean.normal_()
    net[1].running_var.uniform_(0.5, 2.0)
    x, events = torch.randn(2, 3, 8, 8), []
    with torch.no_grad(), subscribe(events.append):
        found = torch.compile(net, backend="interpreter", options={"numerics": "fast"})(x)
        assert torch.allclose(found, net(x), rtol=1e-4, atol=1e-5)
    ledger = next(event for event in events if event.stage == "passes.ledger")
    assert "the scale of the channels" in ledger.text

"""torch judges modules: from the same state dict, the same outputs and the same gradients.

A case is the text of a module, so that both libraries build it from the same words, and the shapes
of its inputs; ("index", n, shape) is class indices below n, ("share", shape) numbers in (0, 1).
"""

import inspect

import numpy
import pytest
import torch

import minitorch2
from minitorch2 import nn as our_nn
from tests.parity.shared import as_array

CASES = [
    ("nn.Linear(4, 3)", [(5, 4)]),
    ("nn.Linear(4, 3, bias=False)", [(2, 5, 4)]),
    ("nn.Embedding(7, 3)", [("index", 7, (2, 4))]),
    ("nn.Embedding(7, 3, padding_idx=2)", [("index", 7, (20,))]),
    ("nn.LayerNorm(6)", [(4, 6)]),
    ("nn.LayerNorm((3, 4), eps=0.1, bias=False)", [(2, 3, 4)]),
    ("nn.RMSNorm(6)", [(4, 6)]),
    ("nn.RMSNorm((3, 4), eps=0.1, elementwise_affine=False)", [(2, 3, 4)]),
    ("nn.ReLU()", [(4, 5)]),
    ("nn.ReLU6()", [(4, 5)]),
    ("nn.SiLU()", [(4, 5)]),
    ("nn.GELU()", [(4, 5)]),
    ("nn.GELU('tanh')", [(4, 5)]),
    ("nn.LeakyReLU(0.2)", [(4, 5)]),
    ("nn.ELU(0.7)", [(4, 5)]),
    ("nn.Sigmoid()", [(4, 5)]),
    ("nn.Tanh()", [(4, 5)]),
    ("nn.LogSigmoid()", [(4, 5)]),
    ("nn.Softplus(2.0, 1.0)", [(4, 5)]),
    ("nn.Hardtanh(-0.5, 0.8)", [(4, 5)]),
    ("nn.Softmax(dim=1)", [(4, 5)]),
    ("nn.LogSoftmax(dim=-1)", [(2, 4, 5)]),
    ("nn.Flatten()", [(2, 3, 4)]),
    ("nn.Unflatten(1, (2, 3))", [(4, 6)]),
    ("nn.Identity()", [(2, 3)]),
    ("nn.Dropout(0.5).eval()", [(2, 3)]),
    ("nn.MSELoss()", [(4, 5), (4, 5)]),
    ("nn.L1Loss(reduction='sum')", [(4, 5), (4, 5)]),
    ("nn.SmoothL1Loss(beta=0.5)", [(4, 5), (4, 5)]),
    ("nn.CrossEntropyLoss()", [(6, 5), ("index", 5, (6,))]),
    ("nn.CrossEntropyLoss(label_smoothing=0.1, ignore_index=2)", [(6, 5), ("index", 5, (6,))]),
    ("nn.CrossEntropyLoss(reduction='none')", [(2, 5, 3), ("index", 5, (2, 3))]),
    ("nn.CrossEntropyLoss(weight=tensor([1.0, 2.0, 0.5]))", [(6, 3), ("index", 3, (6,))]),
    ("nn.NLLLoss()", [(6, 5), ("index", 5, (6,))]),
    ("nn.BCEWithLogitsLoss(pos_weight=tensor([2.0]))", [(4, 1), ("share", (4, 1))]),
    ("nn.BCELoss()", [("share", (4, 3)), ("share", (4, 3))]),
    ("nn.Bilinear(3, 4, 2)", [(5, 3), (5, 4)]),
    ("nn.Mish()", [(4, 5)]),
    ("nn.SELU()", [(4, 5)]),
    ("nn.CELU(0.5)", [(4, 5)]),
    ("nn.PReLU(3)", [(2, 3, 4)]),
    ("nn.Hardswish()", [(4, 5)]),
    ("nn.Hardsigmoid()", [(4, 5)]),
    ("nn.GLU(1)", [(4, 6)]),
    ("nn.Threshold(0.1, 2.0)", [(4, 5)]),
    ("nn.KLDivLoss(reduction='batchmean')", [(4, 5), ("share", (4, 5))]),
    ("nn.HuberLoss(delta=0.5)", [(4, 5), (4, 5)]),
    ("nn.CosineSimilarity()", [(4, 5), (4, 5)]),
    ("nn.TripletMarginLoss()", [(4, 5), (4, 5), (4, 5)]),
    ("nn.BatchNorm1d(5)", [(4, 5)]),
    ("nn.BatchNorm2d(3, momentum=None)", [(4, 3, 5, 5)]),
    ("nn.BatchNorm2d(3).eval()", [(4, 3, 5, 5)]),
    ("nn.BatchNorm3d(2, affine=False, track_running_stats=False)", [(3, 2, 3, 3, 3)]),
    ("nn.GroupNorm(2, 6)", [(3, 6, 4)]),
    ("nn.InstanceNorm2d(3, affine=True, track_running_stats=True)", [(2, 3, 5, 5)]),
    ("nn.Conv1d(4, 6, 3, padding=1, groups=2, bias=False)", [(2, 4, 7)]),
    ("nn.Conv2d(3, 5, (3, 2), stride=2, padding='valid')", [(2, 3, 8, 8)]),
    ("nn.Conv2d(3, 5, 3, padding=1, padding_mode='reflect')", [(2, 3, 6, 6)]),
    ("nn.ConvTranspose2d(3, 5, 3, stride=2, padding=1, output_padding=1)", [(2, 3, 4, 4)]),
    ("nn.MaxPool2d(2)", [(2, 3, 6, 6)]),
    ("nn.MaxPool2d(3, 2, 1, ceil_mode=True)", [(2, 3, 6, 6)]),
    ("nn.AvgPool2d(2)", [(2, 3, 6, 6)]),
    ("nn.AdaptiveAvgPool2d((1, 1))", [(2, 3, 6, 6)]),
    ("nn.ReflectionPad2d(2)", [(2, 3, 6, 6)]),
    ("nn.ConstantPad2d((1, 0, 2, 1), 3.5)", [(2, 3, 6, 6)]),
    ("nn.Upsample(scale_factor=2, mode='bilinear')", [(2, 3, 4, 4)]),
    ("nn.PixelShuffle(2)", [(2, 8, 3, 3)]),
    ("nn.PixelUnshuffle(2)", [(2, 2, 4, 6)]),
    ("nn.ChannelShuffle(2)", [(2, 6, 3)]),
    ("nn.Softshrink(0.3)", [(4, 5)]),
    ("nn.Hardshrink()", [(4, 5)]),
    ("nn.RReLU().eval()", [(4, 5)]),
    ("nn.Softmax2d()", [(2, 3, 4, 4)]),
    ("nn.InstanceNorm3d(2)", [(2, 2, 3, 3, 3)]),
    ("nn.LocalResponseNorm(3, 0.5)", [(2, 6, 4)]),
    ("nn.AdaptiveAvgPool3d(2)", [(2, 2, 5, 4, 4)]),
    ("nn.ZeroPad1d(2)", [(2, 2, 5)]),
    ("nn.ConstantPad3d(1, 2.0)", [(1, 2, 3, 3, 3)]),
    ("nn.ReflectionPad1d(2)", [(2, 2, 5)]),
    ("nn.ReplicationPad1d((1, 2))", [(2, 2, 5)]),
    ("nn.CircularPad2d(1)", [(2, 2, 4, 5)]),
    ("nn.UpsamplingNearest2d(scale_factor=2)", [(1, 2, 3, 4)]),
    ("nn.UpsamplingBilinear2d(size=(5, 6))", [(1, 2, 3, 4)]),
    ("nn.Unfold((2, 3), dilation=(1, 2), padding=1, stride=2)", [(2, 3, 6, 7)]),
    ("nn.Fold((5, 6), (2, 3), padding=1, stride=2)", [(2, 12, 9)]),
    ("nn.MultiMarginLoss(p=2, margin=0.5)", [(4, 5), ("index", 5, (4,))]),
    ("nn.MultiLabelMarginLoss()", [(4, 5), ("index", 5, (4, 5))]),
    ("nn.MultiLabelSoftMarginLoss()", [(4, 5), ("share", (4, 5))]),
    ("nn.HingeEmbeddingLoss(0.7)", [(4, 5), ("index", 1, (4, 5))]),
    ("nn.PoissonNLLLoss()", [(4, 5), ("share", (4, 5))]),
    ("nn.GaussianNLLLoss(full=True)", [(4, 5), (4, 5), ("share", (4, 5))]),
    ("nn.Conv3d(2, 4, 2, dilation=2, groups=2)", [(1, 2, 4, 5, 4)]),
    ("nn.ConvTranspose1d(4, 2, 3, stride=2, groups=2)", [(2, 4, 5)]),
    ("nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False)", [(2, 3, 6, 6)]),
    ("nn.MaxPool1d(3, 2)", [(2, 3, 9)]),
    ("nn.AdaptiveMaxPool2d((2, 3))", [(2, 3, 5, 7)]),
    ("nn.BatchNorm1d(5, eps=0.1)", [(4, 5, 3)]),
    ("nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 2))", [(3, 4)]),
]


def build(text, library):
    return eval(text, {"nn": library.nn, "tensor": library.tensor})


def inputs(specs):
    rng = numpy.random.default_rng(0)
    for spec in specs:
        if spec[0] == "index":
            yield rng.integers(0, spec[1], spec[2])
        elif spec[0] == "share":
            yield rng.uniform(0.1, 0.9, spec[1]).astype("float32")
        else:
            yield rng.standard_normal(spec).astype("float32")


def outcome(library, text, specs, state):
    """Output, and gradients of inputs and parameters."""
    module = build(text, library)
    module.load_state_dict({name: library.tensor(value) for name, value in state.items()})
    tensors = [library.tensor(value) for value in inputs(specs)]
    for tensor in tensors[:1]:
        if tensor.dtype.is_floating_point:
            tensor.requires_grad_()
    result = module(*tensors)
    if result.requires_grad:
        weights = numpy.random.default_rng(1).standard_normal(tuple(result.shape))
        (result * library.tensor(weights.astype("float32"))).sum().backward()
    leaves = [*tensors[:1], *module.parameters()]
    return [as_array(result)] + [as_array(leaf.grad) for leaf in leaves]


@pytest.mark.parametrize(("text", "specs"), CASES, ids=[text for text, _ in CASES])
def test_same_state_same_results(text, specs):
    rng = numpy.random.default_rng(2)
    state = {
        name: rng.standard_normal(tuple(value.shape)).astype("float32")
        if value.dtype.is_floating_point and "weight" not in text
        else as_array(value)
        for name, value in build(text, torch).state_dict().items()
    }
    assert list(build(text, minitorch2).state_dict()) == list(state)
    pairs = zip(
        outcome(minitorch2, text, specs, state), outcome(torch, text, specs, state), strict=True
    )
    for found, expected in pairs:
        assert (found is None) == (expected is None)
        if found is None:
            continue
        numpy.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("text", [text for text, _ in CASES])
def test_same_printed_form(text):
    assert repr(build(text, minitorch2)) == repr(build(text, torch))


MODULES = [
    name
    for name, value in vars(our_nn).items()
    if isinstance(value, type) and issubclass(value, our_nn.Module)
]


def test_every_module_has_torchs_name():
    assert [name for name in MODULES if not hasattr(torch.nn, name)] == []


def test_initial_values_have_torchs_distribution():
    for library in (minitorch2, torch):
        library.manual_seed(0)
    for text in ("nn.Linear(30, 3000)", "nn.Embedding(300, 200)", "nn.LayerNorm(50)"):
        found, expected = build(text, minitorch2), build(text, torch)
        for mine, judge in zip(found.parameters(), expected.parameters(), strict=True):
            a, b = as_array(mine), as_array(judge)
            assert a.mean() == pytest.approx(b.mean(), abs=0.03)
            assert a.std() == pytest.approx(b.std(), rel=0.1)


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("masks", [{}, {"causal": True}, {"padding": True}])
def test_multihead_attention(batch_first, masks):
    rng = numpy.random.default_rng(0)
    text = f"nn.MultiheadAttention(8, 2, batch_first={batch_first})"
    state = {name: as_array(v) for name, v in build(text, torch).state_dict().items()}
    arrays = [rng.standard_normal((3, 3, 8)).astype("float32") for _ in range(3)]
    results = []
    for library in (minitorch2, torch):
        module = build(text, library)
        module.load_state_dict({name: library.tensor(value) for name, value in state.items()})
        given = {}
        if "causal" in masks:
            given["attn_mask"] = library.ones(3, 3, dtype=library.bool).triu(1)
        if "padding" in masks:
            given["key_padding_mask"] = library.tensor([[False, False, True]] * 3)
        results.append([as_array(x) for x in module(*map(library.tensor, arrays), **given)])
    for found, expected in zip(*results, strict=True):
        numpy.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_signatures():
    """Constructors take torch's arguments, in its order, with its defaults."""
    different = []
    for name in MODULES:
        ours, judge = (
            [
                (p.name, getattr(p.default, "__name__", p.default), p.kind)
                for p in inspect.signature(cls).parameters.values()
            ]
            for cls in (getattr(our_nn, name), getattr(torch.nn, name))
        )
        if ours != judge:
            different.append(f"{name}: {ours} torch {judge}")
    assert not different, "\n".join(different)

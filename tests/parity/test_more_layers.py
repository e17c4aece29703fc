"""Layers and functions beyond the common ones: the same programs in torch and here."""

from typing import Any

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402


def numbers(t: Any, *shape: int, seed: int = 0) -> Any:
    made = numpy.random.default_rng(seed).standard_normal(shape)
    return t.from_numpy(made).requires_grad_()


def with_gradients(outputs: Any, *inputs: Any) -> list[Any]:
    """Outputs, and the gradients of a weighted sum of the differentiable ones."""
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    total: Any = 0
    for at, each in enumerate(outputs):
        if each.requires_grad:
            total = total + (each * each * (at + 1)).sum() + each.sum()
    total.backward()
    return [*outputs, *(each.grad for each in inputs)]


GRID_CASES = [
    (mode, padding, corners)
    for mode in ("bilinear", "nearest", "bicubic")
    for padding in ("zeros", "border", "reflection")
    for corners in (False, True)
]


def grid_2d(t: Any, mode: str, padding: str, corners: bool) -> Any:
    image, grid = numbers(t, 2, 3, 4, 5), numbers(t, 2, 3, 6, 2, seed=1)
    found = t.nn.functional.grid_sample(image, grid, mode, padding, corners)
    return with_gradients(found, image, grid)


@pytest.mark.parametrize("case", GRID_CASES, ids=lambda case: "-".join(map(str, case)))
def test_grid_sample(case):
    same(grid_2d, *case)


def grid_3d(t: Any, mode: str, padding: str) -> Any:
    volume, grid = numbers(t, 2, 2, 3, 4, 5), numbers(t, 2, 3, 2, 2, 3, seed=1)
    found = t.nn.functional.grid_sample(volume, grid, mode, padding, align_corners=False)
    return with_gradients(found, volume, grid)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_grid_sample_of_volumes(mode, padding):
    same(grid_3d, mode, padding)


def affine(t: Any) -> Any:
    flat, deep = numbers(t, 2, 2, 3), numbers(t, 2, 3, 4)
    function, found = t.nn.functional.affine_grid, []
    for corners in (False, True):
        found.append(function(flat, (2, 1, 3, 4), align_corners=corners))
        found.append(function(deep, (2, 1, 3, 4, 2), align_corners=corners))
    return with_gradients(found, flat, deep)


def resampled(t: Any) -> Any:
    image, f, found = numbers(t, 2, 2, 5, 7), t.nn.functional.interpolate, []
    for settings in (
        {"size": (3, 9), "mode": "bicubic"},
        {"size": (3, 9), "mode": "bicubic", "align_corners": True},
        {"scale_factor": 1.7, "mode": "bicubic", "align_corners": False},
        {"size": (2, 3), "mode": "area"},
        {"size": (3, 10), "mode": "bilinear", "antialias": True},
        {"size": (2, 3), "mode": "bicubic", "antialias": True},
        {"size": (2, 3), "mode": "bilinear", "antialias": True, "align_corners": True},
        {"scale_factor": (0.5, 2.0), "mode": "bilinear", "recompute_scale_factor": True},
    ):
        found.append(f(image, **settings))
    return with_gradients(found, image)


def labelled(t: Any, reduction: str, zero_infinity: bool) -> Any:
    scores, found = numbers(t, 6, 4, 5), []
    log_probs = scores.log_softmax(2)
    targets = t.tensor([[1, 2, 2, 3], [3, 3, 0, 0], [4, 1, 2, 3], [0, 0, 0, 0]])
    inputs, lengths = t.tensor([6, 5, 3, 4]), t.tensor([4, 2, 4, 0])
    loss = t.nn.functional.ctc_loss
    settings = {"reduction": reduction, "zero_infinity": zero_infinity}
    found.append(loss(log_probs, targets, inputs, lengths, **settings))
    if zero_infinity:
        flat = t.tensor([1, 2, 2, 3, 3, 3, 4, 1, 2, 3])
        found.append(loss(log_probs, flat, (6, 5, 3, 4), (4, 2, 4, 0), **settings))
        layer = t.nn.CTCLoss(blank=4, zero_infinity=True)
        found.append(
            layer(log_probs, t.tensor([[1, 2], [3, 3], [0, 1], [2, 2]]), (6, 5, 3, 4), (2,) * 4)
        )
        return with_gradients(found, scores)
    return found


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_ctc_loss(reduction, zero_infinity):
    same(labelled, reduction, zero_infinity)


def bags(t: Any) -> Any:
    weight, scales = numbers(t, 6, 3), numbers(t, 7, seed=2)
    index, offsets = t.tensor([0, 2, 2, 5, 1, 0, 3]), t.tensor([0, 3, 3, 5])
    f, found = t.nn.functional.embedding_bag, []
    for mode in ("sum", "mean", "max"):
        found.append(f(index, weight, offsets, mode=mode))
        found.append(f(index[:6].reshape(2, 3), weight, mode=mode))
        found.append(f(index, weight, offsets, mode=mode, padding_idx=2))
    found.append(f(index, weight, offsets, mode="sum", per_sample_weights=scales))
    found.append(f(index, weight, t.tensor([0, 3, 7]), mode="sum", include_last_offset=True))
    # embedding_bag(scale_grad_by_freq=True) is left out: torch divides by counts of other rows.
    found.append(t.nn.functional.embedding(index, weight, scale_grad_by_freq=True))
    return with_gradients(found, weight, scales)


def shortened(t: Any) -> Any:
    weight = numbers(t, 5, 4).detach()
    found = t.nn.functional.embedding(t.tensor([0, 3, 3]), weight, max_norm=1.0)
    layer = t.nn.EmbeddingBag.from_pretrained(weight, mode="sum", max_norm=0.5)
    return found, layer(t.tensor([[0, 1], [2, 4]])), weight


def pooled(t: Any) -> Any:
    line, image, volume = numbers(t, 2, 3, 9), numbers(t, 2, 3, 7, 8), numbers(t, 1, 2, 4, 5, 6)
    nn, found = t.nn, []
    found.append(nn.LPPool1d(2, 3, stride=2, ceil_mode=True)(line.abs() + 0.1))
    found.append(nn.LPPool2d(3, (2, 3))(image.abs() + 0.1))
    found.append(nn.LPPool3d(2, 2)(volume.abs() + 0.1))
    for layer, x in (
        (nn.AdaptiveMaxPool1d(4, return_indices=True), line),
        (nn.AdaptiveMaxPool2d((3, None), return_indices=True), image),
        (nn.AdaptiveMaxPool3d((2, 3, 4), return_indices=True), volume),
    ):
        found += layer(x)
    for pool, unpool, x in (
        (nn.MaxPool1d(2, 2, return_indices=True), nn.MaxUnpool1d(2, 2), line),
        (nn.MaxPool2d(3, 2, 1, return_indices=True), nn.MaxUnpool2d(3, 2, 1), image),
        (nn.MaxPool3d(2, return_indices=True), nn.MaxUnpool3d(2), volume),
    ):
        values, places = pool(x)
        found += [values, places, unpool(values, places, output_size=x.shape)]
    samples = t.tensor(numpy.random.default_rng(3).random((2, 3, 2)))
    pool2 = nn.FractionalMaxPool2d(2, (3, 5), return_indices=True, _random_samples=samples)
    deep = t.tensor(numpy.random.default_rng(3).random((1, 2, 3)))
    pool3 = nn.FractionalMaxPool3d((2, 1, 2), output_ratio=0.5, _random_samples=deep)
    found += [*pool2(image), pool3(volume)]
    return with_gradients(found, line, image, volume)


def framed(t: Any) -> Any:
    volume, nn = numbers(t, 1, 2, 3, 4, 5), t.nn
    layers = [nn.ReflectionPad3d(1), nn.ReplicationPad3d((1, 2, 0, 1, 2, 1)), nn.CircularPad3d(2)]
    return with_gradients([layer(volume) for layer in layers], volume)


def pairs(t: Any) -> Any:
    points, other, third = (numbers(t, 5, 3, seed=seed) for seed in range(3))
    triple = t.nn.TripletMarginWithDistanceLoss(
        distance_function=lambda a, b: (a - b).abs().sum(-1), swap=True, margin=0.7
    )
    found = [t.nn.functional.pdist(points), t.nn.functional.pdist(points, 1.0)]
    return with_gradients([*found, triple(points, other, third)], points, other, third)


def clustered(t: Any) -> Any:
    layer = t.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 7], div_value=2.0, head_bias=True)
    with t.no_grad():
        for at, each in enumerate(layer.parameters()):
            made = numpy.random.default_rng(at).standard_normal(tuple(each.shape))
            each.copy_(t.from_numpy(made))
    x = t.tensor(numpy.random.default_rng(9).standard_normal((4, 8)), dtype=t.float32)
    x.requires_grad_()
    output, loss = layer(x, t.tensor([0, 5, 11, 2]))
    one = layer(x[0], t.tensor(4))
    found = [output, loss, layer.log_prob(x), *one]
    return [*with_gradients(found, x, *layer.parameters()), layer.predict(x)]


PROGRAMS = [affine, resampled, bags, shortened, pooled, framed, pairs, clustered]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs(program):
    same(program)


def same(program: Any, *settings: Any) -> None:
    ours, theirs = program(minitorch2, *settings), program(torch, *settings)
    assert len(ours) == len(theirs)
    for at, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert str(a.dtype) == str(b.dtype), at
        numpy.testing.assert_allclose(
            a.detach().numpy(), b.detach().numpy(), rtol=2e-5, atol=2e-6, err_msg=f"result {at}"
        )


LAZY = {
    "LazyLinear": ((3,), (2, 5)),
    "LazyConv1d": ((4, 3), (2, 5, 7)),
    "LazyConv2d": ((4, (3, 2), 2, 1), (2, 6, 7, 8)),
    "LazyConv3d": ((4, 2), (1, 2, 4, 5, 6)),
    "LazyConvTranspose1d": ((4, 3), (2, 5, 7)),
    "LazyConvTranspose2d": ((4, 3, 2, 1, 1), (2, 5, 4, 4)),
    "LazyConvTranspose3d": ((4, 2), (1, 2, 3, 3, 3)),
    "LazyBatchNorm1d": ((), (4, 5)),
    "LazyBatchNorm2d": ((), (2, 5, 3, 3)),
    "LazyBatchNorm3d": ((), (2, 3, 2, 2, 2)),
    "LazyInstanceNorm1d": ((1e-5, 0.1, True, True), (2, 3, 5)),
    "LazyInstanceNorm2d": ((), (2, 3, 4, 4)),
    "LazyInstanceNorm3d": ((), (2, 3, 2, 2, 2)),
}


@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")
@pytest.mark.parametrize("name", LAZY)
def test_lazy_layers(name):
    arguments, shape = LAZY[name]
    texts = []
    for library in (minitorch2, torch):
        layer = getattr(library.nn, name)(*arguments)
        loaded = getattr(library.nn, name)(*arguments)
        assert layer.has_uninitialized_params()
        before = type(layer).__name__
        result = layer(library.ones(*shape))
        loaded.load_state_dict(layer.state_dict())
        texts.append((before, repr(layer), type(layer).__name__, tuple(result.shape)))
        shapes = [(key, tuple(value.shape)) for key, value in loaded.state_dict().items()]
        texts[-1] += (shapes, [key for key, _ in layer.named_parameters()])
    assert texts[0] == texts[1]


@pytest.mark.parametrize("name", ["AlphaDropout", "FeatureAlphaDropout"])
def test_alpha_dropout_keeps_mean_and_variance(name):
    minitorch2.manual_seed(0)
    layer = getattr(minitorch2.nn, name)(0.3)
    x = minitorch2.randn(400, 500) if name == "AlphaDropout" else minitorch2.randn(400, 500, 2)
    found = layer(x)
    assert abs(found.mean().item()) < 0.02
    assert abs(found.std().item() - 1) < 0.02
    assert layer.eval()(x) is x


@pytest.mark.parametrize(
    "program",
    [
        lambda t: t.nn.functional.grid_sample(
            t.ones(1, 1, 2, 2), t.ones(1, 2, 2, 3), align_corners=True
        ),
        lambda t: t.nn.functional.grid_sample(
            t.ones(1, 1, 2, 2), t.ones(2, 2, 2, 2), align_corners=True
        ),
        lambda t: t.nn.functional.embedding_bag(t.tensor([1]), t.ones(2, 2)),
        lambda t: t.nn.functional.interpolate(t.ones(1, 1, 4), 2, mode="bicubic"),
        lambda t: t.nn.FractionalMaxPool2d(2),
        lambda t: t.nn.AdaptiveLogSoftmaxWithLoss(4, 6, [5, 2]),
        lambda t: t.nn.TripletMarginWithDistanceLoss(margin=0),
        lambda t: t.nn.MaxUnpool1d(2)(t.ones(1, 1, 2), t.zeros(1, 1, 2).long(), (9,)),
    ],
)
def test_both_refuse(program):
    with pytest.raises((ValueError, RuntimeError, NotImplementedError)):
        program(torch)
    with pytest.raises((ValueError, RuntimeError, NotImplementedError)):
        program(minitorch2)

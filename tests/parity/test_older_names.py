"""Names that torch keeps for older programs, and calls at their edges: both libraries, the same."""

import copy
import pickle
import warnings
from typing import Any

import numpy
import pytest
import torch

import minitorch2

LIBRARIES = (minitorch2, torch)


def numbers(t: Any, *shape: int, seed: int = 0) -> Any:
    made = numpy.random.default_rng(seed).standard_normal(shape)
    return t.from_numpy(made).requires_grad_()


def told(call: Any, t: Any) -> Any:
    """Outputs and gradients as lists, or the refusal's class as torch has it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found, *inputs = call(t, t.nn.functional)
        except (RuntimeError, ValueError) as refusal:
            return ValueError if isinstance(refusal, ValueError) else RuntimeError
        if found.requires_grad:
            (found * found + found).sum().backward()
    rest = [each.grad.tolist() for each in inputs if each.grad is not None]
    return tuple(found.shape), found.tolist(), rest


def same(call: Any) -> None:
    ours, theirs = (told(call, t) for t in LIBRARIES)
    if isinstance(theirs, type):
        assert isinstance(ours, type), f"torch raises {theirs}, here {ours}"
        return
    assert not isinstance(ours, type), theirs
    assert ours[0] == theirs[0]
    for mine, other in zip([ours[1], *ours[2]], [theirs[1], *theirs[2]], strict=True):
        numpy.testing.assert_allclose(mine, other, rtol=1e-10, atol=1e-12)


def with_inputs(function: Any, *inputs: Any) -> tuple:
    return (function(*inputs), *inputs)


SIZES = [(0, 4, 5, 5), (2, 0, 5, 5), (2, 4, 0, 5), (2, 4, 5, 0), (0, 5, 5), (4, 0, 5), (4, 5, 5)]


@pytest.mark.parametrize("padding", [0, 2])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_unfold_of_nothing(size, padding):
    same(lambda t, F: with_inputs(lambda x: F.unfold(x, 3, padding=padding), numbers(t, *size)))


@pytest.mark.parametrize("size", [(0, 36, 9), (36, 0), (0, 9), (2, 36, 0), (2, 0, 9)], ids=str)
def test_fold_of_nothing(size):
    same(lambda t, F: with_inputs(lambda x: F.fold(x, (5, 5), 3), numbers(t, *size)))


@pytest.mark.parametrize("size", [(0, 4, 3, 3), (0, 4), (2, 4, 0), (0, 4, 0), (2, 0, 3)], ids=str)
def test_group_norm_of_nothing(size):
    same(lambda t, F: with_inputs(lambda x: F.group_norm(x, 2), numbers(t, *size)))


@pytest.mark.parametrize("stride", [(), [], None, 1, (2, 2, 2, 2)], ids=str)
@pytest.mark.parametrize("kind", ["avg", "max"])
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_strides_of_pooling(dims, kind, stride):
    def call(t, F):
        pool = getattr(F, f"{kind}_pool{dims}d")
        return with_inputs(lambda x: pool(x, 2, stride), numbers(t, 1, 2, *[4, 5, 6][:dims]))

    same(call)


@pytest.mark.parametrize("weight", [(), (1,), (2,), (3,), (0,), (1, 3)], ids=str)
@pytest.mark.parametrize("size", [(), (1,), (3,), (2, 3), (2, 3, 4), (0, 3)], ids=str)
def test_prelu(size, weight):
    same(lambda t, F: with_inputs(F.prelu, numbers(t, *size), numbers(t, *weight, seed=1)))


@pytest.mark.parametrize("extra", [0, 1, 3, 5])
@pytest.mark.parametrize("dilation", [1, 2, 4, 6])
@pytest.mark.parametrize("padding", [0, 1, 9])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("dims", [1, 2])
def test_transposed_convolutions(dims, stride, padding, dilation, extra):
    """Output padding may be as large as the stride where the dilation is larger still."""

    def call(t, F):
        inputs = (
            numbers(t, 2, 2, *[6, 5][:dims]),
            numbers(t, 2, 3, *[3, 2][:dims], seed=1),
            numbers(t, 3, seed=2),
        )
        function = getattr(F, f"conv_transpose{dims}d")
        return with_inputs(
            lambda *given: function(*given, stride, padding, extra, 1, dilation), *inputs
        )

    same(call)


PADS = [(-1, 0), (-1, 2), (2, -1), (-1, -1), (-3, 0), (-5, 0), (-6, 0), (7, 0), (-1, 4), (4, -1)]


@pytest.mark.parametrize("mode", ["circular", "reflect", "replicate"])
@pytest.mark.parametrize("amounts", [*PADS, (-2, 3), (-3, -3), (1, 1)], ids=str)
def test_pads_that_cut(amounts, mode):
    same(lambda t, F: with_inputs(lambda x: F.pad(x, amounts, mode), numbers(t, 1, 2, 5)))


@pytest.mark.parametrize("amounts", [(-1, 2, 0, -1), (1, 1, -1, 2), (-1,) * 4, (2, -2, -1, 1)])
def test_pads_of_images_that_cut(amounts):
    same(lambda t, F: with_inputs(lambda x: F.pad(x, amounts, "circular"), numbers(t, 1, 2, 3, 4)))


@pytest.mark.parametrize("groups", [2, 4, 3, 0, -2])
@pytest.mark.parametrize("size", [(4,), (1, 4), (1, 4, 3), (0, 4, 2), (2, 4, 2, 3)], ids=str)
@pytest.mark.parametrize("name", ["channel_shuffle", "native_channel_shuffle"])
def test_channel_shuffle(name, size, groups):
    for place in ("", "nn.functional"):
        same(
            lambda t, F, place=place: with_inputs(
                lambda x: getattr(F if place else t, name)(x, groups), numbers(t, *size).detach()
            )
        )


@pytest.mark.parametrize("size", [(2, 3), (0,), (5, 5, 5)], ids=str)
def test_normalize_writes_into_what_is_given(size):
    def call(t, F):
        target = t.empty(*size, dtype=t.float64)
        found = F.normalize(numbers(t, 2, 3).detach(), 1.5, dim=0, out=target)
        assert found is target
        return (target,)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the target's new size
        same(call)
    same(lambda t, F: (F.normalize(numbers(t, 2, 3), out=t.empty(2, 3, dtype=t.float64)),))


@pytest.mark.parametrize("channels", [1, 2, 6, 9])
@pytest.mark.parametrize("size", [2, 3, 4, 5, 7])
def test_cross_map_lrn(size, channels):
    """The values are torch's; its backward is no derivative of them, ours is."""
    shape = (2, channels, 3, 2)
    same(lambda t, F: (t.nn.CrossMapLRN2d(size, 0.1, 0.75, 2.0)(numbers(t, *shape).detach()),))
    layer = minitorch2.nn.CrossMapLRN2d(size, 0.1, 0.75, 2.0)
    assert minitorch2.autograd.gradcheck(layer, numbers(minitorch2, *shape))


def test_cross_map_lrn_says_what_it_is():
    same(lambda t, F: (t.nn.CrossMapLRN2d(3)(numbers(t, 6, 3, 2)),))
    shown = [(repr(t.nn.CrossMapLRN2d(3)), repr(t.nn.CrossMapLRN2d(3, k=2.0))) for t in LIBRARIES]
    assert shown[0] == shown[1]


def test_container():
    for t in LIBRARIES:
        with pytest.warns(FutureWarning, match="nn.Container"):
            made = t.nn.Container(a=t.nn.Linear(1, 1), b=t.nn.ReLU())
        assert [name for name, _ in made.named_children()] == ["a", "b"]


def test_stateless_functional_call():
    found = []
    for t in LIBRARIES:
        net = t.nn.Linear(2, 1)
        values = {"weight": t.ones(1, 2), "bias": t.ones(1)}
        with pytest.warns(FutureWarning, match="torch.func.functional_call"):
            found.append(t.nn.utils.stateless.functional_call(net, values, (t.ones(2),)).tolist())
        assert net.weight is not values["weight"]
    assert found[0] == found[1] == [3.0]


def test_weights_in_another_order():
    found = []
    for t in LIBRARIES:
        shapes = []
        for dims, order in ((2, t.channels_last), (3, t.channels_last_3d)):
            kinds = (f"Conv{dims}d", f"ConvTranspose{dims}d", f"BatchNorm{dims}d")
            layers = [
                getattr(t.nn, kind)(*[2, 3, 2][: 1 if "Batch" in kind else 3]) for kind in kinds
            ]
            net = t.nn.Sequential(t.nn.Sequential(*layers), t.nn.Linear(2, 3), layers[0])
            before = {key: value.clone() for key, value in net.state_dict().items()}
            convert = getattr(t.nn.utils, f"convert_conv{dims}d_weight_memory_format")
            assert convert(net, order) is net
            for key, value in net.state_dict().items():
                assert (value == before[key]).all()
                shapes.append((key, value.stride()))
        found.append(shapes)
    assert found[0] == found[1]


@pytest.mark.parametrize("recurse", [True, False])
def test_to_empty(recurse):
    found = []
    for t in LIBRARIES:
        with t.device("meta"):
            net = t.nn.Sequential(t.nn.Linear(2, 2))
            net.register_buffer("own", t.ones(2))
        assert net.to_empty(device="cpu", recurse=recurse) is net
        found.append([(key, str(each.device)) for key, each in net.state_dict().items()])
    assert found[0] == found[1]


@pytest.mark.parametrize("extras", [{}, {"add_bias_kv": True, "add_zero_attn": True}], ids=str)
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("given", [True, False])
def test_the_hint_that_a_mask_is_causal(given, padded, need_weights, extras):
    """Without weights and padding torch trusts the hint; else the mask counts."""
    rng = numpy.random.default_rng(0)
    found = []
    layers = [t.nn.MultiheadAttention(4, 2, dtype=t.float64, **extras) for t in LIBRARIES]
    values = {key: rng.standard_normal(tuple(v.shape)) for key, v in layers[0].state_dict().items()}
    inputs = rng.standard_normal((3, 2, 4))
    for t, layer in zip(LIBRARIES, layers, strict=True):
        layer.load_state_dict({key: t.from_numpy(value) for key, value in values.items()})
        x = t.from_numpy(inputs)
        mask = t.zeros(3, 3, dtype=t.float64)
        mask[0, 2] = -1.0
        masks = {"attn_mask": mask if given else None}
        if padded:
            masks["key_padding_mask"] = t.tensor([[False, False, True], [False] * 3])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # torch: two kinds of masks
                result, weights = layer(x, x, x, is_causal=True, need_weights=need_weights, **masks)
        except RuntimeError:
            found.append(None)
            continue
        found.append([each.tolist() for each in (result, weights) if each is not None])
    assert (found[0] is None) == (found[1] is None) == (not given)
    for mine, other in zip(found[0] or (), found[1] or (), strict=True):
        numpy.testing.assert_allclose(mine, other, rtol=1e-10, atol=1e-12)


class Counting(minitorch2.nn.Module):
    """Doubles, and counts how often Python runs it."""

    def __init__(self):
        super().__init__()
        self.layer, self.runs = minitorch2.nn.Linear(2, 2), 0

    def forward(self, x):
        if not minitorch2.compiler.is_compiling():
            self.runs += 1
        return self.layer(x) * 2


def test_a_module_compiles_its_own_calls():
    """The module stays what it is; hooks run; copies and pickles are not compiled."""
    net = Counting()
    x = minitorch2.ones(3, 2)
    expected = net(x).tolist()
    assert net.runs == 1
    assert net.compile(backend="aot_eager", fullgraph=True) is None
    assert type(net) is Counting
    assert net(x).tolist() == expected
    assert net.runs == 1
    copied = copy.deepcopy(net)
    copied(x)
    assert copied.runs == 2
    again = pickle.loads(pickle.dumps(net.layer))
    assert again(x).tolist() == net.layer(x).tolist()
    net.register_forward_hook(lambda module, args, result: result + 1)
    assert net(x).tolist() == (minitorch2.tensor(expected) + 1).tolist()
    outer = minitorch2.compile(lambda y: net(y) - 1, backend="aot_eager", fullgraph=True)
    minitorch2.testing.assert_close(outer(x), minitorch2.tensor(expected))
    assert sorted(net.state_dict()) == ["layer.bias", "layer.weight"]

"""torch judges nn.functional: values and gradients of the functions that are made of rows.

A case is the text of a call in which `x(shape)` is a fresh tensor that requires a gradient,
`u(shape)` one of numbers in (0, 1), `sign(shape)` one of 1 and -1, `mask(shape)` of truth values.
"""

import inspect

import numpy
import pytest
import torch

import minitorch2
from tests.parity.shared import as_array

CASES = """
selu(x(4, 5))
celu(x(4, 5), 0.7)
mish(x(4, 5) * 10)
hardswish(x(4, 5) * 4)
hardsigmoid(x(4, 5) * 4)
softsign(x(4, 5))
tanhshrink(x(4, 5))
softshrink(x(4, 5), 0.3)
hardshrink(x(4, 5), 0.3)
threshold(x(4, 5), 0.1, 7.0)
prelu(x(2, 3, 4), x(3))
prelu(x(2, 3, 4), x(1))
glu(x(4, 6), 1)
softmin(x(4, 5), 1)
normalize(x(4, 5), dim=0)
bilinear(x(4, 3), x(4, 2), x(5, 3, 2), x(5))
kl_div(x(4, 5), u(4, 5), reduction='batchmean')
kl_div(x(4, 5), x(4, 5), reduction='sum', log_target=True)
huber_loss(x(4, 5), x(4, 5), delta=0.7)
soft_margin_loss(x(4, 5), sign(4, 5))
hinge_embedding_loss(x(4, 5), sign(4, 5))
margin_ranking_loss(x(4), x(4), sign(4), 0.2)
gaussian_nll_loss(x(4, 5), x(4, 5), u(4, 5), full=True)
poisson_nll_loss(x(4, 5), u(4, 5) * 9, full=True)
poisson_nll_loss(u(4, 5), u(4, 5) * 9, log_input=False)
cosine_similarity(x(4, 5), x(4, 5), 0)
pairwise_distance(x(4, 5), x(4, 5))
cosine_embedding_loss(x(4, 5), x(4, 5), sign(4), 0.1)
triplet_margin_loss(x(4, 5), x(4, 5), x(4, 5), swap=True)
scaled_dot_product_attention(x(2, 3, 4, 8), x(2, 3, 5, 8), x(2, 3, 5, 6))
scaled_dot_product_attention(x(2, 3, 4, 8), x(2, 3, 4, 8), x(2, 3, 4, 8), is_causal=True)
scaled_dot_product_attention(x(2, 4, 8), x(2, 5, 8), x(2, 5, 8), mask(4, 5), scale=0.3)
scaled_dot_product_attention(x(2, 4, 8), x(2, 5, 8), x(2, 5, 8), x(4, 5))
scaled_dot_product_attention(x(2, 4, 3, 8), x(2, 2, 5, 8), x(2, 2, 5, 8), enable_gqa=True)
batch_norm(x(6, 3), None, None, x(3), x(3), training=True)
batch_norm(x(2, 3, 4, 5), None, None, training=True, eps=0.1)
batch_norm(x(2, 3, 4), x(3).detach(), u(3).detach(), x(3), x(3))
group_norm(x(2, 6, 4), 3, x(6), x(6))
instance_norm(x(2, 3, 4, 5), weight=x(3), bias=x(3))
pad(x(2, 3), (1, 2))
pad(x(2, 3, 4), (1, -1, -1, 2), value=3.0)
pad(x(2, 3, 4), (2, 1), 'reflect')
pad(x(2, 3, 4, 5), (2, 1, 1, 0), 'replicate')
pad(x(2, 3, 4), (2, 1), 'circular')
conv1d(x(2, 3, 8), x(4, 3, 3), x(4))
conv1d(x(3, 8), x(4, 3, 3), padding='same', dilation=2)
conv1d(x(2, 4, 9), x(6, 2, 4), stride=2, padding=1, groups=2)
conv2d(x(2, 3, 6, 7), x(4, 3, 3, 2), x(4), padding=1)
conv2d(x(2, 4, 9, 9), x(4, 1, 3, 3), stride=(2, 3), padding=(1, 0), groups=4)
conv2d(x(2, 3, 8, 8), x(5, 3, 3, 3), dilation=2, padding=2)
conv3d(x(1, 2, 4, 5, 6), x(3, 2, 2, 3, 2), x(3))
conv_transpose1d(x(2, 3, 5), x(3, 4, 3), x(4), stride=2, padding=1, output_padding=1)
conv_transpose2d(x(2, 4, 4, 5), x(4, 3, 3, 2), stride=(2, 1), groups=2, dilation=2)
conv_transpose2d(x(2, 3, 5, 5), x(3, 2, 2, 2), padding=2)
max_pool1d(x(2, 3, 7), 2)
max_pool2d(x(2, 3, 7, 8), 3, 2, 1)
max_pool2d(x(2, 3, 7, 8), (2, 3), ceil_mode=True)
max_pool3d(x(1, 2, 4, 4, 4), 2)
avg_pool1d(x(2, 3, 7), 3, 2)
avg_pool2d(x(2, 3, 7, 8), 3, 2, 1)
avg_pool2d(x(2, 3, 7, 8), 3, 2, 1, count_include_pad=False)
avg_pool2d(x(2, 3, 7, 8), 3, 2, 1, ceil_mode=True)
avg_pool3d(x(1, 2, 4, 4, 4), 2, divisor_override=3)
adaptive_avg_pool1d(x(2, 3, 7), 3)
adaptive_avg_pool2d(x(2, 3, 8, 6), (4, None))
adaptive_avg_pool2d(x(2, 3, 7, 5), 1)
adaptive_max_pool2d(x(2, 3, 7, 5), (3, 2))
interpolate(x(2, 3, 4), size=7)
interpolate(x(2, 3, 4, 5), scale_factor=2)
interpolate(x(2, 3, 4, 5), scale_factor=1.6, mode='nearest-exact')
interpolate(x(2, 3, 4), size=9, mode='linear')
interpolate(x(2, 3, 4, 5), scale_factor=1.7, mode='bilinear')
interpolate(x(2, 3, 4, 5), size=(7, 3), mode='bilinear', align_corners=True)
pixel_shuffle(x(2, 8, 3, 2), 2)
pixel_unshuffle(x(2, 2, 4, 6), 2)
""".strip().splitlines()


class Maker:
    """Makes the tensors of a case in one library and keeps them for their gradients."""

    def __init__(self, library):
        self.library, self.rng, self.leaves = library, numpy.random.default_rng(0), []

    def tensor(self, values, requires_grad=False):
        made = self.library.tensor(values)
        if requires_grad:
            made.requires_grad_()
            self.leaves.append(made)
        return made

    def x(self, *shape):
        return self.tensor(self.rng.standard_normal(shape), True)

    def u(self, *shape):
        return self.tensor(self.rng.uniform(0.1, 0.9, shape), True)

    def sign(self, *shape):
        return self.tensor(self.rng.choice([-1.0, 1.0], shape))

    def mask(self, *shape):
        return self.tensor(self.rng.uniform(0, 1, shape) < 0.6)


def outcome(library, text):
    maker = Maker(library)
    names = {name: getattr(maker, name) for name in ("x", "u", "sign", "mask")}
    result = eval(f"F.{text}", {"F": library.nn.functional, **names})
    weights = numpy.random.default_rng(1).standard_normal(tuple(result.shape))
    (result * library.tensor(numpy.asarray(weights))).sum().backward()
    return [as_array(result)] + [as_array(leaf.grad) for leaf in maker.leaves]


@pytest.mark.parametrize("text", CASES)
def test_values_and_gradients(text):
    pairs = zip(outcome(minitorch2, text), outcome(torch, text), strict=True)
    for found, expected in pairs:
        if expected is None:
            assert found is None or not found.any()
        else:
            # Some of torch's functions hold constants in single precision.
            numpy.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("shape", [(6, 3), (4, 3, 5, 5)])
def test_second_derivatives_of_batch_norm(shape):
    """Its gradient leaves out what is zero; the gradient of its gradient must not."""
    found = []
    for library in (minitorch2, torch):
        maker = Maker(library)
        leaves = [maker.x(*shape), maker.x(3), maker.x(3)]
        result = library.nn.functional.batch_norm(leaves[0], None, None, *leaves[1:], True)
        first = library.autograd.grad((result**3).sum(), leaves, create_graph=True)
        second = library.autograd.grad(sum((each**2).sum() for each in first), leaves)
        found.append([as_array(each.detach()) for each in (*first, *second)])
    for ours, theirs in zip(*found, strict=True):
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-7)


def test_running_statistics():
    for name in ("batch_norm", "instance_norm"):
        found = []
        for library in (minitorch2, torch):
            maker = Maker(library)
            mean, variance = maker.x(3).detach(), maker.u(3).detach()
            function = getattr(library.nn.functional, name)
            keyword = {"training": True} if name == "batch_norm" else {}
            function(maker.x(4, 3, 5), mean, variance, momentum=0.3, **keyword)
            found.append([as_array(mean), as_array(variance)])
        numpy.testing.assert_allclose(*found, rtol=1e-12)


def test_signatures():
    """Parameters have torch's names, order and defaults, where torch shows them."""
    functional, judge = minitorch2.nn.functional, torch.nn.functional
    different = []
    for name, function in vars(functional).items():
        theirs = getattr(judge, name, None)
        if name.startswith("_") or not inspect.isfunction(function) or theirs is None:
            continue
        try:
            expected = inspect.signature(theirs)
        except ValueError:
            continue
        if "kwargs" in expected.parameters or "kwargs" in inspect.signature(function).parameters:
            continue
        shown = [
            [(p.name, p.default) for p in s.parameters.values() if p.name != "out"]
            for s in (inspect.signature(function), expected)
        ]
        if shown[0] != shown[1]:
            different.append(f"{name}: {shown[0]} torch {shown[1]}")
    assert not different, "\n".join(different)

"""Layers and losses: what they refuse, as torch does, and their hard cases."""

from typing import Any

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.nn import functional as F

ANY: list[Any] = [1j]
scores, classes = torch.randn(2, 3), torch.tensor([0, 2])


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: F.batch_norm(torch.ones(2, 3), None, None, training=True, eps=0.0), ValueError,
         "eps must be positive"),
        (lambda: F.binary_cross_entropy(torch.tensor([1.5]), torch.ones(1)), RuntimeError,
         "all elements of input should be between 0 and 1"),
        (lambda: nn.GroupNorm(3, 10), ValueError, r"\(10\) must be divisible by num_groups \(3\)"),
        (lambda: nn.HuberLoss("mean", *ANY), TypeError, "delta must be a float or int"),
        (lambda: F.multi_margin_loss(torch.ones(5, 10), torch.zeros(3, dtype=torch.int64)),
         RuntimeError, r"target size \[5\], but got \[3\]"),
        (lambda: F.max_pool2d(torch.ones(3, 4), 2), RuntimeError, "non-empty 3D or 4D"),
        (lambda: F.cross_entropy(scores, torch.ones(2, 3, dtype=torch.int64)), RuntimeError,
         "floating point type for target with class probabilities"),
        (lambda: F.cross_entropy(scores, torch.ones(2)), RuntimeError, "dtype to be Long or Byte"),
        (lambda: F.cross_entropy(scores, torch.tensor([0, 1, 2])), ValueError,
         r"Expected input batch_size \(2\) to match target batch_size \(3\)"),
        (lambda: F.cross_entropy(scores, classes, torch.ones(4)), RuntimeError,
         "either for all 3 classes or no classes"),
        (lambda: F.cross_entropy(scores, torch.ones(2, 3), ignore_index=1), RuntimeError,
         "not supported for floating point target"),
    ],
)  # fmt: skip
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_statistics_stay_where_a_batch_is_empty():
    layer = nn.BatchNorm2d(3)
    assert layer(torch.ones(0, 3, 2, 2)).shape == (0, 3, 2, 2)
    assert layer.running_mean.tolist() == [0.0] * 3 and layer.running_var.tolist() == [1.0] * 3


def test_regions_of_one_image_come_from_the_first_numbers():
    x, numbers = torch.randn(2, 4, 5, 6), torch.rand(3, 2, 3)
    one = F.fractional_max_pool3d(x, 2, (2, 3, 4), _random_samples=numbers)
    many = F.fractional_max_pool3d(x[None], 2, (2, 3, 4), _random_samples=numbers[:1])
    assert torch.equal(one, many[0])


@pytest.mark.parametrize("name", ["elu", "celu", "selu", "leaky_relu", "hardtanh", "relu"])
def test_activations_that_write(name):
    x = torch.randn(5)
    expected = getattr(F, name)(x)
    assert getattr(F, f"{name}_")(x) is x and torch.equal(x, expected)


def test_a_linear_layer_and_its_loss_in_one():
    loss = nn.LinearCrossEntropyLoss(4, 3, bias=True, label_smoothing=0.1)
    x, target = torch.randn(5, 4), torch.tensor([0, 1, 2, 0, 1])
    expected = F.cross_entropy(loss.linear(x), target, label_smoothing=0.1)
    assert torch.allclose(loss(x, target), expected)
    loss = nn.LinearCrossEntropyLoss(4, 3, out_features=(2,))
    target = torch.tensor([[0, 1]] * 5)
    expected = F.cross_entropy(loss.linear(x).reshape(5, 3, 2), target)
    assert torch.allclose(loss(x, target), expected)


def test_pooling_with_the_places_of_its_maxima():
    x = torch.randn(1, 2, 6, 6)
    values, places = F.max_pool2d_with_indices(x, 2)
    assert torch.equal(x.flatten(2).gather(2, places.flatten(2)), values.flatten(2))


def test_dropout_keeps_one_byte_for_each_element():
    kept = []
    x = torch.rand(1000, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        y = F.dropout(x, 0.3)
    assert [tensor.dtype for tensor in kept] == [torch.bool]
    y.sum().backward()
    assert torch.allclose(x.grad, (y != 0) / 0.7)

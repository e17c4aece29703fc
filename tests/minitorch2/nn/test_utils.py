"""Clipping gradients; parameters as one vector."""

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.nn import utils


def parameters():
    made = [nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(1)), nn.Parameter(torch.ones(1))]
    made[0].grad = torch.tensor([3.0, 0.0])
    made[1].grad = torch.tensor([4.0])
    return made


def test_clip_by_norm():
    made = parameters()
    assert utils.clip_grad_norm_(made, 1.0).item() == 5
    assert made[0].grad.tolist() == pytest.approx([0.6, 0.0])
    assert utils.clip_grad_norm_(made, 10.0).item() == pytest.approx(1)
    assert made[1].grad.tolist() == pytest.approx([0.8])
    assert utils.clip_grad_norm_(parameters(), 1.0, norm_type=float("inf")).item() == 4


def test_clip_says_when_the_norm_is_not_finite():
    made = parameters()
    made[0].grad[0] = float("nan")
    with pytest.raises(RuntimeError, match="non-finite"):
        utils.clip_grad_norm_(made, 1.0, error_if_nonfinite=True)


def test_clip_by_value():
    made = parameters()
    utils.clip_grad_value_(made, 3.5)
    assert made[1].grad.tolist() == [3.5]


def test_vectors():
    made = parameters()
    vector = utils.parameters_to_vector(made)
    assert vector.tolist() == [0.0, 0.0, 0.0, 1.0]
    utils.vector_to_parameters(vector + 1, made)
    assert made[0].tolist() == [1.0, 1.0] and made[2].tolist() == [2.0]

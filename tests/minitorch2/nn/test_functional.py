"""nn.functional: torch's argument order, its warnings and its errors."""

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.nn import functional as F


def test_in_place_forms_write_into_the_input():
    x = torch.tensor([-1.0, 2.0])
    assert F.relu(x, inplace=True) is x
    assert x.tolist() == [0.0, 2.0]
    assert F.leaky_relu(torch.tensor([-1.0]), 0.5, inplace=True).tolist() == [-0.5]


def test_softmax_without_a_dimension_warns():
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        found = F.softmax(torch.zeros(2, 4))
    assert found.tolist() == [[0.25] * 4] * 2


def test_broadcasting_in_a_loss_warns():
    with pytest.warns(UserWarning, match="different to the input size"):
        F.mse_loss(torch.zeros(3, 1), torch.zeros(3))


def test_the_old_reduction_arguments():
    x, y = torch.tensor([1.0, 3.0]), torch.zeros(2)
    with pytest.warns(UserWarning, match="use reduction='sum' instead"):
        assert F.mse_loss(x, y, size_average=False).item() == 10
    with pytest.warns(UserWarning, match="use reduction='none' instead"):
        assert F.mse_loss(x, y, reduce=False).tolist() == [1.0, 9.0]
    assert nn.L1Loss(reduction="none")(x, y).tolist() == [1.0, 3.0]


def test_dropout():
    torch.manual_seed(0)
    x = torch.ones(1000)
    dropped = F.dropout(x, 0.25)
    assert sorted(set(dropped.tolist())) == [0.0, pytest.approx(4 / 3)]
    assert (dropped == 0).sum().item() == pytest.approx(250, abs=50)
    assert F.dropout(x, 0.25, training=False) is x
    with pytest.raises(ValueError, match="between 0 and 1"):
        nn.Dropout(1.5)


def test_channel_dropout_drops_whole_channels():
    torch.manual_seed(0)
    dropped = F.dropout2d(torch.ones(8, 8, 3, 3), 0.5).sum((2, 3))
    assert set(dropped.reshape(-1).tolist()) == {0.0, 18.0}


def test_embedding_checks_its_indices():
    table = nn.Embedding(3, 2)
    assert table(torch.tensor([[0, 2]])).shape == (1, 2, 2)
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        table(torch.tensor([3]))


def test_sparse_embeddings_have_sparse_gradients():
    table = nn.Embedding(3, 2, sparse=True)
    table(torch.tensor([0, 0])).sum().backward()
    assert table.weight.grad.is_sparse and table.weight.grad._nnz() == 2
    assert table.weight.grad.to_dense().tolist() == [[2.0, 2.0], [0.0, 0.0], [0.0, 0.0]]


def test_a_linear_layer_of_the_wrong_width_says_what_it_expects():
    with pytest.raises(RuntimeError, match="the layer expects 3"):
        nn.Linear(3, 2)(torch.ones(4, 5))

"""Functions that are no rows: comparisons, extrema, grids, einsum."""

import numpy
import pytest

import minitorch2 as torch


def test_extrema():
    x = torch.tensor([[1.0, 5.0], [7.0, 2.0]])
    assert torch.max(x).item() == 7
    values, indices = torch.max(x, 1)
    assert values.tolist() == [5, 7] and indices.tolist() == [1, 0]
    assert torch.min(x, torch.zeros(2, 2)).tolist() == [[0, 0], [0, 0]]
    assert torch.topk(x[0], 1).indices.tolist() == [1]


def test_comparisons():
    a = torch.tensor([1.0, float("nan"), float("inf")])
    assert torch.isclose(a, a).tolist() == [True, False, True]
    assert torch.allclose(a, a, equal_nan=True)
    assert torch.equal(torch.ones(2), torch.ones(2))
    assert not torch.equal(torch.ones(2), torch.ones(1, 2))


def test_grids():
    rows, columns = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
    assert rows.tolist() == [[0, 0, 0], [1, 1, 1]]
    across, down = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="xy")
    assert across.tolist() == [[0, 1]] * 3 and down.tolist() == [[0, 0], [1, 1], [2, 2]]


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("bij,bjk->bik", [(5, 2, 3), (5, 3, 4)]),
        ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
        ("ij->ji", [(2, 3)]),
        ("ij->", [(2, 3)]),
        ("ii->i", [(3, 3)]),
        ("ii", [(3, 3)]),
        ("i,j->ij", [(2,), (3,)]),
        ("i,i", [(3,), (3,)]),
        ("ij,j,ki->k", [(2, 3), (3,), (4, 2)]),
        ("...ij,...jk->...ik", [(5, 2, 3), (3, 4)]),
        ("ij,kj", [(2, 3), (4, 3)]),
        ("ijk,ijk->ik", [(2, 3, 4), (2, 3, 4)]),
    ],
)
def test_einsum_agrees_with_numpy(equation, shapes):
    rng = numpy.random.default_rng(0)
    arrays = [rng.standard_normal(shape) for shape in shapes]
    found = torch.einsum(equation, *[torch.tensor(array) for array in arrays])
    numpy.testing.assert_allclose(found.numpy(), numpy.einsum(equation, *arrays), rtol=1e-12)


def test_einsum_names_its_mistakes():
    with pytest.raises(RuntimeError, match="fewer operands were provided"):
        torch.einsum("ij,jk->ik", torch.ones(2, 2))
    with pytest.raises(RuntimeError, match="does not match the number of dimensions"):
        torch.einsum("ijk->i", torch.ones(2, 2))


def test_limits():
    assert torch.finfo(torch.float32).eps == 2**-23
    assert torch.iinfo(torch.int16).max == 32767


def test_typed_constructors():
    assert torch.LongTensor([1, 2]).dtype is torch.int64
    assert torch.FloatTensor(2, 3).shape == (2, 3)

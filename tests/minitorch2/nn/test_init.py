"""Initial values: fans, variances, bounds."""

import math

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.nn import init


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


def test_fans_count_the_kernel():
    assert init._calculate_fan_in_and_fan_out(torch.empty(4, 3, 5, 5)) == (75, 100)
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        init.xavier_uniform_(torch.empty(3))


@pytest.mark.parametrize(
    ("fill", "std"),
    [
        (lambda w: init.uniform_(w, -1, 1), 1 / math.sqrt(3)),
        (lambda w: init.normal_(w, 0, 0.02), 0.02),
        (init.xavier_uniform_, math.sqrt(2 / 700)),
        (init.xavier_normal_, math.sqrt(2 / 700)),
        (lambda w: init.kaiming_uniform_(w, nonlinearity="relu"), math.sqrt(2 / 400)),
        (lambda w: init.kaiming_normal_(w, mode="fan_out"), math.sqrt(2 / 300)),
        (lambda w: init.trunc_normal_(w, std=2.0, a=-4, b=4), 2 * 0.8796),
    ],
)
def test_standard_deviations(fill, std):
    weight = fill(torch.empty(300, 400))
    assert weight.std().item() == pytest.approx(std, rel=0.02)
    assert abs(weight.mean().item()) < 0.02 * std


def test_truncation_holds():
    weight = init.trunc_normal_(torch.empty(10000), a=-0.5, b=1.0)
    assert weight.min().item() >= -0.5 and weight.max().item() <= 1.0


@pytest.mark.parametrize("name", ["uniform_", "normal_", "trunc_normal_", "zeros_", "orthogonal_"])
def test_meta_tensors_are_left_as_they_are(name):
    weight = torch.empty(3, 4, device="meta")
    assert getattr(init, name)(weight) is weight and weight.is_meta


def test_orthogonal():
    for shape in ((5, 8), (8, 5)):
        weight = init.orthogonal_(torch.empty(*shape), gain=2)
        product = weight @ weight.t() if shape[0] < shape[1] else weight.t() @ weight
        assert torch.allclose(product, 4 * torch.eye(5), atol=1e-5)


def test_constants():
    assert init.eye_(torch.empty(2, 3)).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    assert init.dirac_(torch.empty(2, 2, 3))[1, 1].tolist() == [0.0, 1.0, 0.0]
    assert (init.sparse_(torch.empty(10, 4), 0.3) == 0).sum(0).tolist() == [3, 3, 3, 3]


def test_gains():
    assert init.calculate_gain("leaky_relu", 1.0) == 1.0
    with pytest.raises(ValueError, match="Unsupported nonlinearity"):
        init.calculate_gain("relux")


def test_layers_start_in_torchs_bounds():
    layer = nn.Linear(100, 200)
    for part in (layer.weight, layer.bias):
        assert part.abs().max().item() <= 0.1
        assert part.std().item() == pytest.approx(0.1 / math.sqrt(3), rel=0.1)
    table = nn.Embedding(100, 50, padding_idx=3)
    assert table.weight[3].abs().sum().item() == 0
    assert table.weight.std().item() == pytest.approx(1, rel=0.05)


def test_the_generator_decides():
    first = init.normal_(torch.empty(5), generator=torch.Generator().manual_seed(3))
    second = init.normal_(torch.empty(5), generator=torch.Generator().manual_seed(3))
    assert torch.equal(first, second)

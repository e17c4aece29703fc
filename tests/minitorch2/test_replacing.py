"""Users replace public functions and methods; what the library draws by those names is theirs."""

import types

import numpy
import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.distributions import (
    Bernoulli,
    Categorical,
    Cauchy,
    Exponential,
    Geometric,
    Gumbel,
    Laplace,
    MultivariateNormal,
    Normal,
    Poisson,
    RelaxedBernoulli,
    Uniform,
)
from minitorch2.utils.data import (
    DataLoader,
    RandomSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

MARK = 0.375


def _filler(self, *arguments, **options):
    return self.fill_(MARK)


@pytest.mark.parametrize(
    ("method", "fill"),
    [
        ("uniform_", nn.init.uniform_),
        ("normal_", nn.init.normal_),
        ("uniform_", nn.init.xavier_uniform_),
        ("normal_", nn.init.xavier_normal_),
        ("uniform_", nn.init.kaiming_uniform_),
        ("normal_", nn.init.kaiming_normal_),
    ],
)
def test_initial_values_come_from_the_replaced_method(monkeypatch, method, fill):
    monkeypatch.setattr(torch.Tensor, method, _filler)
    assert fill(torch.empty(3, 4)).eq(MARK).all().item()


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Linear(3, 4),
        lambda: nn.Bilinear(3, 4, 2),
        lambda: nn.Conv2d(2, 4, 3),
        lambda: nn.ConvTranspose1d(2, 4, 3),
        lambda: nn.LSTM(3, 4, 2, bidirectional=True),
        lambda: nn.GRUCell(3, 4),
        lambda: nn.Embedding(5, 3),
        lambda: nn.EmbeddingBag(5, 3),
    ],
)
def test_layers_draw_all_their_weights_through_methods(monkeypatch, make):
    for method in ("uniform_", "normal_"):
        monkeypatch.setattr(torch.Tensor, method, _filler)
    for name, parameter in make().named_parameters():
        assert parameter.eq(MARK).all().item(), name


def test_orthogonal_and_truncated_values_start_from_the_replaced_draws(monkeypatch):
    numbers = numpy.random.default_rng(0)

    def uniform_(self, low=0.0, high=1.0, *, generator=None):
        return self.copy_(torch.from_numpy(numbers.uniform(low, high, tuple(self.shape))))

    def normal_(self, mean=0.0, std=1.0, *, generator=None):
        return self.copy_(torch.from_numpy(numbers.normal(mean, std, tuple(self.shape))))

    monkeypatch.setattr(torch.Tensor, "uniform_", uniform_)
    monkeypatch.setattr(torch.Tensor, "normal_", normal_)
    first = nn.init.trunc_normal_(torch.empty(50, dtype=torch.float64), 1.0, 2.0, 0.0, 2.0)
    square = nn.init.orthogonal_(torch.empty(4, 6, dtype=torch.float64))
    numbers = numpy.random.default_rng(0)
    again = nn.init.trunc_normal_(torch.empty(50, dtype=torch.float64), 1.0, 2.0, 0.0, 2.0)
    assert first.equal(again) and first.min() >= 0 and first.max() <= 2
    assert nn.init.orthogonal_(torch.empty(4, 6, dtype=torch.float64)).equal(square)
    assert torch.allclose(square @ square.t(), torch.eye(4, dtype=torch.float64))


def test_orders_come_from_the_replaced_functions(monkeypatch):
    def backwards(n, *, generator=None):
        return torch.arange(n - 1, -1, -1)

    monkeypatch.setattr(torch, "randperm", backwards)
    monkeypatch.setattr(torch, "multinomial", lambda *_, **__: torch.tensor([2, 0]))
    monkeypatch.setattr(torch, "randint", lambda *_, high, size, **__: torch.full(size, high - 1))
    batches = DataLoader(list(range(5)), batch_size=2, shuffle=True)
    assert [each.tolist() for each in batches] == [[4, 3], [2, 1], [0]]
    assert list(RandomSampler(range(3), num_samples=7)) == [2, 1, 0, 2, 1, 0, 2]
    assert list(RandomSampler(range(3), replacement=True, num_samples=40)) == [2] * 40
    assert list(SubsetRandomSampler([7, 8])) == [8, 7]
    assert list(WeightedRandomSampler([1.0, 1.0, 1.0], 2)) == [2, 0]


def test_each_pass_draws_as_often_as_torch_does(monkeypatch):
    drawn = []
    kept = types.SimpleNamespace(randperm=torch.randperm, random_=torch.Tensor.random_)

    def randperm(n, **options):
        drawn.append("randperm")
        return kept.randperm(n, **options)

    def random_(self, *bounds, **options):
        drawn.append("random_")
        return kept.random_(self, *bounds, **options)

    monkeypatch.setattr(torch, "randperm", randperm)
    monkeypatch.setattr(torch.Tensor, "random_", random_)
    assert sorted(DataLoader(range(4), batch_size=None, shuffle=True)) == [0, 1, 2, 3]
    assert drawn == ["random_", "random_", "randperm", "randperm"]


def _constant(*arguments, **options):
    shape = arguments[0] if isinstance(arguments[0], tuple) else arguments[0].shape
    return torch.full(tuple(shape), MARK)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("rand", lambda one: Uniform(0 * one, one)),
        ("normal", lambda one: Normal(one, one)),
        ("bernoulli", lambda one: Bernoulli(one / 2)),
        ("poisson", lambda one: Poisson(one)),
    ],
)
def test_samples_come_from_the_replaced_functions(monkeypatch, name, make):
    monkeypatch.setattr(torch, name, _constant)
    assert make(torch.ones(3)).sample((2,)).eq(MARK).all().item()


def test_classes_come_from_the_replaced_function(monkeypatch):
    monkeypatch.setattr(torch, "multinomial", lambda p, n, *_: torch.ones(len(p), n).long())
    assert Categorical(torch.ones(4, 3)).sample((2,)).tolist() == [[1] * 4] * 2


@pytest.mark.parametrize(
    ("method", "make"),
    [
        ("normal_", lambda one: Normal(one, one).rsample()),
        ("normal_", lambda one: MultivariateNormal(one, one.diag()).sample()),
        ("exponential_", lambda one: Exponential(one).sample()),
        ("uniform_", lambda one: Laplace(one, one).sample()),
        ("uniform_", lambda one: Geometric(one / 2).sample()),
        ("cauchy_", lambda one: Cauchy(one, one).sample()),
    ],
)
def test_samples_come_from_the_replaced_methods(monkeypatch, method, make):
    called = []
    monkeypatch.setattr(
        torch.Tensor, method, lambda self, *_, **__: called.append(method) or self.fill_(MARK)
    )
    assert len(set(make(torch.ones(3)).tolist())) == 1
    assert called == [method]


@pytest.mark.parametrize(
    "make", [lambda one: Gumbel(one, one), lambda one: RelaxedBernoulli(one, one / 2)]
)
def test_transformed_samples_come_from_the_replaced_rand(monkeypatch, make):
    monkeypatch.setattr(torch, "rand", _constant)
    assert len(set(make(torch.ones(())).sample((5,)).tolist())) == 1

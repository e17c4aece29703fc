"""Distributions beside torch's: log-probabilities, entropies, gradients; samples by their means."""

import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402

P = [[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]
CASES = {
    "categorical_probs": (lambda d, t: d.Categorical(t), P, [1, 2]),
    "categorical_logits": (lambda d, t: d.Categorical(logits=t), P, [[0, 2], [1, 1], [2, 0]]),
    "normal": (lambda d, t: d.Normal(t, 0.5), P[0], [0.1, 2.0, -1.0]),
    "bernoulli_probs": (lambda d, t: d.Bernoulli(t), P[0], [1.0, 0.0, 1.0]),
    "bernoulli_logits": (lambda d, t: d.Bernoulli(logits=t), P[0], [1.0, 0.0, 1.0]),
}


@pytest.mark.parametrize("name", CASES)
def test_log_prob_and_entropy(name):
    make, parameter, value = CASES[name]
    found = []
    for library in (torch, minitorch2):
        given = library.tensor(parameter, requires_grad=True)
        made = make(library.distributions, given)
        score, entropy = made.log_prob(library.tensor(value)), made.entropy()
        (score.sum() + entropy.sum()).backward()
        found.append([score, entropy, given.grad])
        assert tuple(made.sample((4,)).shape) == (4, *made.batch_shape)
    for a, b in zip(*found, strict=True):
        assert tuple(a.shape) == tuple(b.shape)
        assert abs(a.detach().numpy() - b.detach().numpy()).max() < 1e-5


def test_samples():
    minitorch2.manual_seed(0)
    d = minitorch2.distributions
    drawn = d.Categorical(minitorch2.tensor(P)).sample((4000,))
    assert abs((drawn[:, 0] == 1).float().mean().item() - 0.5) < 0.04
    assert abs(d.Normal(1.0, 2.0).sample((4000,)).std().item() - 2) < 0.1
    assert abs(d.Bernoulli(0.3).sample((4000,)).mean().item() - 0.3) < 0.04


def test_neither_or_both():
    with pytest.raises(ValueError):
        minitorch2.distributions.Categorical()


def users_transform(t):
    constraints = t.distributions.constraints

    class Cube(t.distributions.Transform):
        domain, codomain, bijective, sign = constraints.real, constraints.real, True, 1

        def _call(self, x):
            return x**3

        def _inverse(self, y):
            return y.sign() * y.abs().pow(1 / 3)

        def log_abs_det_jacobian(self, x, y):
            return (3 * x * x).log()

    base = t.distributions.Normal(t.zeros(3), t.ones(3))
    made = t.distributions.TransformedDistribution(base, [Cube()])
    y = t.tensor([0.5, -2.0, 3.0])
    return [made.log_prob(y), Cube().inv(y), Cube().inv.inv(y), made.cdf(y)]


def test_transforms_of_users_have_the_methods_that_torch_asks_for():
    for ours, theirs in zip(users_transform(minitorch2), users_transform(torch), strict=True):
        assert ours.tolist() == pytest.approx(theirs.tolist(), rel=1e-5)

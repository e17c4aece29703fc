"""nn.utils beside torch's: parametrizations, norms of weights, pruning, packed sequences."""

import copy

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch.nn.utils.prune")

from tests.parity.both import check, numbers  # noqa: E402


def linear(t, inside=4, outside=3, seed=0):
    layer = t.nn.Linear(inside, outside)
    fill(t, layer, seed)
    return layer


def fill(t, module, seed=0):
    with t.no_grad():
        for index, value in enumerate(module.state_dict().values()):
            value.copy_(numbers(t, *value.shape, seed=seed + index))


def p(t):
    return t.nn.utils.parametrize


def kinds(t):
    class Symmetric(t.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

        def right_inverse(self, a):
            return a.triu()

    class Exp(t.nn.Module):
        def forward(self, x):
            return x.exp()

    class Rank(t.nn.Module):
        def forward(self, a, b):
            return a @ b

        def right_inverse(self, x):
            return x[:, :2] * 2, x[:2]

    return Symmetric(), Exp(), Rank()


def parametrized(t):
    symmetric, exp, _ = kinds(t)
    layer = linear(t, 3, 3)
    p(t).register_parametrization(layer, "weight", symmetric)
    p(t).register_parametrization(layer, "bias", exp)
    x = numbers(t, 2, 3)
    out = layer(x)
    (out**2).sum().backward()
    names = [name for name, _ in layer.named_parameters()]
    grads = [parameter.grad for parameter in layer.parameters()]
    layer.weight = numbers(t, 3, 3, seed=9) + numbers(t, 3, 3, seed=9).t()
    return (
        out, names, grads, layer.weight, sorted(layer.state_dict()), type(layer).__name__,
        p(t).is_parametrized(layer), p(t).is_parametrized(layer, "weight"),
        p(t).is_parametrized(layer, "other"), isinstance(layer, t.nn.Linear), repr(layer),
    )  # fmt: skip


def chained(t):
    symmetric, exp, _ = kinds(t)
    layer = linear(t, 3, 3)
    p(t).register_parametrization(layer, "weight", symmetric)
    p(t).register_parametrization(layer, "weight", exp)
    before = layer.weight.detach()
    p(t).remove_parametrizations(layer, "weight")
    return before, layer.weight, type(layer).__name__, [n for n, _ in layer.named_parameters()]


def several(t):
    *_, rank = kinds(t)
    layer = linear(t, 4, 3)
    p(t).register_parametrization(layer, "weight", rank)
    first = layer.weight.detach()
    state = sorted(layer.state_dict())
    layer.weight = numbers(t, 3, 4, seed=5)
    second = layer.weight.detach()
    p(t).remove_parametrizations(layer, "weight")
    return first, second, state, layer.weight


def unparametrized(t):
    symmetric, *_ = kinds(t)
    layer = linear(t, 3, 3)
    p(t).register_parametrization(layer, "weight", symmetric)
    p(t).remove_parametrizations(layer, "weight", leave_parametrized=False)
    return layer.weight, type(layer) is t.nn.Linear, hasattr(layer, "parametrizations")


def cached(t):
    calls = []

    class Count(t.nn.Module):
        def forward(self, x):
            calls.append(1)
            return x * 2

    layer = linear(t)
    p(t).register_parametrization(layer, "weight", Count())
    start = len(calls)
    with p(t).cached():
        same = layer.weight is layer.weight
        layer(numbers(t, 2, 4))
    inside = len(calls) - start
    layer(numbers(t, 2, 4))
    return same, inside, len(calls) - start


def copied(t):
    symmetric, *_ = kinds(t)
    layer = linear(t, 3, 3)
    p(t).register_parametrization(layer, "weight", symmetric)
    other = copy.deepcopy(layer)
    with t.no_grad():
        other.parametrizations.weight.original.fill_(1.0)
    return layer.weight, other.weight, p(t).is_parametrized(other)


def unsafe(t):
    class Widen(t.nn.Module):
        def forward(self, x):
            return t.cat([x, x])

    layer = linear(t)
    p(t).register_parametrization(layer, "weight", Widen(), unsafe=True)
    return layer.weight


def shape_refused(t):
    class Widen(t.nn.Module):
        def forward(self, x):
            return t.cat([x, x])

    p(t).register_parametrization(linear(t), "weight", Widen())


def assigned_without_inverse(t):
    _, exp, _ = kinds(t)
    layer = linear(t)
    p(t).register_parametrization(layer, "weight", exp)
    layer.weight = t.ones(3, 4)


def weight_norm(t, dim):
    layer = t.nn.utils.parametrizations.weight_norm(linear(t), dim=dim)
    out = layer(numbers(t, 2, 4))
    (out**2).sum().backward()
    grads = [parameter.grad for parameter in layer.parameters()]
    layer.weight = layer.weight * 2
    shapes = [(n, list(parameter.shape)) for n, parameter in layer.named_parameters()]
    return out, grads, layer.weight, shapes


def old_weight_norm(t, dim=0):
    layer = t.nn.utils.weight_norm(linear(t), dim=dim)
    with t.no_grad():
        layer.weight_g.mul_(3)
    out = layer(numbers(t, 2, 4))
    out.sum().backward()
    found = out, layer.weight_g.grad, layer.weight_v.grad, sorted(layer.state_dict())
    t.nn.utils.remove_weight_norm(layer)
    return *found, layer.weight, [n for n, _ in layer.named_parameters()], layer(numbers(t, 2, 4))


def spectral_norm(t):
    layer = t.nn.utils.parametrizations.spectral_norm(linear(t))
    inner = layer.parametrizations.weight[0]
    inner._u.copy_(t.nn.functional.normalize(numbers(t, 3, seed=3), dim=0))
    inner._v.copy_(t.nn.functional.normalize(numbers(t, 4, seed=4), dim=0))
    out = [layer(numbers(t, 2, 4)) for _ in range(3)]
    out[-1].sum().backward()
    layer.eval()
    return out, layer.parametrizations.weight.original.grad, inner._u, layer.weight


def old_spectral_norm(t):
    layer = t.nn.utils.spectral_norm(linear(t))
    layer.weight_u.copy_(t.nn.functional.normalize(numbers(t, 3, seed=3), dim=0))
    layer.weight_v.copy_(t.nn.functional.normalize(numbers(t, 4, seed=4), dim=0))
    out = [layer(numbers(t, 2, 4)) for _ in range(3)]
    out[-1].sum().backward()
    found = out, layer.weight_orig.grad, layer.weight_u, sorted(layer.state_dict())
    t.nn.utils.remove_spectral_norm(layer)
    return *found, layer.weight, [n for n, _ in layer.named_parameters()]


def orthogonal(t, shape, kind):
    layer = linear(t, *shape)
    t.nn.utils.parametrizations.orthogonal(layer, orthogonal_map=kind, use_trivialization=False)
    weight = layer.weight
    (weight * numbers(t, *weight.shape, seed=8)).sum().backward()
    return weight, layer.parametrizations.weight.original.grad


def based(t, shape, kind):
    """The map starts at the weight; an assigned orthonormal weight is what comes out."""
    layer = linear(t, *shape)
    t.nn.utils.parametrizations.orthogonal(layer, orthogonal_map=kind)
    weight = layer.weight.detach()
    n, k = weight.shape
    product = weight @ weight.t() if n < k else weight.t() @ weight
    flat = t.linalg.qr(numbers(t, max(n, k), min(n, k), seed=3)).Q
    flat = flat.t().contiguous() if n < k else flat
    layer.weight = flat
    return (product - t.eye(min(n, k))).abs().max() < 1e-5, (layer.weight - flat).abs().max() < 1e-5


def householder_assigned(t):
    layer = linear(t, 2, 4)
    t.nn.utils.parametrizations.orthogonal(
        layer, orthogonal_map="householder", use_trivialization=False
    )
    flat = t.linalg.qr(numbers(t, 4, 2, seed=3)).Q
    layer.weight = flat
    return (layer.weight - flat).abs().max() < 1e-5


def q(t):
    return t.nn.utils.prune


def pruned(t):
    layer = linear(t)
    q(t).l1_unstructured(layer, "weight", amount=0.5)
    q(t).ln_structured(layer, "weight", amount=1, n=2, dim=1)
    q(t).l1_unstructured(layer, "weight", amount=2)
    out = layer(numbers(t, 2, 4))
    out.sum().backward()
    state = sorted(layer.state_dict())
    found = layer.weight.detach(), layer.weight_mask, layer.weight_orig.grad, q(t).is_pruned(layer)
    q(t).remove(layer, "weight")
    return *found, state, layer.weight, q(t).is_pruned(layer), sorted(layer.state_dict()), out


def pruned_globally(t):
    model = t.nn.Sequential(linear(t), t.nn.ReLU(), linear(t, 3, 2, seed=5))
    targets = [(model[0], "weight"), (model[2], "weight"), (model[0], "bias")]
    q(t).global_unstructured(targets, pruning_method=q(t).L1Unstructured, amount=0.4)
    q(t).global_unstructured(targets[:2], pruning_method=q(t).L1Unstructured, amount=3)
    return model(numbers(t, 2, 4)), [getattr(m, n + "_mask") for m, n in targets]


def pruned_by_mask(t):
    class Own(q(t).BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, tensor, default_mask):
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    layer = linear(t)
    q(t).custom_from_mask(layer, "bias", t.tensor([1, 0, 1]))
    Own.apply(layer, "weight")
    q(t).identity(layer, "weight")
    return (
        layer.bias,
        layer.weight,
        Own().prune(t.ones(4)),
        q(t).L1Unstructured(1).prune(numbers(t, 5)),
    )


def pruned_at_random(t):
    layer = linear(t)
    q(t).random_unstructured(layer, "weight", amount=5)
    q(t).random_structured(layer, "weight", amount=1, dim=0)
    zero_rows = (layer.weight_mask.sum(1) == 0).sum().item() >= 1
    other = linear(t)
    q(t).random_unstructured(other, "weight", amount=0.25)
    return (other.weight_mask == 0).sum(), zero_rows


def scores(t):
    layer = linear(t)
    q(t).l1_unstructured(layer, "weight", 3, importance_scores=numbers(t, 3, 4, seed=7))
    return layer.weight


def r(t):
    return t.nn.utils.rnn


def sequences(t):
    return [numbers(t, n, 3, seed=n) for n in (2, 4, 1)]


def packs(t):
    padded = r(t).pad_sequence(sequences(t), batch_first=True, padding_value=-1.0)
    packed = r(t).pack_padded_sequence(
        padded, t.tensor([2, 4, 1]), batch_first=True, enforce_sorted=False
    )
    again, lengths = r(t).pad_packed_sequence(packed, padding_value=7.0, total_length=5)
    ordered = r(t).pack_sequence([numbers(t, n, 2) for n in (3, 2, 2)])
    return (
        padded, list(packed), again, lengths, list(ordered)[:2], r(t).unpack_sequence(packed),
        r(t).unpad_sequence(padded, t.tensor([2, 4, 1]), batch_first=True),
        r(t).pad_sequence(sequences(t), padding_side="left"), packed.double().data,
        r(t).pad_packed_sequence(ordered, batch_first=True),
    )  # fmt: skip


def recurrent(t, kind, **options):
    module = getattr(t.nn, kind)(3, 4, num_layers=2, **options)
    fill(t, module)
    packed = r(t).pack_sequence(sequences(t), enforce_sorted=False)
    out, last = module(packed)
    directions = 2 if options.get("bidirectional") else 1
    width = options.get("proj_size") or 4
    h = numbers(t, 2 * directions, 3, width, seed=5)
    first = (h, numbers(t, 2 * directions, 3, 4, seed=6)) if kind == "LSTM" else h
    second, _ = module(packed, first)
    padded, lengths = r(t).pad_packed_sequence(out)
    (padded.sum() + second.data.sin().sum()).backward()
    return padded, lengths, last, list(second), [w.grad for w in module.parameters()]


PROGRAMS = {
    "parametrized": parametrized,
    "chained": chained,
    "several": several,
    "unparametrized": unparametrized,
    "cached": cached,
    "copied": copied,
    "unsafe": unsafe,
    "shape_refused": shape_refused,
    "assigned_without_inverse": assigned_without_inverse,
    "no_such_tensor": lambda t: p(t).register_parametrization(linear(t), "none", kinds(t)[1]),
    "not_parametrized": lambda t: p(t).remove_parametrizations(linear(t), "weight"),
    "weight_norm": lambda t: weight_norm(t, 0),
    "weight_norm_last": lambda t: weight_norm(t, 1),
    "weight_norm_all": lambda t: weight_norm(t, None),
    "old_weight_norm": old_weight_norm,
    "old_weight_norm_all": lambda t: old_weight_norm(t, None),
    "old_weight_norm_twice": lambda t: t.nn.utils.weight_norm(t.nn.utils.weight_norm(linear(t))),
    "no_weight_norm": lambda t: t.nn.utils.remove_weight_norm(linear(t)),
    "spectral_norm": spectral_norm,
    "old_spectral_norm": old_spectral_norm,
    "spectral_iterations": lambda t: t.nn.utils.parametrizations.spectral_norm(
        linear(t), n_power_iterations=0
    ),
    "exponential": lambda t: orthogonal(t, (3, 3), "matrix_exp"),
    "exponential_wide": lambda t: orthogonal(t, (4, 2), "matrix_exp"),
    "cayley": lambda t: orthogonal(t, (2, 4), "cayley"),
    "householder": lambda t: orthogonal(t, (2, 4), "householder"),
    "householder_wide": lambda t: orthogonal(t, (4, 2), "householder"),
    "based_square": lambda t: based(t, (3, 3), None),
    "based_tall": lambda t: based(t, (2, 4), None),
    "based_wide": lambda t: based(t, (4, 2), "cayley"),
    "householder_assigned": householder_assigned,
    "orthogonal_map": lambda t: orthogonal(t, (3, 3), "other"),
    "pruned": pruned,
    "pruned_globally": pruned_globally,
    "pruned_by_mask": pruned_by_mask,
    "pruned_at_random": pruned_at_random,
    "scores": scores,
    "prune_too_much": lambda t: q(t).l1_unstructured(linear(t), "weight", amount=100),
    "prune_negative": lambda t: q(t).l1_unstructured(linear(t), "weight", amount=-1),
    "prune_fraction": lambda t: q(t).l1_unstructured(linear(t), "weight", amount=1.5),
    "prune_type": lambda t: q(t).l1_unstructured(linear(t), "weight", amount="all"),
    "prune_vector": lambda t: q(t).ln_structured(linear(t), "bias", 1, 2, 0),
    "remove_unpruned": lambda t: q(t).remove(linear(t), "weight"),
    "global_structured": lambda t: q(t).global_unstructured(
        [(linear(t), "weight")], q(t).LnStructured, amount=1, n=2
    ),
    "packs": packs,
    "unsorted": lambda t: r(t).pack_sequence(sequences(t)),
    "zero_length": lambda t: r(t).pack_padded_sequence(t.ones(2, 2), [2, 0]),
    "wrong_lengths": lambda t: r(t).pack_padded_sequence(t.ones(2, 2), [2]),
    "short_total": lambda t: r(t).pad_packed_sequence(
        r(t).pack_sequence([t.ones(3)]), total_length=2
    ),
    "rnn": lambda t: recurrent(t, "RNN"),
    "rnn_relu": lambda t: recurrent(t, "RNN", nonlinearity="relu", bidirectional=True),
    "lstm": lambda t: recurrent(t, "LSTM"),
    "lstm_both": lambda t: recurrent(t, "LSTM", bidirectional=True),
    "lstm_projected": lambda t: recurrent(t, "LSTM", proj_size=2, bidirectional=True),
    "gru": lambda t: recurrent(t, "GRU"),
    "gru_both": lambda t: recurrent(t, "GRU", bidirectional=True, batch_first=True),
}


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    check(PROGRAMS[name], tolerance=1e-4)

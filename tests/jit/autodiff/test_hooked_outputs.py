"""Hooks on some results of a compiled function, which has one node for all of them.

Each function has three results, computed one by another or side by side. Some of them are looked at
(by hooks, retain_grad, grad()), some are gone back from: everything is as if each operation had
been run by itself.
"""

import itertools

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.autograd.saving import register_multi_grad_hook
from minitorch2.errors import SavedTensorModified

BACKENDS = ("eager", "aot_eager")


def side_by_side(w):
    return w * 2, w * 3, (w * 4).sum()


def in_a_chain(w):
    first = w * 2
    second = first.exp()
    return first, second, (second * first).sum()


def in_part(w):
    first = w * 2
    second = first.sin()
    return first, w.cos(), second


def through_views(w):
    first = w * 2
    return first.view(3, 1), first.sin(), first[1:]


def through_writes(w):
    first = w * 2
    second = first.clone()
    second.mul_(first)
    return first, second, second * w


def without_history(w):
    first = w * 2
    return first, first.detach() * w, first.sin()


class Both(torch.autograd.Function):
    """Two results of one step."""

    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, one, other):
        return one + other * 5


def by_a_function(w):
    first, second = Both.apply(w)
    return first, first.sin() + second, second * first


def by_draws(w):
    first = nn.functional.dropout(w * 2, 0.5)
    return first, first * first, first.sum()


FUNCTIONS = (side_by_side, in_a_chain, in_part, through_views, through_writes, without_history,
             by_a_function, by_draws)  # fmt: skip
KINDS = ("look", "change", "retain", "grad", "inputs", "all", "any")
SUBSETS = [s for n in (1, 2, 3) for s in itertools.combinations(range(3), n)]


def watched(function, run, looked_at, used, kind):
    """Everything that is seen of one backward, or of two."""
    torch.manual_seed(0)
    w = torch.tensor([0.5, 1.0, 2.0], requires_grad=True)
    results = run(w)
    seen = []

    def look(place):
        return lambda gradient: seen.append((place, gradient.tolist()))

    for place in looked_at:
        if kind == "look":
            results[place].register_hook(look(place))
        elif kind == "change":
            results[place].register_hook(look(place))
            results[place].register_hook(lambda gradient: gradient * 3)
        elif kind == "retain":
            results[place].retain_grad()
    if kind in ("all", "any"):
        chosen = [results[place] for place in looked_at]
        register_multi_grad_hook(chosen, lambda found: seen.append(_plain(found)), mode=kind)
    loss = sum(results[place].sum() for place in used)
    if kind == "grad":
        asked = [*(results[place] for place in looked_at), w]
        return _plain(torch.autograd.grad(loss, asked, allow_unused=True))
    if kind == "inputs":
        loss.backward(inputs=[results[place] for place in looked_at])
    else:
        loss.backward(retain_graph=True)
        loss.backward()
    kept = [results[place].grad for place in looked_at if results[place].retains_grad]
    if function is through_views:
        seen.sort(key=repr)  # see `check`
    return seen, _plain(w.grad), _plain(kept)


def _plain(found):
    if isinstance(found, (list, tuple)):
        return [_plain(one) for one in found]
    return found if found is None else found.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_as_step_by_step(function, kind):
    check(function, kind, "aot_eager")


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_as_step_by_step_on_kernels(function):
    check(function, "change", "numba")


def check(function, kind, backend):
    """Compare every choice of results that are looked at and gone back from."""
    compiled = torch.compile(function, backend=backend)
    for looked_at, used in itertools.product(SUBSETS, SUBSETS):
        if kind == "inputs" and not set(looked_at) <= set(used):
            continue  # which is refused where one was not used
        if kind == "any" and function is through_views and len(looked_at) > 1:
            continue  # a view of a result comes before the results, whenever it was made
        wanted = watched(function, function, looked_at, used, kind)
        got = watched(function, compiled, looked_at, used, kind)
        assert got == wanted, (looked_at, used)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_hook_that_is_taken_out(backend):
    w = torch.ones(3, requires_grad=True)
    first, _, last = torch.compile(in_a_chain, backend=backend)(w)
    handle = first.register_hook(lambda gradient: gradient * 7)
    handle.remove()
    last.backward()
    expected = torch.ones(3, requires_grad=True)
    in_a_chain(expected)[2].backward()
    assert w.grad.tolist() == expected.grad.tolist()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_hook_that_raises(backend):
    w = torch.ones(3, requires_grad=True)
    first, _, last = torch.compile(in_a_chain, backend=backend)(w)
    first.register_hook(lambda gradient: gradient.double())
    with pytest.raises(RuntimeError, match="has changed the type of value"):
        last.backward()
    assert w.grad is None


def test_gradients_of_gradients():
    found = []
    for wrap in (lambda fn: fn, lambda fn: torch.compile(fn, backend="aot_eager")):
        w = torch.tensor([0.5, 1.0], requires_grad=True)
        seen = []
        first, _, last = wrap(in_a_chain)(w)
        first.register_hook(lambda gradient, seen=seen: seen.append(gradient.tolist()))
        gradients = torch.autograd.grad(last, [w, first], create_graph=True)
        sum(each.sum() for each in gradients).backward()
        found.append((seen, w.grad.tolist(), [each.tolist() for each in gradients]))
    assert found[0] == found[1]


def test_what_was_written_since_is_told():
    """To run step by step what the kernels ran, the inputs must be what they were."""

    def scaled(w, x):
        first = w * 2
        return first, (first + x).sum()

    w, x = torch.ones(3, requires_grad=True), torch.ones(3)
    first, last = torch.compile(scaled, backend="aot_eager")(w, x)
    first.register_hook(lambda gradient: gradient)
    x.add_(1)
    with pytest.raises(SavedTensorModified, match="an input of the compiled function"):
        last.backward()

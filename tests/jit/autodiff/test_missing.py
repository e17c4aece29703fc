"""Backwards of which some tangents are missing: text in, text out, and eager's signs of zero."""

import math

import pytest

import minitorch2 as torch
from minitorch2.jit.autodiff.missing import without_tangents
from minitorch2.jit.ir.parser import parse_graph

DOCUMENTED = """
graph f_backward(%saved0: f32[3], %saved1: f32[3], %saved2: bool[3], %t0: f32[3], %t1: f32[3]) {
  %0: f32[3] = mul(%t0, %saved0)
  %1: f32[3] = mul(%t1, %saved1)
  %2: f32[3] = add(%0, %1)
  %3: f32[3] = where(%saved2, %2, %1)
  return %2, %1, %3
}
"""
SHORTER = """graph f_backward(%saved0: f32[3], %saved1: f32[3], %saved2: bool[3], %t0: f32[3]) {
  %0: f32[3] = mul(%t0, %saved0)
  %1: f32[3] = full((3,), 0, dtype=f32, device='cpu')
  %2: f32[3] = where(%saved2, %0, %1)
  return %0, None, %2
}"""


def test_what_the_module_documents():
    found = without_tangents(parse_graph(DOCUMENTED), 3, 2, frozenset({1}))
    assert str(found) == SHORTER


SUMS = {
    "add(%t0, %t1)": "%t0",
    "add(%t1, %t0)": "%t0",
    "add(%t1, %t0, alpha=2)": None,
    "add(%t1, %row)": None,
    "add(%t1, 1)": None,
    "sub(%t0, %t1)": "%t0",
    "sub(%t1, %t0)": None,
    "sub(%t0, %t1, alpha=2)": None,
    "sub(%t1, %row)": None,
}


@pytest.mark.parametrize("call", SUMS)
def test_only_a_sum_that_is_its_other_part_goes(call):
    text = f"graph f(%t0: f32[3], %t1: f32[3], %row: f32[1]) {{ %0: f32[3] = {call} return %0 }}"
    graph = parse_graph(text)
    place, count = (0, 2) if "row" not in call else (1, 1)
    found = without_tangents(graph, place, count, frozenset({count - 1}))
    outputs = [str(output.argument) for output in found.outputs]
    if SUMS[call]:
        assert outputs == [SUMS[call]] and not found.nodes
    else:
        assert found.nodes or outputs == ["None"]


def test_what_is_taken_from_nothing_has_another_sign():
    text = "graph f(%t0: f32[3], %t1: f32[3]) { %0: f32[3] = sub(%t1, %t0) return %0 }"
    found = without_tangents(parse_graph(text), 0, 2, frozenset({1}))
    assert [node.op for node in found.nodes] == ["neg"]


@pytest.mark.parametrize("numerics", ["default", "eager"])
def test_zeros_keep_their_signs_through_differences(numerics):
    def fn(x):
        first = torch.relu(x)
        return first, -first

    signs = []
    for function in (fn, torch.compile(fn, options={"numerics": numerics})):
        x = torch.tensor([1.0], requires_grad=True)
        function(x)[1].backward(torch.tensor([0.0]))
        signs.append(math.copysign(1.0, x.grad.item()))
    assert signs[0] == signs[1] == -1.0


WAITING = """
graph f_backward(%saved0: f32[3], %t0: f32[3], %t1: f32[3]) {
  %0: f32[3] = mul(%t1, %saved0)
  %1: f32[3] = after(%saved0, %0)
  %2: f32[3] = exp(%1)
  %3: f32[3] = after(%t0, %0)
  %4: f32[3] = mul(%3, %2)
  %5: f32[3] = after(%t1, %4)
  return %4, %5
}
"""


def test_what_waits_for_a_zero_is_not_zero():
    """Second runs wait for gradients, which may be missing: they are computed all the same."""
    found = without_tangents(parse_graph(WAITING), 1, 2, frozenset({1}))
    assert [node.op for node in found.nodes] == ["exp", "mul"]
    assert found.outputs[1].argument is None
    other = without_tangents(parse_graph(WAITING), 1, 2, frozenset({0}))
    assert [str(output.argument) for output in other.outputs] == ["None", "%t1"]


def _two_results(x, w):
    hidden = torch.tanh(torch.tanh(torch.tanh(x @ w) @ w) @ w)
    return hidden, (hidden * 3).exp().sin() * hidden


def _written_and_returned(x, w):
    y = x.exp()
    x.acosh_()
    return torch.erf(y) @ w, y.sin()


@pytest.mark.parametrize("function", [_two_results, _written_and_returned])
@pytest.mark.parametrize("budget", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("used", [(0,), (1,), (0, 1)])
def test_gradients_of_some_results_under_every_budget(function, budget, used):
    generator = torch.Generator().manual_seed(0)
    numbers = [torch.rand(8, 8, generator=generator) for _ in range(2)]

    def gradients(run):
        leaves = [number.clone().requires_grad_() for number in numbers]
        found = run(leaves[0] * 1.0, leaves[1])
        sum(found[place].sum() for place in used).backward()
        return [leaf.grad for leaf in leaves]

    options = {"activation_memory_budget": budget}
    compiled = torch.compile(function, backend="interpreter", options=options)
    for one, other in zip(gradients(function), gradients(compiled), strict=True):
        if one is None or other is None:
            assert one is other
        else:
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("size", [0, 3])
def test_an_input_that_is_saved_and_written_is_copied_however_small(size):
    def function(x):
        y = x.square_()
        return y * y.sin()

    def gradient(run):
        leaf = torch.ones(size, 2).requires_grad_()
        run(leaf * 0.5).sum().backward()
        return leaf.grad

    assert torch.equal(gradient(function), gradient(torch.compile(function)))


def _in_place(x):
    y = x * 1.0
    y.add_(0.0)
    return torch.relu(y) * -1.0, y.exp()


def _written(x):
    x.conj_physical_()
    return torch.special.zeta(2.0, x.detach().abs() + 1) + (x * 0.0).neg() * x


def _two_users(x):
    return (x.neg() * 0.0).neg(), x.exp(), x.sin()


@pytest.mark.parametrize("function", [_in_place, _written, _two_users])
@pytest.mark.parametrize("numerics", ["default", "eager"])
def test_zeros_keep_their_signs_where_other_gradients_are_missing(function, numerics):
    """A gradient that does not arrive adds nothing: not even 0, which would turn -0 into 0."""

    def gradient(run):
        leaf = torch.tensor([0.5, -1.5, 2.0], requires_grad=True)
        found = run(leaf.clone())
        (found[0] if isinstance(found, tuple) else found).sum().backward()
        return [(each, math.copysign(1, each)) for each in leaf.grad.tolist()]

    eager = gradient(function)
    compiled = torch.compile(function, options={"numerics": numerics})
    assert gradient(compiled) == eager

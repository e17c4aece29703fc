"""Functionalization: the functional graph computes, and writes, what the captured one does."""

import numpy as np
import pytest

import minitorch2 as torch
from minitorch2.jit.autodiff.functionalize import functionalize
from minitorch2.jit.ir.interpreter import interpret
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.verify import has_only_primitives, is_functional, verify

X = "%x: f32[4,3]"
CASES = {
    "write through a select": (
        f"graph f({X}) {{ %0: f32[3] = select(%x, 0, 1) %1: f32[3] = mul_(%0, 2) "
        "%2: f32[4,3] = add(%x, 1) return %2 }"
    ),
    "write through a view of a view": (
        f"graph f({X}) {{ %0: f32[3,4] = transpose(%x, 0, 1) %1: f32[4] = select(%0, 0, 2) "
        "%2: f32[4] = add_(%1, 5) %3: f32[] = sum(%x) return %3 }"
    ),
    "two views of one base": (
        f"graph f({X}) {{ %0: f32[4,3] = clone(%x) %1: f32[12] = view(%0, (12,)) "
        "%2: f32[3] = select(%0, 0, 0) %3: f32[3] = mul_(%2, -1) "
        "%4: f32[12] = add(%1, 0) return %4 }"
    ),
    "a slice written twice": (
        f"graph f({X}) {{ %0: f32[2,3] = slice(%x, 0, 1, 3, 1) %1: f32[2,3] = mul_(%0, 3) "
        "%2: f32[2,3] = add_(%0, 1) return %1 }"
    ),
    "a diagonal": (
        f"graph f({X}) {{ %0: f32[3] = diagonal(%x) %1: f32[3] = mul_(%0, 10) "
        "%2: f32[4,3] = exp(%x) return %2 }"
    ),
    "a copy that converts and broadcasts": (
        f"graph f({X}, %y: i64[3]) {{ %0: f32[4,3] = copy_(%x, %y) "
        "%1: f32[4,3] = mul(%x, 2) return %1 }"
    ),
    "as_strided over the base": (
        f"graph f({X}) {{ %0: f32[2,2] = as_strided(%x, (2, 2), (3, 1), 1) "
        "%1: f32[2,2] = mul_(%0, 7) %2: f32[] = sum(%x) return %2 }"
    ),
}


def inputs_for(graph):
    state = np.random.RandomState(0)
    made = []
    for declared in graph.inputs:
        kind = declared.value.type
        values = state.randn(*kind.shape) * 3
        made.append(torch.tensor(values.astype(kind.dtype.numpy)))
    return made


@pytest.mark.pure
@pytest.mark.parametrize("text", CASES.values(), ids=CASES.keys())
def test_same_values_and_writes(text):
    captured = parse_graph(text)
    functional = functionalize(captured, [False] * len(captured.inputs))
    verify(functional.graph)
    assert has_only_primitives(functional.graph) and is_functional(functional.graph)
    first, second = inputs_for(captured), inputs_for(captured)
    expected = interpret(captured, first)
    found = interpret(functional.graph, second)
    plans = [plan for plan in functional.outputs if plan.index is not None]
    for plan, want in zip(plans, expected, strict=False):
        # Sums of another memory order may round otherwise; everything else is bitwise.
        np.testing.assert_allclose(found[plan.index].numpy(), want.numpy(), rtol=1e-6)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


@pytest.mark.pure
def test_an_input_returned_is_that_input():
    text = f"graph f({X}) {{ %0: f32[4,3] = mul_(%x, 2) return %x: alias(%x, 0) }}"
    functional = functionalize(parse_graph(text), [False])
    (plan,) = functional.outputs
    assert plan.alias == 0 and not plan.steps
    assert len(functional.graph.writes) == 1


@pytest.mark.pure
def test_random_numbers_come_from_two_inputs_and_are_counted():
    text = (
        "graph f(%x: f32[10]) { %0: f32[10] = dropout(%x, 0.5, True) "
        "%1: f32[10] = dropout(%0, 0.5, True) return %1 }"
    )
    functional = functionalize(parse_graph(text), [False])
    assert [declared.name for declared in functional.graph.inputs] == ["x", "seed", "counter"]
    assert functional.random_count == 6  # ceil(10 / 4) blocks, twice


@pytest.mark.pure
def test_every_node_knows_its_captured_node_and_line():
    text = f"graph f({X}) {{ %0: f32[4,3] = gelu(%x) return %0 }}"
    functional = functionalize(parse_graph(text), [False])
    assert len(functional.graph.nodes) > 1
    for node in functional.graph.nodes:
        assert node.origin.parents == ("f:%0",)
        assert node.origin.spans and node.origin.made_by == "functionalize"

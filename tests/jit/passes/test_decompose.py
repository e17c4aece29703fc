"""Rows with a derivative of their own are whole while graphs are differentiated, then steps."""

import pytest

import minitorch2 as torch
from minitorch2.artifacts import subscribe
from minitorch2.jit.autodiff.functionalize import functionalize
from minitorch2.jit.autodiff.joint import make_joint
from minitorch2.jit.ir.compare import numeric_difference
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.verify import has_only_primitives, verify
from minitorch2.jit.passes.decompose import decompose
from minitorch2.jit.passes.notes import collected
from minitorch2.jit.passes.options import DEFAULT, PassOptions
from minitorch2.jit.passes.pipeline import optimize
from minitorch2.ops.table import all_ops
from tests.jit.passes.checking import check, inputs_of

WHOLE = [op.name for op in all_ops() if op.slope]
ODD = (("f32[]", 0), ("f64[0,3]", 0), ("f16[2,0]", 1), ("f32[1]", 0))


def test_softmax():
    check(
        decompose,
        "graph f(%x: f32[s0,4]) { %0: f32[s0,4] = neg(%x) %1: f32[s0,4] = softmax(%0, -1) "
        "%2: f32[s0,4] = neg(%1) return %2: strides(4,1) }",
        "graph f(%x: f32[s0,4]) { %0: f32[s0,4] = neg(%x) %1: f32[s0,4] = detach(%0) "
        "%2: f32[s0,1] = amax(%1, (-1,), True) %3: f32[s0,4] = sub(%0, %2) "
        "%4: f32[s0,4] = exp(%3) %5: f32[s0,1] = sum(%4, (-1,), True) "
        "%6: f32[s0,4] = true_divide(%4, %5) %7: f32[s0,4] = neg(%6) return %7: strides(4,1) }",
    )


def test_log_softmax_in_another_dtype():
    check(
        decompose,
        "graph f(%x: bf16[3,s0]) { %0: f32[3,s0] = log_softmax(%x, 0, f32) return %0 }",
        "graph f(%x: bf16[3,s0]) { %0: f32[3,s0] = convert(%x, f32) %1: f32[3,s0] = detach(%0) "
        "%2: f32[1,s0] = amax(%1, (0,), True) %3: f32[3,s0] = sub(%0, %2) "
        "%4: f32[3,s0] = exp(%3) %5: f32[1,s0] = sum(%4, (0,), True) "
        "%6: f32[1,s0] = log(%5) %7: f32[3,s0] = sub(%3, %6) return %7 }",
    )


def test_inside_of_a_branch():
    inner = "graph then(%a: f32[4]) {{ {} return %{} }}"
    text = (
        "graph f(%p: bool[], %x: f32[4]) {{ %0: f32[4] = cond(%p, {then}, "
        "graph otherwise(%a: f32[4]) {{ %0: f32[4] = neg(%a) return %0 }}, (%x,)) return %0 }}"
    )
    steps = (
        "%0: f32[4] = detach(%a) %1: f32[1] = amax(%0, (0,), True) %2: f32[4] = sub(%a, %1) "
        "%3: f32[4] = exp(%2) %4: f32[1] = sum(%3, (0,), True) %5: f32[4] = true_divide(%3, %4)"
    )
    check(
        decompose,
        text.format(then=inner.format("%0: f32[4] = softmax(%a, 0)", 0)),
        text.format(then=inner.format(steps, 5)),
    )


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("type, dim", ODD)
def test_every_such_row_and_odd_shapes(name, type, dim):
    graph = parse_graph(f"graph f(%x: {type}) {{ %0: {type} = {name}(%x, {dim}) return %0 }}")
    found = decompose(graph, DEFAULT)
    verify(found)
    assert name not in [node.op for node in found.nodes] and has_only_primitives(found)
    assert numeric_difference(graph, found, inputs_of(graph)) is None


def test_other_nodes_stay():
    graph = parse_graph("graph f(%x: f32[4]) { %0: f32[4] = exp(%x) return %0 }")
    assert decompose(graph, DEFAULT) is graph


def test_what_it_did_and_where():
    graph = parse_graph("graph f(%x: f32[4]) {\n%0: f32[4] = softmax(%x, 0)\nreturn %0 }")
    with collected() as notes:
        found = decompose(graph, DEFAULT)
    [note] = notes
    assert str(note) == "<text>:2: softmax(%x, 0) => detach, amax, sub, exp, sum, true_divide"
    assert not note.changes_bits
    for node in found.nodes:
        assert node.origin.spans == graph.nodes[0].origin.spans
        assert node.origin.made_by == "pass decompose"


@pytest.mark.parametrize("name", WHOLE)
def test_whole_while_graphs_are_differentiated(name):
    """No derivative of the steps is ever made: that of the row is in the joint graph."""
    text = f"graph f(%x: f32[3,4]) {{ %0: f32[3,4] = {name}(%x, -1) return %0: strides(4,1) }}"
    functional = functionalize(parse_graph(text), [True])
    joint = make_joint(functional).graph
    for graph in (functional.graph, joint, functionalize(parse_graph(text), [False]).graph):
        assert [node.op for node in graph.nodes].count(name) == 1 and has_only_primitives(graph)
    assert "amax" not in [node.op for node in joint.nodes]
    assert name not in [node.op for node in optimize(joint).nodes]


@pytest.mark.numba
@pytest.mark.parametrize("name", WHOLE)
def test_left_out(name):
    """The kernels know no such row, which then runs as eager runs it."""
    row, x = getattr(torch, name), torch.randn(3, 40, requires_grad=True)
    run = torch.compile(lambda x: row(x * 2, -1).sin(), options={"disable_passes": ["decompose"]})
    start, events = torch.randn(3, 40), []
    with subscribe(events.append):
        found = run(x)
    expected = row(x * 2, -1).sin()
    assert torch.allclose(found, expected)
    pair = (torch.autograd.grad(each, x, start)[0] for each in (found, expected))
    assert torch.allclose(*pair, atol=1e-6)
    [optimized] = [event.payload for event in events if event.stage == "passes.optimized"]
    assert [node.op for node in optimized.nodes].count(name) == 1


def test_optimize_gives_primitives():
    text = "graph f(%x: f32[3,4]) { %0: f32[3,4] = softmax(%x, 0) return %0 }"
    for numerics in ("default", "eager", "fast"):
        found = optimize(parse_graph(text), PassOptions(numerics))
        assert [node.op for node in found.nodes] == ["amax", "sub", "exp", "sum", "true_divide"]

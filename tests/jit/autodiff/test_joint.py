"""The joint graph and its partition: gradients equal those of eager autograd."""

import numpy as np
import pytest

import minitorch2 as torch
from minitorch2.jit.autodiff.functionalize import functionalize
from minitorch2.jit.autodiff.joint import make_joint
from minitorch2.jit.autodiff.partition import partition
from minitorch2.jit.autodiff.pipeline import compile_captured
from minitorch2.jit.ir.interpreter import interpret
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.verify import verify
from minitorch2.jit.passes.options import PassOptions

CASES = {
    "a layer": (
        "graph f(%x: f64[4,5], %w: f64[3,5], %b: f64[3], %t: i64[4]) { "
        "%0: f64[4,3] = linear(%x, %w, %b) %1: f64[4,3] = gelu(%0) "
        "%2: f64[4,3] = layer_norm(%1, (3,)) %3: f64[] = cross_entropy(%2, %t) return %3 }"
    ),
    "a value used twice": (
        "graph f(%x: f64[6]) { %0: f64[6] = exp(%x) %1: f64[6] = mul(%0, %x) "
        "%2: f64[6] = add(%1, %0) return %2 }"
    ),
    "a write through a view": (
        "graph f(%x: f64[4,3], %y: f64[3]) { %0: f64[4,3] = clone(%x) "
        "%1: f64[3] = select(%0, 0, 1) %2: f64[3] = mul_(%1, %y) "
        "%3: f64[4,3] = mul(%0, %0) return %3 }"
    ),
    "two outputs, one of them detached": (
        "graph f(%x: f64[4]) { %0: f64[4] = sin(%x) %1: f64[4] = detach(%0) return %0, %1 }"
    ),
    "broadcast operands": (
        "graph f(%x: f64[4,1], %y: f64[3]) { %0: f64[4,3] = true_divide(%x, %y) return %0 }"
    ),
}


def executor(graph, unit):
    return lambda inputs: interpret(graph, inputs)


def inputs_for(graph):
    state = np.random.RandomState(1)
    made = []
    for declared in graph.inputs:
        kind = declared.value.type
        floating = kind.dtype.is_floating_point
        values = state.rand(*kind.shape) + 0.5 if floating else state.randint(0, 3, kind.shape)
        tensor = torch.tensor(values.astype(kind.dtype.numpy))
        made.append(tensor.requires_grad_() if floating else tensor)
    return made


def run(function, graph):
    inputs = inputs_for(graph)
    outputs = function(inputs)
    total = sum((out * out).sum() for out in outputs if out.requires_grad)
    total.backward()
    return outputs, [tensor.grad for tensor in inputs]


@pytest.mark.pure
@pytest.mark.parametrize("with_passes", [True, False], ids=["passes", "plain"])
@pytest.mark.parametrize("text", CASES.values(), ids=CASES.keys())
def test_gradients_equal_eager(text, with_passes):
    graph = parse_graph(text)
    flags = [declared.value.type.dtype.is_floating_point for declared in graph.inputs]
    extra = {} if with_passes else {"options": PassOptions(run=False)}
    program = compile_captured(graph, flags, executor, **extra)
    expected, wanted = run(lambda inputs: interpret(graph, inputs), graph)
    found, gradients = run(program, graph)
    for one, other in zip(expected, found, strict=True):
        assert one.requires_grad == other.requires_grad
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-12)
    for one, other in zip(wanted, gradients, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-10)


@pytest.mark.pure
@pytest.mark.parametrize("text", CASES.values(), ids=CASES.keys())
def test_the_halves_verify_and_hand_over_what_is_read(text):
    graph = parse_graph(text)
    flags = [declared.value.type.dtype.is_floating_point for declared in graph.inputs]
    functional = functionalize(graph, flags)
    joint = make_joint(functional)
    verify(joint.graph)
    halves = partition(joint, len(functional.graph.outputs))
    verify(halves.forward)
    verify(halves.backward)
    kept = len(halves.forward.outputs) - len(functional.graph.outputs)
    assert len(halves.saved) == kept + len(halves.saved_inputs)


@pytest.mark.pure
def test_no_joint_graph_where_nothing_is_differentiable():
    graph = parse_graph("graph f(%x: f64[4]) { %0: bool[4] = gt(%x, 0) return %0 }")
    assert make_joint(functionalize(graph, [True])) is None


@pytest.mark.pure
def test_gradient_sums_keep_the_user_line():
    functional = functionalize(parse_graph(CASES["a value used twice"]), [True])
    for node in make_joint(functional).graph.nodes:
        assert node.origin.spans, str(node)

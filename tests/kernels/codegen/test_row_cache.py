"""Slow functions of a row are computed once, with the same bits."""

import numpy
import pytest

from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.backend import KernelOptions, compile_graph
from minitorch2.tensors import wrap

SOFTMAX = """graph f(%x: {element}[{rows},{n}]) {{
  %0: {element}[{rows},1] = amax(%x, (1,), True)
  %1: {element}[{rows},{n}] = sub(%x, %0)
  %2: {element}[{rows},{n}] = exp(%1)
  %3: {element}[{rows},1] = sum(%2, (1,), True)
  %4: {element}[{rows},{n}] = true_divide(%2, %3)
  return %4
}}"""
TWICE = """graph f(%x: f32[9,192]) {
  %0: f32[9,192] = exp(%x)
  %1: f32[9,192] = tanh(%x)
  %2: f32[9,1] = sum(%0, (1,), True)
  %3: f32[9,1] = sum(%1, (1,), True)
  %4: f32[9,192] = div(%0, %2)
  %5: f32[9,192] = mul(%1, %3)
  %6: f32[9,192] = add(%4, %5)
  return %6
}""".replace("div(", "true_divide(")


def sources(graph) -> str:
    return "\n".join(map(str, compile_graph(graph, KernelOptions()).sources.kernels))


@pytest.mark.parametrize("element", ["f32", "f64", "bf16"])
@pytest.mark.parametrize("n", [10, 128, 1024])
def test_softmax_computes_each_exp_once(n, element):
    graph = parse_graph(SOFTMAX.format(element=element, rows=7, n=n))
    text = sources(graph)
    kept = element != "bf16"
    assert text.count("exp(") == (1 if kept else 2) and ("row0" in text) == kept


def test_a_row_too_long_for_the_cache_is_computed_twice():
    graph = parse_graph(SOFTMAX.format(element="f32", rows=7, n=8192))
    assert sources(graph).count("exp(") == 2


def test_two_functions_of_a_row():
    text = sources(parse_graph(TWICE))
    assert text.count("exp(") == text.count("tanh(") == 1
    assert "row0" in text and "row1" in text


@pytest.mark.parametrize(
    "text", [SOFTMAX.format(element="f32", rows=7, n=130), TWICE.replace("192", "200")]
)
def test_the_bits_are_those_of_plain_python(text):
    graph = parse_graph(text)
    shape = tuple(graph.inputs[0].value.type.shape)
    given = [wrap(numpy.random.RandomState(0).randn(*shape).astype("f4"))]
    found = {
        name: compile_graph(graph, KernelOptions(executor=name))(given)[0].array
        for name in ("numba", "python", "loops")
    }
    assert found["numba"].tobytes() == found["python"].tobytes()
    numpy.testing.assert_allclose(found["numba"], found["loops"], rtol=1e-3, atol=1e-5)

"""What is computed again instead of stored, and that it changes no bit."""

import numpy
import pytest

from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.backend import KernelOptions, compile_graph, plan_graph
from minitorch2.kernels.lower.lowering import lower_graph
from minitorch2.kernels.schedule import recompute
from minitorch2.tensors import wrap
from tests.kernels.graphs import check_graph, random_graph, random_inputs

GRAPH = """graph f(%x: f32[64,512], %bias: f32[512], %w: f32[512,512]) {
  %0: f32[64,512] = matmul(%x, %w)
  %1: f32[64,512] = add(%0, %bias)
  %2: f32[64,512] = tanh(%1)
  %3: f32[64,512] = mul(%2, %2)
  %4: f32[64,512] = mul(%1, 0.5)
  %5: f32[64,512] = add(%2, 1.0)
  %6: f32[64,512] = mul(%4, %5)
  %7: f32[64,512] = matmul(%6, %w)
  %8: f32[64,512] = mul(%7, %3)
  %9: f32[64,512] = add(%8, %5)
  return %9 writes (%bias <- %10)
}"""


def planned(text: str):
    graph = parse_graph(text)
    return plan_graph(graph, lower_graph(graph), fuse=True)


def test_cheap_values_of_a_slow_one_are_computed_again():
    plan, fusion = planned(GRAPH.replace(" writes (%bias <- %10)", ""))
    [made] = fusion.recomputed
    assert made.values == ("%3", "%5") and made.after < made.before
    first, last = (step for step in plan.steps if hasattr(step, "kernel"))
    stored = {value.id for value in first.makes}
    assert stored == {"2", "6"}  # the slow function's result, and the operand of the product
    assert {value.id for value in last.buffers} == {"7", "2", "9"}


def test_a_reader_of_an_input_runs_before_the_write_into_it():
    """The last kernel computes %1 again, so that it reads %bias, which is written at the end."""
    text = GRAPH.replace("%8: f32[64,512] = mul(%7, %3)", "%8: f32[64,512] = mul(%7, %4)")
    text = text.replace("  return", "  %10: f32[512] = mul(%bias, 2.0)\n  return")
    plan, fusion = planned(text)
    assert any("%1" in made.values for made in fusion.recomputed)
    names = ["".join(f"%{value.id} " for value in step.uses()) for step in plan.steps]
    reader = max(at for at, uses in enumerate(names) if "%9 " in uses)
    writer = max(at for at, uses in enumerate(names) if uses == "%bias ")
    assert reader < writer


def test_the_bits_stay():
    graph = parse_graph(GRAPH.replace(" writes (%bias <- %10)", ""))
    chance = numpy.random.RandomState(0)
    inputs = [wrap(chance.randn(*shape).astype("f4")) for shape in ((64, 512), (512,), (512, 512))]
    fused, apart = (
        compile_graph(graph, KernelOptions(fuse=fuse))(inputs)[0].array for fuse in (True, False)
    )
    assert fused.tobytes() == apart.tobytes()


@pytest.mark.parametrize("number", range(40))
def test_random_graphs(number, monkeypatch):
    """With nothing too small to be computed again."""
    monkeypatch.setattr(recompute, "SMALLEST", 1)
    graph = random_graph(number, steps=24)
    check_graph(graph, random_inputs(graph, number), KernelOptions(executor="python"))


def test_random_graphs_compute_something_again(monkeypatch):
    monkeypatch.setattr(recompute, "SMALLEST", 1)
    graphs = [random_graph(number, steps=24) for number in range(40)]
    found = [plan_graph(graph, lower_graph(graph), fuse=True)[1].recomputed for graph in graphs]
    assert sum(map(bool, found)) >= 3


@pytest.mark.parametrize("number", range(40, 80))
def test_whatever_is_read_instead_can_be_stored(number, monkeypatch):
    """Every plan can be built: a value that another kernel now reads has a place in its own."""
    monkeypatch.setattr(recompute, "SMALLEST", -(10**9))
    graph = random_graph(number, steps=40)
    plan, _ = plan_graph(graph, lower_graph(graph), fuse=True)
    assert plan.steps

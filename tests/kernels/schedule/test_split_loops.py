"""Loops cut at windows and stripped of divisions: the same results, and what the loops become."""

import numpy
import pytest

from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.backend import KernelOptions
from minitorch2.kernels.interpreter import interpret_kernel
from minitorch2.kernels.loop_ir import Kernel, Loop, Window
from minitorch2.kernels.parser import parse_kernel
from minitorch2.kernels.printer import print_kernel
from minitorch2.kernels.schedule.split_loops import split_loops
from minitorch2.kernels.verify import verify_kernel
from tests.kernels.graphs import check_graph, random_inputs

CAT = """kernel cat(t0: f32[80] in, t1: f32[160] in, t2: f32[240] out) {
  for i in 5 {
    for j in 48 {
      window w, inside = j - 16 in 32
      v0: f32 = t1[32*i + w]
      v1: f32 = t0[16*i + (j % 16)]
      v2: f32 = select(inside, v0, v1)
      t2[48*i + j] = v2
    }
  }
}"""
HEADS = """kernel heads(t0: f32[1536] in, t1: f32[1536] out) {
  for i in 12 {
    for j in 128 {
      v0: f32 = t0[(j // 32)*384 + 32*i + (j % 32)]
      t1[128*i + j] = v0
    }
  }
}"""


def run(kernel: Kernel) -> list[bytes]:
    """What a kernel leaves in its buffers."""
    chance = numpy.random.RandomState(0)
    arrays = [chance.randn(int(str(buffer.size))).astype("f4") for buffer in kernel.buffers]
    interpret_kernel(kernel, arrays, (), ())
    return [array.tobytes() for array in arrays]


def innermost(kernel: Kernel) -> list[Loop]:
    """The loops without a loop inside."""
    found, pending = [], [each for each in kernel.body if isinstance(each, Loop)]
    while pending:
        loop = pending.pop(0)
        inner = [each for each in loop.body if isinstance(each, Loop)]
        pending += inner
        found += [] if inner else [loop]
    return found


@pytest.mark.parametrize("text", [CAT, HEADS])
def test_the_results_stay(text):
    kernel = parse_kernel(text)
    made = split_loops(kernel)
    verify_kernel(made)
    assert made != kernel and run(made) == run(kernel)


def test_a_cat_is_a_copy_of_each_part():
    first, second = innermost(split_loops(parse_kernel(CAT)))
    assert [str(first.extent), str(second.extent)] == ["16", "32"]
    assert not any(isinstance(each, Window) for each in (*first.body, *second.body))
    assert len(first.body) == len(second.body) == 3  # load, choice, store
    assert "//" not in print_kernel(split_loops(parse_kernel(CAT)))


def test_heads_move_in_stretches():
    made = split_loops(parse_kernel(HEADS))
    [loop] = innermost(made)
    assert str(loop.extent) == "32" and "%" not in print_kernel(made)


@pytest.mark.parametrize(
    "text",
    [
        CAT.replace("in 48", "in 17").replace("48*i", "17*i"),  # a loop of one turn is no loop
        CAT.replace("j - 16 in 32", "i - 2 in 3").replace("(j % 16)", "i"),  # not its variable
        HEADS.replace("// 32", "// 24").replace("% 32", "% 24"),  # does not divide the loop
    ],
)
def test_what_stays_one_loop(text):
    kernel = parse_kernel(text)
    assert split_loops(kernel) == kernel


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("executor", ["python", "loops", "sim"])
def test_cats_of_views(dim, executor):
    sizes = [16, 24, 32]
    sizes[dim] *= 3
    whole = f"f32[{sizes[0]},{sizes[1]},{sizes[2]}]"
    graph = parse_graph(f"""graph f(%x: f32[16,24,32], %y: f32[16,24,32], %z: f32[32,24,16]) {{
      %0: f32[16,24,32] = transpose(%z, 0, 2)
      %1: {whole} = cat((%x, %0, %y), dim={dim})
      return %1
    }}""")
    check_graph(graph, random_inputs(graph, 1), KernelOptions(executor=executor))

"""argmax and argmin along rows: numpy's answer for ties, infinities and nan, at every length."""

import numpy as np
import pytest

import minitorch2
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.backend import KernelOptions, compile_graph
from minitorch2.tensors import wrap

pytestmark = pytest.mark.numba
LENGTHS = [1, 5, 15, 16, 17, 40, 63, 64, 65, 100, 1000, 4095, 4096, 5000]
GRAPH = """graph f(%x: {element}[7,{n}]) {{
  %0: i64[7] = argmax(%x, 1, False)
  %1: i64[7] = argmin(%x, 1, False)
  %2: {element}[7] = amax(%x, (1,), False)
  return %0, %1, %2
}}"""


def rows(n, element):
    """Seven rows: ties, numbers, some nan, nan alone, infinities of either sign, nan at the end."""
    random = np.random.RandomState(n)
    array = random.randint(-5, 5, (7, n)).astype(element)
    array[1] = random.randn(n)
    array[2, random.rand(n) < 0.1] = np.nan
    array[3], array[4], array[5] = np.nan, -np.inf, np.inf
    array[6, -1] = np.nan
    return array


@pytest.mark.parametrize("executor", ["numba", "python"])
@pytest.mark.parametrize("element", ["f32", "f64"])
def test_rows(element, executor):
    for n in LENGTHS if executor == "numba" else [17, 64, 100]:
        array = rows(n, {"f32": "f4", "f64": "f8"}[element])
        graph = parse_graph(GRAPH.format(element=element, n=n))
        found = compile_graph(graph, KernelOptions(executor=executor))([wrap(array)])
        assert (found[0].array == array.argmax(1)).all(), n
        assert (found[1].array == array.argmin(1)).all(), n
        assert np.array_equal(found[2].array, array.max(1), equal_nan=True), n


@pytest.mark.parametrize("kind", ["bfloat16", "float16"])
def test_halves(kind):
    array = minitorch2.from_numpy(rows(200, "f4")).to(getattr(minitorch2, kind))
    place = minitorch2.compile(lambda x: x.argmax(-1))(array)
    assert (place.numpy() == array.float().numpy().argmax(1)).all()


def test_sizes_that_vary():
    place = minitorch2.compile(lambda x: x.argmax(-1), dynamic=True)
    for n in (3, 64, 70, 500):
        array = rows(n, "f4")
        assert (place(minitorch2.from_numpy(array)).numpy() == array.argmax(1)).all()


def test_whole_arrays():
    place = minitorch2.compile(lambda x: (x.argmax(), x.argmin()))
    array = np.random.RandomState(0).randn(30, 5, 40).astype("f4")
    assert [each.item() for each in place(minitorch2.from_numpy(array))] == [
        array.argmax(), array.argmin(),
    ]  # fmt: skip

"""Results that are streamed: which ones, the same bits by every executor, any alignment."""

import ml_dtypes
import numpy as np
import pytest

from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.backend import KernelOptions, compile_graph
from minitorch2.kernels.codegen import streams
from minitorch2.kernels.runtime.compile import compile_kernel, plain_kernel
from minitorch2.kernels.runtime.signature import KernelSignature
from minitorch2.kernels.runtime.translate import KernelSourceError
from minitorch2.tensors import wrap

pytestmark = pytest.mark.numba
POINTWISE = """graph f(%x: {element}[{rows},{n}], %y: {element}[{rows},{n}]) {{
  %0: {element}[{rows},{n}] = add(%x, %y, 1)
  %1: {element}[{rows},{n}] = mul(%0, %y)
  return %0, %1
}}"""
ROWS = """graph f(%x: {element}[{rows},{n}], %y: {element}[{rows},{n}]) {{
  %0: {element}[{rows},1] = amax(%x, (1,), True)
  %1: {element}[{rows},{n}] = sub(%x, %0, 1)
  %2: {element}[{rows},{n}] = mul(%1, %y)
  return %2
}}"""
UPDATE = """graph f(%x: f32[{rows},{n}], %y: f32[{rows},{n}]) {{
  %0: f32[{rows},{n}] = mul(%x, %y)
  return %0
  write %x = %0
}}"""
DTYPES = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "u8": np.uint8,
          "bf16": ml_dtypes.bfloat16, "f16": np.float16}  # fmt: skip


def given(element, rows, n):
    random = np.random.RandomState(0)
    return [wrap((random.rand(rows, n) * 9).astype(DTYPES[element])) for _ in range(2)]


def results(text, element, rows, n, executor="numba"):
    graph = parse_graph(text.format(element=element, rows=rows, n=n))
    compiled = compile_graph(graph, KernelOptions(executor=executor))
    return compiled, [each.array.copy() for each in compiled(given(element, rows, n))]


@pytest.fixture
def small_cache(monkeypatch):
    """A machine with so little cache that everything is streamed."""
    monkeypatch.setattr(streams, "cache_bytes", lambda: 64)


@pytest.mark.parametrize("text", [POINTWISE, ROWS])
@pytest.mark.parametrize("element", DTYPES)
@pytest.mark.parametrize(("rows", "n"), [(3, 256), (5, 1000), (7, 777), (1, 5000)])
def test_the_bits_do_not_change(text, element, rows, n, monkeypatch):
    plain, wanted = results(text, element, rows, n)
    assert "streamed" not in str(plain.sources)
    monkeypatch.setattr(streams, "cache_bytes", lambda: 64)
    streamed, found = results(text, element, rows, n)
    assert "streamed" in str(streamed.sources)
    for one, other in zip(found, wanted, strict=True):
        assert one.tobytes() == other.tobytes()


def test_plain_python_runs_the_same_source(small_cache):
    _, wanted = results(POINTWISE, "f32", 2, 300)
    _, found = results(POINTWISE, "f32", 2, 300, "python")
    assert all((a == b).all() for a, b in zip(found, wanted, strict=True))


@pytest.mark.parametrize("text", [POINTWISE.replace("{n}", "100").replace("{rows}", "2")])
def test_short_loops_are_not_streamed(text, small_cache):
    compiled, _ = results(text, "f32", 2, 100)
    assert "streamed" not in str(compiled.sources)


def test_what_fits_into_a_cache_is_not_streamed():
    compiled, _ = results(POINTWISE, "f32", 64, 512)
    assert "streamed" not in str(compiled.sources)


def test_sums_are_not_streamed(small_cache):
    text = "graph f(%x: f32[300,512], %y: f32[300,512]) {\n  %0: f32[300] = sum(%x, (1,), False)\n"
    compiled, [found] = results(text.replace("{", "{{").replace("}", "}}") + "  return %0\n}}",
                                "f32", 300, 512)  # fmt: skip
    assert "streamed" not in str(compiled.sources)
    assert found.shape == (300,)


SOFTMAX = """graph f(%x: {element}[{rows},{n}], %y: {element}[{rows},{n}]) {{
  %0: {element}[{rows},1] = amax(%x, (1,), True)
  %1: {element}[{rows},{n}] = sub(%x, %0, 1)
  %2: {element}[{rows},{n}] = exp(%1)
  %3: {element}[{rows},1] = sum(%2, (1,), True)
  %4: {element}[{rows},{n}] = true_divide(%2, %3)
  return %4
}}"""


@pytest.mark.parametrize("text", [POINTWISE.replace("mul(%0, %y)", "exp(%0)"), SOFTMAX])
def test_what_waits_for_its_arithmetic_is_not_streamed(text, small_cache):
    compiled, _ = results(text, "f32", 8, 512)
    assert "streamed" not in str(compiled.sources)


def test_a_logarithm_of_each_row_does_not_count(small_cache):
    text = ROWS.replace("sub(%x, %0, 1)", "sub(%x, %3, 1)")
    text = text.replace("  %1:", "  %3: {element}[{rows},1] = log(%0)\n  %1:")
    compiled, _ = results(text, "f32", 8, 512)
    assert "streamed" in str(compiled.sources)


COPY = """def copy(lo, hi, x, y, at, status):
    strip = local_{short}(700)
    for i in range(lo, hi):
        for lane in range(at):
            strip[lane] = x[i*at + lane]
        for lane in streamed(at):
            j = i*at + lane
            y[j] = strip[lane]
"""


@pytest.mark.parametrize("frontend", ["direct", "numba"])
@pytest.mark.parametrize("short", ["f32", "f64", "u8", "u16"])
def test_any_alignment_and_length(short, frontend):
    element = np.dtype({"f32": "f4", "f64": "f8", "u8": "u1", "u16": "u2"}[short])
    signature = KernelSignature((short, short), 1)
    kernel = compile_kernel(COPY.format(short=short), signature, frontend)
    for count in (1, 3, 15, 16, 17, 64, 200, 700):
        for first in (0, 1, 7, 16):
            x = np.arange(3 * count).astype(element)
            memory = np.zeros(3 * count + 40, element)
            y = memory[first : first + 3 * count]
            kernel.launch(3, (x, y), (count,))
            assert (y == x).all()
            assert not memory[:first].any() and not memory[first + 3 * count :].any()
            memory[:] = 0
            plain_kernel(COPY.format(short=short))(3, (x, y), (count,))
            assert (y == x).all()


@pytest.mark.parametrize(
    "body", ["y[lane] = f32(1.0)", "j = lane", "y[lane] = x[lane] + x[lane]", "y[lane] = z[lane]"]
)
def test_a_streamed_loop_only_copies(body):
    source = f"def bad(lo, hi, x, y, z, status):\n    for lane in streamed(hi):\n        {body}\n"
    with pytest.raises(KernelSourceError):
        compile_kernel(source, KernelSignature(("f32", "f32", "f64")), "direct")

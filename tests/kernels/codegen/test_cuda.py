"""CUDA source: run with real threads as plain Python, and, with the extra, through ptxas."""

import re

import numpy
import pytest

from minitorch2.kernels.codegen.cuda import generate_cuda
from minitorch2.kernels.interpreter import interpret_kernel
from minitorch2.kernels.parser import parse_kernel
from minitorch2.kernels.printer import print_kernel
from minitorch2.kernels.runtime import cuda
from minitorch2.kernels.runtime.signature import KernelSignature
from minitorch2.kernels.schedule.gpu import schedule_gpu
from minitorch2.kernels.vecmath import scalars
from minitorch2.kernels.vecmath.helpers import HELPERS
from tests.kernels.codegen.gpu_threads import run_grid
from tests.kernels.gpu_kernels import kernels

MISSING = pytest.mark.skipif(not cuda.available(), reason=f"the extra is missing: {cuda.INSTALL}")


def needs_extra(test):
    """Marks a test that compiles for a GPU."""
    return pytest.mark.cuda(MISSING(test))


ROW = """\
kernel softmax(x: f32[{n}*s0] in, y: f32[{n}*s0] out, z: i64[s0] out, s0: size, c: f32) {{
  for i in s0 parallel {{
    reduce j in {n} {{
      v0: f32 = x[{n}*i + j]
    }} into m: f32 = max(v0), at: i64 = argmax(v0)
    z[i] = at
    reduce j in {n} {{
      v1: f32 = x[{n}*i + j]
      v2: f32 = exp(sub(v1, m))
    }} into t: f32 = sum(v2), u: bool = any(v2)
    for l in {n} {{
      v3: f32 = x[{n}*i + l]
      v4: f32 = truediv(exp(sub(v3, m)), t)
      y[{n}*i + l] = select(u, mul(v4, c), v4)
    }}
  }}
}}"""

POINTS = """\
kernel points(x: f32[s0] in, g: i64[s0] in, h: bf16[s0] inout, b: bool[s0] out, s0: size) {
  for p in s0 parallel {
    v0: f32 = x[p]
    v1: i64 = g[p]
    check q = v1 in s0 else "IndexOutOfRange: g"
    window w, inside = p - 3 in s0
    v2: f32 = add(x[q], select(inside, x[w], f32(0.5)))
    v3: bf16 = h[p]
    h[p] = cast_bf16(add(v2, cast_f32(v3)))
    b[p] = less(v0, v2)
  }
}"""

COLUMNS = """\
kernel columns(x: f32[640] in, y: f32[64] inout) {
  for j in 64 parallel {
    reduce i in 10 {
      v: f32 = x[64*i + j]
    } into t: f32 = sum(v)
    y[j] += t
  }
}"""


def both(kernel, arrays, sizes=(), numbers=(), blocks=1):
    """Arrays after the interpreter's run of the kernel, and after its CUDA source's."""
    wanted = [each.copy() for each in arrays]
    interpret_kernel(kernel, wanted, sizes, numbers)
    found = [each.copy() for each in arrays]
    scheduled = schedule_gpu(kernel)
    bits = [each.view("u2") if each.dtype.itemsize == 2 else each for each in found]
    run_grid(generate_cuda(scheduled), scheduled.threads, blocks, bits, sizes, numbers)
    return found, wanted


def floats(count):
    """Normal numbers, the same on every run."""
    return numpy.random.RandomState(0).randn(count).astype("f4")


def same(found, wanted):
    """Equal but for the order of sums."""
    for ours, theirs in zip(found, wanted, strict=True):
        if ours.dtype.kind in "ib":
            numpy.testing.assert_array_equal(ours, theirs)
        else:
            numpy.testing.assert_allclose(ours.astype("f4"), theirs.astype("f4"), 1e-5, 1e-6)


@pytest.mark.parametrize("rows, width", [(3, 64), (3, 130), (1, 256), (1, 1000)])
def test_rows_as_threads(rows, width):
    text = ROW.format(n=width).replace("s0", "1") if rows == 1 else ROW.format(n=width)
    kernel, x = parse_kernel(text.replace(", 1: size", "")), floats(rows * width)
    arrays = [x, numpy.zeros(rows * width, "f4"), numpy.zeros(rows, "i8")]
    same(*both(kernel, arrays, (rows,) if rows > 1 else (), (numpy.float32(2),), min(rows, 2)))


@pytest.mark.parametrize("size", [5, 64, 515])
def test_elements_as_threads(size):
    random, bf16 = numpy.random.RandomState(0), parse_kernel(POINTS).buffers[2].dtype.numpy
    arrays = [random.randn(size).astype("f4"), random.permutation(size),
              random.randn(size).astype(bf16), numpy.zeros(size, bool)]  # fmt: skip
    same(*both(parse_kernel(POINTS), arrays, (size,)))


def test_columns_as_threads():
    same(*both(parse_kernel(COLUMNS), [floats(640), numpy.ones(64, "f4")]))


def test_a_failed_check_goes_to_the_status_words():
    kernel = schedule_gpu(parse_kernel(POINTS))
    arrays = [numpy.zeros(8, "f4"), numpy.arange(8) + 1, numpy.zeros(8, "u2"), numpy.zeros(8, "?")]
    status = run_grid(generate_cuda(kernel), kernel.threads, 1, arrays, (8,))
    assert list(status) == [16, 8]


def test_schedule_and_source(golden):
    for number, width in enumerate((64, 1024)):
        kernel = schedule_gpu(parse_kernel(ROW.format(n=width)))
        golden(f"{print_kernel(kernel)}\n\n{generate_cuda(kernel)}", part=("warp", "block")[number])


def test_the_table_covers_every_line():
    for kernel in kernels().values():
        source = generate_cuda(schedule_gpu(kernel))
        assert len(source.lines) == source.text.count("\n")
        assert any(origin.spans for origin in source.lines)


# With the extra: PTX, and what ptxas makes of it


WIDE = re.compile(r"\bld\.global(?:\.nc)?\.v(?:4\.[fbus]32|2\.[fbus]64)\b")


def loop_bodies(ptx):
    """The text from each label to the last jump back to it."""
    found = []
    for label in re.finditer(r"^(\$\w+):", ptx, re.M):
        jumps = [jump.end() for jump in re.finditer(rf"bra\s+{re.escape(label[1])};", ptx)]
        if jumps and jumps[-1] > label.end():
            found.append(ptx[label.end() : jumps[-1]])
    return found


def wide_kernels():
    """Names of the kernels that read f32 vectors: all but fills and folds down columns."""
    texts = {name: print_kernel(schedule_gpu(kernel)) for name, kernel in kernels().items()}
    reads = re.compile(r"vector \{\n\s*v\d+: (?:f32|bf16) = ")
    return {name for name, text in texts.items() if reads.search(text)}


@pytest.mark.parametrize("name", sorted(kernels()))
@pytest.mark.parametrize("architecture", cuda.ARCHITECTURES, ids=lambda a: f"sm_{a[0]}{a[1]}")
@needs_extra
def test_ptxas(name, architecture):
    source = generate_cuda(schedule_gpu(kernels()[name]))
    ptx = cuda.compile_ptx(source.text, source.signature, architecture)
    report = cuda.assemble(ptx, architecture)
    print(f"{name:28}{report}")
    assert report.spilled_bytes == 0 and report.stack_bytes == 0
    assert report.registers <= 64
    if name in wide_kernels():
        assert any(WIDE.search(body) for body in loop_bodies(ptx))


@needs_extra
def test_every_helper_compiles():
    names = [name for name in HELPERS if name in scalars.__all__]
    for name in names:
        helper = HELPERS[name]
        kind = next(
            short for short in helper.accepts if short != "bool" or len(helper.accepts) == 1
        )
        given = tuple(own or kind for own in helper.fixed or (kind,) * helper.arity)
        parameters = ["a", "b", "c"][: len(given)]
        call = f"{name}({', '.join(f'{each}[i]' for each in parameters)})"
        source = (
            f"def k({', '.join(parameters)}, y, status):\n    i = grid_index()\n    y[i] = {call}\n"
        )
        ptx = cuda.compile_ptx(source, KernelSignature((*given, helper.result_type(given))), (9, 0))
        assert cuda.assemble(ptx, (9, 0)).stack_bytes == 0, name


@needs_extra
def test_products_and_sums_are_not_contracted():
    source = "def k(a, b, y, status):\n    i = grid_index()\n    y[i] = a[i] * b[i] + b[i]\n"
    ptx = cuda.compile_ptx(source, KernelSignature(("f32",) * 3), (9, 0))
    assert "fma" not in ptx and ".ftz" not in ptx


def test_without_the_extra_the_error_says_how_to_add_it(monkeypatch):
    monkeypatch.setattr(cuda, "available", lambda: False)
    with pytest.raises(cuda.MissingCuda, match=r"pip install 'minitorch2\[cuda\]'"):
        cuda.compile_ptx("def k(status):\n    pass\n", KernelSignature(()), (9, 0))

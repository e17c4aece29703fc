"""Schedules for a GPU: who gets which turns, where vectors are, and what the verifier refuses."""

import pytest

from minitorch2.kernels.loop_ir import Kernel
from minitorch2.kernels.parser import parse_kernel
from minitorch2.kernels.printer import print_kernel
from minitorch2.kernels.schedule.gpu import grid_blocks, schedule_gpu
from minitorch2.kernels.verify import LoopVerifyError, verify_kernel


def scheduled(text: str, vectors: bool = True) -> Kernel:
    """The schedule of a kernel given as text, checked."""
    kernel = schedule_gpu(parse_kernel(text), vectors)
    verify_kernel(kernel)
    return kernel


def loops(text: str, vectors: bool = True) -> list[str]:
    """The loop lines of a schedule."""
    lines = print_kernel(scheduled(text, vectors)).split("\n")
    return [line.strip(" {") for line in lines if line.strip().startswith(("for", "reduce"))]


def points(size: str, kind: str = "f32", index: str = "i") -> str:
    """y[i] = x[index], over `size` elements."""
    sizes = ", s0: size" if "s0" in size else ""
    return f"""kernel k(x: {kind}[{size}] in, y: {kind}[{size}] out{sizes}) {{
      for i in {size} parallel {{
        v: {kind} = x[{index}]
        y[i] = v
      }}
    }}"""


def rows(columns: str, fold: str = "x[{n}*i + j]", count: str = "64") -> str:
    """The sum of every row."""
    sizes = ", s0: size" if "s0" in columns + count else ""
    return f"""kernel k(x: f32[{count}*{columns}] in, y: f32[{count}] out{sizes}) {{
      for i in {count} parallel {{
        reduce j in {columns} {{
          v: f32 = {fold.format(n=columns)}
        }} into r: f32 = sum(v)
        y[i] = r
      }}
    }}"""


@pytest.mark.parametrize("kind, width", [("f32", 4), ("f64", 2), ("bf16", 8), ("i64", 2)])
def test_a_vector_is_sixteen_bytes(kind, width):
    assert loops(points("4096", kind)) == [
        f"for i in {4096 // width} threads", f"for ie in {width} vector",
    ]  # fmt: skip


def test_what_is_left_after_the_last_vector_is_a_loop_of_its_own():
    assert loops(points("s0")) == [
        "for i in (s0 // 4) threads", "for ie in 4 vector", "for ir in (s0 % 4) threads",
    ]  # fmt: skip


@pytest.mark.parametrize("index", ["4095 - i", "(i // 3)"])
def test_elements_that_are_no_neighbours_are_loaded_alone(index):
    text = print_kernel(scheduled(points("4096", index=index)))
    assert "y[4*i + ie]" in text and "x[4*i + ie]" not in text


def test_buffers_at_odd_addresses_have_no_vectors():
    assert loops(points("4096"), vectors=False) == ["for i in 4096 threads"]


@pytest.mark.parametrize(
    "columns, team, threads",
    [("64", "warps", 128), ("512", "warps", 128), ("1024", "blocks", 256),
     ("65536", "blocks", 512), ("s0", "blocks", 256)],
)  # fmt: skip
def test_short_rows_go_to_warps_and_long_ones_to_blocks(columns, team, threads):
    kernel = scheduled(rows(columns))
    assert kernel.threads == threads and kernel.body[0].spread == team


def test_rows_that_begin_anywhere_have_no_vectors():
    assert loops(rows("130"))[1] == "reduce j in 130 threads"
    assert loops(rows("s0"))[1] == "reduce j in s0 threads"
    assert loops(rows("4*s0"))[1] == "reduce j in s0 threads, je in 4 vector"


def test_a_fold_down_columns_stays_with_its_column():
    assert loops(rows("64", "x[64*j + i]")) == ["for i in 64 threads", "reduce j in 64"]


def test_a_whole_sum_is_one_block():
    text = """kernel k(x: f32[4096] in, y: f32[1] out) {
      reduce j in 4096 {
        v: f32 = x[j]
      } into r: f32 = sum(v)
      y[0] = r
    }"""
    assert loops(text) == ["for once in 1 blocks", "reduce j in 1024 threads, je in 4 vector"]


def test_the_grid_has_a_turn_for_every_thread_until_it_is_full():
    kernel = scheduled(points("s0"))
    assert [grid_blocks(kernel, {"s0": size}) for size in (1, 1024, 1028, 10**9)] == [
        1, 1, 2, 65536,
    ]  # fmt: skip
    assert grid_blocks(scheduled(rows("64", count="s0")), {"s0": 10}) == 3


@pytest.mark.parametrize(
    "head, lines, complaint",
    [
        ("", ["for i in 4 threads {", "y[i] = a[i]", "}"], "the kernel has no threads"),
        ("threads 32 ", ["for i in 4 {", "y[i] = a[i]", "}"], "outside blocks, warps and threads"),
        ("threads 32 ", ["for i in 2 blocks {", "for j in 2 blocks {", "y[i] = a[j]", "}", "}"],
         "not the outermost loop"),
        ("threads 32 ", ["for i in 2 threads {", "for j in 2 threads {", "y[i] = a[j]", "}", "}"],
         "threads in threads"),
        ("threads 32 ", ["for i in 1 threads {", "for j in 3 vector {", "y[j] = a[j]", "}", "}"],
         "a vector has"),
        ("threads 32 ", ["for i in 1 threads {", "for j in 2 vector {", "for k in 2 {",
                         "y[j] = a[j]", "}", "}", "}"], "a loop inside a vector"),
    ],
)  # fmt: skip
def test_the_verifier_knows_where_the_words_may_stand(head, lines, complaint):
    body = "\n".join(lines)
    kernel = parse_kernel(f"kernel k(a: f32[4] in, y: f32[4] out) {head}{{\n{body}\n}}")
    with pytest.raises(LoopVerifyError, match=complaint):
        verify_kernel(kernel)

"""The innermost loop of a kernel over vecmath functions is made of vector instructions."""

import platform
import re

import pytest

from minitorch2.kernels.runtime.compile import compile_kernel
from minitorch2.kernels.runtime.signature import KernelSignature
from tests.kernels.vecmath.kernels import elementwise

pytestmark = pytest.mark.numba
PACKED = {
    "x86_64": r"\bv?(add|sub|mul|div|fn?madd\d+|fmsub\d+)p[sd]\b",
    "aarch64": r"\b(fadd|fmul|fmla|fmls)\s+v\d+",
}
MACHINE = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())


def innermost_loops(assembly: str) -> list[str]:
    """The text of each loop that contains no other: from a label to the last jump back to it."""
    lines = assembly.splitlines()
    places = {line[:-1]: i for i, line in enumerate(lines) if re.fullmatch(r"\.?L\w+:", line)}
    spans = []
    for i, line in enumerate(lines):
        target = re.search(r"\s(j\w+|b\.?\w*|cbnz|cbz)\s.*?(\.?L\w+)\s*$", line)
        if target and places.get(target[2], i) < i:
            spans.append((places[target[2]], i))
    return [
        "\n".join(lines[start : end + 1])
        for start, end in spans
        if not any(s > start and e < end for s, e in spans)
    ]


def packed_operations(assembly: str) -> int:
    """The most vector arithmetic instructions in one innermost loop."""
    return max(len(re.findall(PACKED[MACHINE], loop)) for loop in innermost_loops(assembly))


@pytest.mark.skipif(MACHINE not in PACKED, reason="knows the instructions of x86 and ARM only")
@pytest.mark.parametrize("short", ["f32", "f64"])
@pytest.mark.parametrize(
    "name", ["exp", "tanh", "log", "erf", "expm1", "log1p", "sigmoid", "sin", "pow"]
)
def test_functions_vectorize(name, short):
    kernel, _ = elementwise(name, (short,) * (2 if name == "pow" else 1))
    assert packed_operations(kernel.assembly()) >= 8


@pytest.mark.skipif(MACHINE not in PACKED, reason="knows the instructions of x86 and ARM only")
def test_many_arrays_vectorize():
    """LLVM gives up after a few alias checks; the noalias promise spares it them."""
    names = [f"x{i}" for i in range(11)]
    total = " + ".join(f"{name}[i + u64(1)]" for name in names)
    source = (
        f"def add(lo, hi, {', '.join(names)}, y, status):\n"
        f"    for i in range(lo, hi):\n        y[i] = {total}\n"
    )
    kernel = compile_kernel(source, KernelSignature(("f32",) * 12))
    assert packed_operations(kernel.assembly()) >= 10

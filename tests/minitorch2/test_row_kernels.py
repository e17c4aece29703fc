"""Rows that are kernels for large arrays: numpy's bits at every size; freed memory is kept."""

import os
import platform
import subprocess
import sys

import numpy
import pytest

from minitorch2.backends.row_kernels import LARGE, RowKernel, _kinds
from minitorch2.ops.table import all_ops, lookup

ROWS = [op.name for op in all_ops() if isinstance(op.eager, RowKernel)]
SPECIAL = [0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, 1e-40, 3e38]


def operand(kind, shape, seed):
    rng = numpy.random.default_rng(seed)
    values = rng.standard_normal(shape)
    values.reshape(-1)[: len(SPECIAL)] = rng.permutation(SPECIAL)
    return values > 0 if kind == "bool" else values.astype(kind)


@pytest.mark.parametrize("shape", [(LARGE - 1,), (LARGE,), (7, 5, LARGE // 16)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("numbers", [(), (2,), (1,), (1, 2)], ids=str)
@pytest.mark.parametrize("name", ROWS)
def test_numpys_bits(name, numbers, dtype, shape):
    op = lookup(name)
    values = []
    for index, parameter in enumerate(op.signature.parameters):
        kind = dtype if parameter.type == "Operand" else "bool"
        if index in numbers and kind != "bool":
            values.append(numpy.dtype(dtype).type(0.75))
        else:
            values.append(operand(kind, shape, index))
    floats = any(numpy.ndim(each) and each.dtype.kind == "f" for each in values)
    assert (_kinds(tuple(values)) is not None) == (values[0].size >= LARGE and floats)
    with numpy.errstate(all="ignore"):
        found, wanted = op.eager(*values), op.eager.usual(*values)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    nan = numpy.isnan(wanted)
    assert (numpy.isnan(found) == nan).all()
    assert found[~nan].tobytes() == wanted[~nan].tobytes()


def test_the_rows_are_there():
    assert {"where", "lerp"} <= set(ROWS)


large = numpy.ones((200, 200), numpy.float32)
UNFIT = {
    "shapes that broadcast": (large > 0, large, large[0]),
    "two dtypes": (large > 0, large, large.astype("float64")),
    "integers": (large > 0, large.astype("int64"), large.astype("int64")),
    "columns": (large > 0, large.T, large),
    "no floats": (large > 0, large > 0, large > 0),
}


@pytest.mark.parametrize("values", UNFIT.values(), ids=list(UNFIT))
def test_what_does_not_fit_is_numpys(values):
    assert _kinds(values) is None
    assert (lookup("where").eager(*values) == numpy.where(*values)).all()


FAULTS = """
import resource
import minitorch2 as torch
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def step():
    made = [torch.ones(1 << 20) for _ in range(10)]  # 40 MiB
for _ in range(3):
    step()
before = faults()
for _ in range(5):
    step()
print(faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library decides")
def test_freed_memory_is_used_again():
    """Five times 40 MiB are 51,200 pages; given back each time, all would be asked for anew."""
    done = subprocess.run(
        [sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True,
        env={k: v for k, v in os.environ.items() if not k.startswith("MALLOC_")},
    )  # fmt: skip
    assert int(done.stdout) < 5_000

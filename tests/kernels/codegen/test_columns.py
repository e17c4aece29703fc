"""Reductions down columns: of one matrix and of several, right for any shape, cut and threads."""

import numpy as np
import pytest

from minitorch2.config import config
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.backend import KernelOptions, compile_graph
from minitorch2.kernels.lower import split
from minitorch2.tensors import wrap

pytestmark = pytest.mark.numba
FOLDS = {"sum": np.add.reduce, "amax": np.maximum.reduce, "amin": np.minimum.reduce}
SHAPES = [
    ((300, 70), 0), ((3, 40, 70), 1), ((5, 33, 257), 1), ((2, 3, 20, 300), 2), ((7, 129, 5), 1),
    ((64, 17, 64), 1), ((2, 1000, 3), 1), ((130, 9, 1), 1),
]  # fmt: skip
TALL = [((4096, 300), 0), ((6000, 200), 0), ((2003, 700), 0), ((130, 9000), 0), ((8, 2048, 90), 1)]


@pytest.fixture(autouse=True)
def small_is_large(monkeypatch):
    """A million elements are cut into parts."""
    monkeypatch.setattr(split, "LARGE", 1 << 20)


def text(shape, axis, fold="sum", element="f32"):
    """The product of two arrays, folded."""
    kept = ",".join(str(size) for at, size in enumerate(shape) if at != axis)
    kind = f"{element}[{','.join(map(str, shape))}]"
    return f"""graph f(%x: {kind}, %y: {kind}) {{
      %0: {kind} = mul(%x, %y)
      %1: {element}[{kept}] = {fold}(%0, ({axis},), False)
      return %1
    }}"""


def given(shape, element="f4"):
    random = np.random.RandomState(sum(shape))
    return [random.randn(*shape).astype(element) for _ in range(2)]


def run(source, arrays, executor="numba"):
    compiled = compile_graph(parse_graph(source), KernelOptions(executor=executor))
    [found] = compiled([wrap(each) for each in arrays])
    return compiled, found.array


@pytest.mark.parametrize(("shape", "axis"), [*SHAPES, *TALL], ids=str)
@pytest.mark.parametrize("fold", FOLDS)
def test_every_column_is_folded(shape, axis, fold):
    x, y = given(shape)
    _, found = run(text(shape, axis, fold), [x, y])
    wanted = FOLDS[fold]((x * y).astype("f8"), axis=axis)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=2e-3)
    if fold != "sum":
        assert (found == wanted.astype("f4")).all()


@pytest.mark.parametrize(("shape", "axis"), [*SHAPES, *TALL], ids=str)
def test_threads_do_not_change_a_bit(shape, axis, monkeypatch):
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(config, "threads", threads)
        found.append(run(text(shape, axis), given(shape))[1].tobytes())
    assert len(set(found)) == 1


@pytest.mark.parametrize(("shape", "axis"), SHAPES[1:6], ids=str)
def test_columns_of_several_matrices_are_read_along_their_rows(shape, axis):
    compiled, found = run(text(shape, axis), given(shape))
    assert "for matrix in" in str(compiled.sources)
    assert (run(text(shape, axis), given(shape), "python")[1] == found).all()


@pytest.mark.parametrize(("shape", "axis"), [((4096, 300), 0), ((6000, 200), 0)], ids=str)
def test_a_tall_matrix_is_folded_in_parts(shape, axis):
    assert run(text(shape, axis), given(shape))[0].kernel_count == 2


@pytest.mark.parametrize(("shape", "axis"), [((4096, 100), 0), ((130, 9000), 0)], ids=str)
def test_small_and_wide_ones_are_not(shape, axis):
    assert run(text(shape, axis), given(shape))[0].kernel_count == 1


def test_parts_fold_an_exact_sum_better_than_one_after_the_other():
    shape = (1 << 16, 32)
    ones = np.full(shape, 0.1, "f4"), np.ones(shape, "f4")
    _, found = run(text(shape, 0), ones)
    assert np.abs(found / (shape[0] * np.float64(np.float32(0.1))) - 1).max() < 2e-5


def places(shape, axis, fold, element):
    kept = ",".join(str(size) for at, size in enumerate(shape) if at != axis)
    kind = f"{element}[{','.join(map(str, shape))}]"
    return f"""graph f(%x: {kind}) {{
      %0: i64[{kept}] = {fold}(%x, {axis}, False)
      return %0
    }}"""


FLAT, DEEP = SHAPES[0], SHAPES[2]
CASES = [(*each, "f4") for each in [*SHAPES, ((2003, 700), 0), ((1, 300), 0)]]
CASES += [(*each, element) for each in (FLAT, DEEP) for element in ("f8", "f2", "i4", "i8", "u1")]


@pytest.mark.parametrize("fold", ["argmax", "argmin"])
@pytest.mark.parametrize(("shape", "axis", "element"), CASES, ids=str)
def test_the_first_best_row_of_every_column(shape, axis, element, fold):
    x = np.random.RandomState(sum(shape)).randint(0, 5, shape).astype(element)  # many are equal
    columns = np.moveaxis(x, axis, 0).reshape(shape[axis], -1)
    if x.dtype.kind == "f":
        columns[-1, ::7] = np.nan  # the first nan wins, at the end or in the middle
        columns[len(columns) // 2 :, 1::7] = np.nan
        columns[:, 2::7] = -np.inf if fold == "argmax" else np.inf  # nothing beats the start
    else:
        columns[:, 2::7] = getattr(np.iinfo(element), "min" if fold == "argmax" else "max")
    x = np.moveaxis(columns.reshape(np.moveaxis(x, axis, 0).shape), 0, axis).copy()
    short = {"f4": "f32", "f8": "f64", "f2": "f16", "i4": "i32", "i8": "i64", "u1": "u8"}[element]
    compiled, found = run(places(shape, axis, fold, short), [x])
    assert (found == getattr(np, fold)(x, axis=axis)).all()
    assert "_places = local_i64(" in str(compiled.sources) or 1 in shape


@pytest.mark.parametrize("columns", [127, 128, 200, 256, 257, 1023, 1024, 1025, 3000])
def test_rows_are_added_in_order_whatever_the_block(columns):
    """Narrow matrices are one block each, wide ones several: the bits are those of a plain loop."""
    x = np.random.RandomState(columns).randn(7, 33, columns).astype("f4")
    text = f"""graph f(%x: f32[7,33,{columns}]) {{
      %0: f32[7,{columns}] = sum(%x, (1,))
      return %0
    }}"""
    expected = np.zeros((7, columns), "f4")
    for row in range(33):
        expected = expected + x[:, row]
    assert run(text, [x])[1].tobytes() == expected.tobytes()


def test_booleans_are_compared_one_after_the_other():
    x = np.random.RandomState(0).randint(0, 2, (40, 300)).astype(bool)
    compiled, found = run(places(x.shape, 0, "argmax", "bool"), [x])
    assert (found == x.argmax(0)).all() and "_places" not in str(compiled.sources)

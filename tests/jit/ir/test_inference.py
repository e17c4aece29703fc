"""The types of results: rules of rows, views, composites run on fakes, symbolic sizes."""

import pytest

from minitorch2 import random
from minitorch2.devices import device
from minitorch2.dtypes import float32, float64, int64
from minitorch2.errors import ShapeError
from minitorch2.jit.ir.fakes import device_of, run_fake
from minitorch2.jit.ir.inference import infer_types
from minitorch2.jit.ir.types import ScalarType, TensorType
from minitorch2.jit.shapes.environment import ShapeEnvironment
from minitorch2.jit.shapes.parser import parse_size
from minitorch2.ops.table import lookup


def types(op, *operands, **named):
    row = lookup(op)
    bound = row.bind(*operands, **named)
    return [str(each) for each in infer_types(row, bound, ShapeEnvironment.generic())]


def tensor(text, dtype=float32, where="cpu"):
    shape = tuple(parse_size(part) for part in text.split(",")) if text else ()
    return TensorType(dtype, shape, device(where))


@pytest.mark.parametrize(
    "found, expected",
    [
        (lambda: types("add", tensor("s0,4"), tensor("4", float64)), ["f64[s0,4]"]),
        (lambda: types("add", tensor("s0", int64), 1.5), ["f32[s0]"]),
        (lambda: types("add", tensor("s0"), ScalarType("int")), ["f32[s0]"]),
        (lambda: types("lt", tensor("s0"), tensor("1")), ["bool[s0]"]),
        (lambda: types("sum", tensor("s0,4"), 0, keepdim=True), ["f32[1,4]"]),
        (lambda: types("matmul", tensor("s0,4"), tensor("4,s1")), ["f32[s0,s1]"]),
        (lambda: types("view", tensor("s0,4"), (-1, 2)), ["f32[s0*2,2]"]),
        (lambda: types("permute", tensor("s0,4"), (1, 0)), ["f32[4,s0]"]),
        (lambda: types("cat", (tensor("s0,4"), tensor("s1,4"))), ["f32[s0+s1,4]"]),
        (lambda: types("sort", tensor("s0")), ["f32[s0]", "i64[s0]"]),
        (lambda: types("softmax", tensor("s0,4"), 1), ["f32[s0,4]"]),
        (lambda: types("layer_norm", tensor("s0,4"), (4,)), ["f32[s0,4]"]),
        (lambda: types("mean", tensor("s0,4"), 1), ["f32[s0]"]),
        (lambda: types("rand", (3, 2)), ["f32[3,2]"]),
        (lambda: types("add_", tensor("s0"), 1), ["f32[s0]"]),
    ],
)
def test_results(found, expected):
    assert found() == expected


def test_running_a_definition_draws_no_random_numbers():
    before = random.default_generator.take(0)
    types("dropout", tensor("4"), 0.5, True)
    types("randn", (3,))
    assert random.default_generator.take(0) == before


def test_rows_refuse_with_their_own_words():
    with pytest.raises(ShapeError, match=r"add\(f32\[s0,3\], f32\[s0,4\]"):
        types("add", tensor("s0,3"), tensor("s0,4"))


def test_devices():
    full, add = lookup("full"), lookup("add")
    assert device_of(full, full.bind((2,), 1.0, device="meta")) == device("meta")
    assert device_of(add, (1, tensor("3", where="cuda:1"), 1)) == device("cuda", 1)
    assert types("exp", tensor("3", where="meta")) == ["f32[3]@meta"]


def test_fakes_have_layouts():
    row = lookup("gelu")
    assert run_fake(row, row.bind(tensor("2,3"))).stride() == (3, 1)

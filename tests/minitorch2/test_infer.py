"""The meta backend says beforehand what eager gives: shape, dtype and layout of every result.

The same samples with tensors that have no memory; refusals too, unless they depend on the data.
"""

from typing import Any

import pytest

import minitorch2
from minitorch2.errors import Mt2Error
from minitorch2.layouts import Layout
from minitorch2.ops.table import Op
from minitorch2.tensors import Tensor, fake_tensor
from tests.op_samples import Sample, TensorSpec, build, rows, samples

OPS = [op for op in rows() if op.effects != "data_dependent"]
# What only looking at the elements can tell: bad indices, divisors of zero, class numbers.
BY_DATA = (
    "gather", "scatter", "scatter_add", "index_select", "index_add", "index", "index_put",
    "floor_divide", "trunc_divide", "remainder", "fmod", "div", "embedding", "one_hot",
    "nll_loss", "cross_entropy", "index_fill", "take", "index_copy",
    "linalg_cholesky",
)  # fmt: skip
BY_STORAGE = ("as_strided",)  # a fake has no storage to reach beyond


def faked(value: Any) -> Any:
    """The arguments with tensors that have no memory."""
    if isinstance(value, TensorSpec):
        return fake_tensor(
            value.shape, value.dtype, Layout(value.shape, value.strides, value.offset)
        )
    if isinstance(value, (tuple, list)):
        return type(value)(faked(item) for item in value)
    if isinstance(value, dict):
        return {key: faked(item) for key, item in value.items()}
    return value


def described(result: Any) -> list[Any]:
    """What capture knows of results: dtype, shape and the strides that matter."""
    found = []
    for each in result if isinstance(result, (tuple, list)) else [result]:
        if not isinstance(each, Tensor):
            found.append(each)
            continue
        shape = tuple(each.shape)
        strides = [s for n, s in zip(shape, each.stride(), strict=True) if n != 1]
        found.append((each.dtype, shape, strides if 0 not in shape else []))
    return found


def run(op: Op, args: Any, kwargs: Any) -> Any:
    """Call a row as its users do."""
    if op.inplace_of is not None or op.name == "copy_":
        return getattr(args[0], op.name)(*args[1:], **kwargs)
    return op.public(*args, **kwargs)


def compare(op: Op, sample: Sample) -> None:
    """One sample, eagerly and without memory."""
    args, kwargs = build((sample.args, sample.kwargs), minitorch2)
    try:
        expected = described(run(op, args, kwargs))
    except (Mt2Error, TypeError):
        name = op.inplace_of.name if op.inplace_of is not None else op.name
        if name in BY_DATA + BY_STORAGE:
            return
        for _ in range(2):  # what was refused once is refused again
            with pytest.raises((Mt2Error, TypeError)):
                run(op, faked(sample.args), faked(sample.kwargs))
        return
    masks = "bool" in repr(sample) and op.name in ("index", "index_put", "index_put_")
    counts = op.name == "repeat_interleave" and isinstance(sample.args[1], TensorSpec)
    if masks or counts or (op.name == "one_hot" and "num_classes" not in sample.kwargs):
        return
    for _ in range(2):  # inferred, then as Note [Inferred once] has it
        again = described(run(op, faked(sample.args), faked(sample.kwargs)))
        assert again == expected, repr(sample)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_infer_agrees_with_eager(op: Op) -> None:
    """Every sample of the row."""
    for sample in samples(op):
        compare(op, sample)


@pytest.mark.parametrize("number", [2, 2.0, True, 2j, 1, 1.0, 0, 0.0, False])
@pytest.mark.parametrize("dtype", ["int64", "float32", "bool"])
@pytest.mark.parametrize("default", ["float32", "float64"])
def test_equal_numbers_of_other_types_are_other_operands(number, dtype, default) -> None:
    """Also `1`, `1.0` and `True`, one after the other, under either default dtype."""
    minitorch2.set_default_dtype(getattr(minitorch2, default))
    try:
        tensor = minitorch2.ones(2, 3, dtype=getattr(minitorch2, dtype))
        fake = fake_tensor((2, 3), tensor.dtype)
        for op in (minitorch2.add, minitorch2.true_divide):
            assert described(op(fake, number)) == described(op(tensor, number))
            assert described(op(fake.T, number)) == described(op(tensor.T, number))
    finally:
        minitorch2.set_default_dtype(minitorch2.float32)


def test_every_row_has_samples() -> None:
    """A row without samples is not tested at all."""
    assert [op.name for op in rows() if not samples(op)] == []

"""What is no view has memory of its own: a write into the result leaves the operands alone."""

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import minitorch2 as torch
from minitorch2.dispatch import call
from minitorch2.ops.signature import REQUIRED
from minitorch2.ops.table import INPLACE, VIEW, Op, all_ops, lookup
from tests.op_samples import build, samples

# Composites may give their operand itself where there is nothing to do: reshape, contiguous, ...
ROWS = [op for op in all_ops() if op.kind not in (VIEW, INPLACE) and op.decomp is None]
DTYPES = (torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool, torch.bfloat16)
WHOLE = (torch.int64, torch.uint8, torch.bool)
# Rows that take no call whose operands are all the same tensor, and 1 for what is no tensor.
ODD = set(
    """
    linalg_cholesky full range_ uniform random_words convert conjugate convolution
    convolution_to_input convolution_to_weight fft_c2c fft_r2c fft_c2r index_select index_add
    scatter_fold cat max_pool bincount select_scatter diagonal_scatter as_strided_scatter
    as_strided_add
    """.split()
)


def operands(dtype: Any) -> Iterator[Any]:
    """Fresh results of operations in several orders of memory; sizes that fit each other."""
    base = torch.arange(8).reshape(2, 2, 2).to(dtype)
    yield base.clone()
    for dims in ((0, 1), (1, 2), (0, 2)):
        yield base.transpose(*dims)
        yield (
            call(lookup("bitwise_or"), (base.transpose(*dims), 0))
            if base.dtype in WHOLE
            else (base.transpose(*dims) * 1)
        )
    yield base[:, 0]
    yield base[:, ::2].clone()


def given(op: Op, x: Any) -> tuple:
    """Arguments of the row with x in each place that a tensor is required in."""
    found = []
    for each in op.signature.parameters:
        takes_one = each.type.startswith(("Tensor", "Operand"))
        found.append(each.default if each.default is not REQUIRED else x if takes_one else 1)
    return tuple(found)


def tensors(value: Any) -> list[Any]:
    """The tensors in arguments or results that have elements."""
    if isinstance(value, (tuple, list)):
        return [each for item in value for each in tensors(item)]
    return [value] if isinstance(value, torch.Tensor) and value.numel() else []


def compared(op: Op, args: tuple) -> int:
    """How many results of a call were compared with its operands; 0 where it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = tensors(call(op, args))
        except Exception:  # not every row takes these
            return 0
    for result in found:
        for x in tensors(args):
            assert result.storage is not x.storage, (args, x.stride())
            assert result.storage.block is not x.storage.block, (args, x.stride())
    return len(found)


@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
def test_a_result_shares_no_memory(op: Op) -> None:
    """For operands in several orders of memory and for the row's own samples."""
    many = [compared(op, given(op, x)) for dtype in DTYPES for x in operands(dtype)]
    calls = [build((each.args, each.kwargs), torch) for each in samples(op)]
    own = [compared(op, op.bind(*args, **kwargs)) for args, kwargs in calls if args or kwargs]
    assert sum(own) > 0, f"none of {len(own)} samples was carried out"
    assert (sum(many) == 0) == (op.name in ODD)

"""What is no view has memory of its own: a write into the result leaves the operands alone."""

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import minitorch2 as torch
from minitorch2.dispatch import call
from minitorch2.ops.signature import REQUIRED
from minitorch2.ops.table import INPLACE, VIEW, Op, all_ops, lookup

# Composites may give their operand itself where there is nothing to do: reshape, contiguous, ...
ROWS = [op for op in all_ops() if op.kind not in (VIEW, INPLACE) and op.decomp is None]
DTYPES = (torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool, torch.bfloat16)
WHOLE = (torch.int64, torch.uint8, torch.bool)


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


def calls(op: Op, x: Any) -> Any:
    """Results of the row for x in each place that a tensor is required in."""
    given = []
    for each in op.signature.parameters:
        takes_one = each.type.startswith(("Tensor", "Operand"))
        given.append(each.default if each.default is not REQUIRED else x if takes_one else 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = call(op, tuple(given))
        except Exception:  # not every row takes these
            return ()
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
def test_a_result_shares_no_memory(op: Op) -> None:
    for dtype in DTYPES:
        for x in operands(dtype):
            first = x.data_ptr()
            for found in calls(op, x):
                if isinstance(found, torch.Tensor) and found.numel():
                    assert found.data_ptr() != first, (dtype, x.stride())
                    assert found.storage is not x.storage

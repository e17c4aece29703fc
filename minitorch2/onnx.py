"""torch.onnx: the questions that models ask, and a clear word on writing ONNX files.

In: nothing. Out: False for "is this an export?", which models ask in their forward. `export` raises
OperationError: minitorch2 writes no ONNX files. The weights can go to torch, which does. What
libraries register for an export is taken, and never called.

    >>> is_in_onnx_export()
    False

Source: torch.onnx.
"""

import types
from collections.abc import Callable
from typing import Any, NoReturn

from minitorch2.errors import OperationError


def is_in_onnx_export() -> bool:
    """Whether a model is being exported: no."""
    return False


def export(*args: Any, **options: Any) -> NoReturn:
    """OperationError: minitorch2 writes no ONNX files."""
    raise OperationError(
        "onnx.export(model, ...)",
        "minitorch2 writes no ONNX files",
        "torch.save(model.state_dict(), path), load that with torch's torch.load, and export there",
    )


dynamo_export = export
# Tables of torch's own exporter; functions that libraries register for it name them.
symbolic_opset9 = symbolic_opset11 = symbolic_opset12 = types.SimpleNamespace()


def parse_args(*kinds: str) -> Callable:
    """torch.onnx.symbolic_helper.parse_args: a mark on functions for an export."""
    return lambda function: function


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Callable, opset: int) -> None:
    """How an operation would be written: never asked for."""

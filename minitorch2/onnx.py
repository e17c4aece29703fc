"""torch.onnx: the questions that models ask, and a clear word on writing ONNX files.

In: nothing. Out: False for "is this an export?", which models ask in their forward. `export` raises
OperationError: minitorch2 writes no ONNX files. The weights can go to torch, which does.

    >>> is_in_onnx_export()
    False

Source: torch.onnx.
"""

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

"""torch.ao.quantization: marks in models that could be quantized; no quantization.

In: a model. Out: `QuantStub` and `DeQuantStub` pass their input on, as in torch before conversion.
Whatever would turn weights into integers raises OperationError: minitorch2 has no integer products
of matrices. `model.to(torch.bfloat16)` or autocast halves the memory instead.

    >>> from minitorch2 import ones
    >>> QuantStub()(ones(2))
    tensor([1., 1.])

Source: torch.ao.quantization.
"""

from collections.abc import Callable
from typing import Any, NoReturn

from minitorch2.errors import OperationError
from minitorch2.nn.module import Module


class QuantStub(Module):
    """Where numbers become integers once the model is quantized; before, nothing happens."""

    def __init__(self, qconfig: Any = None):
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        """The input."""
        return x


class DeQuantStub(QuantStub):
    """Where integers become numbers again once the model is quantized; before, nothing happens."""


def _refusing(name: str) -> Callable[..., NoReturn]:
    def function(*args: Any, **options: Any) -> NoReturn:
        raise OperationError(
            f"quantization.{name}(model)",
            "minitorch2 does not quantize models",
            "use model.to(torch.bfloat16) or torch.autocast, or quantize with torch",
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}: OperationError, as minitorch2 does not quantize models."
    return function


quantize, quantize_dynamic, prepare, prepare_qat, convert, fuse_modules, fuse_modules_qat = map(
    _refusing,
    (
        "quantize",
        "quantize_dynamic",
        "prepare",
        "prepare_qat",
        "convert",
        "fuse_modules",
        "fuse_modules_qat",
    ),
)
get_default_qconfig, get_default_qat_qconfig = map(
    _refusing, ("get_default_qconfig", "get_default_qat_qconfig")
)

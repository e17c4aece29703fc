"""The kernels that a GPU must run well: pointwise code and row reductions, forward and backward.

In: nothing. Out: `kernels()`: name -> loop-IR kernel, as the compiler made it for a model.
"""

import functools
from collections.abc import Callable

import numpy

import minitorch2
import minitorch2.nn.functional as F
from minitorch2.artifacts import Event, subscribe
from minitorch2.kernels.loop_ir import Kernel

ROWS = 32


def floats(*shape: int, dtype: minitorch2.dtype = minitorch2.float32) -> minitorch2.Tensor:
    """A tensor that wants a gradient."""
    array = numpy.random.RandomState(0).randn(*shape).astype("f4")
    return minitorch2.tensor(array).to(dtype).requires_grad_()


def gelu(x: minitorch2.Tensor) -> minitorch2.Tensor:
    """Pointwise."""
    return F.gelu(x)


def swiglu(x: minitorch2.Tensor, y: minitorch2.Tensor) -> minitorch2.Tensor:
    """Pointwise, two operands."""
    return F.silu(x) * y


def softmax(x: minitorch2.Tensor) -> minitorch2.Tensor:
    """Rows, two reductions."""
    return F.softmax(x, -1)


def log_softmax(x: minitorch2.Tensor) -> minitorch2.Tensor:
    """Rows, two reductions."""
    return F.log_softmax(x, -1)


def layer_norm(
    x: minitorch2.Tensor, w: minitorch2.Tensor, b: minitorch2.Tensor
) -> minitorch2.Tensor:
    """Rows; its backward folds down columns too."""
    return F.layer_norm(x, (x.shape[-1],), w, b)


def cross_entropy(x: minitorch2.Tensor, target: minitorch2.Tensor) -> minitorch2.Tensor:
    """Rows, a gather and a sum over all of them."""
    return F.cross_entropy(x, target)


@functools.cache
def kernels() -> dict[str, Kernel]:
    """Every kernel of these functions, in small rows (a warp each) and long ones (a block each)."""
    target = minitorch2.tensor(numpy.arange(ROWS))
    bf16 = minitorch2.bfloat16
    wide, long = floats(ROWS, 256), floats(ROWS, 1024)
    programs: dict[str, tuple[Callable, list[minitorch2.Tensor]]] = {
        "gelu": (gelu, [wide]),
        "gelu_bf16": (gelu, [floats(ROWS, 256, dtype=bf16)]),
        "swiglu": (swiglu, [wide, floats(ROWS, 256)]),
        "softmax_256": (softmax, [wide]),
        "softmax_1024": (softmax, [long]),
        "softmax_bf16": (softmax, [floats(ROWS, 1024, dtype=bf16)]),
        "log_softmax": (log_softmax, [long]),
        "layer_norm_256": (layer_norm, [wide, floats(256), floats(256)]),
        "layer_norm_1024": (layer_norm, [long, floats(1024), floats(1024)]),
        "cross_entropy": (cross_entropy, [floats(ROWS, 512), target]),
    }
    return {
        f"{name}.{half}.{number}": kernel
        for name, (function, inputs) in programs.items()
        for half, found in zip(("forward", "backward"), _made(function, inputs), strict=True)
        for number, kernel in enumerate(found)
    }


def _made(function: Callable, inputs: list[minitorch2.Tensor]) -> list[list[Kernel]]:
    """The kernels of a function's forward, and of its backward."""
    events: list[Event] = []
    with subscribe(events.append):
        result = minitorch2.compile(function, options={"executor": "sim"})(*inputs)
        result.backward(minitorch2.ones_like(result))
    return [
        [step for step in event.payload.steps if isinstance(step, Kernel)]
        for event in events
        if event.stage == "loops.fused"
    ]

"""Differentiation as an op: the gradients of some tensors with respect to others.

In: outputs, a gradient to start from for each, and inputs they were computed from. Out: the
gradient of each input. Called from Python's `backward` it would say nothing new; as a row it lets a
captured graph say "here the engine runs", and whoever replays the graph under autograd runs it.

    %5: f32[3], %6: f32[] = gradients((%loss,), (%one,), (%w, %b))

Source: JAX's `vjp` inside a traced function; torch.autograd.grad.
"""

from minitorch2.autograd.engine import run_backward
from minitorch2.dispatch import call
from minitorch2.ops.table import COMPOSITE, defop, lookup


def _gradients(outputs, starts, inputs, retain_graph, create_graph):
    found = run_backward(
        list(outputs), list(starts), retain_graph, create_graph, list(inputs), accumulate=False
    )
    return tuple(
        call(lookup("full"), (tuple(given.layout.shape), 0, given.dtype, given.device))
        if gradient is None
        else gradient
        for gradient, given in zip(found, inputs, strict=True)
    )


defop(
    "gradients(Tensor[] outputs, Tensor[] starts, Tensor[] inputs, bool retain_graph=False, "
    "bool create_graph=False) -> Tensor[]",
    COMPOSITE,
    decomp=_gradients,
    method=False,
    function=False,
    torch="torch.autograd.grad",
    doc="The gradient of each input, zeros where there is none.",
)

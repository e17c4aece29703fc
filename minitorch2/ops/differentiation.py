"""Differentiation as an op: the gradients of some tensors with respect to others.

In: outputs, a gradient to start from for each, and inputs they were computed from. Out: the
gradient of each input. Called from Python's `backward` it would say nothing new; as a row it lets a
captured graph say "here the engine runs", and whoever replays the graph under autograd runs it.

    %5: f32[3], %6: f32[] = gradients((%loss,), (%one,), (%w, %b))

Source: JAX's `vjp` inside a traced function; torch.autograd.grad.
"""

from minitorch2.autograd.engine import run_backward
from minitorch2.autograd.function import Function
from minitorch2.dispatch import call
from minitorch2.ops.table import COMPOSITE, CONTROL, defop, lookup


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


def _custom_gradient(forward, backward, operands, outputs, inner, outer, places, fixed):
    found: list = []

    class Custom(Function):
        """The two functions as one operation."""

        @staticmethod
        def forward(ctx, *given):
            found.extend(forward(*given))
            results = tuple(found[:outputs])
            ctx.save_for_backward(*(found[n] for n in inner), *(given[n] for n in outer))
            ctx.mark_non_differentiable(*(results[n] for n in fixed))
            return results

        @staticmethod
        def backward(ctx, *grads):
            saved = ctx.saved_tensors
            live = [grad for place, grad in enumerate(grads) if place not in fixed]
            gradients = backward(*saved[: len(inner)], *live, *saved[len(inner) :])
            return tuple(None if place < 0 else gradients[place] for place in places)

    results = Custom.apply(*operands)
    return (*results, *found[outputs:])


def _infer_custom_gradient(forward, backward, operands, outputs, inner, outer, places, fixed):
    return tuple(forward(*operands))


defop(
    "custom_gradient(any forward, any backward, Tensor[] operands, int outputs, any inner, "
    "any outer, any places, any fixed) -> Tensor[]",
    CONTROL,
    decomp=_custom_gradient,
    infer=_infer_custom_gradient,
    host="Python calls the compiled graphs among its arguments",
    method=False,
    function=False,
    torch="torch.autograd.Function.apply",
    doc="The results of `forward`; `backward` gives the gradients of the first `outputs` of them: "
    "it is called with the results `inner`, the gradients of those that are not `fixed`, and the "
    "operands `outer`; `places` says which of its results belongs to each operand, -1 for none.",
)

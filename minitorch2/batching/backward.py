"""The backward of Batched tensors: the engine runs on their hidden tensors.

In: outputs, their gradients and inputs, Batched at some levels. Out: the inputs' gradients, Batched
as the inputs are. The graph hangs on the hidden tensors, so a gradient is brought into an output's
hidden shape first. Levels that only a gradient has stay wrapped, with their modes on the stack: one
graph is then run for a batch of gradients, which is how Jacobians are made.

Source: torch.func's design: reverse mode under vmap is the batch's reverse mode.
"""

from collections.abc import Callable
from typing import Any

from minitorch2.batching.batched import (
    Batched,
    join_levels,
    levels_of,
    physical,
    plain_tensors,
    split_levels,
)
from minitorch2.errors import AutogradError
from minitorch2.tensors import Tensor


def sizes_of(tensor: Any) -> dict[int, int]:
    """The levels of a tensor with the sizes of their batches."""
    return dict(zip(levels_of(tensor), physical(tensor).layout.shape, strict=False))


def any_batched(tensors: Any) -> bool:
    """Whether one of the tensors is Batched."""
    return any(isinstance(tensor, Batched) for tensor in tensors)


def run_hidden(
    engine: Callable,
    outputs: list,
    gradients: list,
    retain_graph: bool,
    create_graph: bool,
    inputs: Any,
    accumulate: bool,
) -> list[Any]:
    """`engine` with the hidden tensors in the place of outputs and inputs; results wrapped."""
    sizes: dict[int, int] = {}
    for output in outputs:
        sizes.update(sizes_of(output))
    for tensor in inputs or ():
        missing = sizes.keys() - set(levels_of(tensor))
        if missing:
            raise AutogradError(
                "vmap: autograd.grad",
                "an input is the same tensor for all samples, the output is not: the gradient "
                "of each sample cannot be told apart",
                "use torch.func.grad or vjp inside vmap: vmap(grad(f))",
            )
    starts = [
        split_levels(gradient, sizes_of(output))
        for output, gradient in zip(outputs, gradients, strict=True)
    ]
    wanted = None if inputs is None else [physical(tensor) for tensor in inputs]
    with plain_tensors(without=frozenset(sizes)):
        roots = [physical(output) for output in outputs]
        found = engine(roots, starts, retain_graph, create_graph, wanted, accumulate)
    if inputs is None:
        return found
    return [
        join_levels(gradient, levels_of(tensor)) if isinstance(gradient, Tensor) else gradient
        for gradient, tensor in zip(found, inputs, strict=True)
    ]

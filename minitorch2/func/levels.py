"""One differentiation: the tensors it tracks, and the results cut off from them.

In: tensors to differentiate with respect to. Out: tracked tensors for the function, gradients, and
results whose history holds only what other differentiations, outer ones or the user's own, track.

A tensor that somebody tracks already gets an alias with a history, so that outer gradients flow
through; any other becomes a leaf of this level, which is dead when the level ends. Results that
reach nothing but this level's leaves lose their history.

Source: Pearlmutter and Siskind 2008 on nesting; here every level differentiates its own nodes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from minitorch2.autograd.engine import run_backward
from minitorch2.autograd.graph import Node
from minitorch2.autograd.tangents import share_tangents
from minitorch2.batching.batched import batched, batched_at, levels_of, op, physical, plain_tensors
from minitorch2.batching.mode import VmapMode
from minitorch2.dispatch import state
from minitorch2.errors import ArgumentValueError, OperationError
from minitorch2.tensors import Tensor


def check_differentiable(tensor: Any, asked: str) -> None:
    """Errors for what cannot be differentiated with respect to.

    ArgumentValueError for what is no tensor, OperationError for integers and bools.
    """
    if not isinstance(tensor, Tensor):
        wrong = f"Thing passed to transform API must be Tensor, got {type(tensor)}"
        raise ArgumentValueError(asked, wrong, "make a tensor of it first: torch.tensor(value)")
    if not (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
        raise OperationError(
            asked,
            f"the inputs to differentiate must be floating point, got {tensor.dtype}",
            "convert them first, or name other arguments with argnums",
        )


class Level:
    """The tracked tensors of one call of a transform."""

    def __init__(self) -> None:
        self.leaves: list[Tensor] = []

    def track(self, tensor: Tensor, asked: str) -> Tensor:
        """A tensor to differentiate with respect to; OperationError for integers.

        Inside vmap it is Batched at every level, since each sample has its own gradient.
        """
        check_differentiable(tensor, asked)
        sizes = {mode.level: mode.size for mode in state.modes if isinstance(mode, VmapMode)}
        wide = batched_at(tensor, sizes)
        plain = physical(wide)
        with plain_tensors():
            if plain.requires_grad:
                made = op("alias", plain)
            else:
                made = self._leaf(share_tangents(plain, op("detach", plain)))
        return batched(made, levels_of(wide))

    def start(self, output: Tensor) -> Tensor:
        """Zeros of an output's shape that gradients can be taken with respect to."""
        plain = physical(output)
        with plain_tensors():
            made = op("full", tuple(plain.layout.shape), 0, plain.dtype, plain.device)
        return batched(self._leaf(made), levels_of(output))

    def _leaf(self, tensor: Tensor) -> Tensor:
        tensor.requires_grad = True
        self.leaves.append(tensor)
        return tensor

    def close(self) -> None:
        """Make this level's leaves ordinary tensors."""
        self._set(False)

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Track again inside the block: for functions that run after the level has ended."""
        self._set(True)
        try:
            yield
        finally:
            self._set(False)

    def _set(self, value: bool) -> None:
        for leaf in self.leaves:
            leaf._requires_grad, leaf.key = value, None

    def reaches_beyond(self, tensor: Any) -> bool:
        """Whether a tensor's history holds something that is not this level's."""
        own = {id(leaf) for leaf in self.leaves}
        plain = physical(tensor)
        node = plain.grad_fn
        if node is None:
            return plain.requires_grad and id(plain) not in own
        seen: set[Node] = {node}
        stack: list[Node] = [node]
        while stack:
            node = stack.pop()
            if not node.edges:  # an input of a graph that is traced
                return True
            for edge in node.edges:
                if edge is None or edge.target in seen:
                    continue
                if isinstance(edge.target, Node):
                    seen.add(edge.target)
                    stack.append(edge.target)
                elif edge.target._requires_grad and id(edge.target) not in own:
                    return True
        return False

    def settled(self, value: Any) -> Any:
        """A result as the caller gets it: without history when that is only this level's."""
        if not isinstance(value, Tensor) or not value.requires_grad:
            return value
        if self.reaches_beyond(value):
            return value
        bare = op("detach", value)
        share_tangents(physical(value), physical(bare))
        return bare


def pull(
    outputs: list[Any], starts: list[Any], inputs: list[Tensor], retain: bool, create: bool
) -> list[Any]:
    """The gradient of each input, None where there is none; outputs without history count not."""
    pairs = [(o, s) for o, s in zip(outputs, starts, strict=True) if o.requires_grad]
    if not pairs:
        return [None] * len(inputs)
    roots, gradients = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return run_backward(roots, gradients, retain, create, inputs, accumulate=False)


def or_zeros(values: list[Any], likes: list[Tensor]) -> list[Tensor]:
    """Zeros in the place of None."""
    return [
        op("full", tuple(like.layout.shape), 0, like.dtype, like.device) if value is None else value
        for value, like in zip(values, likes, strict=True)
    ]

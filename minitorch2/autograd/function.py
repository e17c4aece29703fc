"""autograd.Function: operations whose derivative the user writes.

In: a subclass with static `forward(ctx, ...)` and `backward(ctx, *grads)`. Out: `apply`, which runs
the forward without recording and adds one node that calls the user's backward.

Source: torch's "Extending autograd".
"""

from typing import Any

from minitorch2.autograd.graph import Node, SavedTensor, edge_of, spec_of
from minitorch2.dispatch import call, state
from minitorch2.errors import AutogradError, GraphFreed
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


class FunctionCtx:
    """What forward and backward share: saved tensors and anything set as an attribute."""

    def __init__(self) -> None:
        self._to_save: tuple = ()
        self._saved: list[Any] | None = None
        self._node: FunctionNode | None = None
        self._dirty: tuple = ()
        self._not_differentiable: tuple = ()
        self._materialize = True
        self.needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for the backward, checked against later writes."""
        self._to_save = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Declare inputs that forward wrote in place and returned."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Declare outputs that have no gradient."""
        self._not_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether missing gradients reach backward as zeros (the default) or as None."""
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple:
        """The tensors given to save_for_backward."""
        if self._saved is None:
            raise GraphFreed(
                "ctx.saved_tensors",
                "Trying to backward through the graph a second "
                "time: the saved values have already been freed",
            )
        return tuple(
            None if saved is None else saved.unpack(self._node, "saved tensor")
            for saved in self._saved
        )


class FunctionNode(Node):
    """The node of one `apply`."""

    __slots__ = ("function", "ctx")
    fills_missing = False  # the user may want to see which are missing

    def __init__(self, function: type, ctx: FunctionCtx, edges: tuple, outputs: tuple):
        super().__init__(f"{function.__name__}Backward", edges, outputs, state.origin)
        self.function, self.ctx = function, ctx

    def apply(self, grads: tuple) -> tuple:
        """Call the user's backward; one gradient for each argument of forward."""
        if self.ctx._materialize:
            grads = tuple(
                call(lookup("full"), (tuple(spec.shape), 0, spec.dtype, spec.device))
                if grad is None
                else grad
                for grad, spec in zip(grads, self.outputs, strict=True)
            )
        found = self.function.backward(self.ctx, *grads)  # type: ignore[attr-defined]
        found = found if isinstance(found, tuple) else (found,)
        count = len(self.edges)
        if len(found) < count or any(value is not None for value in found[count:]):
            raise AutogradError(
                f"the backward of {self.function.__name__}",
                f"returned an incorrect number of gradients (expected {count}, got {len(found)})",
                "return one gradient, or None, for each argument of forward",
            )
        return found[:count]

    def release(self) -> None:
        """Free the saved tensors."""
        self.ctx._saved = None


class Function:
    """Base class: define static methods `forward(ctx, ...)` and `backward(ctx, *grads)`.

    With `setup_context(ctx, inputs, output)` defined, forward takes no ctx.
    """

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; to be overridden."""
        raise NotImplementedError("You must implement the forward function for custom Function.")

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Compute the inputs' gradients; to be overridden."""
        raise NotImplementedError("You must implement the backward for your custom Function.")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run forward and record it."""
        ctx = FunctionCtx()
        ctx.needs_input_grad = tuple(
            isinstance(a, Tensor) and a.requires_grad and state.grad_enabled for a in args
        )
        before = state.grad_enabled
        state.grad_enabled = False
        try:
            setup = getattr(cls, "setup_context", None)
            output = cls.forward(*args) if setup is not None else cls.forward(ctx, *args)
            if setup is not None:
                setup(ctx, args, output)
        finally:
            state.grad_enabled = before
        if any(ctx.needs_input_grad):
            output = _connect(cls, ctx, args, output)
        return output


def _connect(cls: type, ctx: FunctionCtx, args: tuple, output: Any) -> Any:
    """Give the outputs a FunctionNode."""
    many = isinstance(output, (tuple, list))
    outputs = list(output) if many else [output]
    inputs = {id(a) for a in args if isinstance(a, Tensor)}
    dirty = {id(t) for t in ctx._dirty}
    outputs = [
        call(lookup("alias"), (t,)).data
        if isinstance(t, Tensor) and id(t) in inputs and id(t) not in dirty
        else t
        for t in outputs
    ]
    tensors = [t for t in outputs if isinstance(t, Tensor)]
    edges = tuple(edge_of(a) for a in args)
    node = FunctionNode(cls, ctx, edges, tuple(spec_of(t) for t in tensors))
    skip = {id(t) for t in ctx._not_differentiable}
    for index, tensor in enumerate(tensors):
        if id(tensor) not in skip and tensor.dtype.is_floating_point:
            tensor._requires_grad = False
            tensor.set_history(node, index)
    made = {id(t): index for index, t in enumerate(tensors)}
    ctx._node = node
    ctx._saved = [None if t is None else SavedTensor(t, made.get(id(t))) for t in ctx._to_save]
    return type(output)(outputs) if many else outputs[0]


def once_differentiable(function: Any) -> Any:
    """Decorates a backward that cannot itself be differentiated."""

    def wrapper(ctx: Any, *grads: Any) -> Any:
        before = state.grad_enabled
        state.grad_enabled = False
        try:
            return function(ctx, *grads)
        finally:
            state.grad_enabled = before

    return wrapper

"""autograd.Function: operations whose derivative the user writes.

In: a subclass with static `forward(ctx, ...)` and `backward(ctx, *grads)`. Out: `apply`, which runs
the forward without recording and adds one node that calls the user's backward.

Source: torch's "Extending autograd".
"""

from typing import Any, NamedTuple

from minitorch2.autograd.anomaly import origin_now
from minitorch2.autograd.graph import Node, SavedTensor, edge_of, spec_of
from minitorch2.batching.backward import any_batched
from minitorch2.batching.batched import Batched
from minitorch2.batching.mode import VmapMode
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
        super().__init__(f"{function.__name__}Backward", edges, outputs, origin_now())
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

    With `setup_context(ctx, inputs, output)` defined, forward takes no ctx. Under vmap, either
    `generate_vmap_rule = True` says that forward and backward are made of tensor operations, or
    `vmap(info, in_dims, *args)` returns the output and its batch dimensions.
    """

    generate_vmap_rule = False

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
        if state.modes and any_batched(args):
            return apply_to_batch(cls, args)
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
        if id(tensor) not in skip and tensor.dtype.differentiable:
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


class VmapInfo(NamedTuple):
    """What a Function's own `vmap` learns of the map."""

    batch_size: int
    randomness: str


def apply_to_batch(cls: Any, args: tuple) -> Any:
    """`apply` of arguments of which some are Batched: by the Function's own rule, or by itself."""
    level = max(value.level for value in args if isinstance(value, Batched))
    mode: Any = next(each for each in state.modes if getattr(each, "level", None) == level)
    seen = [mode.hidden(value) for value in args]
    hidden = tuple(value for value, _ in seen)
    dims = tuple(0 if is_batched else None for _, is_batched in seen)
    own = getattr(cls, "vmap", None)
    before = state.modes
    state.modes = before[: before.index(mode)]
    try:
        if own is not None:
            return _wrapped_results(mode, *own(VmapInfo(mode.size, mode.randomness), dims, *hidden))
        if not cls.generate_vmap_rule:
            raise AutogradError(
                f"vmap over {cls.__name__}",
                f"You tried to vmap over {cls.__name__}, but it does not have vmap support",
                "override the vmap staticmethod, or set generate_vmap_rule = True",
            )
        found = _for_batch(cls, mode, dims).apply(*hidden)
    finally:
        state.modes = before
    many = isinstance(found, tuple)
    return _wrapped_results(mode, found, (0,) * len(found) if many else 0)


def _wrapped_results(mode: VmapMode, output: Any, dims: Any) -> Any:
    if isinstance(output, (tuple, list)):
        several = dims if isinstance(dims, (tuple, list)) else (dims,) * len(output)
        pairs = zip(output, several, strict=True)
        return type(output)([_wrapped_results(mode, each, dim) for each, dim in pairs])
    if dims is None or not isinstance(output, Tensor):
        return output
    return mode.wrapped(output if dims == 0 else output.movedim(dims, 0))


class _SeenContext(FunctionCtx):
    """The ctx of a forward that runs on Batched tensors; what it saves is saved hidden."""

    def __init__(self, mode: VmapMode):
        super().__init__()
        self.mode = mode
        self.hidden: Any = None  # the context of the Function on hidden tensors
        self.flags: tuple = ()

    def save_for_backward(self, *tensors: Any) -> None:
        seen = [self.mode.hidden(value) for value in tensors]
        self.flags = tuple(is_batched for _, is_batched in seen)
        self._to_save = tuple(value for value, _ in seen)

    @property
    def saved_tensors(self) -> tuple:
        pairs = zip(self.hidden.saved_tensors, self.flags, strict=True)
        return tuple(self.mode.wrapped(value) if flag else value for value, flag in pairs)


def _for_batch(cls: Any, mode: VmapMode, dims: tuple) -> Any:
    """A Function on hidden tensors that runs `cls` on Batched ones, forward and backward."""

    class ForBatch(Function):
        @staticmethod
        def forward(ctx: Any, *hidden: Any) -> Any:
            seen = ctx.seen = _SeenContext(mode)
            seen.hidden, seen.needs_input_grad = ctx, ctx.needs_input_grad
            args = tuple(
                value if dim is None else mode.wrapped(value)
                for value, dim in zip(hidden, dims, strict=True)
            )
            setup = getattr(cls, "setup_context", None)
            if setup is None:
                output = mode.inside(cls.forward, seen, *args)
            else:
                output = mode.inside(cls.forward, *args)
                mode.inside(setup, seen, args, output)
            ctx.save_for_backward(*seen._to_save)
            ctx.set_materialize_grads(seen._materialize)
            many = isinstance(output, (tuple, list))
            found = tuple(mode.spread(each) for each in (output if many else (output,)))
            skipped = {id(each) for each in seen._not_differentiable}
            outputs = output if many else (output,)
            pairs = zip(found, outputs, strict=True)
            ctx.mark_non_differentiable(*[each for each, o in pairs if id(o) in skipped])
            return found if many else found[0]

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            wrapped = [None if each is None else mode.wrapped(each) for each in grads]
            found = mode.inside(cls.backward, ctx.seen, *wrapped)
            found = found if isinstance(found, tuple) else (found,)
            return tuple(
                None if each is None else mode.spread(each) if dim == 0 else _summed(mode, each)
                for each, dim in zip(found, dims, strict=False)
            )

    ForBatch.__name__ = cls.__name__
    return ForBatch


def _summed(mode: VmapMode, gradient: Any) -> Any:
    """The gradient of what all samples share: the sum of theirs."""
    return mode.spread(gradient).sum(0)

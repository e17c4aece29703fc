"""autograd.Function: operations whose derivative the user writes.

In: a subclass with static `forward(ctx, ...)` and `backward(ctx, *grads)`. Out: `apply`, which runs
the forward without recording; what it returns gets one node, which calls the user's backward.

    >>> import minitorch2 as torch
    >>> class Double(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         return grad * 2
    >>> Double.apply(torch.ones(2, requires_grad=True))
    tensor([2., 2.], grad_fn=<DoubleBackward>)

What forward sets on `ctx`, backward and `result.grad_fn` find there. An output that is an input, or
a view of one, stays a view; writing into it is refused: the write's history would take the place
of the user's backward.

Source: torch's "Extending autograd".
"""

import functools
import inspect
import warnings
from typing import Any, NamedTuple

from minitorch2.autograd.contexts import (
    BackwardCFunction,
    FunctionCtx,
    Refusing,
    backward_of,
    no_backward,
)
from minitorch2.autograd.function_tangents import Call
from minitorch2.autograd.graph import Node, SavedTensor, edge_of
from minitorch2.autograd.record import check_write, record_write
from minitorch2.autograd.views import CUSTOM, MULTIPLE, View
from minitorch2.batching.backward import any_batched
from minitorch2.batching.batched import Batched
from minitorch2.batching.mode import VmapMode
from minitorch2.dispatch import call, state
from minitorch2.errors import AutogradError, MissingDerivative
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


class Function(FunctionCtx):
    """Base class: define static methods `forward(ctx, ...)` and `backward(ctx, *grads)`.

    With `setup_context(ctx, inputs, output)` defined, forward takes no ctx. Under vmap, either
    `generate_vmap_rule = True` says that forward and backward are made of tensor operations, or
    `vmap(info, in_dims, *args)` returns the output and its batch dimensions.
    """

    generate_vmap_rule = False
    clear_saved_tensors_on_access = False
    _backward_cls: Any = BackwardCFunction

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        fields = {"_forward_cls": cls, "__module__": cls.__module__, "__slots__": ()}
        cls._backward_cls = type(f"{cls.__name__}Backward", (BackwardCFunction,), fields)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise AutogradError(
            f"{type(self).__name__}(...)",
            "Legacy autograd function with non-static forward method is deprecated",
            f"make forward and backward static methods and call {type(self).__name__}.apply(...)",
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; to be overridden."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> Any:
        """Keep on `ctx` what backward needs, where forward takes no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    backward = vjp = staticmethod(no_backward)

    @staticmethod
    def jvp(ctx: Any, *grads: Any) -> Any:
        """Compute the outputs' tangents from the inputs'; to be overridden."""
        raise MissingDerivative(
            "the jvp of an autograd.Function",
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD.",
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Compute outputs of a batch and their batch dimensions; to be overridden."""
        raise NotImplementedError("To use autograd.Function with vmap, override vmap")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward and record it."""
        with_setup = cls.setup_context is not Function.setup_context
        if with_setup:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        if state.modes and any_batched(args):
            return apply_to_batch(cls, args)
        ctx = FunctionCtx()
        ctx._once = cls.clear_saved_tensors_on_access
        ctx.needs_input_grad = tuple(
            isinstance(a, Tensor) and a.requires_grad and state.grad_enabled for a in args
        )
        before = state.grad_enabled, state.duals
        pushed = Call(cls, ctx, args) if state.duals and not state.inference else None
        state.grad_enabled, state.duals = False, ()
        try:
            if with_setup:
                output = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, output)
            else:
                output = cls.forward(ctx, *args, **kwargs)
        finally:
            state.grad_enabled, state.duals = before
        return _connected(cls, ctx, args, output, pushed)


def _connected(cls: Any, ctx: FunctionCtx, args: tuple, output: Any, pushed: Call | None) -> Any:
    """The output, with a node of the Function behind its tensors."""
    many = isinstance(output, (tuple, list))
    outputs = list(output) if many else [output]
    inputs = {id(a) for a in args if isinstance(a, Tensor)}
    dirty = {id(t) for t in ctx.dirty_tensors}
    if dirty:
        _check_dirty(cls, ctx, inputs, outputs)
    node = None
    if any(ctx.needs_input_grad):
        edges = tuple([edge_of(a) for a in args if isinstance(a, Tensor)])
        node = cls._backward_cls(ctx, args, outputs, edges)
    tensors = [each for each in outputs if isinstance(each, Tensor)]
    places = {id(tensor): index for index, tensor in enumerate(tensors)}
    found: dict[int, Tensor] = {}  # what each tensor that forward returned becomes
    for tensor in tensors:
        key = id(tensor)
        if key in found:
            continue
        seen = found[key] = _as_view(tensor) if key in inputs - dirty else tensor
        if key not in dirty:
            _mark_view(seen, len(tensors) > 1)
        if node is not None and places[key] not in node.without and seen.dtype.differentiable:
            _give_history(node, seen, places[key], key in dirty)
    if node is not None:
        kept = [None if id(t) in inputs - dirty else places.get(id(t)) for t in ctx.to_save]
        ctx._saved = [
            SavedTensor.nothing() if t is None else SavedTensor(t, at)
            for t, at in zip(ctx.to_save, kept, strict=True)
        ]
    fixed = {id(each) for each in ctx.non_differentiable}
    ctx.to_save = ctx.dirty_tensors = ctx.non_differentiable = ()
    made = [found.get(id(each), each) for each in outputs]
    if pushed is not None and pushed.levels:
        pushed.push(outputs, made, fixed, dirty)
    ctx.saved_for_forward = ()
    return type(output)(made) if many else made[0]


def _give_history(node: Node, tensor: Tensor, index: int, dirty: bool) -> None:
    """Make a tensor the `index`-th result of a Function's node."""
    if not dirty:
        tensor._requires_grad = False
        tensor.set_history(node, index)
    elif tensor._view is None:
        tensor.set_history(node, index)
        tensor.storage.graph_version += 1
    else:  # what was written into a view becomes part of its base's history
        source = Tensor(tensor.storage, tensor.layout, tensor.dtype, tensor._array)
        source.set_history(node, index)
        record_write(tensor, source)


def _as_view(tensor: Tensor) -> Tensor:
    """An input that forward returned as it came: a view of it."""
    before, state.grad_enabled = state.grad_enabled, False
    try:
        found = call(lookup("alias"), (tensor,))
    finally:
        state.grad_enabled = before
    if type(found) is Tensor:
        found.__class__ = type(tensor)
    return found


def _mark_view(tensor: Tensor, several: bool) -> None:
    """Views that a custom Function made are not to be written into."""
    view = tensor._view
    if view is not None and state.grad_enabled:
        tensor._view = View(view.base, view.steps)
        tensor._view.kind = MULTIPLE if several else CUSTOM


def _check_dirty(cls: Any, ctx: FunctionCtx, inputs: set, outputs: list) -> None:
    """Refuse what mark_dirty cannot mean."""
    returned = {id(each) for each in outputs}
    for tensor in ctx.dirty_tensors:
        if id(tensor) not in inputs:
            if tensor._view is not None:
                raise AutogradError(
                    f"{cls.__name__}: ctx.mark_dirty",
                    "received a tensor that was not an input.",
                    "only inputs that forward wrote are dirty",
                )
            warnings.warn(
                "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an "
                "input, there is no need to pass it to mark_dirty().",
                stacklevel=4,
            )
            continue
        if id(tensor) not in returned:
            raise AutogradError(
                f"{cls.__name__}: ctx.mark_dirty",
                "Some elements marked as dirty during the forward method were not returned as "
                "output. The inputs that are modified inplace must all be outputs of the Function.",
            )
        check_write(tensor, tensor)
        many = sum(isinstance(each, Tensor) for each in outputs) > 1
        if tensor._view is not None and many and any(ctx.needs_input_grad):
            raise AutogradError(
                f"{cls.__name__}: ctx.mark_dirty",
                "your Function modifies inplace an input that is a view of another Tensor, and "
                "returns more than one Tensor",
                "give it the base, or a clone",
            )


class InplaceFunction(Function):
    """A Function that may write into its first argument."""

    def __init__(self, inplace: bool = False):
        super().__init__()
        self.inplace = inplace


def once_differentiable(function: Any) -> Any:
    """Decorates a backward that cannot itself be differentiated."""

    @functools.wraps(function)
    def wrapper(ctx: Any, *grads: Any) -> Any:
        """The gradients; those asked for with a graph refuse to be differentiated."""
        before = state.grad_enabled
        state.grad_enabled = False
        try:
            found = function(ctx, *grads)
        finally:
            state.grad_enabled = before
        asked = any(isinstance(each, Tensor) and each.requires_grad for each in grads)
        if not (before and asked):
            return found
        outputs = found if isinstance(found, tuple) else (found,)
        tensors = [each for each in outputs if isinstance(each, Tensor)]
        node = Refusing(tensors)
        fresh = iter([_refused(node, each, at) for at, each in enumerate(tensors)])
        outputs = tuple(next(fresh) if isinstance(each, Tensor) else each for each in outputs)
        return outputs if isinstance(found, tuple) else outputs[0]

    return wrapper


def _refused(node: Node, tensor: Tensor, index: int) -> Tensor:
    alias = Tensor(tensor.storage, tensor.layout, tensor.dtype, tensor._array)
    if alias.dtype.differentiable:
        alias.set_history(node, index)
    return alias


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
    own = None if cls.vmap is Function.vmap else cls.vmap
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
        self.for_forward: tuple = ()  # hidden, and which of them are Batched
        self.flags_forward: tuple = ()

    def save_for_forward(self, *tensors: Any) -> None:
        seen = [self.mode.hidden(value) for value in tensors]
        self.flags_forward = tuple(is_batched for _, is_batched in seen)
        self.for_forward = tuple(value for value, _ in seen)

    def save_for_backward(self, *tensors: Any) -> None:
        seen = [self.mode.hidden(value) for value in tensors]
        self.flags = tuple(is_batched for _, is_batched in seen)
        self.to_save = tuple(value for value, _ in seen)

    @property
    def saved_tensors(self) -> tuple:
        flags = self.flags if self.hidden._forward is None else self.flags_forward
        pairs = zip(self.hidden.saved_tensors, flags, strict=True)
        return tuple(self.mode.wrapped(value) if flag else value for value, flag in pairs)


def _for_batch(cls: Any, mode: VmapMode, dims: tuple) -> Any:
    """A Function on hidden tensors that runs `cls` on Batched ones, forward and backward."""

    class ForBatch(Function):
        @staticmethod
        def forward(ctx: Any, *hidden: Any) -> Any:
            """The outputs of `cls` on Batched tensors, hidden again; `ctx` keeps what it saves."""
            seen = ctx.seen = _SeenContext(mode)
            seen.hidden, seen.needs_input_grad = ctx, ctx.needs_input_grad
            args = tuple(
                value if dim is None else mode.wrapped(value)
                for value, dim in zip(hidden, dims, strict=True)
            )
            setup = cls.setup_context
            if setup is Function.setup_context:
                output = mode.inside(cls.forward, seen, *args)
            else:
                output = mode.inside(cls.forward, *args)
                mode.inside(setup, seen, args, output)
            ctx.save_for_backward(*seen.to_save)
            ctx.save_for_forward(*seen.for_forward)
            ctx.set_materialize_grads(seen.materialize_grads)
            many = isinstance(output, (tuple, list))
            found = tuple(mode.spread(each) for each in (output if many else (output,)))
            skipped = {id(each) for each in seen.non_differentiable}
            outputs = output if many else (output,)
            pairs = zip(found, outputs, strict=True)
            ctx.mark_non_differentiable(*[each for each, o in pairs if id(o) in skipped])
            return found if many else found[0]

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            wrapped = [None if each is None else mode.wrapped(each) for each in grads]
            found = mode.inside(backward_of(cls), ctx.seen, *wrapped)
            found = found if isinstance(found, tuple) else (found,)
            return tuple(
                None if each is None else mode.spread(each) if dim == 0 else _summed(mode, each)
                for each, dim in zip(found, dims, strict=False)
            )

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            pairs = zip(tangents, dims, strict=True)
            seen = [t if t is None or dim is None else mode.wrapped(t) for t, dim in pairs]
            found = mode.inside(cls.jvp, ctx.seen, *seen)
            if isinstance(found, (tuple, list)):
                return tuple(None if each is None else mode.spread(each) for each in found)
            return None if found is None else mode.spread(found)

    ForBatch.__name__ = cls.__name__
    return ForBatch


def _summed(mode: VmapMode, gradient: Any) -> Any:
    """The gradient of what all samples share: the sum of theirs."""
    return mode.spread(gradient).sum(0)

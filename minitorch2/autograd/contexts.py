"""The two sides of one `Function.apply`: the context users see, and the node in the graph.

In: what forward saved and declared. Out: the gradients that the user's backward gives, checked and
fit to the inputs. The context belongs to the user, who may set anything on it; the node keeps its
own fields apart, and shows the context's where `result.grad_fn` is asked for them.

Source: torch.autograd.function.FunctionCtx's documentation.
"""

import warnings
import weakref
from typing import Any

from minitorch2.autograd.anomaly import origin_now
from minitorch2.autograd.graph import Node, SavedTensor, fit_gradient, freed, spec_of
from minitorch2.dispatch import call
from minitorch2.errors import (
    ArgumentTypeError,
    AutogradError,
    MissingDerivative,
    SavedTensorModified,
)
from minitorch2.layouts import broadcast_shapes
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


class FunctionCtx:
    """What forward and backward share: saved tensors and anything set as an attribute."""

    to_save: tuple = ()
    saved_for_forward: tuple = ()
    dirty_tensors: tuple = ()
    non_differentiable: tuple = ()
    materialize_grads = True
    _materialize_non_diff_grads = True
    _is_pure_view = False
    needs_input_grad: tuple[bool, ...] = ()
    _saved: "list[SavedTensor] | None" = []  # None once freed  # noqa: RUF012
    _accessed = False
    _once = False  # whether saved tensors are cleared when they are asked for
    _node: Any = None  # a weak reference to the node
    _forward: "tuple | None" = None  # what jvp finds as saved tensors, while it runs

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for the backward, checked against later writes."""
        for at, each in enumerate(tensors):
            if each is not None and not isinstance(each, Tensor):
                kind = type(each).__name__
                raise ArgumentTypeError(
                    f"save_for_backward of {kind}",
                    f"save_for_backward can only save variables, but argument {at} is of type "
                    f"{kind}",
                    "keep what is no tensor as an attribute: ctx.size = size",
                )
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for jvp."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Declare inputs that forward wrote in place and returned."""
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Declare outputs that have no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether missing gradients reach backward as zeros (the default) or as None."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple:
        """The tensors given to save_for_backward; in jvp, those given to save_for_forward."""
        if self._forward is not None:
            return self._forward
        if self._saved is None:
            raise freed("ctx.saved_tensors")
        if self._once and self._accessed:
            raise SavedTensorModified(
                "ctx.saved_tensors",
                "with clear_saved_tensors_on_access the saved tensors can only be accessed once",
                "keep them in variables",
            )
        node = self._node() if self._node is not None else None
        found = tuple([saved.unpack(node, "saved tensor") for saved in self._saved])
        if self._once:
            self._saved, self._accessed = [], True
        return found

    @property
    def saved_variables(self) -> tuple:
        """The older name of saved_tensors."""
        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2
        )
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple:
        if self._saved is None:
            raise freed("ctx._raw_saved_tensors")
        return tuple(self._saved)


def no_backward(ctx: Any, *grads: Any) -> Any:
    """Compute the inputs' gradients; to be overridden."""
    raise MissingDerivative(
        "the backward of an autograd.Function",
        "You must implement either the backward or vjp method for your custom autograd.Function "
        "to use it with backward mode AD.",
    )


def backward_of(function: Any) -> Any:
    """The method that computes a Function's gradients: its backward or its vjp."""
    own = [each for each in (function.backward, function.vjp) if each is not no_backward]
    if len(own) == 2:
        raise AutogradError(
            f"the backward of {function.__name__}",
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
            "should only implement one of them.",
        )
    return own[0] if own else no_backward


class BackwardCFunction(Node):
    """The node of one `apply`; each Function has a class of its own, `_backward_cls`.

    `places` says which of forward's outputs are tensors, `inputs` which of its arguments are,
    `without` which of the tensors it made are marked as not differentiable.
    """

    __slots__ = ("ctx", "places", "inputs", "count", "without")
    fills_missing = False  # the user may want to see which are missing
    runs_on_nothing = True
    _forward_cls: Any = None

    def __init__(self, ctx: FunctionCtx, args: tuple, outputs: list, edges: tuple):
        places = tuple([at for at, each in enumerate(outputs) if isinstance(each, Tensor)])
        specs = tuple([spec_of(outputs[at]) for at in places])
        super().__init__(f"{self._forward_cls.__name__}Backward", edges, specs, origin_now())
        self.ctx, self.places, self.count = ctx, places, len(outputs)
        self.inputs = tuple([isinstance(a, Tensor) for a in args])
        skipped = {id(t) for t in ctx.non_differentiable}
        self.without = frozenset(i for i, at in enumerate(places) if id(outputs[at]) in skipped)
        ctx._node = weakref.ref(self)

    def __getattr__(self, name: str) -> Any:
        if name in BackwardCFunction.__slots__ or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.ctx, name)

    def apply(self, grads: tuple) -> tuple:
        """Call the user's backward; one gradient for each tensor among forward's arguments."""
        ctx = self.ctx
        whole: list[Any] = [None] * self.count
        for index, (place, grad) in enumerate(zip(self.places, grads, strict=True)):
            skipped = index in self.without and not ctx._materialize_non_diff_grads
            if grad is None and ctx.materialize_grads and not skipped:
                spec = self.outputs[index]
                grad = call(lookup("full"), (tuple(spec.shape), 0, spec.dtype, spec.device))
            whole[place] = grad
        found = backward_of(self._forward_cls)(ctx, *whole)
        found = found if isinstance(found, tuple) else (found,)
        count = len(self.inputs)
        if len(found) < count or any(value is not None for value in found[count:]):
            raise AutogradError(
                f"the backward of {self._forward_cls.__name__}",
                f"function {self.label} returned an incorrect number of gradients (expected "
                f"{count}, got {len(found)})",
                "return one gradient, or None, for each argument of forward",
            )
        return self._checked(found)

    def _checked(self, found: tuple) -> tuple:
        """The gradients of the tensors among the arguments, each fit to its tensor."""
        edges, kept = iter(self.edges), []
        for index, (value, is_tensor) in enumerate(zip(found, self.inputs, strict=False)):
            if value is not None and not isinstance(value, Tensor):
                raise AutogradError(
                    f"the backward of {self._forward_cls.__name__}",
                    f"expected Variable or None (got {type(value).__name__})",
                )
            if not is_tensor:
                continue
            edge = next(edges)
            if value is not None and edge is not None:
                target = edge.target
                spec = spec_of(target) if isinstance(target, Tensor) else target.outputs[edge.index]
                value = self._fitted(value, spec, index)
            kept.append(value)
        return tuple(kept)

    def _fitted(self, value: Tensor, spec: Any, index: int) -> Any:
        shape, wanted = tuple(value.shape), tuple(spec.shape)
        if shape != wanted and not _spreads_to(wanted, shape):
            raise AutogradError(
                f"the backward of {self._forward_cls.__name__}",
                f"Function {self.label} returned an invalid gradient at index {index} - got "
                f"{list(shape)} but expected shape compatible with {list(wanted)}",
                "return a gradient of the input's shape",
            )
        return fit_gradient(value, spec)

    def kept(self) -> tuple:
        """What is saved of the results, among others."""
        return tuple(self.ctx._saved or ())

    def release(self) -> None:
        """Free the saved tensors."""
        for saved in self.ctx._saved or ():
            saved.release()
        if self.ctx._saved:
            self.ctx._saved = None


def _spreads_to(small: tuple, large: tuple) -> bool:
    """Whether a tensor of one shape can be broadcast to the other."""
    try:
        return broadcast_shapes(small, large) == large
    except RuntimeError:
        return False


class Refusing(Node):
    """Behind gradients that cannot be differentiated again."""

    def __init__(self, tensors: list[Tensor]):
        super().__init__("Error", (), tuple([spec_of(each) for each in tensors]))

    def apply(self, grads: tuple) -> tuple:
        """Refuse."""
        raise AutogradError(
            "a second derivative",
            "trying to differentiate twice a function that was marked with @once_differentiable",
        )

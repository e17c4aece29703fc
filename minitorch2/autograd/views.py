"""Histories of views: a write through a view becomes part of its base's history.

In: a view (base tensor + the view operations that lead to it) and a write. Out: a CopySlices node
on the base, and views that derive their own history again from the base when they are asked.

Source: PyTorch's "Autograd mechanics" notes on in-place operations on views.
"""

from typing import Any, NamedTuple

from minitorch2.autograd.graph import Node, Spec, edge_of, fit_gradient, zeros_like_spec
from minitorch2.dispatch import call, state
from minitorch2.errors import InPlaceError
from minitorch2.layouts import Layout
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor

# How a view was made, where that forbids writes into it.
MULTIPLE = "multiple"  # one of several views made by one call (unbind, split)
NO_GRAD = "no_grad"
INFERENCE = "inference"
CUSTOM = "custom"  # inside a custom Function


class View:
    """How a tensor is seen from its base: (op, arguments after the tensor), in order.

    `graph_version` and `version` are the storage's counts of writes when its history was derived.
    A view of a kind that may not be derived again is out of date after any write, also one that
    autograd did not record; others only after one that it did.
    """

    __slots__ = ("base", "steps", "graph_version", "kind", "version")

    def __init__(self, base: Tensor, steps: tuple, kind: str = ""):
        self.base, self.steps, self.kind = base, steps, kind
        self.brought_up_to_date()

    def brought_up_to_date(self) -> None:
        """Note the writes there were until now."""
        self.graph_version = self.base.storage.graph_version
        self.version = self.base.storage.version

    def is_stale(self) -> bool:
        """Whether the history has to be derived again before it is used."""
        storage = self.base.storage
        if self.graph_version != storage.graph_version:
            return True
        return bool(self.kind) and self.version != storage.version

    def rederive(self, tensor: Tensor) -> None:
        """Give the tensor the history its base has now, seen through the view."""
        if self.kind and (tensor._node is not None or self.base.requires_grad):
            raise self.refusal(tensor, "its base or another view of its base has been")
        self.brought_up_to_date()
        node, output = None, 0
        if self.base.requires_grad:
            before = state.grad_enabled, state.modes
            state.grad_enabled, state.modes = True, ()
            try:
                seen = replay(self.base, self.steps)
            finally:
                state.grad_enabled, state.modes = before
            node, output = seen._node, seen._output
        tensor.set_history(node, output)

    def refusal(self, tensor: Tensor, what: str) -> InPlaceError:
        """The error of a write that autograd cannot follow because of how the view was made."""
        node, kind = tensor._node, self.kind
        place = "inference mode" if kind == INFERENCE else "no_grad mode"
        within = "in normal mode" if kind == INFERENCE else "with grad mode enabled"
        made = "" if node is None else f"Output {tensor._output} of {node.name()} is a view"
        if node is None:
            wrong = f"A view was created in {place} and {what} modified inplace {within}"
        elif kind in (NO_GRAD, INFERENCE):
            wrong = f"{made} of a view which was created in {place} and {what} modified inplace"
            wrong += f" {within}"
        else:
            wrong = f"{made} and {what} modified inplace"
        return InPlaceError("an in-place operation on a view", f"{wrong}. {_WHY[kind]}", _FIX[kind])


_WHY = {
    MULTIPLE: "This view is the output of a function that returns multiple views. Such functions "
    "do not allow the output views to be modified inplace.",
    NO_GRAD: "It is ambiguous, and forbidden, to do one inside the no_grad block only.",
    INFERENCE: "It is ambiguous, and forbidden, to do one inside the inference_mode block only.",
    CUSTOM: "This view was created inside a custom Function (or because an input was returned "
    "as-is), and the history of the write would take the place of the custom backward.",
}
_FIX = {
    MULTIPLE: "use the out-of-place operation, or write into the base tensor",
    NO_GRAD: "move both the view and the write inside the block, or both outside",
    INFERENCE: "move both the view and the write inside the block, or both outside",
    CUSTOM: "clone the output of the custom Function",
}


def replay(base: Tensor, steps: tuple) -> Tensor:
    """Apply view steps to a tensor."""
    for op, arguments in steps:
        base = call(op, (base, *arguments))
    return base


def write_back(base: Tensor, steps: tuple, value: Tensor) -> Tensor:
    """The base with the part seen through `steps` replaced by `value`, out of place."""
    if not steps:
        return value
    (op, arguments), rest = steps[0], steps[1:]
    inner = call(op, (base, *arguments)) if rest else None
    if inner is not None:
        value = write_back(inner, rest, value)
    return op.inverse(base, value, *arguments)


def note_view(result: Tensor, source: Tensor, op: Any, arguments: tuple) -> None:
    """Remember how a view was made, so that later writes through it can be recorded."""
    origin = source._view
    base, steps, kind = (source, (), "") if origin is None else _seen_so_far(origin)
    if not state.grad_enabled:
        kind = INFERENCE if state.inference else NO_GRAD
    result._view = View(base, (*steps, (op, arguments)), kind)


def _seen_so_far(view: View) -> tuple:
    return view.base, view.steps, view.kind


class Window(NamedTuple):
    """Where a view and its base lie in the memory that both see."""

    base: Layout
    view: Layout

    def read(self, base: Tensor) -> Tensor:
        """What a tensor of the base's shape has at the view's place."""
        return self._seen(self._memory(base), self.view)

    def write(self, base: Tensor, value: Tensor) -> Tensor:
        """A tensor of the base's shape with `value` at the view's place, out of place."""
        return self._seen(self._put(self._memory(base), value, self.view), self.base)

    def _start(self) -> int:
        return min(self.base.offset, self.view.offset)

    def _memory(self, base: Tensor) -> Tensor:
        reach = max(self.base.extent(), self.view.extent(), self._start()) - self._start()
        memory = call(lookup("full"), ((reach,), 0, base.dtype, base.device))
        return self._put(memory, base, self.base)

    def _put(self, memory: Tensor, value: Tensor, at: Layout) -> Tensor:
        where = (at.shape, at.strides, at.offset - self._start())
        return call(lookup("as_strided_scatter"), (memory, value, *where))

    def _seen(self, memory: Tensor, at: Layout) -> Tensor:
        return call(lookup("as_strided"), (memory, at.shape, at.strides, at.offset - self._start()))


def window_of(base: Tensor, view: Tensor, steps: tuple) -> Window | None:
    """How a view lies in its base, where its steps cannot be retraced; None where they can.

    They cannot through an expanded dimension or windows, whose repetitions are one memory, nor, as
    gradients need not be laid out as the base is, through strides given by hand, or another shape
    of a base that is not row-major.
    """
    names = [op.name for op, _ in steps]
    reshaped = "view" in names and not base.layout.is_contiguous()
    if not (reshaped or {"expand", "unfold", "as_strided"}.intersection(names)):
        return None
    return None if base.layout.overlaps_itself() else Window(base.layout, view.layout)


class CopySlices(Node):
    """The base's node after a write through a view: zero where written, the rest passes."""

    __slots__ = ("steps", "source", "window")

    def __init__(self, base: Tensor, steps: tuple, source: Tensor, window: Window | None = None):
        from_base, from_source = edge_of(base), edge_of(source)
        spec = Spec(base.layout.shape, base.dtype, base.device)
        super().__init__(
            "torch::autograd::CopySlices", (from_base, from_source), (spec,), state.origin
        )
        self.steps, self.window = steps, window
        self.source = Spec(source.layout.shape, source.dtype, source.device)

    def apply(self, grads: tuple) -> tuple:
        """Gradients of the old base and of the written value."""
        (grad,) = grads
        window = self.window
        if window is None:
            grad = grad.contiguous()  # views may ask for strides
        seen = replay(grad, self.steps) if window is None else window.read(grad)
        to_base = to_source = None
        if self.edges[0] is not None:
            zeros = zeros_like_spec(Spec(seen.layout.shape, seen.dtype, seen.device))
            if window is None:
                to_base = write_back(grad, self.steps, zeros)
            else:
                to_base = window.write(grad, zeros)
        if self.edges[1] is not None:
            to_source = fit_gradient(seen, self.source)
        return to_base, to_source

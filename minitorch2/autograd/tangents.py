"""Forward mode: tensors with tangents, and operations that pass tangents on.

In: an op row and arguments some of which have tangents. Out: its results, with theirs. There is no
second table of derivatives: a row's vjp is linear in the gradient g it starts from, so

    tangent of the result = gradient of <vjp(g), tangent of the argument> in g

and g itself does not matter. Views show the tangent through the same view, so that a write through
one view reaches the tangents of all; `copy_` writes the tangent as it writes the value.

A `Duals` is one level: the tangents that belong to one jvp, or to one `dual_level` block. Tangents
hang on plain tensors, below the modes, as histories do; of several levels the innermost comes
first, and what it computes is seen by those around it.

Source: Townsend 2017, "A new trick for calculating Jacobian vector products", of single operations;
torch.autograd.forward_ad for what views and writes do.
"""

import weakref
from typing import Any

from minitorch2 import dispatch
from minitorch2.autograd.engine import run_backward
from minitorch2.autograd.graph import Edge, Node, SavedTensor, sequence, spec_of
from minitorch2.autograd.op_nodes import OpNode, node_class
from minitorch2.autograd.views import replay
from minitorch2.dispatch import Mode, call, state
from minitorch2.errors import ArgumentValueError, OperationError
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


class Duals(Mode):
    """One level of tangents, in force inside `with level:`.

    It stands on the mode stack so that whoever asks whether operations mean more than they say
    (compiled code does) is told so; it carries nothing out there.
    """

    def __init__(self) -> None:
        # By the id of the tensor; None where a view is told to have none, whatever its base has.
        self.tangents: dict[int, tuple[weakref.ref, Tensor | None]] = {}

    def handle(self, op: Any, args: tuple) -> Any:
        """Pass the operation on."""
        return call(op, args)

    def __enter__(self) -> "Duals":
        state.duals = (*state.duals, self)
        state.modes = (*state.modes, self)
        return self

    def __exit__(self, *exc: object) -> None:
        state.duals = tuple([each for each in state.duals if each is not self])
        state.modes = tuple([each for each in state.modes if each is not self])

    # ---- tangents ------------------------------------------------------------------------------

    def of(self, tensor: Any) -> Tensor | None:
        """A plain tensor's tangent; of a view, its base's seen through the view."""
        if not isinstance(tensor, Tensor):
            return None
        entry = self.tangents.get(id(tensor))
        if entry is not None:
            return entry[1]
        view = tensor._view
        if view is None or not self.tangents:
            return None
        whole = self.of(view.base)
        if whole is None:
            return None
        with below(self):
            return self._keep(tensor, replay(whole, view.steps))

    def forget(self, tensor: Tensor) -> None:
        """Let a tensor have no tangent."""
        self._keep(tensor, None)

    def _keep(self, tensor: Tensor, tangent: Any) -> Any:
        key = id(tensor)
        self.tangents[key] = weakref.ref(tensor, lambda _: self.tangents.pop(key, None)), tangent
        return tangent

    def give(self, tensor: Tensor, tangent: Tensor) -> None:
        """Give a tensor without a tangent one, laid out as it is."""
        tangent = self._keep(tensor, _laid_out_as(tensor, tangent))
        for saved in _kept_results(tensor):
            self._keep(saved, tangent)

    def share(self, tensor: Tensor, other: Tensor) -> None:
        """Let another tensor of the same memory have the same tangent."""
        found = self.of(tensor)
        if found is not None:
            self._keep(other, found)

    def replaced(self, tensor: Tensor, view: Tensor) -> None:
        """A tensor takes the place of its view (`unsqueeze_` and its like)."""
        self.share(view, tensor)

    def written(self, target: Tensor, source: Any) -> None:
        """Note that `target` was overwritten by `source`: its tangent is the source's now."""
        tangent, old = self.of(source), self.of(target)
        if tangent is None and old is None or not target.dtype.differentiable:
            return
        with below(self):
            if old is None:
                assert tangent is not None
                self.give_through(target, tangent)
            else:
                call(lookup("copy_"), (old, 0 if tangent is None else tangent, False))

    def give_through(self, target: Tensor, tangent: Tensor) -> None:
        """Give what was written in place a tangent: of a view, as part of its base's."""
        base = target if target._view is None else target._view.base
        self.give(base, _zeros(base))
        call(lookup("copy_"), (self.of(target), tangent, False))


class below:
    """Inside the block only the levels around a given one are in force."""

    def __init__(self, level: Duals):
        self.level = level

    def __enter__(self) -> None:
        self.before = state.duals
        if self.level in self.before:
            state.duals = self.before[: self.before.index(self.level)]

    def __exit__(self, *exc: object) -> None:
        state.duals = self.before


def _zeros(like: Tensor) -> Tensor:
    return call(lookup("full"), (tuple(like.layout.shape), 0, like.dtype, like.device))


def _laid_out_as(tensor: Tensor, tangent: Tensor) -> Tensor:
    """The tangent with the strides of its tensor, so that whatever views one can view the other."""
    wanted = tensor.layout
    if state.tracer is not None or tangent.layout.strides == wanted.strides:
        return tangent
    if wanted.overlaps_itself():
        return tangent
    room = call(
        lookup("full"), ((wanted.extent() - wanted.offset,), 0, tangent.dtype, tangent.device)
    )
    place = call(lookup("as_strided"), (room, wanted.shape, wanted.strides, 0))
    call(lookup("copy_"), (place, tangent, False))
    return place


def _kept_results(tensor: Tensor) -> list[Tensor]:
    """The aliases of a result that its own node keeps for the backward."""
    node = tensor._node
    kept = node.kept() if node is not None else ()
    found = [each for each in kept if type(each) is SavedTensor and each.output == tensor._output]
    return [each.tensor for each in found if each.tensor is not None]


# ---- operations ------------------------------------------------------------------------------


def tangents_of(level: Duals, op: Any, args: tuple) -> dict[int, Tensor]:
    """The tangents among the arguments, by the number of the tensor, counting through lists."""
    found, at = {}, 0
    for position in op.tensor_positions:
        value = args[position]
        for item in value if type(value) in (tuple, list) else (value,):
            tangent = level.of(item)
            if tangent is not None:
                found[at] = tangent
            at += 1
    return found


def run_dual(op: Any, args: tuple) -> Any:
    """Run a primitive below the modes, and pass on the tangents of the innermost level.

    A view of a tensor that was told to have no tangent is told so too: the tensor that both are
    views of may have one.
    """
    without = list(state.duals) if state.inference else []
    for level in () if state.inference else reversed(state.duals):
        tangents = tangents_of(level, op, args)
        if tangents:
            result = _run_and_push(level, op, args, tangents)
            break
        without.append(level)
    else:
        result = dispatch.below_tangents(op, args)
    if op.view is not None:
        for level in without:
            if id(args[0]) in level.tangents:
                level.forget(result)
    return result


def _run_and_push(level: Duals, op: Any, args: tuple, tangents: dict[int, Tensor]) -> Any:
    """Run a primitive below a level, and give its results the tangents that they have there."""
    with below(level):
        result = dispatch.below_modes(op, args)
        if op.vjp is None:
            return result
        if op.view is not None:
            level.give(result, call(op, (tangents[0], *args[1:])))
            return result
        results = result if type(result) is tuple else (result,)
        if not any(each.dtype.differentiable for each in results):
            return result
        taken = {id(tangent.storage) for tangent in tangents.values()}
        for each, tangent in zip(results, pushed(op, args, results, tangents), strict=True):
            if tangent is None:
                continue
            if id(tangent.storage) in taken:  # what is no view must not be written with another
                tangent = call(lookup("clone"), (tangent,))
            taken.add(id(tangent.storage))
            level.give(each, tangent)
    return result


def pushed(op: Any, args: tuple, results: tuple, tangents: dict[int, Tensor]) -> list[Any]:
    """The results' tangents, from those of some of the arguments; None for integers."""
    outer = state.grad_enabled
    before = outer, state.saved_hooks, state.origin
    state.saved_hooks = ()
    try:
        if not outer:  # nobody around differentiates: cut from the histories
            args = tuple([_cut_all(value) for value in args])
            results = tuple([_cut(value) for value in results])
        further = outer and _any_recorded((*args, *tangents.values()))
        first = next(sequence)
        starts = [_start(each) if each.dtype.differentiable else None for each in results]
        state.grad_enabled = True
        rows = _node(op, args, results, tangents).apply(tuple(starts))
        pairs = [
            (row, tangent)
            for at, row in enumerate(rows)
            if (tangent := tangents.get(at)) is not None and row is not None and row.requires_grad
        ]
        wanted = [each for each in starts if each is not None]
        if not pairs:
            return [None if each is None else _zeros(each) for each in starts]
        roots, gradients = [row for row, _ in pairs], [tangent for _, tangent in pairs]
        found = iter(
            run_backward(roots, gradients, False, further, wanted, accumulate=False, since=first)
        )
        filled = [None if each is None else (next(found), each) for each in starts]
        return [None if f is None else _zeros(f[1]) if f[0] is None else f[0] for f in filled]
    finally:
        state.grad_enabled, state.saved_hooks, state.origin = before


def _node(op: Any, args: tuple, results: tuple, tangents: dict[int, Tensor]) -> OpNode:
    """The node of a call whose arguments and results are at hand, so that nothing is saved."""
    made = node_class(op)
    node = Node.__new__(made)
    count = 0
    for position, _ in made.keeps:
        value = args[position]
        count += len(value) if type(value) in (tuple, list) else 1
    node.edges = tuple([Edge(None, 0) if at in tangents else None for at in range(count)])
    node.sequence, node.origin, node.hooks, node.facts = 0, state.origin, None, None
    node.outputs = tuple([spec_of(each) for each in results])
    node.freed = False
    arguments = [tuple(value) if type(value) is list else value for value in args]
    kept = {"result": results[0], "result1": results[-1], "results": results}
    if made.keeps_result == "result1":
        kept["result1"] = results[1]
    if made.keeps_result:
        arguments.append(kept[made.keeps_result])
    node.arguments = tuple(arguments)
    return node


def _start(like: Tensor) -> Tensor:
    """A gradient to start from; the tangents do not depend on it."""
    before, state.duals = state.duals, ()
    try:
        start = _zeros(like)
    finally:
        state.duals = before
    start.requires_grad = True
    return start


def _cut_all(value: Any) -> Any:
    if type(value) in (tuple, list):
        return tuple([_cut(each) for each in value])
    return _cut(value)


def _cut(value: Any) -> Any:
    """A tensor without its history, with the tangents it has."""
    if not isinstance(value, Tensor) or not value.requires_grad:
        return value
    return share_tangents(value, Tensor(value.storage, value.layout, value.dtype, value._array))


def share_tangents(tensor: Tensor, other: Tensor) -> Tensor:
    """The other tensor, of the same memory, with the tangents of the first."""
    for level in state.duals:
        level.share(tensor, other)
    return other


def _any_recorded(values: Any) -> bool:
    for value in values:
        if type(value) in (tuple, list):
            if _any_recorded(value):
                return True
        elif isinstance(value, Tensor) and value.requires_grad:
            return True
    return False


def note_write(target: Tensor, source: Any) -> None:
    """Pass tangents on through a write that was made and recorded."""
    if not state.inference:
        for level in reversed(state.duals):
            level.written(target, source)


def check_tangent(asked: str, tensor: Tensor, tangent: Tensor) -> None:
    """OperationError where a tangent is not one of the tensor, ArgumentValueError for integers."""
    for name, given in (("primal", tensor), ("tangent", tangent)):
        if not given.dtype.differentiable:
            raise ArgumentValueError(
                asked, f"Expected {name} to be floating point or complex, but got: {given.dtype}"
            )
    if tuple(tensor.shape) != tuple(tangent.shape):
        raise OperationError(
            asked,
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(tensor.shape)} while the "
            f"given forward gradient is of size {list(tangent.shape)}.",
            "a tangent has its tensor's shape",
        )


dispatch.install_forward(run_dual)

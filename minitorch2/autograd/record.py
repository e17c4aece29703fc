"""The recorder: runs a primitive and, when a gradient is wanted, adds its node to the graph.

In: an op row and arguments of which at least one requires a gradient. Out: results that know the
node that made them. Writes (`copy_`) get the history of what was written.

Source: PyTorch's generated VariableType, which does the same for each op.
"""

from typing import Any

from minitorch2 import dispatch
from minitorch2.autograd.graph import Edge, OpNode, SavedTensor, Spec, edge_of, spec_of
from minitorch2.autograd.views import CopySlices, note_view
from minitorch2.dispatch import state
from minitorch2.errors import InPlaceError
from minitorch2.ops.table import Op, lookup
from minitorch2.tensors import Tensor


def record(op: Op, args: tuple) -> Any:
    """Run `op` and connect its floating-point results to the graph."""
    result = dispatch.run_backend(op, args)
    results = result if type(result) is tuple else (result,)
    edges: list[Edge | None] = []
    inputs: list[Spec | None] = []
    needs: list[bool] = []
    for position in op.tensor_positions:
        argument = args[position]
        items = argument if type(argument) is tuple else (argument,)
        found = [edge_of(item) for item in items]
        edges.extend(found)
        inputs.extend(spec_of(item) if isinstance(item, Tensor) else None for item in items)
        needs.append(any(edge is not None for edge in found))
    outputs = tuple(spec_of(tensor) for tensor in results)
    node = OpNode(op, {}, tuple(edges), tuple(needs), tuple(inputs), outputs, state.origin)
    for index, tensor in enumerate(results):
        if tensor.dtype.is_floating_point:
            tensor.set_history(node, index)
    node.arguments = _saved_arguments(op, args, results)
    return result


def _saved_arguments(op: Op, args: tuple, results: tuple) -> dict[str, Any]:
    saved: dict[str, Any] = {}
    for parameter, argument in zip(op.signature.parameters, args, strict=True):
        keep = parameter.name in op.saves
        saved[parameter.name] = _saved_argument(argument, keep)
    if "result" in op.saves:
        saved["result"] = SavedTensor(results[0], 0)
    if "results" in op.saves:
        saved["results"] = tuple(SavedTensor(t, i) for i, t in enumerate(results))
    return saved


def _saved_argument(argument: Any, keep: bool) -> Any:
    if isinstance(argument, Tensor):
        return SavedTensor(argument, None) if keep else spec_of(argument)
    if type(argument) is tuple:
        return tuple(_saved_argument(item, keep) for item in argument)
    return argument


def run_view(op: Op, args: tuple) -> Tensor:
    """Make a view, record its vjp, and remember what it is a view of."""
    if state.grad_enabled and op.vjp is not None and dispatch.wants_gradient(op, args):
        result = record(op, args)
    else:
        result = dispatch.run_backend(op, args)
    if op.vjp is not None and args[0].dtype.is_floating_point:  # detach has none
        note_view(result, args[0], op, args[1:])
    return result


dispatch.install_autograd(record, run_view)


def check_write(target: Tensor) -> None:
    """InPlaceError where autograd does not allow a write in place."""
    if not state.grad_enabled:
        return
    view = target._view
    if view is not None and view.sibling:
        raise InPlaceError(
            "an in-place operation on one of several views",
            "Output of a function that returns multiple views is a view and is being modified "
            "inplace; the others' gradients would be lost",
            "write into the base tensor, or clone the view first",
        )
    leaf = target if view is None else view.base
    if leaf._requires_grad and leaf.grad_fn is None:
        kind = "a leaf Variable" if view is None else "a view of a leaf Variable"
        raise InPlaceError(
            "an in-place operation",
            f"{kind} that requires grad is being used in an in-place operation",
            "wrap it in `with torch.no_grad():`, or work on x.clone()",
        )


def record_write(target: Tensor, source: Any) -> None:
    """Give `target`, just overwritten by `source`, the history of what was written."""
    if not state.grad_enabled:
        return
    if not (target.requires_grad or getattr(source, "requires_grad", False)):
        return
    if not target.dtype.is_floating_point:
        return
    storage = target.storage
    view = target._view
    if view is None:
        edge = edge_of(source)
        edges = (edge_of(target), None) if edge is None else (None, edge)
        spec = spec_of(target)
        arguments = {"self": spec, "src": spec_of(source)}
        needs, inputs = (edge is None, edge is not None), (spec, spec_of(source))
        copy = lookup("copy_")
        target.set_history(OpNode(copy, arguments, edges, needs, inputs, (spec,), state.origin))
    else:
        node = CopySlices(view.base, view.steps, source)
        view.base.set_history(node)
    storage.graph_version += 1
    if view is None:
        return
    view.base.key = None

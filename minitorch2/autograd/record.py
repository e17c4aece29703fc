"""The recorder: runs a primitive and, when a gradient is wanted, adds its node to the graph.

In: an op row and arguments of which at least one requires a gradient. Out: results that know the
node that made them. Writes (`copy_`) get the history of what was written.

Source: PyTorch's generated VariableType, which does the same for each op.
"""

from typing import Any

from minitorch2 import dispatch
from minitorch2.autograd.graph import Edge, Node, SavedTensor, edge_of, sequence, spec_of
from minitorch2.autograd.op_nodes import OpNode, node_class
from minitorch2.autograd.views import CopySlices, note_view, window_of
from minitorch2.dispatch import state
from minitorch2.errors import InPlaceError
from minitorch2.ops.table import Op, lookup
from minitorch2.tensors import Tensor


def record(op: Op, args: tuple) -> Any:
    """Run `op` and connect its floating-point and complex results to the graph."""
    result = dispatch.run_backend(op, args)
    connect(op, args, result if type(result) is tuple else (result,))
    return result


_new_node = Node.__new__
_new_tuple = tuple.__new__


def connect(op: Op, args: tuple, results: tuple) -> OpNode:
    """Make the node of a call of `op`, and give its results their history.

    Every field is set here: this is what each recorded operation pays.
    """
    made = node_class(op)
    node = _new_node(made)
    arguments, edges = list(args), []
    for position, keep in made.keeps:
        value = args[position]
        if type(value) is tuple:
            edges += [edge_of(item) for item in value]
            arguments[position] = tuple([_argument(item, keep) for item in value])
        elif isinstance(value, Tensor):
            maker = value._node if value._view is None else value.grad_fn
            if maker is not None:
                edges.append(_new_tuple(Edge, (maker, value._output)))
            else:
                edges.append(_new_tuple(Edge, (value, 0)) if value._requires_grad else None)
            if keep is not None:
                arguments[position] = SavedTensor(value, None) if keep else spec_of(value)
        else:
            edges.append(None)
    for position, other in made.depends:
        value = args[position]
        if isinstance(value, Tensor):
            wanted = edges[other] is not None
            arguments[position] = SavedTensor(value, None) if wanted else spec_of(value)
    node.edges = tuple(edges)
    node.sequence = next(sequence)
    node.origin, node.hooks, node.facts, node.freed = state.origin, None, None, False
    for index, tensor in enumerate(results):
        if tensor.dtype.differentiable:
            tensor._node, tensor._output, tensor.key = node, index, None
    node.outputs = tuple([spec_of(tensor) for tensor in results])
    if made.keeps_result == "result":
        arguments.append(SavedTensor(results[0], 0))
    elif made.keeps_result == "result1":
        arguments.append(SavedTensor(results[1], 1))
    elif made.keeps_result:
        arguments.append(tuple([SavedTensor(t, i) for i, t in enumerate(results)]))
    node.arguments = tuple(arguments)
    return node


def _argument(value: Any, keep: bool | None) -> Any:
    if isinstance(value, Tensor):
        return SavedTensor(value, None) if keep else spec_of(value)
    return value


def run_view(op: Op, args: tuple) -> Tensor:
    """Make a view, record its vjp, and remember what it is a view of."""
    if state.grad_enabled and op.vjp is not None and dispatch.wants_gradient(op, args):
        result = record(op, args)
    else:
        result = dispatch.run_backend(op, args)
    if op.vjp is not None and args[0].dtype.differentiable:  # detach has none
        note_view(result, args[0], op, args[1:])
    return result


dispatch.install_autograd(record, run_view)


def check_write(target: Tensor, source: Any) -> None:
    """InPlaceError where autograd does not allow a write in place of `source` into `target`."""
    version = target.storage.version
    if version != version and not state.inference:  # Note [Inference tensors]
        raise InPlaceError(
            "",
            "Inplace update to inference tensor outside InferenceMode is not allowed",
            "clone() it first, outside of inference mode",
        )
    if not state.grad_enabled:
        return
    view = target._view
    leaf = target if view is None else view.base
    wanted = leaf.requires_grad or leaf is not target and target.requires_grad
    if not (wanted or getattr(source, "requires_grad", False)):
        return
    if view is not None and view.kind:
        raise view.refusal(target, "is being")
    if leaf._requires_grad and leaf.grad_fn is None:
        kind = "a leaf Variable" if view is None else "a view of a leaf Variable"
        raise InPlaceError(
            "",
            f"{kind} that requires grad is being used in an in-place operation",
            "wrap it in `with torch.no_grad():`, or work on x.clone()",
        )


def _made_from(source: Any, target: Tensor) -> bool:
    """Whether what is written is the result of an operation, or of one on a clone, of the target.

    Its history leads to what the target was then, as that of `x.mul_(2)`.
    """
    edge, node = edge_of(target), source.grad_fn
    if node is None or edge is None:
        return False
    for each in node.edges:
        if each == edge:
            return True
        through = each is not None and isinstance(each.target, Node) and each.target.edges
        if through and edge in through:
            return True
    return False


def record_write(target: Tensor, source: Any) -> None:
    """Give `target`, just overwritten by `source`, the history of what was written."""
    if not state.grad_enabled:
        return
    if not (target.requires_grad or getattr(source, "requires_grad", False)):
        return
    if not target.dtype.differentiable:
        return
    storage, at = target.storage, target._output
    view = target._view
    if view is None:
        copied = (None, source) if _made_from(source, target) else (target, source)
        copy, old = lookup("copy_"), target._node
        node = connect(copy, (*copied, False), (target,))
        if target._retains_grad:
            target.move_retained(old, at, node, 0)
        node.arguments = (spec_of(target), *node.arguments[1:])
    else:
        window = window_of(view.base, target, view.steps) if state.tracer is None else None
        view.base.set_history(CopySlices(view.base, view.steps, source, window))
    storage.graph_version += 1

"""Runs a graph node by node: the living definition of what a graph means.

In: a Graph and one tensor (or number) for each input. Out: a list with what it returns. Each node
calls its op through the dispatcher, so autograd records and modes see what a user's call would
give them; errors name the user's line, because the node's Origin is in force while it runs.

    >>> import minitorch2
    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> graph = parse_graph("graph f(%x: f32[s0]) { %0: f32[s0] = mul(%x, s0) return %0 }")
    >>> interpret(graph, [minitorch2.tensor([1.0, 2.0])])
    [tensor([2., 4.])]

Source: the definitional interpreter of J. Reynolds, and JAX's eval_jaxpr.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from minitorch2.artifacts import Origin
from minitorch2.dispatch import call, origin_scope, state
from minitorch2.errors import ArgumentValueError, Mt2Error, ShapeError, ViewError
from minitorch2.jit.ir.graph import Argument, Graph, Node, Output, Value
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.shapes.binding import SizeMismatch, bind_sizes
from minitorch2.jit.shapes.size_expression import Size, SizeExpression, evaluate_size
from minitorch2.layouts import Layout, contiguous_strides
from minitorch2.ops.table import INPLACE, Op, lookup
from minitorch2.tensors import Tensor


def interpret(
    graph: Graph, inputs: Sequence[Any], bindings: Mapping[str, int] | None = None
) -> list[Any]:
    """Run the graph and return its outputs. Raises ShapeError when an input does not fit.

    `bindings` are values of symbols that no input shows (those of an enclosing graph).
    """
    known = bind_inputs(graph, inputs, bindings)
    return _finish(graph, inputs, _run_nodes(graph, inputs, known), known)


def run_captured(graph: Graph, inputs: Sequence[Any]) -> list[Any]:
    """Run a captured graph as the user's function would run: its outputs are the very tensors
    that its ops make, views of the inputs and of each other included."""
    known = bind_inputs(graph, inputs)
    environment = _run_nodes(graph, inputs, known)
    return [_actual(output.argument, environment, known) for output in graph.outputs]


def may_run_again(graph: Graph) -> bool:
    """Whether a captured graph that failed may be run once more: it writes into no tensor."""
    return not any(_writes(lookup(node.op)) for node in graph.nodes)


def _writes(op: Op) -> bool:
    written = any(parameter.alias == "a!" for parameter in op.signature.parameters)
    return written or op.kind == INPLACE or op.effects == "writes"


def _run_nodes(graph: Graph, inputs: Sequence[Any], bindings: Mapping[str, int]) -> dict[str, Any]:
    """What each value of the graph is."""
    environment: dict[str, Any] = {
        declared.name: tensor for declared, tensor in zip(graph.inputs, inputs, strict=True)
    }
    for node in graph.nodes:
        results = run_node(node, environment, bindings)
        for value, result in zip(node.results, results, strict=True):
            environment[value.id] = result
    return environment


def run_node(node: Node, environment: Mapping[str, Any], bindings: Mapping[str, int]) -> tuple:
    """Run one node on the values in `environment`; its results as a tuple."""
    args = tuple(_actual(argument, environment, bindings) for argument in node.args)
    origin = node.origin or Origin()
    with origin_scope(origin), _grad_mode(node.grad):
        try:
            found = _call(node.op, args)
        except Mt2Error as error:
            if origin.spans:
                error.move_to(origin.spans[0].file, origin.spans[0].line)
            raise
    if len(node.results) == 1 and not isinstance(found, tuple):
        return (found,)
    return tuple(found) if node.results else ()


def _call(op: str, args: tuple) -> Any:
    """Call an op. A view of memory in another order copies: values have no strides."""
    try:
        return call(lookup(op), args)
    except ViewError:
        if op == "view":
            return call(lookup("reshape"), args)
        if lookup(op).element is None:
            raise
        return call(lookup(op), (args[0].clone().contiguous(), *args[1:]))


def bind_inputs(
    graph: Graph, inputs: Sequence[Any], bindings: Mapping[str, int] | None = None
) -> dict[str, int]:
    """The values of the graph's symbols; ShapeError or ArgumentValueError when an input misfits."""
    if len(inputs) != len(graph.inputs):
        raise ArgumentValueError(
            f"run graph {graph.name}", f"{len(inputs)} inputs given, {len(graph.inputs)} declared"
        )
    pairs: list[tuple[Size, int]] = []
    for declared, given in zip(graph.inputs, inputs, strict=True):
        type = declared.value.type
        if isinstance(type, TensorType):
            if given.dtype is not type.dtype or given.ndim != type.ndim:
                raise _misfit(graph, f"{declared.value} is declared {type}", given)
            pairs += zip(type.shape, given.shape, strict=True)
        elif type.size is not None:
            pairs.append((type.size, given))
        if declared.strides is not None and given.numel() > 0:
            steps = zip(declared.strides, given.layout.strides, given.shape, strict=True)
            pairs += [(stride, found) for stride, found, size in steps if size > 1]
    try:
        known = bind_sizes(pairs, bindings)
    except SizeMismatch as mismatch:
        raise _misfit(graph, str(mismatch), inputs) from None
    for condition in graph.assumptions:
        if not condition.evaluate(known):
            raise _misfit(graph, f"{condition} does not hold for {known}", inputs)
    return known


def _misfit(graph: Graph, wrong: str, given: Any) -> ShapeError:
    tensors = given if isinstance(given, list | tuple) else [given]
    shown = ", ".join(
        f"{each.dtype.short}{list(each.shape)}" if isinstance(each, Tensor) else repr(each)
        for each in tensors
    )
    inputs = ", ".join(f"{each.value}: {each.value.type}" for each in graph.inputs)
    return ShapeError(
        f"run graph {graph.name}({inputs}) on {shown}", wrong, "pass inputs of the declared types"
    )


def _actual(argument: Argument, environment: Mapping[str, Any], bindings: Mapping[str, int]) -> Any:
    """What the op gets for an argument: a graph is handed on as a function of tensors."""
    match argument:
        case Value():
            return environment[argument.id]
        case SizeExpression():
            return argument.evaluate(bindings)
        case tuple():
            return tuple(_actual(item, environment, bindings) for item in argument)
        case Graph():
            return as_function(argument, bindings)
    return argument


def as_function(graph: Graph, bindings: Mapping[str, int] | None = None) -> Callable[..., tuple]:
    """The graph as a Python function of its inputs that returns a tuple."""

    def function(*inputs: Any) -> tuple:
        return tuple(interpret(graph, inputs, bindings))

    return function


@contextlib.contextmanager
def _grad_mode(grad: bool) -> Iterator[None]:
    before = state.grad_enabled
    state.grad_enabled = before and grad
    try:
        yield
    finally:
        state.grad_enabled = before


def _finish(
    graph: Graph, inputs: Sequence[Any], environment: Mapping[str, Any], bindings: Mapping[str, int]
) -> list[Any]:
    """Outputs that own their memory, then the writes, then the views of the inputs' memory."""
    found: list[Any] = [_actual(output.argument, environment, bindings) for output in graph.outputs]
    taken = {id(tensor.storage) for tensor in inputs if isinstance(tensor, Tensor)}
    for place, output in enumerate(graph.outputs):
        if output.strides is not None and output.alias is None:
            strides = tuple(evaluate_size(stride, bindings) for stride in output.strides)
            found[place] = _owned(found[place], strides, taken)
            taken.add(id(found[place].storage))
    written = {id(inputs[index].storage) for index, _ in graph.writes}
    found = [_kept(each, written) for each in found] if written else found
    _write(graph, inputs, environment)
    for place, output in enumerate(graph.outputs):
        if output.alias is not None:
            found[place] = _alias(output, graph, inputs, bindings)
    return found


def _kept(value: Any, written: set[int]) -> Any:
    """A value as computed: a copy where it lies in memory that is about to be written."""
    if isinstance(value, tuple):
        return tuple(_kept(item, written) for item in value)
    if isinstance(value, Tensor) and id(value.storage) in written:
        return call(lookup("clone"), (value,))
    return value


def _write(graph: Graph, inputs: Sequence[Any], environment: Mapping[str, Any]) -> None:
    """Write values into inputs, all of them read before the first is written."""
    if not graph.writes:
        return
    copies = [
        (inputs[index], call(lookup("clone"), (environment[value.id],)))
        for index, value in graph.writes
    ]
    with _grad_mode(False):
        for target, value in copies:
            call(lookup("copy_"), (target, value, False))


def _owned(tensor: Tensor, strides: tuple[int, ...], taken: set[int]) -> Tensor:
    """The tensor with these strides in memory that nothing else in `taken` uses."""
    layout = tensor.layout
    if layout.strides != strides or layout.offset != 0 or id(tensor.storage) in taken:
        wanted = Layout(layout.shape, strides, 0)
        memory = ((wanted.extent(),), 0, tensor.dtype, str(tensor.device))
        empty = Tensor(call(lookup("full"), memory).storage, wanted, tensor.dtype)
        return call(lookup("copy_"), (empty, tensor, False))
    is_view = tensor._view is not None and not tensor.requires_grad
    return Tensor(tensor.storage, layout, tensor.dtype) if is_view else tensor


def _parts_or_whole(base: Any) -> Any:
    """The memory of complex numbers as that of their parts, or the other way round."""
    if base.dtype.is_complex:
        return call(lookup("view_as_real"), (base,))
    pairs = (base.layout.extent() - base.layout.offset) // 2
    whole = call(lookup("as_strided"), (base, (pairs, 2), (2, 1), base.layout.offset))
    return call(lookup("view_as_complex"), (whole,))


def _alias(output: Output, graph: Graph, inputs: Sequence[Any], bindings: Mapping[str, int]) -> Any:
    """A view of an input's memory: the input itself where the output is that value."""
    assert output.alias is not None and isinstance(output.argument, Value)
    index, offset = output.alias
    base = inputs[index]
    if output.argument == graph.inputs[index].value and output.strides is None:
        return base
    type = output.argument.type
    assert isinstance(type, TensorType)
    if type.dtype is not base.dtype:
        base = _parts_or_whole(base)
    shape = tuple(evaluate_size(size, bindings) for size in type.shape)
    declared = output.strides if output.strides is not None else contiguous_strides(shape)
    strides = tuple(evaluate_size(stride, bindings) for stride in declared)
    start = base.layout.offset + evaluate_size(offset, bindings)
    return call(lookup("as_strided"), (base, shape, strides, start))

"""Control flow under the tracer: graphs among the arguments become functional graphs too.

In: a node of kind "control" while a graph is replayed (functionalize, joint). Out: the same node
over functional graphs, and a history that knows the backward: another control flow node, whose
graphs come from running the engine on the branch or body. So `cond` is differentiated by a `cond`,
`scan` by a `scan` in the other direction over the carries it kept, and both as often as one likes.

    cond(%p, then, otherwise, (%x,))    backward: cond(%p, then', otherwise', (%x, %g))

What cannot be: a branch or body that writes into its operands or draws random numbers, and the
gradient of a `while_loop`, whose number of turns nobody knows. Those are refused by name.

Source: torch's higher-order operators; JAX's rules for cond and scan.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from minitorch2.autograd.engine import run_backward
from minitorch2.autograd.graph import Node as HistoryNode
from minitorch2.autograd.graph import Spec, edge_of, spec_of, zeros_like_spec
from minitorch2.dispatch import call, state
from minitorch2.errors import CompileError
from minitorch2.jit.autodiff.tracer import Tracer
from minitorch2.jit.ir.graph import Graph, Node, Value, renamed_args, renumbered, with_nodes
from minitorch2.jit.ir.types import TensorType
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor

Replay = Callable[..., dict[str, Any]]


class LeafNode(HistoryNode):
    """The history of an input of a branch or body: gradients end here."""

    __slots__ = ()

    def apply(self, grads: tuple) -> tuple:
        """Nothing more to do; the engine hands the gradient out."""
        return ()


class Controls:
    """Carries control flow nodes out under one tracer. `replay` replays a graph's nodes."""

    def __init__(self, tracer: Tracer, replay: Replay):
        self.tracer, self.replay = tracer, replay

    def run(self, op: str, args: tuple) -> tuple[Tensor, ...]:
        """A node whose graphs are not functional yet, on fakes."""
        args = tuple(self.functional(each) if isinstance(each, Graph) else each for each in args)
        return self.emit(op, args)

    def emit(self, op: str, args: tuple) -> tuple[Tensor, ...]:
        """A node over functional graphs; its results know their backward."""
        if op == "custom_gradient":
            return _custom(self, args)
        operands = _tensors(args)
        live = state.grad_enabled and any(fake.requires_grad for fake in operands)
        if not live:
            return self._add(op, args)
        if op == "while_loop":
            if not self._loop_is_live(args):
                return self._add(op, args)
            raise CompileError(
                "the gradient of while_loop()", "how often its body runs is known only at run time",
                "use scan(), or call it under no_grad()",
            )  # fmt: skip
        return BACKWARDS[op](self, args)

    def _loop_is_live(self, args: tuple) -> bool:
        """Whether gradients flow through what a loop carries, now or after some turns."""
        _, body, carried, operands = args
        flags = [fake.requires_grad for fake in (*carried, *operands)]
        while True:
            after = self._live_outputs(body, flags)
            joined = [a or b for a, b in zip(flags, after, strict=False)]
            if joined == flags[: len(carried)]:
                return any(joined)
            flags[: len(carried)] = joined

    def _live_outputs(self, graph: Graph, flags: Sequence[bool]) -> list[bool]:
        """Which outputs require gradients when these inputs do."""
        found: list[bool] = []

        def build(tracer: Tracer, inputs: list[Any]) -> list[Any]:
            for each, flag in zip(inputs, flags, strict=True):
                if flag:
                    each.set_history(LeafNode("Operand", (), (spec_of(each),)))
            values = self.replay(graph, tracer, inputs, self.tracer.made_by)
            outputs = [values[value.id] for value in _outputs(graph)]
            found.extend(output.requires_grad for output in outputs)
            return outputs

        self.traced(graph.name, [each.value.type for each in graph.inputs], build)
        return found

    def _add(self, op: str, args: tuple) -> tuple[Tensor, ...]:
        tracer = self.tracer
        values = tracer._add(op, tuple(map(tracer._plain, args)))
        return tuple(tracer.tensor(value) for value in values)

    # Graphs of branches and bodies

    def functional(self, graph: Graph) -> Graph:
        """The graph in primitives without writes."""

        def build(tracer: Tracer, inputs: list[Any]) -> list[Any]:
            values = self.replay(graph, tracer, inputs, self.tracer.made_by)
            return [values[value.id] for value in _outputs(graph)]

        return self.traced(graph.name, [each.value.type for each in graph.inputs], build)

    def inlined(self, graph: Graph, inputs: Sequence[Any], records: bool) -> tuple[Tensor, ...]:
        """What a graph of the arguments gives, replayed here."""
        values = self.replay(graph, self.tracer, list(inputs), self.tracer.made_by, records)
        return tuple(values[value.id] for value in _outputs(graph))

    def traced(
        self, name: str, types: Sequence[Any], build: Callable[[Tracer, list[Any]], list[Any]]
    ) -> Graph:
        """The graph of what `build` does with fakes of these types."""
        outer = self.tracer
        tracer = Tracer(name, outer.environment, outer.made_by, outer.keep_modes)
        inputs = [tracer.input(f"a{n}", self._canonical(type)) for n, type in enumerate(types)]
        with tracer:
            found = build(tracer, inputs)
            values = [tracer.value_of(each) for each in found]
            changed = [tracer.cell_of(each).version for each in inputs if isinstance(each, Tensor)]
        if any(changed):
            raise CompileError(f"{name}, a part of control flow", "it writes into its operands",
                               "clone them first")  # fmt: skip
        if tracer.random_inputs is not None:
            raise CompileError(f"{name}, a part of control flow", "it draws random numbers",
                               "draw them outside and pass them in")  # fmt: skip
        for value in values:
            tracer.builder.output(value)
        return tracer.builder.build()

    def _canonical(self, type: Any) -> Any:
        """A type with sizes that were found equal called the same, as outside."""
        if not isinstance(type, TensorType):
            return type
        shape = tuple(map(self.tracer.environment.canonical, type.shape))
        return replace(type, shape=shape)

    def backward_graph(
        self, graph: Graph, wanted: Sequence[int], given: Sequence[int]
    ) -> Graph:  # fmt: skip
        """A graph of (the inputs of `graph`, gradients of its outputs `given`) that returns the
        gradients of its inputs `wanted`."""
        outputs = _outputs(graph)
        types = [each.value.type for each in graph.inputs]
        types += [outputs[place].type for place in given]

        def build(tracer: Tracer, inputs: list[Any]) -> list[Any]:
            """Replay the graph on leaves of its own, and run the engine back from its outputs."""
            own, tangents = inputs[: len(graph.inputs)], inputs[len(graph.inputs) :]
            for place in wanted:
                own[place].set_history(LeafNode("Operand", (), (spec_of(own[place]),)))
            before = state.grad_enabled
            state.grad_enabled = True
            try:
                values = self.replay(graph, tracer, own, self.tracer.made_by)
                found = [values[outputs[place].id] for place in given]
            finally:
                state.grad_enabled = before
            pairs = [pair for pair in zip(found, tangents, strict=True) if pair[0].requires_grad]
            leaves = [own[place] for place in wanted]
            gradients: Sequence[Any] = [None] * len(leaves)
            if pairs:
                live, starts = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
                gradients = run_backward(live, starts, False, False, leaves, accumulate=False)
            return [
                zeros_like_spec(_dense(leaf)) if gradient is None else gradient
                for leaf, gradient in zip(leaves, gradients, strict=True)
            ]

        return self.traced(f"{graph.name}_backward", types, build)


class ControlNode(HistoryNode):
    """The history of a control flow node: `back` makes gradients from gradients."""

    __slots__ = ("back",)

    def __init__(self, op: str, operands: Sequence[Tensor], results: Sequence[Tensor], back: Any):
        edges = tuple(edge_of(each) for each in operands)
        super().__init__(op, edges, tuple(map(spec_of, results)), state.origin)
        self.back = back

    def apply(self, grads: tuple) -> tuple:
        """Gradients of the operands, None for those that want none."""
        return self.back(grads)


def _outputs(graph: Graph) -> list[Value]:
    found = []
    for output in graph.outputs:
        assert isinstance(output.argument, Value)
        found.append(output.argument)
    return found


def _tensors(argument: Any) -> list[Tensor]:
    if isinstance(argument, Tensor):
        return [argument]
    if isinstance(argument, tuple):
        return [tensor for item in argument for tensor in _tensors(item)]
    return []


def _connect(op: str, operands: Sequence[Tensor], results: Sequence[Tensor], back: Any) -> None:
    """Give the floating results a history."""
    node = ControlNode(op, operands, results, back)
    for place, result in enumerate(results):
        if result.dtype.is_floating_point or result.dtype.is_complex:
            result.set_history(node, place)


def _places(operands: Sequence[Tensor]) -> list[int]:
    return [place for place, each in enumerate(operands) if each.requires_grad]


def _spread(count: int, places: Sequence[int], gradients: Sequence[Any]) -> tuple:
    """Gradients at their places, None elsewhere."""
    found: list[Any] = [None] * count
    for place, gradient in zip(places, gradients, strict=True):
        found[place] = gradient
    return tuple(found)


def _cond(controls: Controls, args: tuple) -> tuple[Tensor, ...]:
    """A cond, and a cond of its branches' backwards."""
    pred, then, otherwise, operands = args
    results = controls._add("cond", args)
    wanted = _places(operands)

    def back(grads: tuple) -> tuple:
        given = [place for place, grad in enumerate(grads) if grad is not None]
        graphs = [controls.backward_graph(graph, wanted, given) for graph in (then, otherwise)]
        tangents = tuple(grads[place] for place in given)
        found = controls.emit("cond", (pred, *graphs, (*operands, *tangents)))
        return _spread(len(operands), wanted, found)

    _connect("cond", operands, results, back)
    return results


def _scan(controls: Controls, args: tuple) -> tuple[Tensor, ...]:
    """A scan that keeps its carries, and a scan the other way round over them."""
    body, init, xs, operands, length, reverse = args
    count = len(init)
    keeping = _keeping(controls, body, count)
    everything = controls._add("scan", (keeping, init, xs, operands, length, reverse))
    results, kept = everything[: len(everything) - count], everything[len(everything) - count :]
    given = (*init, *xs, *operands)
    wanted, split = _places(given), count + len(xs)

    def back(grads: tuple) -> tuple:
        """A scan the other way: carries get gradients from step to step, operands sums of them."""
        places = _Places(
            count,
            len(xs),
            # The carry gets a gradient in each step, whatever init wants.
            tuple(place for place in range(count) if init[place].dtype.is_floating_point),
            tuple(place for place in wanted if count <= place < split),
            tuple(place for place in wanted if place >= split),
            tuple(place for place in range(count, len(grads)) if grads[place] is not None),
        )
        start = [_grad_or_zeros(grads[place], init[place]) for place in places.carried]
        start += [zeros_like_spec(_dense(given[place])) for place in places.around]
        columns = (*kept, *xs, *(grads[place] for place in places.arriving))
        backward = _scan_backward(controls, body, places)
        found = controls.emit(
            "scan", (backward, tuple(start), columns, operands, length, not reverse)
        )
        order = (*places.carried, *places.around, *places.rows)
        gradients = dict(zip(order, found, strict=True))
        return tuple(gradients[place] if place in wanted else None for place in range(len(given)))

    _connect("scan", given, results, back)
    return results


def _dense(tensor: Tensor) -> Spec:
    return Spec(tensor.layout.shape, tensor.dtype, tensor.device)


def _grad_or_zeros(grad: Any, like: Tensor) -> Tensor:
    return zeros_like_spec(_dense(like)) if grad is None else grad


def _keeping(controls: Controls, body: Graph, count: int) -> Graph:
    """The body, which also returns the carry that it was given."""

    def build(tracer: Tracer, inputs: list[Any]) -> list[Any]:
        values = controls.replay(body, tracer, inputs, controls.tracer.made_by)
        carry = [call(lookup("clone"), (each,)) for each in inputs[:count]]
        return [*(values[value.id] for value in _outputs(body)), *carry]

    return controls.traced(body.name, [each.value.type for each in body.inputs], build)


def _scan_backward(
    controls: Controls, body: Graph, places: "_Places"
) -> Graph:  # fmt: skip
    """One step back: (gradients of the carry, sums so far, carry, x, gradients of rows, operands)
    to (gradients of the carry before, sums, gradients of x)."""
    inputs, outputs = [each.value.type for each in body.inputs], _outputs(body)
    wanted = [*places.carried, *places.around, *places.rows]
    own = controls.backward_graph(body, wanted, [*places.carried, *places.arriving])
    split = places.count + places.columns
    types = [
        *(inputs[place] for place in (*places.carried, *places.around)),
        *inputs[:split],
        *(outputs[place].type for place in places.arriving),
        *inputs[split:],
    ]
    turns, sums = len(places.carried), len(places.around)

    def build(tracer: Tracer, given: list[Any]) -> list[Any]:
        """Take the inputs apart, run one backward step, add what the operands get."""
        rest = iter(given)
        grads, totals, inside, row_grads = (
            list(itertools.islice(rest, number))
            for number in (turns, sums, split, len(places.arriving))
        )
        values = controls.replay(
            own, tracer, [*inside, *rest, *grads, *row_grads], controls.tracer.made_by
        )
        found = [values[value.id] for value in _outputs(own)]
        parts = found[turns : turns + sums]
        summed = [
            call(lookup("add"), (total, part, 1)) for total, part in zip(totals, parts, strict=True)
        ]
        return [*found[:turns], *summed, *found[turns + sums :]]

    return controls.traced(f"{body.name}_backward", types, build)


@dataclass(frozen=True, slots=True)
class _Places:
    """Which of a scan's operands and results gradients go to and come from: a carry of `count`
    tensors, of which `carried` are floats; `columns` tensors that are gone through, of which `rows`
    want gradients; `around` them the operands that do; the results `arriving` with gradients."""

    count: int
    columns: int
    carried: tuple[int, ...]
    rows: tuple[int, ...]
    around: tuple[int, ...]
    arriving: tuple[int, ...]


def _custom(controls: Controls, args: tuple) -> tuple[Tensor, ...]:
    """A custom gradient: kept as a node until the joint graph is traced, where the user's backward
    is replayed in place of the engine's; the forward alone where nobody wants gradients."""
    forward, backward, operands, outputs, inner, outer, places, fixed = args
    live = state.grad_enabled and any(fake.requires_grad for fake in operands)
    if live and controls.tracer.made_by != "joint":
        results = controls._add("custom_gradient", args)
    else:
        results = controls.inlined(forward, operands, False)
    if not live:
        return results

    def back(grads: tuple) -> tuple:
        given = [grads[place] for place in range(outputs) if place not in fixed]
        saved = [results[n] for n in inner]
        around = [operands[n] for n in outer]
        found = controls.inlined(backward, [*saved, *given, *around], state.grad_enabled)
        return tuple(None if place < 0 else found[place] for place in places)

    node = ControlNode("custom_gradient", operands, results, back)
    for place in range(outputs):
        if place not in fixed:
            results[place].set_history(node, place)
    return results


def without_custom_gradients(graph: Graph) -> Graph:
    """The graph with the forward of each custom gradient in its place: nobody asks for gradients
    any more."""
    if all(node.op != "custom_gradient" for node in graph.nodes):
        return graph
    names: dict[Value, Any] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        args = renamed_args(node.args, names)
        if node.op != "custom_gradient":
            nodes.append(replace(node, args=args))
            continue
        forward: Any = args[0]
        operands: Any = args[2]
        inside = {
            declared.value: given for declared, given in zip(forward.inputs, operands, strict=True)
        }
        for each in forward.nodes:
            results = tuple(Value(f"inlined{len(nodes)}_{n}", r.type)
                            for n, r in enumerate(each.results))  # fmt: skip
            nodes.append(replace(each, args=renamed_args(each.args, inside), results=results))
            inside.update(zip(each.results, results, strict=True))
        for result, found in zip(node.results, _outputs(forward), strict=True):
            names[result] = inside[found]
    return renumbered(with_nodes(graph, tuple(nodes), names))


BACKWARDS: dict[str, Callable[[Controls, tuple], tuple[Tensor, ...]]] = {
    "cond": _cond,
    "scan": _scan,
}

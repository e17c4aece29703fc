"""Control flow over tensors: one node whose parts are graphs captured from the user's functions.

In: a call of `cond`, `while_loop`, `scan` or `map` with values of the capture. Out: a node like
`cond(%p, graph ..., graph ..., (%x, %w))`. Each function is captured where it stands, with the same
machine, into a builder of its own; what it uses from around it, an operand or a closure, becomes an
input of its graph and an operand of the node. A predicate that capture knows chooses at once.

A function that changes something outside (an object, a tensor that was there before) is refused:
it runs many times, or not at all.

Source: torch.compile's treatment of higher-order operators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minitorch2 import dispatch
from minitorch2.autograd.graph import Node as HistoryNode
from minitorch2.autograd.graph import Spec, edge_of, spec_of, zeros_like_spec
from minitorch2.control_flow import ScanPacking
from minitorch2.dispatch import call
from minitorch2.jit.capture.mode import capture_origin, tensor_type
from minitorch2.jit.capture.values.base import Arguments, Keywords, NotKnown, Value, births
from minitorch2.jit.capture.values.tensors import TensorValue
from minitorch2.jit.ir.graph import (
    Argument,
    Graph,
    GraphBuilder,
    Input,
    Node,
    Output,
    renamed_args,
    renumbered,
    values_in,
    with_nodes,
)
from minitorch2.jit.ir.graph import Value as GraphValue
from minitorch2.jit.shapes.symbolic_size import as_size
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor, fake_tensor
from minitorch2.trees import TreeSpec, tree_flatten, tree_unflatten

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


class ControlHistory(HistoryNode):
    """Leads from the results of a control flow node to what it was computed from.

    Nobody reads the gradients of fakes; only their shapes matter.
    """

    __slots__ = ("sources",)

    def __init__(self, op: str, sources: Sequence[Tensor], results: Sequence[Tensor]):
        super().__init__(op, tuple(map(edge_of, sources)), tuple(map(spec_of, results)))
        self.sources = tuple(map(spec_of, sources))

    def apply(self, grads: tuple) -> tuple:
        """A fake gradient for each source; where it is recorded, it was computed from them all."""
        found = tuple(zeros_like_spec(Spec(s.shape, s.dtype, s.device)) for s in self.sources)
        if dispatch.state.grad_enabled:
            again = ControlHistory(self.label, (), found)
            given = [grad for grad in grads if grad is not None]
            again.sources = (*self.sources, *map(spec_of, given))
            again.edges = (*self.edges, *map(edge_of, given))
            for place, fake in enumerate(found):
                fake.set_history(again, place)
        return found


@dataclass(frozen=True, slots=True)
class Part:
    """A captured function: its nodes, its own inputs, what it returns, what it uses from around."""

    name: str
    nodes: tuple[Node, ...]
    formals: tuple[GraphValue, ...]
    found: tuple[GraphValue, ...]
    fakes: tuple[Tensor, ...]
    spec: TreeSpec
    around: tuple[GraphValue, ...]
    shows: tuple[Tensor | None, ...] = ()  # of which tensor from around each result was a view

    def graph(self, around: Sequence[GraphValue]) -> Graph:
        """The function as a graph of its own inputs and of the values `around` it."""
        names: dict[GraphValue, Argument] = {}
        inputs = []
        for place, value in enumerate((*self.formals, *around)):
            names[value] = named = GraphValue(f"a{place}", value.type)
            inputs.append(Input(named))
        nodes = tuple(
            Node(n.op, renamed_args(n.args, names), n.results, n.grad, n.origin)
            for n in self.nodes
        )  # fmt: skip
        graph = Graph(self.name, tuple(inputs), nodes, tuple(map(Output, self.found)))
        return renumbered(with_nodes(graph, nodes, names))


def captured_part(
    machine: Machine, name: str, function: Callable[[], Any], formals: Sequence[Tensor] = (),
    once: bool = False,
) -> Part:  # fmt: skip
    """Capture what `function` does; it returns a tree of fakes. `formals` are its own inputs.
    `once`: the program runs it here, once, so that it may change what was made inside before."""
    state = machine.state
    outer, inner = state.builder, GraphBuilder(name, state.environment)
    inner._next = outer._next
    effects, known = len(state.effects.items), len(state.fakes)
    outside = state.effects.oldest, state.effects.older
    state.effects.oldest, state.effects.older = next(births), False
    versions = [fake.storage.version for fake in state.fakes]
    state.builder = inner
    try:
        own = tuple(inner.value(tensor_type(fake)) for fake in formals)
        for fake, value in zip(formals, own, strict=True):
            machine.mode.name(fake, value)
        leaves, spec = tree_flatten(function())
        if not all(isinstance(leaf, Tensor) for leaf in leaves):
            machine.stop("unknown-operation", f"{name} returns something that is no tensor")
        before = {id(fake.storage): fake for fake in (*state.fakes[:known], *formals)}
        shows = tuple(before.get(state.picking.bases(leaf.storage)[-1]) for leaf in leaves)
        leaves = _separate(machine, leaves, set(before))
    finally:
        older = state.effects.older
        state.effects.oldest, state.effects.older = outside[0], outside[1] or older
        state.builder = outer
        outer._next = inner._next
        outer.inputs += inner.inputs
    state.effects.drop_undone(effects)
    changed = any(f.storage.version != v for f, v in zip(state.fakes, versions, strict=False))
    if (
        (older and not once)
        or len(state.effects.items) != effects
        or changed
        or any(f.storage.version for f in formals)
    ):
        machine.stop("unknown-operation", f"{name} changes something outside of itself")
    nodes = tuple(inner.nodes)
    found = tuple(state.graph_values[id(leaf)] for leaf in leaves)
    defined = {*own, *(result for node in nodes for result in node.results)}
    used = [value for node in nodes for value in values_in(node.args)] + list(found)
    around = tuple(value for value in dict.fromkeys(used) if value not in defined)
    for fake in state.fakes[known:]:
        if state.graph_values.get(id(fake)) in defined:
            del state.graph_values[id(fake)]  # nobody outside may use it
    return Part(name, nodes, own, found, tuple(leaves), spec, around, shows)


def _separate(machine: Machine, leaves: list[Tensor], before: set[int]) -> list[Tensor]:
    """Results in row-major memory of their own, as the node's results are."""
    taken, separate = set(before), []
    for leaf in leaves:
        if id(leaf.storage) in taken or not leaf.layout.is_contiguous() or (
            id(leaf) not in machine.state.graph_values
        ):  # fmt: skip
            leaf = machine.run_lowered(_copy, [leaf], {})
        taken.add(id(leaf.storage))
        separate.append(leaf)
    return separate


def _copy(tensor: Tensor) -> Tensor:
    return call(lookup("contiguous_copy"), (tensor,))


def new_node(
    machine: Machine, op: str, args: tuple, likes: Sequence[Tensor], live: Sequence[bool],
    operands: Sequence[GraphValue],
) -> list[Tensor]:  # fmt: skip
    """Append the node; fakes for its results, shaped like `likes`."""
    state = machine.state
    fakes = [fake_tensor(tuple(like.layout.shape), like.dtype, None, like.device) for like in likes]
    results = tuple(state.builder.value(tensor_type(fake)) for fake in fakes)
    origin = capture_origin(state)
    state.builder.nodes.append(Node(op, args, results, dispatch.state.grad_enabled, origin))
    for fake, value in zip(fakes, results, strict=True):
        machine.mode.name(fake, value)
    if dispatch.state.grad_enabled and any(live):
        given = set(operands)
        sources = [f for f in state.fakes if state.graph_values.get(id(f)) in given]
        history = ControlHistory(op, [f for f in sources if f.requires_grad], fakes)
        for place, (fake, flag) in enumerate(zip(fakes, live, strict=True)):
            if flag:
                fake.set_history(history, place)
    return fakes


def _given(args: Arguments, kwargs: Keywords, names: Sequence[str]) -> dict[str, Value]:
    return dict(zip(names, args, strict=False)) | kwargs


def _caller(machine: Machine, function: Value) -> Callable[..., Any]:
    """The user's function as one of plain trees of fakes."""

    def run(*arguments: Any) -> Any:
        found = machine.call(function, [machine.from_python(each) for each in arguments], {})
        return lowered(machine, found)

    return run


def lowered(machine: Machine, value: Value) -> Any:
    """What a value is in a graph; a break where it has no form there."""
    try:
        return machine.real(value).lower(machine)
    except NotKnown as unknown:
        machine.stop("unknown-operation", f"{unknown.args[0].describe()} in control flow")


def capture_cond(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """`cond(pred, true_fn, false_fn, operands)`."""
    given = _given(args, kwargs, ("pred", "true_fn", "false_fn", "operands"))
    pred = machine.real(given["pred"])
    operands = machine.items(given["operands"]) if "operands" in given else []
    branches = [given["true_fn"], given["false_fn"]]
    if not isinstance(pred, TensorValue):
        return machine.call(branches[not machine.truth(pred)], operands, {})

    def part(name: str, branch: Value) -> Part:
        return captured_part(
            machine, name, lambda: lowered(machine, machine.call(branch, operands, {}))
        )

    one, other = part("then", branches[0]), part("otherwise", branches[1])
    if one.spec != other.spec or list(map(_type, one.found)) != list(map(_type, other.found)):
        machine.stop("unknown-operation", "cond() whose branches return different things")
    around = tuple(dict.fromkeys((*one.around, *other.around)))
    flag = machine.run_lowered(lambda: _truth(pred.fake), [], {})
    value = machine.state.graph_values[id(flag)]
    live = [a.requires_grad or b.requires_grad for a, b in zip(one.fakes, other.fakes, strict=True)]
    graphs = (one.graph(around), other.graph(around))
    fakes = new_node(machine, "cond", (value, *graphs, around), one.fakes, live, around)
    return machine.from_python(tree_unflatten(fakes, one.spec))


def _type(value: GraphValue) -> Any:
    return value.type


def _truth(pred: Tensor) -> Tensor:
    """A predicate as a bool without dimensions."""
    return call(lookup("reshape"), (call(lookup("ne"), (pred, 0)), ()))


def fresh(like: Tensor, shape: tuple, live: bool) -> Tensor:
    """A fake that a function of a loop is given."""
    fake = fake_tensor(shape, like.dtype, None, like.device)
    if live and like.dtype.is_floating_point:
        fake.set_history(ControlHistory("formal", (), (fake,)))
    return fake


def capture_while_loop(
    machine: Machine, function: Any, args: Arguments, kwargs: Keywords
) -> Value:  # fmt: skip
    """`while_loop(cond_fn, body_fn, carried_inputs)`."""
    given = _given(args, kwargs, ("cond_fn", "body_fn", "carried_inputs"))
    carried, spec = tree_flatten(tuple(lowered(machine, given["carried_inputs"])))
    carried = _tensors(machine, carried)
    live = [fake.requires_grad for fake in carried]
    condition, body = (_caller(machine, given[name]) for name in ("cond_fn", "body_fn"))

    def formals() -> list[Tensor]:
        return [fresh(f, tuple(f.layout.shape), any(live)) for f in carried]

    own, inside = formals(), formals()

    def holds() -> Any:
        return machine.run_lowered(_truth, [condition(*tree_unflatten(own, spec))], {})

    test = captured_part(machine, "condition", holds, own)

    def step() -> tuple:
        found = body(*tree_unflatten(inside, spec))
        return tuple(found) if isinstance(found, (tuple, list)) else (found,)

    part = captured_part(machine, "body", step, inside)
    if list(map(_type, part.found)) != [tensor_type(fake) for fake in carried]:
        machine.stop("unknown-operation", "while_loop() whose body changes what it is given")
    around = tuple(dict.fromkeys((*test.around, *part.around)))
    values = tuple(machine.state.graph_values[id(fake)] for fake in carried)
    graphs = (test.graph(around), part.graph(around))
    live = [fake.requires_grad for fake in part.fakes]
    fakes = new_node(
        machine, "while_loop", (*graphs, values, around), carried, live, (*values, *around)
    )
    return machine.from_python(tree_unflatten(fakes, spec))


def _tensors(machine: Machine, leaves: list[Any]) -> list[Tensor]:
    """Numbers that are carried become tensors."""
    found = []
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            machine.stop("unknown-operation", "a number that a loop carries; pass a tensor")
        found.append(leaf)
    return found


def capture_scan(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """`scan(combine_fn, init, xs, dim=0, reverse=False)`."""
    given = _given(args, kwargs, ("combine_fn", "init", "xs"))
    dim = machine.real(given["dim"]).known() if "dim" in given else 0
    reverse = machine.truth(given["reverse"]) if "reverse" in given else False
    init, xs = (lowered(machine, given[name]) for name in ("init", "xs"))
    return _scan(machine, _caller(machine, given["combine_fn"]), init, xs, dim, reverse)


def capture_map(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """`map(f, xs, *args)`: a scan that carries nothing."""
    run, rest = _caller(machine, args[0]), [lowered(machine, each) for each in args[2:]]
    xs = lowered(machine, args[1])
    found = _scan(machine, lambda carry, x: (carry, run(x, *rest)), (), xs, 0, False)
    return machine.items(found)[1]


def _scan(
    machine: Machine, run: Callable[..., Any], init: Any, xs: Any, dim: int, reverse: bool
) -> Value:  # fmt: skip
    packed = machine.run_lowered(lambda: ScanPacking(init, xs, dim), [], {})
    carried = _tensors(machine, packed.init)
    live = any(fake.requires_grad for fake in (*carried, *packed.xs))
    formals = [
        *(fresh(f, tuple(f.layout.shape), live) for f in carried),
        *(fresh(f, tuple(f.layout.shape)[1:], live) for f in packed.xs),
    ]
    part = captured_part(
        machine, "body", lambda: packed.flat_result(run(*packed.arguments(formals))), formals
    )
    count = len(carried)
    if [_type(value) for value in part.found[:count]] != [tensor_type(f) for f in carried]:
        machine.stop("unknown-operation", "scan() whose body changes what it carries")
    known = machine.state.graph_values
    first, rows = (tuple(known[id(f)] for f in fakes) for fakes in (carried, packed.xs))
    length = packed.length
    likes = [
        *part.fakes[:count],
        *(fake_tensor((length, *f.layout.shape), f.dtype, None, f.device)
          for f in part.fakes[count:]),
    ]  # fmt: skip
    arguments = (part.graph(part.around), first, rows, part.around, as_size(length), reverse)
    flags = [fake.requires_grad for fake in part.fakes]
    fakes = new_node(machine, "scan", arguments, likes, flags, (*first, *rows, *part.around))
    return machine.from_python(packed.results(tuple(fakes)))


RULES: dict[str, Any] = {
    "cond": capture_cond,
    "while_loop": capture_while_loop,
    "scan": capture_scan,
    "map": capture_map,
}

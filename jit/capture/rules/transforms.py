"""torch.func inside captured code: a transformed call is one node with the function as a graph.

In: a call of what `vmap`, `grad`, `jacrev` ... returned, or of `vjp` and `jvp`. Out: a node like
`vmapped(graph ..., (%x, %w), ...)`. The function is captured where the call stands, on samples for
vmap; what it uses from around it becomes an input of its graph. Trees are taken apart here, so
that the rows (minitorch2/func/rows.py) see tensors only.

A function with random numbers or with effects is a graph break: Python makes the call.

Source: torch.func's documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from minitorch2 import func
from minitorch2.dispatch import call
from minitorch2.func import rows
from minitorch2.func.transforms import picked
from minitorch2.jit.capture.mode import GraphFunction
from minitorch2.jit.capture.rules.control_flow import Part, captured_part, fresh, lowered
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value
from minitorch2.jit.capture.values.functions import FunctionValue, HostFunctionValue
from minitorch2.jit.ir.graph import Value as GraphValue
from minitorch2.ops.table import RANDOM, lookup
from minitorch2.tensors import Tensor
from minitorch2.trees import TreeSpec, broadcast_to_spec, tree_flatten, tree_unflatten

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine

assert rows is not None  # the rows are there


class _Applied:
    """A function applied to flat tensors: captured once, with what it uses from around."""

    def __init__(
        self, machine: Machine, function: Value, args: tuple, kwargs: Keywords, has_aux: bool
    ):
        self.machine, self.function, self.kwargs, self.has_aux = machine, function, kwargs, has_aux
        self.leaves, self.spec = tree_flatten(args)
        if not all(isinstance(leaf, Tensor) for leaf in self.leaves):
            machine.stop("unknown-operation", "a torch.func transform of something but tensors")
        self.count = 0  # of results that are no aux
        self.output_spec: TreeSpec
        self.aux_spec: TreeSpec | None = None
        self.inputs: list[Tensor] = []
        self.shows: list[Tensor | None] = []  # what each result would be a view of

    def capture(self, shapes: Sequence[tuple]) -> GraphFunction:
        """The function as a graph of tensors of these shapes; `inputs`: all it is called with."""
        machine = self.machine
        pairs = zip(self.leaves, shapes, strict=True)
        formals = [fresh(leaf, shape, leaf.dtype.is_floating_point) for leaf, shape in pairs]
        if any(not isinstance(size, int) for shape in shapes for size in shape):
            machine.stop("unknown-operation", "a torch.func transform of symbolic sizes")
        part = captured_part(machine, "function", lambda: self._run(formals), formals, once=True)
        given = {id(formal): leaf for formal, leaf in zip(formals, self.leaves, strict=True)}
        self.shows = [given.get(id(base), base) for base in part.shows]
        ops = [lookup(node.op) for node in part.nodes]
        if any(op.kind == RANDOM or op.effects == "random" for op in ops):
            machine.stop("unknown-operation", "random numbers inside a torch.func transform")
        self.inputs = [*self.leaves, *self._around(part)]
        return GraphFunction(part.graph(part.around))

    def _run(self, formals: list[Tensor]) -> list[Tensor]:
        machine = self.machine
        args = tree_unflatten(formals, self.spec)
        given = [machine.from_python(each) for each in args]
        found = lowered(machine, machine.call(self.function, given, self.kwargs))
        aux: Any = ()
        if self.has_aux:
            if not isinstance(found, tuple) or len(found) != 2:
                machine.stop("unknown-operation", "a function without (output, aux)")
            found, aux = found
        outputs, self.output_spec = tree_flatten(found)
        rest, self.aux_spec = tree_flatten(aux)
        self.count = len(outputs)
        return [*outputs, *rest]

    def _around(self, part: Part) -> list[Tensor]:
        """The fakes of the values that the function uses from around it."""
        machine = self.machine
        by_value: dict[GraphValue, Tensor] = {}
        for fake in machine.state.fakes:
            value = machine.state.graph_values.get(id(fake))
            if value is not None:
                by_value.setdefault(value, fake)
        return [by_value[value] for value in part.around]

    def node(self, name: str, *args: Any) -> list[Tensor]:
        """Record the row; its results as fakes."""
        row = lookup(name)
        return list(self.machine.run_lowered(lambda: call(row, args), [], {}))

    def result(self, found: list[Tensor]) -> Any:
        """What the function returned, of its flat results."""
        return tree_unflatten(found[: self.count], self.output_spec)

    def aux(self, found: list[Tensor]) -> Any:
        """The second part of what the function returned."""
        assert self.aux_spec is not None
        return tree_unflatten(found, self.aux_spec)


def _shapes(leaves: list[Any]) -> list[tuple]:
    return [tuple(leaf.layout.shape) for leaf in leaves]


def _args(machine: Machine, args: Arguments) -> tuple:
    return tuple(lowered(machine, argument) for argument in args)


def _variables(machine: Machine, function: FunctionValue) -> dict[str, Any]:
    """What a closure of torch.func was made with; `func` stays a value."""
    found: dict[str, Any] = {}
    for name, cell in zip(function.code.co_freevars, function.cells, strict=True):
        value = cell.load(machine)
        found[name] = value if name == "func" else lowered(machine, value)
    return found


def _vmap(machine: Machine, function: FunctionValue, args: Arguments, kwargs: Keywords) -> Value:
    made = _variables(machine, function)
    given = _args(machine, args)
    applied = _Applied(machine, made["func"], given, kwargs, False)
    in_dims = made["in_dims"]
    dims = broadcast_to_spec(tuple(in_dims) if isinstance(in_dims, list) else in_dims, applied.spec)
    shapes, places, sizes = [], [], set()
    for leaf, dim in zip(applied.leaves, dims or (), strict=False):
        shape = list(leaf.layout.shape)
        if dim is not None:
            if not isinstance(dim, int) or not -len(shape) <= dim < len(shape):
                machine.stop("unknown-operation", "vmap() over a dimension that is not there")
            dim %= len(shape)
            sizes.add(shape.pop(dim))
        shapes.append(tuple(shape))
        places.append(dim)
    if len(shapes) != len(applied.leaves) or len(sizes) != 1:
        machine.stop("unknown-operation", "vmap() whose dimensions do not fit")
    graph = applied.capture(shapes)
    places += [None] * (len(applied.inputs) - len(places))
    found = applied.node("vmapped", graph, tuple(applied.inputs), tuple(places),
                         made["randomness"], made["chunk_size"])  # fmt: skip
    outs = broadcast_to_spec(made["out_dims"], applied.output_spec)
    if outs is None or any(not isinstance(dim, int) for dim in outs):
        machine.stop("unknown-operation", "vmap() whose output dimensions do not fit")
    moved = [
        machine.run_lowered(lambda t, d: t.movedim(0, d), [each, dim], {}) if dim else each
        for each, dim in zip(found, outs, strict=True)
    ]
    for fake, base in zip(moved, applied.shows, strict=False):
        if base is not None and made["chunk_size"] is None:  # chunks are put into one tensor
            machine.state.picking.copied(fake, base)
    return machine.from_python(applied.result(moved))


class _Derived(_Applied):
    """A function applied to tensors, some of which it is differentiated with respect to."""

    def __init__(
        self, machine: Machine, function: Value, args: tuple, kwargs: Keywords,
        argnums: Any, has_aux: bool,
    ) -> None:  # fmt: skip
        super().__init__(machine, function, args, kwargs, has_aux)
        primals, positions = machine.guarded(picked, args, argnums, "grad")
        self.wanted, self.wanted_spec = tree_flatten(primals)
        counts = [len(tree_flatten(each)[0]) for each in args]
        starts = [sum(counts[:position]) for position in positions]
        pairs = zip(starts, positions, strict=True)
        self.wrt = tuple(s + n for s, position in pairs for n in range(counts[position]))
        self.graph = self.capture(_shapes(self.leaves))
        if not all(leaf.dtype.is_floating_point for leaf in self.wanted):
            machine.stop("unknown-operation", "a derivative with respect to integers")

    def nested(self, found: list[Tensor]) -> Any:
        """One tensor for each wanted input, nested like those."""
        return tree_unflatten(found, self.wanted_spec)


def _grad_and_value(
    machine: Machine, function: FunctionValue, args: Arguments, kwargs: Keywords
) -> Value:
    made = _variables(machine, function)
    run = _Derived(machine, made["func"], _args(machine, args), kwargs, made["argnums"],
                   made["has_aux"])  # fmt: skip
    output: Any = run.graph.graph.outputs[0].argument
    if not run.output_spec.is_leaf() or output.type.shape != ():
        machine.stop("unknown-operation", "grad() of a function whose result is no scalar")
    found = run.node("pulled_back", run.graph, tuple(run.inputs), (), run.wrt, 1)
    split = len(found) - len(run.wrt)
    value: Any = found[0]
    if made["has_aux"]:
        value = (value, run.aux(found[1:split]))
    return machine.from_python((run.nested(found[split:]), value))


def capture_vjp(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """`vjp(func, *primals, has_aux=False)`: the pullback is a node of its own."""
    has_aux = "has_aux" in kwargs and machine.truth(kwargs["has_aux"])
    given = _args(machine, args[1:])
    run = _Derived(machine, args[0], given, {}, tuple(range(len(given))), has_aux)

    def pullback(machine: Machine, starts: Arguments, named: Keywords) -> Value:
        leaves, spec = tree_flatten(lowered(machine, starts[0]))
        if named or spec.num_leaves != run.count:
            machine.stop("unknown-operation", "a pullback of cotangents that do not fit")
        found = run.node("pulled_back", run.graph, tuple(run.inputs), tuple(leaves), run.wrt,
                         run.count)  # fmt: skip
        return machine.from_python(run.nested(found[len(found) - len(run.wrt) :]))

    found = machine.call(args[0], list(args[1:]), {})
    parts = machine.items(found) if has_aux else [found]
    back = HostFunctionValue(pullback, FunctionValue)
    return machine.tuple_of([parts[0], back, *parts[1:]])


def capture_jvp(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """`jvp(func, primals, tangents, has_aux=False)`."""
    has_aux = "has_aux" in kwargs and machine.truth(kwargs["has_aux"])
    primals, tangents = (lowered(machine, argument) for argument in args[1:])
    if not isinstance(primals, tuple) or "strict" in kwargs:
        machine.stop("unknown-operation", "jvp() of primals that are no tuple, or strict")
    run = _Derived(machine, args[0], primals, {}, tuple(range(len(primals))), has_aux)
    given, spec = tree_flatten(tangents)
    if spec.num_leaves != len(run.wanted) or _shapes(given) != _shapes(run.wanted):
        machine.stop("unknown-operation", "jvp() with tangents that do not fit")
    found = run.node("pushed_forward", run.graph, tuple(run.inputs), tuple(given), run.wrt,
                     run.count)  # fmt: skip
    split = len(found) - run.count
    result = (run.result(found), run.result(found[split:]))
    return machine.from_python((*result, run.aux(found[run.count : split])) if has_aux else result)


def _jacobian(forward: bool) -> Callable[..., Value]:
    def rule(
        machine: Machine, function: FunctionValue, args: Arguments, kwargs: Keywords
    ) -> Value:  # fmt: skip
        made = _variables(machine, function)
        run = _Derived(machine, made["func"], _args(machine, args), kwargs, made["argnums"],
                       made["has_aux"])  # fmt: skip
        found = run.node("jacobian", run.graph, tuple(run.inputs), run.wrt, run.count, forward,
                         made["chunk_size"])  # fmt: skip
        width = len(run.wrt)
        nested = [run.nested(found[n * width : (n + 1) * width]) for n in range(run.count)]
        jacobian = tree_unflatten(nested, run.output_spec)
        if made["has_aux"]:
            return machine.from_python((jacobian, run.aux(found[run.count * width :])))
        return machine.from_python(jacobian)

    return rule


# The code of what a transform returns, and the rule for a call of it.
BY_CODE: dict[Any, Callable[..., Value]] = {
    func.vmap(len).__code__: _vmap,
    func.grad_and_value(len).__code__: _grad_and_value,
    func.jacrev(len).__code__: _jacobian(False),
    func.jacfwd(len).__code__: _jacobian(True),
}

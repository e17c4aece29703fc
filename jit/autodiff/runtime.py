"""Running a compiled graph inside eager autograd.

In: a functional graph, callables for its forward and backward, and real tensors. Out: what the
captured function returns, with one autograd node for the whole of it. The node saves what the
partition says, checks versions as any saved tensor does, and frees it as the backward passes.

A backward that must itself be differentiated (`create_graph=True`) runs the functional graph
again, eagerly, and differentiates that: slower, and right.

Source: PyTorch's AOTAutograd runtime wrappers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from minitorch2 import random
from minitorch2.autograd.engine import run_backward
from minitorch2.autograd.graph import Node, SavedTensor, edge_of, spec_of, zeros_like_spec
from minitorch2.dispatch import call, state
from minitorch2.errors import GraphFreed, Mt2Error, SavedTensorModified
from minitorch2.jit.autodiff.missing import without_tangents
from minitorch2.jit.ir.graph import Graph, values_in
from minitorch2.jit.ir.interpreter import bind_inputs, interpret
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.shapes.size_expression import SizeExpression, evaluate_size
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor

if TYPE_CHECKING:
    from minitorch2.jit.autodiff.output_plans import Functional, OutputPlan
    from minitorch2.jit.autodiff.partition import Partition
    from minitorch2.jit.autodiff.records import StoredFunctional, StoredPartition

Executable = Callable[[list[Any]], list[Any]]


class HostFunction:
    """A graph compiled to one flat function of the list of its inputs, `run`.

    `plain`: it runs kernels and products only, so that nothing in it asks for modes, and each of
    its results has memory of its own.
    """

    __slots__ = ("run", "plain")

    def __init__(self, run: Executable, plain: bool):
        self.run, self.plain = run, plain

    def __call__(self, inputs: list[Any]) -> list[Any]:
        return self.run(inputs)


class CompiledNode(Node):
    """The autograd node of one call of a compiled function."""

    __slots__ = ("program", "saved", "inputs", "specs", "sizes", "used", "arrived")
    fills_missing = False
    stands_for_many = True

    def __init__(self, program: CompiledProgram, inputs: list[Any], outputs: list[Tensor]):
        partition = program.partition
        assert partition is not None
        edges = tuple(edge_of(inputs[index]) for index in program.gradient_inputs)
        super().__init__(program.label, edges, tuple(spec_of(t) for t in outputs), state.origin)
        self.program = program
        self.inputs: list[Any] | None = [
            SavedTensor(value, None) if _has_version(value) else value for value in inputs
        ]
        self.specs = tuple(spec_of(inputs[index]) for index in program.gradient_inputs)
        self.saved: list[Any] = []
        self.used: frozenset[int] = frozenset()  # the steps that earlier backwards have freed
        self.arrived: frozenset[int] = frozenset()  # those that the last one went through
        self.sizes: list[int] = program.hidden_sizes(inputs)

    def apply(self, grads: tuple) -> tuple:
        """Run the compiled backward, or differentiate an eager run of the forward."""
        self._check(grads)
        partition, inputs = self.program.partition, self.inputs
        assert partition is not None and inputs is not None
        reached = self._reached(grads)
        if state.grad_enabled or state.tracer is not None or state.modes or self._asked():
            return self._fitted(self._differentiable(grads), reached)
        missing = frozenset(place for place, grad in enumerate(grads) if grad is None)
        backward = self.program.backward_without(missing)
        given = [_unpacked(inputs[index], self) for index in partition.saved_inputs]
        arriving = [grad for grad in grads if grad is not None]
        found = backward([*given, *self.saved, *arriving, *self.sizes])
        return self._fitted(found, reached)

    @property
    def inner(self) -> frozenset[int]:  # type: ignore[override]
        """All outputs, when the gradient of one is asked for that the kernels do not hand out,
        since other outputs were computed from it: by hooks, by retain_grad, by grad()."""
        return frozenset(range(len(self.outputs))) if self._asked() else frozenset()

    def order(self) -> Sequence[int]:
        """The last output that was made comes first."""
        return self.program.order

    def derived(self, index: int) -> frozenset[int]:
        """The outputs that were computed from one, itself included."""
        return self.program.derived(index)

    def _asked(self) -> list[int]:
        """The outputs of which somebody wants the gradient, when inner ones are among them."""
        asked: set[int] = set()
        if self.hooks is not None:
            asked.update(index for index, held in self.hooks.tensor.items() if held)
            asked.update(self.hooks.retained)
        run = state.backward
        if run is not None and run.wanted is not None:
            asked.update(edge.index for edge in run.wanted if edge.target is self)
        return sorted(asked) if asked & self.program.inner else []

    def _check(self, grads: tuple) -> None:
        """Refuse what the steps of the program would refuse one by one: to be passed a second
        time, or with a saved tensor that was written."""
        functional = self.program.functional
        pairs = zip(self.program.tangent_outputs, grads, strict=True)
        outputs = [index for index, grad in pairs if grad is not None]
        self.arrived = frozenset().union(*(functional.frees[index] for index in outputs))
        if self.inputs is None or self.arrived & self.used:
            raise GraphFreed(
                f"the backward of {self.name()}",
                "Trying to backward through the graph a second time: the saved intermediate "
                "values have already been freed",
            )
        for index in outputs:
            said = functional.lost[index]
            if said is not None:
                raise SavedTensorModified(*said)

    def _reached(self, grads: tuple) -> frozenset[int]:
        """The inputs to which the outputs that have a gradient lead."""
        reaches, outputs = self.program.functional.reaches, self.program.tangent_outputs
        sets = [reaches[i] for i, grad in zip(outputs, grads, strict=True) if grad is not None]
        return sets[0].union(*sets[1:]) if sets else frozenset()

    def _fitted(self, found: Sequence[Any], reached: frozenset[int]) -> tuple:
        """One gradient for each input that eager would give one, None for the others."""
        return tuple(
            None if index not in reached else zeros_like_spec(spec) if grad is None else grad
            for grad, index, spec in zip(
                found, self.program.gradient_inputs, self.specs, strict=True
            )
        )

    def _differentiable(self, grads: tuple) -> tuple:
        """Gradients that can be differentiated again."""
        assert self.inputs is not None
        program = self.program
        given = [_unpacked(value, self) for value in self.inputs]
        before = state.grad_enabled
        state.grad_enabled = True
        try:
            for index in program.gradient_inputs:  # one input may have been made from another one
                given[index] = call(lookup("clone"), (given[index],))
            found = program.rerun(given)
            wanted = [given[index] for index in program.gradient_inputs]
            places = program.tangent_outputs
            seen = self._asked()
            for index in seen:
                self._hand_hooks_to(found[places[index]], index)
            wanted += [found[places[index]] for index in seen]
            pairs = [(found[i], g) for i, g in zip(places, grads, strict=True) if g is not None]
            outputs, starts = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
            state.grad_enabled = before
            run = state.backward
            results = run_backward(outputs, starts, True, before, wanted, accumulate=False)
            count = len(program.gradient_inputs)
            for index, result in zip(seen, results[count:], strict=True):
                run.captured[id(self), index] = result
            return tuple(results[:count])
        finally:
            state.grad_enabled = before

    def _hand_hooks_to(self, tensor: Tensor, index: int) -> None:
        """What waits for the gradient of an output waits for that of the same one, made again."""
        if self.hooks is None or tensor.grad_fn is None:
            return
        hooks, output, run = tensor.grad_fn.with_hooks(), tensor._output, state.backward
        held = self.hooks.tensor.get(index, {})
        hooks.tensor[output] = {key: _hook_of(run, hook) for key, hook in held.items()}
        if index in self.hooks.retained:
            hooks.retained[output] = self.hooks.retained[index]

    def release(self) -> None:
        """Free what was saved, as soon as no output needs it any more."""
        self.used |= self.arrived
        frees = self.program.functional.frees
        if all(frees[i] and frees[i] <= self.used for i in self.program.tangent_outputs):
            self.inputs, self.saved = None, []


def _hook_of(run: Any, hook: Callable) -> Callable:
    """A hook that is called in another walk as in this one."""

    @functools.wraps(hook)
    def called(gradient: Any) -> Any:
        inside, state.backward = state.backward, run
        try:
            return hook(gradient)
        finally:
            state.backward = inside

    return called


class FreedNode(Node):
    """The history of an output that a backward inside the compiled function has used up."""

    __slots__ = ()

    def apply(self, grads: tuple) -> tuple:
        """Refuse, as eager does after the first backward."""
        raise GraphFreed(
            "backward of a result of a compiled function that has run its own backward",
            "Trying to backward through the graph a second time: the saved intermediate values "
            "have already been freed",
        )


def _is_symbolic(argument: Any) -> bool:
    return isinstance(argument, SizeExpression) or (
        isinstance(argument, tuple) and any(map(_is_symbolic, argument))
    )


def _evaluated(argument: Any, known: dict[str, int]) -> Any:
    if isinstance(argument, tuple):
        return tuple(_evaluated(item, known) for item in argument)
    return argument.evaluate(known) if isinstance(argument, SizeExpression) else argument


def _has_version(value: Any) -> bool:
    """Whether a value is a tensor whose writes are counted: inference tensors have none."""
    return isinstance(value, Tensor) and value.storage.version == value.storage.version


def _unpacked(value: Any, node: Node) -> Any:
    return value.unpack(node, "an input of the compiled function") if isinstance(
        value, SavedTensor) else value  # fmt: skip


class GraphFailed(Exception):
    """A forward graph met an error. Nothing it would do has been done, so that the function can
    run as Python instead, which raises the error where it belongs, after all that precedes it."""


class CompiledProgram:
    """A captured graph, compiled: called with the list of its inputs, returns its outputs.

    Raises GraphFailed, with no input written, when an operation inside fails.
    """

    def __init__(
        self,
        functional: Functional | StoredFunctional,
        forward: Executable,
        partition: Partition | StoredPartition | None = None,
        backward: Executable | None = None,
        tangent_outputs: tuple[int, ...] = (),
        gradient_inputs: tuple[int, ...] = (),
        executor: Callable[[Graph], Executable] | None = None,
    ):
        self.functional, self.forward = functional, forward
        self.partition, self.backward = partition, backward
        self.tangent_outputs, self.gradient_inputs = tangent_outputs, gradient_inputs
        self.output_count = functional.output_count
        self.executor = executor  # compiles the backwards of some outputs alone, when they are met
        self.variants: dict[frozenset[int], Executable] = {}
        self.apart = isinstance(forward, HostFunction) and forward.plain
        self.calls = 0
        self.label = f"Compiled[{functional.name}]Backward"  # of the node of each call

    @functools.cached_property
    def _made(self) -> list[Any]:
        """The outputs that get gradients, as values of the graph."""
        outputs = self.functional.graph.outputs
        return [outputs[place].argument for place in self.tangent_outputs]

    def _steps(self) -> list[Any]:
        """The nodes that gradients pass."""
        return [each for each in self.functional.graph.nodes if each.grad and each.op != "detach"]

    @functools.cached_property
    def order(self) -> list[int]:
        """The outputs that get gradients, by their places, the last that was made first."""
        nodes = self.functional.graph.nodes
        number = {value: at for at, node in enumerate(nodes) for value in node.results}
        return sorted(range(len(self._made)), key=lambda i: -number.get(self._made[i], -1))

    @functools.cached_property
    def inner(self) -> frozenset[int]:
        """Those from which others were computed."""
        read: set[Any] = set()  # on the way to some output
        for node in reversed(self._steps()):
            if any(one in read or one in self._made for one in node.results):
                read.update(values_in(node.args))
        return frozenset(index for index, value in enumerate(self._made) if value in read)

    def derived(self, index: int) -> frozenset[int]:
        """Those that were computed from one of them, itself included."""
        made = {self._made[index]}
        for node in self._steps():
            if any(one in made for one in values_in(node.args)):
                made.update(node.results)
        return frozenset(place for place, value in enumerate(self._made) if value in made)

    def flat(self) -> Executable:
        """This program as a function, with nothing before the kernels where that can be."""
        functional, forward = self.functional, self.forward
        found_at = [_only_place(plan) for plan in functional.outputs]
        places = [place for place in found_at if place is not None]
        around = (functional.random_count, self.backward, *functional.writes)
        if not self.apart or any(each is not None for each in around) or places != found_at:
            return self
        assert isinstance(forward, HostFunction)
        run, same = forward.run, places == list(range(self.output_count))

        def call_host(inputs: list[Any]) -> list[Any]:
            self.calls += 1
            try:
                found = run(inputs)
            except Mt2Error as error:
                raise GraphFailed(str(error)) from error
            return found if same else [found[place] for place in places]

        return call_host

    def halves(self) -> Iterator[tuple[str, Any]]:
        """What runs, by name: a backward is compiled anew where outputs had no gradient."""
        yield "forward", self.forward
        if self.backward is not None:
            yield "backward", self.backward
        for missing, part in self.variants.items():
            yield f"backward without output {self._outputs_at(missing)}", part

    def _outputs_at(self, missing: frozenset[int], between: str = ", ") -> str:
        return between.join(str(self.tangent_outputs[place]) for place in sorted(missing))

    def backward_without(self, missing: frozenset[int]) -> Executable:
        """The backward that takes no gradient of the outputs at these places."""
        assert self.backward is not None
        if not missing:
            return self.backward
        found = self.variants.get(missing)
        if found is None:
            assert self.partition is not None and self.executor is not None
            first, count = len(self.partition.saved), len(self.tangent_outputs)
            graph = without_tangents(self.partition.backward, first, count, missing)
            graph = replace(graph, name=f"{graph.name}_without_{self._outputs_at(missing, '_')}")
            found = self.variants[missing] = self.executor(graph)
        return found

    def __call__(self, inputs: Sequence[Any]) -> list[Any]:
        """Run the forward; connect its outputs to the graph when gradients are wanted."""
        self.calls += 1
        given = list(inputs)
        drawn = self._draw(given) if self.functional.random_count is not None else None
        if drawn is not None:
            given += drawn[:2]
        recorded = self.backward is not None
        versions = self._saved_versions(given) if recorded else []
        own = state.__dict__
        before, own["grad_enabled"] = own["grad_enabled"], False
        try:
            found = self.forward(given)
        except Mt2Error as error:
            if drawn is not None:
                random.default_generator.give_back(*drawn[1:])
            raise GraphFailed(str(error)) from error
        finally:
            own["grad_enabled"] = before
        outputs = found[: self.output_count]
        if not self.apart:
            _separate(outputs, given)
        if recorded:
            self._connect(given, outputs, found[self.output_count :], versions)
        for position, index in self.functional.writes:
            call(lookup("copy_"), (given[position], outputs[index], False))
        return [self._output(plan, outputs, given) for plan in self.functional.outputs]

    def _draw(self, inputs: list[Any]) -> tuple[int, int, int]:
        """The two random inputs, and how many elements' counters the generator moves on by."""
        count = self.functional.random_count
        assert count is not None
        if not isinstance(count, int):
            count = evaluate_size(count, bind_inputs_of(self.functional.graph, inputs))
        return (*random.default_generator.take(count * 4), count * 4)

    def _saved_versions(self, inputs: list[Any]) -> list[int | None]:
        return [t.storage.version if isinstance(t, Tensor) else None for t in inputs]

    def _connect(
        self, inputs: list[Any], outputs: list[Any], saved: list[Any], versions: list[int | None]
    ) -> None:
        """One node for all differentiable outputs. Inputs count as saved before they were
        written, so that reading them in the backward raises what eager raises."""
        tensors = [outputs[index] for index in self.tangent_outputs]
        node = CompiledNode(self, inputs, tensors)
        assert node.inputs is not None
        for value, version in zip(node.inputs, versions, strict=True):
            if isinstance(value, SavedTensor) and version is not None:
                value.version = version
        node.saved = saved
        for index, tensor in enumerate(tensors):
            tensor.set_history(node, index)

    def _output(self, plan: OutputPlan, outputs: list[Any], inputs: list[Any]) -> Any:
        if plan.index is None and plan.alias is None:
            return plan.constant
        if plan.index is not None:
            source = outputs[plan.index]
            if plan.freed:
                source.set_history(FreedNode("Freed", (), (spec_of(source),)))
        else:
            assert plan.alias is not None
            source = inputs[plan.alias]
        if not plan.steps:
            return source
        before = state.grad_enabled
        state.grad_enabled = plan.differentiable or plan.freed or not source.requires_grad
        try:
            return self._seen(source, plan.steps, inputs)
        finally:
            state.grad_enabled = before

    def _seen(self, base: Tensor, steps: tuple, inputs: list[Any]) -> Tensor:
        """A tensor seen through the views that the program saw it through."""
        known: dict[str, int] | None = None
        view = base
        for op, arguments in steps:
            if any(map(_is_symbolic, arguments)):
                known = known or bind_inputs_of(self.functional.graph, inputs)
                arguments = tuple(_evaluated(argument, known) for argument in arguments)
            if op.name == "as_strided":  # its offset counts from where the base starts
                *where, offset = arguments
                arguments = (*where, offset + base.layout.offset)
            view = call(op, (view, *arguments))
        return view

    def saved_bytes(self) -> int:
        """Bytes that one call keeps for the backward; values of unknown size are not counted."""
        total = 0
        for value in self.partition.saved if self.partition is not None else ():
            count: Any = 1
            for size in getattr(value.type, "shape", ()):
                count = count * size
            if isinstance(count, int) and isinstance(value.type, TensorType):
                total += count * value.type.dtype.itemsize
        return total

    def hidden_sizes(self, inputs: list[Any]) -> list[int]:
        """The sizes that the backward cannot read off its tensors."""
        if self.partition is None or not self.partition.sizes:
            return []
        known = bind_inputs(self.functional.graph, inputs)
        return [known[name] for name in self.partition.sizes]

    def rerun(self, inputs: list[Any]) -> list[Any]:
        """The outputs computed again, node by node, recorded by eager autograd."""
        graph = self.functional.graph
        return interpret(Graph(graph.name, graph.inputs, graph.nodes, graph.outputs, (),
                               graph.assumptions), inputs)  # fmt: skip


def _only_place(plan: OutputPlan) -> int | None:
    """The output of the graph that an output of the program is; None if it is something else."""
    return None if plan.steps or plan.freed or plan.alias is not None else plan.index


def _separate(outputs: list[Any], inputs: list[Any]) -> None:
    """Give each output memory of its own: equal values may have become one in the graph."""
    taken = {id(value.storage) for value in inputs if isinstance(value, Tensor)}
    for place, output in enumerate(outputs):
        if id(output.storage) in taken:
            outputs[place] = output = Tensor(output.storage, output.layout, output.dtype)
            outputs[place] = output = call(lookup("clone"), (output,))
        taken.add(id(output.storage))


def bind_inputs_of(graph: Graph, inputs: list[Any]) -> dict[str, int]:
    """The values of a graph's sizes, when its random inputs are not known yet or are."""
    missing = len(graph.inputs) - len(inputs)
    return bind_inputs(graph, [*inputs, *([0] * missing)])

"""`Function.apply` inside captured code: one node with the user's forward and backward as graphs.

In: a call of `apply` on a subclass of autograd.Function. Out: a node
`custom_gradient(graph forward, graph backward, (%x, %w), ...)`. Both methods are captured where the
call stands, with one `ctx`; what forward keeps there and backward reads becomes results of the one
graph and inputs of the other. Where no argument requires a gradient, forward is read through.

What cannot be said as two graphs (side effects, dirty inputs, gradients that may be missing, what a
backward reads that may change before it runs) is a graph break: Python makes the call.

Source: torch's "Extending autograd"; torch.compile's treatment of autograd.Function.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch2 import dispatch
from minitorch2.autograd.function import Function
from minitorch2.dispatch import call
from minitorch2.jit.capture.rules.builtins import is_none
from minitorch2.jit.capture.rules.control_flow import Part, captured_part, fresh, new_node
from minitorch2.jit.capture.rules.late_reads import LateReads
from minitorch2.jit.capture.values.base import Arguments, Keywords, NativeMethod, Value
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.sequences import TupleValue
from minitorch2.jit.capture.values.tensors import TensorValue
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine

ROOM = "gradient-machinery"


class ContextValue(Value):
    """The `ctx` of one call: what was saved, what was set on it, what it was told."""

    __slots__ = ("needs", "saved", "attributes", "fixed", "materializes")

    def __init__(self, needs: list[bool]):
        super().__init__(None)
        self.needs = needs
        self.saved: list[Value] = []
        self.attributes: dict[str, Value] = {}
        self.fixed: list[Value] = []  # results that have no gradient
        self.materializes = True

    def python_type(self) -> type:
        return Function

    def describe(self) -> str:
        return "the ctx of an autograd.Function"

    def get_attribute(self, machine: Machine, name: str) -> Value:
        if name in self.attributes:
            return self.attributes[name]
        if name == "saved_tensors":
            return machine.tuple_of(list(self.saved))
        if name == "needs_input_grad":
            return machine.tuple_of([Constant(flag) for flag in self.needs])
        if name in METHODS:
            return NativeMethod(self, name)
        if name.startswith("_") or name in ("mark_dirty", "save_for_forward"):
            machine.stop(ROOM, f"ctx.{name} of an autograd.Function")
        return machine.raise_(AttributeError, f"'ctx' object has no attribute '{name}'")

    def set_attribute(self, machine: Machine, name: str, value: Value) -> None:
        self.attributes[name] = value

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        if name == "save_for_backward":
            self.saved = [machine.real(argument) for argument in args]
        elif name == "mark_non_differentiable":
            self.fixed = [machine.real(argument) for argument in args]
        else:
            self.materializes = machine.truth(args[0])
        return Constant(None)

    def kept(self) -> list[TensorValue]:
        """The tensors that backward can reach through it."""
        return [held for held in (*self.saved, *self.attributes.values())
                if isinstance(held, TensorValue)]  # fmt: skip

    def exchange(self, new: dict[int, Value]) -> None:
        """Put other values in the places of some tensors."""
        self.saved = [new.get(id(held), held) for held in self.saved]
        self.attributes = {n: new.get(id(held), held) for n, held in self.attributes.items()}


METHODS = ("save_for_backward", "mark_non_differentiable", "set_materialize_grads")


def capture_apply(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """`cls.apply(*args)`."""
    cls, given = machine.real(args[0]), [machine.real(argument) for argument in args[1:]]
    if kwargs:
        machine.stop(ROOM, "apply() with keywords")
    grad = dispatch.state.grad_enabled
    ctx = ContextValue(
        [grad and isinstance(v, TensorValue) and v.fake.requires_grad for v in given]
    )
    forward = _forward(machine, cls, ctx, given)
    if not any(ctx.needs):
        return forward()
    return _Call(machine, cls, ctx, given).run(forward)


def _forward(machine: Machine, cls: Value, ctx: ContextValue, given: Arguments) -> Callable:
    """The user's forward, without recording."""

    def run() -> Value:
        before = dispatch.state.grad_enabled
        dispatch.state.grad_enabled = False
        try:
            if machine.class_lookup(cls.known(), "setup_context")[0] is Function:
                return machine.method(cls, "forward", [ctx, *given])
            output = machine.method(cls, "forward", list(given))
            machine.method(cls, "setup_context", [ctx, TupleValue(list(given)), output])
            return output
        finally:
            dispatch.state.grad_enabled = before

    return run


class _Call:
    """One call that is recorded as a node."""

    def __init__(self, machine: Machine, cls: Value, ctx: ContextValue, given: Arguments):
        self.machine, self.cls, self.ctx, self.given = machine, cls, ctx, given
        self.single = False
        self.outputs: list[TensorValue] = []

    def run(self, forward: Callable[[], Value]) -> Value:
        """Capture both methods, append the node; its results as forward returned them."""
        machine, ctx = self.machine, self.ctx
        known = set(machine.state.graph_values)
        inner: list[Tensor] = []  # what forward made: results first, then what is only kept

        def first() -> list[Tensor]:
            self._take(machine.real(forward()))
            made = [value.fake for value in (*self.outputs, *ctx.kept())]
            unique = {id(fake): fake for fake in made}
            inner.extend(unique[key] for key in unique if key not in known)
            extra = [fake for fake in inner if all(fake is not o.fake for o in self.outputs)]
            inner[:] = extra
            return [value.fake for value in self.outputs] + extra

        part = captured_part(machine, "forward", first, once=True)
        count = len(self.outputs)
        fixed = tuple(place for place, value in enumerate(self.outputs) if self._is_fixed(value))
        if not ctx.materializes and count - len(fixed) > 1:
            machine.stop(ROOM, "gradients that may be None, of several results")
        at = {id(value.fake): place for place, value in enumerate(self.outputs)}
        at |= {id(fake): count + place for place, fake in enumerate(inner)}
        back, places, sources = self._backward(part, at, fixed)
        values = machine.state.graph_values
        arguments = [values[id(v.fake)] for v in self.given if isinstance(v, TensorValue)]
        operands = tuple(dict.fromkeys((*arguments, *part.around, *back.around)))
        args = (
            part.graph(operands), back.graph(back.around), operands, count, sources,
            tuple(operands.index(value) for value in back.around),
            tuple(places.get(value, -1) for value in operands), fixed,
        )  # fmt: skip
        live = [place < count and place not in fixed for place in range(len(part.fakes))]
        fakes = new_node(machine, "custom_gradient", args, part.fakes, live, operands)
        memory = {id(v.fake.storage) for v in self.given if isinstance(v, TensorValue)}
        for output, fake in zip(self.outputs, fakes, strict=False):
            if id(output.fake.storage) in memory:
                machine.state.picking.bar(fake)
        found = [machine.from_python(fake) for fake in fakes[:count]]
        return found[0] if self.single else machine.tuple_of(found)

    def _take(self, output: Value) -> None:
        """The results of forward."""
        self.single = isinstance(output, TensorValue)
        found = [output] if self.single else self.machine.items(output)
        for value in map(self.machine.real, found):
            if not isinstance(value, TensorValue):
                self.machine.stop(ROOM, "a forward that returns something that is no tensor")
            self.outputs.append(value)
        if not self.single and output.python_type() is not tuple:
            self.machine.stop(ROOM, f"a forward that returns a {output.python_type().__name__}")

    def _is_fixed(self, value: TensorValue) -> bool:
        marked = any(value is other for other in self.ctx.fixed)
        return marked or not (value.fake.dtype.is_floating_point or value.fake.dtype.is_complex)

    def _backward(
        self, part: Part, at: dict[int, int], fixed: tuple[int, ...]
    ) -> tuple[Part, dict[Any, int], tuple[int, ...]]:
        """(backward as a part, which of its results belongs to each argument, which results of
        forward it is given)."""
        machine, ctx = self.machine, self.ctx
        kept = {id(v.fake): v for v in ctx.kept() if id(v.fake) in at}
        sources = tuple(at[key] for key in kept)
        likes = [part.fakes[place] for place in sources]
        live = [f for place, f in enumerate(part.fakes[: len(self.outputs)]) if place not in fixed]
        formals = [fresh(like, tuple(like.layout.shape), False) for like in (*likes, *live)]
        wanted: dict[Any, int] = {}

        def second() -> list[Tensor]:
            """The gradients of the arguments that get one, those of one tensor added up."""
            pairs = zip(kept.values(), formals, strict=False)
            ctx.exchange({id(old): machine.from_python(formal) for old, formal in pairs})
            rest = iter(formals[len(kept) :])
            grads = [
                _zeros(machine, fake) if place in fixed else machine.from_python(next(rest))
                for place, fake in enumerate(part.fakes[: len(self.outputs)])
            ]
            told, machine.trace = machine.trace, LateReads(machine, ctx)
            try:
                found = machine.real(machine.method(self.cls, "backward", [ctx, *grads]))
            finally:
                machine.trace = told
            parts = machine.items(found) if isinstance(found, TupleValue) else [found]
            return self._gradients([machine.real(each) for each in parts], wanted)

        back = captured_part(machine, "backward", second, formals)
        return back, wanted, sources

    def _gradients(self, found: list[Value], wanted: dict[Any, int]) -> list[Tensor]:
        machine = self.machine
        totals: dict[Any, Any] = {}
        extra = found[len(self.given) :]
        if len(found) < len(self.given) or not all(is_none(machine, each) for each in extra):
            machine.stop(ROOM, "a backward that returns another number of gradients")
        for value, gradient, needed in zip(self.given, found, self.ctx.needs, strict=False):
            if is_none(machine, gradient) or not needed or not isinstance(value, TensorValue):
                continue
            fake = gradient.lower(machine)
            if not isinstance(fake, Tensor) or fake.layout.shape != value.fake.layout.shape:
                machine.stop(ROOM, "a gradient of another shape than its argument")
            key = machine.state.graph_values[id(value.fake)]
            if key in totals:
                fake = machine.run_lowered(operator.add, [totals[key], fake], {})
            totals[key] = fake
        wanted.update({key: place for place, key in enumerate(totals)})
        return list(totals.values())


def _zeros(machine: Machine, like: Tensor) -> Value:
    args = (tuple(like.layout.shape), 0, like.dtype, str(like.device))
    return machine.from_python(machine.run_lowered(lambda: call(lookup("full"), args), [], {}))

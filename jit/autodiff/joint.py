"""The joint graph: forward and backward in one, made by running the engine on symbols.

In: a functional graph, which inputs require gradients, which outputs carry them. Out: a graph that
also takes the outputs' gradients (`%tangent0`, ...) and also returns the inputs' gradients. The op
rows' vjps and the engine are plain Python over the dispatcher, so running them under the tracer is
all there is to it: no derivative is written a second time.

Before: graph f(%x: f32[4]) { %0: f32[4] = exp(%x)  return %0 }
After:  graph f(%x: f32[4], %tangent0: f32[4]) {
          %0: f32[4] = exp(%x)
          %1: f32[4] = mul(%tangent0, %0)
          return %0, %1
        }

Source: PyTorch's AOTAutograd, "joint graph"; JAX's vjp.
"""

from dataclasses import dataclass

from minitorch2.artifacts import Origin
from minitorch2.autograd.engine import run_backward
from minitorch2.dispatch import origin_scope, state
from minitorch2.jit.autodiff.functionalize import actual, replay, trace_inputs
from minitorch2.jit.autodiff.output_plans import Functional
from minitorch2.jit.autodiff.tracer import Tracer
from minitorch2.jit.ir.examples import environment_of
from minitorch2.jit.ir.graph import Graph
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.shapes.symbolic_size import as_size
from minitorch2.layouts import contiguous_strides
from minitorch2.tensors import Tensor


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint graph. Its outputs are the functional graph's, then one gradient for each input in
    `gradient_inputs`; its inputs are the functional graph's, then one tangent for each output in
    `tangent_outputs`."""

    graph: Graph
    tangent_outputs: tuple[int, ...]
    gradient_inputs: tuple[int, ...]

    def __str__(self) -> str:
        return str(self.graph)


def make_joint(functional: Functional) -> Joint | None:
    """The joint graph, or None when no output carries a gradient to an input."""
    tangent_outputs = tuple(i for i, flag in enumerate(functional.differentiable) if flag)
    wanted = tuple(i for i, flag in enumerate(functional.requires_grad) if flag)
    if not tangent_outputs or not wanted:
        return None
    graph = functional.graph
    tracer = Tracer(graph.name, environment_of(graph), "joint", False)
    tracer.builder.assumptions = list(graph.assumptions)
    inputs = trace_inputs(tracer, graph, functional.requires_grad)
    before = state.grad_enabled
    state.grad_enabled = True
    try:
        with tracer:
            values = replay(graph, tracer, inputs, "joint")
            found = [actual(output.argument, tracer, values) for output in graph.outputs]
            for tensor, output in zip(found, graph.outputs, strict=True):
                tracer.builder.output(tracer.value_of(tensor), output.strides)
            for index, value in graph.writes:
                tracer.builder.write(index, tracer.value_of(values[value.id]))
            differentiable = [found[index] for index in tangent_outputs]
            _add_gradients(tracer, differentiable, [inputs[index] for index in wanted])
    finally:
        state.grad_enabled = before
    return Joint(tracer.builder.build(), tangent_outputs, wanted)


def _add_gradients(tracer: Tracer, outputs: list[Tensor], inputs: list[Tensor]) -> None:
    """Run the engine from tangents of `outputs`; declare the gradients of `inputs` as outputs."""
    tangents = []
    for index, output in enumerate(outputs):
        shape = tuple(map(as_size, output.layout.shape))
        type = TensorType(output.dtype, shape, output.device)
        tangents.append(tracer.input(f"tangent{index}", type))
    pairs = [pair for pair in zip(outputs, tangents, strict=True) if pair[0].requires_grad]
    live, given = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    with origin_scope(Origin((), made_by="joint")):
        gradients = run_backward(live, given, False, False, inputs, accumulate=False)
    for gradient in gradients:
        if gradient is None:
            tracer.builder.output(None)
        else:
            strides = contiguous_strides(gradient.layout.shape)
            tracer.builder.output(tracer.value_of(gradient), tuple(map(as_size, strides)))

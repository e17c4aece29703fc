"""backward and grad: torch.autograd's entry points to the engine.

In: outputs, their gradients, and for `grad` the inputs. Out: accumulated `.grad` fields, or the
gradients themselves.

    >>> import minitorch2 as torch
    >>> x = torch.tensor([2.0], requires_grad=True)
    >>> torch.autograd.grad((x ** 3).sum(), x)
    (tensor([12.]),)

Source: torch.autograd's documentation.
"""

from typing import Any

from minitorch2.autograd.engine import run_backward
from minitorch2.autograd.saving import GradientEdge, edge_at
from minitorch2.batching.mode import VmapMode
from minitorch2.dispatch import call
from minitorch2.errors import AutogradError
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


def _sequence(value: Any) -> list[Any]:
    single = value is None or isinstance(value, (Tensor, GradientEdge))
    return [value] if single else list(value)


def _start_gradients(outputs: list[Tensor], given: list[Any]) -> list[Tensor]:
    gradients = []
    for output, gradient in zip(outputs, given, strict=True):
        if gradient is None:
            if output.numel() != 1:
                raise AutogradError(
                    f"backward of a tensor of shape {list(output.shape)}",
                    "grad can be implicitly created only for scalar outputs",
                    "reduce it first (.sum(), .mean()), or pass gradient=",
                )
            if output.dtype.is_complex:
                raise AutogradError(
                    f"backward of a tensor of dtype {output.dtype}",
                    "grad can be implicitly created only for real scalar outputs but got "
                    f"{output.dtype}",
                    "make it real (.abs(), .real), or pass gradient=",
                )
            one = (tuple(output.layout.shape), 1, output.dtype, output.device)
            gradient = call(lookup("full"), one)
        elif tuple(gradient.shape) != tuple(output.shape):
            raise AutogradError(
                "backward with a given gradient",
                f"Mismatch in shape: grad_output has a shape of {list(gradient.shape)} and "
                f"output has a shape of {list(output.shape)}",
                "pass a gradient of the output's shape",
            )
        gradients.append(gradient)
    return gradients


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Accumulate the gradients of `tensors` into the leaves they were computed from.

    `grad_tensors` (one for each tensor, None for a scalar's 1), `inputs` limits the leaves.
    Raises AutogradError where no gradient can be had.
    """
    outputs = _sequence(tensors)
    given = [None] * len(outputs) if grad_tensors is None else _sequence(grad_tensors)
    retain = create_graph if retain_graph is None else retain_graph
    _require_history(outputs)
    run_backward(
        outputs,
        _start_gradients(outputs, given),
        retain,
        create_graph,
        None if inputs is None else _sequence(inputs),
    )


def _require_history(outputs: list[Tensor]) -> None:
    for index, output in enumerate(outputs):
        if not output.requires_grad:
            raise AutogradError(
                "backward",
                f"element {index} of tensors does not require grad and does not have a grad_fn",
            )


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradients of `outputs` with respect to `inputs`; nothing is accumulated.

    An input that was not used raises AutogradError unless `allow_unused` (then None) or
    `materialize_grads` (then zeros).
    """
    starts, wanted = _sequence(outputs), _sequence(inputs)
    if is_grads_batched:
        settings = (retain_graph, create_graph, only_inputs, allow_unused, False, materialize_grads)
        return _batched_grad(starts, wanted, _sequence(grad_outputs), settings)
    _require_history(starts)
    wanted = [edge_at(each) if isinstance(each, GradientEdge) else each for each in wanted]
    for tensor in wanted:
        if isinstance(tensor, Tensor) and not tensor.requires_grad:
            raise AutogradError("grad", "One of the differentiated Tensors does not require grad")
    given = [None] * len(starts) if grad_outputs is None else _sequence(grad_outputs)
    retain = create_graph if retain_graph is None else retain_graph
    found = run_backward(
        starts, _start_gradients(starts, given), retain, create_graph, wanted, accumulate=False
    )
    if materialize_grads:
        found = [
            call(lookup("full"), (tuple(t.layout.shape), 0, t.dtype, t.device))
            if value is None
            else value
            for value, t in zip(found, wanted, strict=True)
        ]
    elif any(value is None for value in found) and not allow_unused:
        raise AutogradError(
            "grad",
            "One of the differentiated Tensors appears to not have been used in the graph",
            "Set allow_unused=True if this is the desired behavior",
        )
    return tuple(found)


def _batched_grad(starts: list, wanted: list, given: list, settings: tuple) -> tuple[Any, ...]:
    """`grad` of a batch of gradients: each result has the batch as its first dimension."""
    sizes = {tensor.shape[0] for tensor in given if tensor is not None}
    if len(sizes) != 1:
        raise AutogradError(
            "grad(is_grads_batched=True)",
            f"the gradients' first dimensions, the batch, are {sorted(sizes)}",
            "give every gradient one more first dimension, of one size",
        )
    mode = VmapMode(sizes.pop())
    with mode:
        seen = [None if tensor is None else mode.wrapped(tensor) for tensor in given]
        found = grad(starts, wanted, seen, *settings)
    return tuple(None if value is None else mode.spread(value) for value in found)


def Variable(data: Any, requires_grad: bool = False, volatile: bool = False) -> Any:
    """The tensor's memory without its history: what wrapping a tensor was before 2018."""
    found = call(lookup("detach"), (data,))
    found.requires_grad = requires_grad
    return found

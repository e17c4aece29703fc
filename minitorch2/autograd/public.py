"""backward and grad: torch.autograd's entry points to the engine.

In: outputs, their gradients, and for `grad` the inputs. Out: accumulated `.grad` fields, or the
gradients themselves.

    >>> import minitorch2 as torch
    >>> x = torch.tensor([2.0], requires_grad=True)
    >>> torch.autograd.grad((x ** 3).sum(), x)
    (tensor([12.]),)

Source: torch.autograd's documentation.
"""

import warnings
from typing import Any

from minitorch2.autograd.engine import run_backward
from minitorch2.autograd.saving import GradientEdge, edge_at, queue_callback
from minitorch2.batching.mode import VmapMode
from minitorch2.dispatch import call
from minitorch2.errors import ArgumentValueError, AutogradError
from minitorch2.layouts import element_count
from minitorch2.ops.table import lookup
from minitorch2.settings import is_warn_always_enabled
from minitorch2.tensors import Tensor


def _sequence(value: Any) -> list[Any]:
    single = value is None or isinstance(value, (Tensor, GradientEdge))
    return [value] if single else list(value)


def _shown(shape: Any) -> str:
    return f"torch.Size({list(shape)})"


def _spec(output: Any) -> Any:
    """The shape and dtype of an output: a tensor, or a place in the graph."""
    return output.node.outputs[output.output_nr] if isinstance(output, GradientEdge) else output


def _start_gradients(outputs: list[Any], given: list[Any]) -> list[Tensor]:
    gradients = []
    for index, (output, gradient) in enumerate(zip(outputs, given, strict=False)):
        seen = _spec(output)
        if gradient is None:
            gradient = _one(seen)
        elif not isinstance(gradient, Tensor):
            raise TypeError(
                f"gradients can be either Tensors or None, but got {type(gradient).__name__}"
            )
        else:
            _check_start(index, seen, gradient)
            if gradient.dtype is not seen.dtype and not gradient.is_sparse:
                gradient = call(lookup("convert"), (gradient, seen.dtype))
        gradients.append(gradient)
    if len(gradients) < len(outputs):
        raise AutogradError(
            "backward",
            f"got {len(outputs)} tensors and {len(gradients)} gradients",
            "give one each",
        )
    return gradients


def _one(output: Any) -> Tensor:
    """The gradient that a scalar starts with."""
    if element_count(output.shape) != 1:
        raise AutogradError(
            f"backward of a tensor of shape {list(output.shape)}",
            "grad can be implicitly created only for scalar outputs",
            "reduce it first (.sum(), .mean()), or pass gradient=",
        )
    if not output.dtype.is_floating_point:
        raise AutogradError(
            f"backward of a tensor of dtype {output.dtype}",
            f"grad can be implicitly created only for real scalar outputs but got {output.dtype}",
            "make it real (.abs(), .real), or pass gradient=",
        )
    return call(lookup("full"), (tuple(output.shape), 1, output.dtype, output.device))


def _check_start(index: int, output: Any, gradient: Tensor) -> None:
    if tuple(gradient.shape) != tuple(output.shape):
        raise AutogradError(
            "backward with a given gradient",
            f"Mismatch in shape: grad_output[{index}] has a shape of {_shown(gradient.shape)} and "
            f"output[{index}] has a shape of {_shown(output.shape)}.",
            "pass a gradient of the output's shape",
        )
    if gradient.dtype.is_complex != output.dtype.is_complex:
        raise AutogradError(
            "backward with a given gradient",
            "For complex Tensors, both grad_output and output are required to have the same dtype. "
            f"Mismatch in dtype: grad_output[{index}] has a dtype of {gradient.dtype} and "
            f"output[{index}] has a dtype of {output.dtype}.",
            "convert the gradient",
        )


def _places(values: list[Any]) -> list[Any]:
    """The values with the engine's edges for places in the graph."""
    return [edge_at(each) if isinstance(each, GradientEdge) else each for each in values]


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Accumulate the gradients of `tensors` into the leaves they were computed from.

    `grad_tensors` (one for each tensor, None for a scalar's 1), `inputs` limits the leaves; the
    gradient of one that is no leaf is kept in its `.grad`. Tensors may be GradientEdges.
    Raises AutogradError where no gradient can be had.
    """
    if grad_variables is not None:
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.",
            FutureWarning,
            stacklevel=3,
        )
        if grad_tensors is not None:
            raise AutogradError(
                "backward",
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`.",
            )
        grad_tensors = grad_variables
    if create_graph:
        _warn_of_cycle()
    wanted = None if inputs is None else _sequence(inputs)
    if wanted is not None and not wanted:
        raise AutogradError(
            "backward(inputs=[])", "`inputs` argument to `backward()` cannot be empty."
        )
    outputs = _sequence(tensors)
    given = [None] * len(outputs) if grad_tensors is None else _sequence(grad_tensors)
    retain = create_graph if retain_graph is None else retain_graph
    _require_history(outputs)
    for each in wanted or ():
        if isinstance(each, Tensor) and each.has_elements and each.grad_fn is not None:
            each.retain_grad()
    starts = _start_gradients(outputs, given)
    where = None if wanted is None else _places(wanted)
    run_backward(_places(outputs), starts, retain, create_graph, where)


_warned: list[bool] = []


def _warn_of_cycle() -> None:
    """What torch says, once: a gradient with a history and its leaf hold each other."""
    if _warned and not is_warn_always_enabled():
        return
    _warned.append(True)
    warnings.warn(
        "Using backward() with create_graph=True will create a reference cycle between the "
        "parameter and its gradient which can cause a memory leak. We recommend using "
        "autograd.grad when creating the graph to avoid this. If you have to use this function, "
        "make sure to reset the .grad fields of your parameters to None after use to break the "
        "cycle and avoid the leak.",
        UserWarning,
        stacklevel=4,
    )


def _require_history(outputs: list[Any]) -> None:
    for index, output in enumerate(outputs):
        if not isinstance(output, GradientEdge) and not output.requires_grad:
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
    `materialize_grads` (then zeros). `only_inputs` has been True for ever and is not read.
    """
    if materialize_grads and allow_unused is False:
        raise ArgumentValueError(
            "grad(materialize_grads=True)",
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False.",
        )
    starts, wanted = _sequence(outputs), _sequence(inputs)
    if not wanted:
        raise AutogradError("grad(inputs=[])", "`inputs` argument to `grad()` cannot be empty.")
    if is_grads_batched:
        settings = (retain_graph, create_graph, only_inputs, allow_unused, False, materialize_grads)
        return _batched_grad(starts, wanted, _sequence(grad_outputs), settings)
    _require_history(starts)
    for each in wanted:
        if isinstance(each, Tensor) and not each.requires_grad:
            raise AutogradError("grad", "One of the differentiated Tensors does not require grad")
    given = [None] * len(starts) if grad_outputs is None else _sequence(grad_outputs)
    retain = create_graph if retain_graph is None else retain_graph
    gradients = _start_gradients(starts, given)
    found = run_backward(
        _places(starts), gradients, retain, create_graph, _places(wanted), accumulate=False
    )
    if materialize_grads:
        return tuple(map(_or_zeros, found, wanted))
    if not allow_unused and any(value is None for value in found):
        index = next(at for at, value in enumerate(found) if value is None)
        raise AutogradError(
            "grad",
            f"The differentiated Tensor at index {index} appears to not have been used in the "
            "graph. Set allow_unused=True if this is the desired behavior.",
            "Set allow_unused=True, or materialize_grads=True for zeros",
        )
    return tuple(found)


def _or_zeros(value: Any, tensor: Any) -> Any:
    if value is None and isinstance(tensor, GradientEdge):
        raise AutogradError(
            "grad(materialize_grads=True)",
            "materialize_grads cannot be used when the given input is a GradientEdge",
        )
    if value is not None:
        return value
    zeros = (tuple(tensor.layout.shape), 0, tensor.dtype, tensor.device)
    return call(lookup("full"), zeros)


def _batched_grad(starts: list, wanted: list, given: list, settings: tuple) -> tuple[Any, ...]:
    """`grad` of a batch of gradients: each result has the batch as its first dimension."""
    for index, (output, tensor) in enumerate(zip(starts, given, strict=False)):
        expected = tuple(_spec(output).shape)
        if tensor is not None and (not tensor.ndim or tuple(tensor.shape)[1:] != expected):
            raise AutogradError(
                "grad(is_grads_batched=True)",
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output "
                "as the batch dimension. The sizes of the remaining dimensions are expected to "
                "match the shape of corresponding output, but a mismatch was detected: "
                f"grad_output[{index}] has a shape of {_shown(tensor.shape)} and output[{index}] "
                f"has a shape of {_shown(expected)}.",
                "give each gradient one more first dimension than its output has",
            )
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


class _Engine:
    """What torch calls Variable._execution_engine."""

    run_backward = staticmethod(run_backward)
    queue_callback = staticmethod(queue_callback)


class _IsTensor(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_IsTensor):
    """The tensor's memory without its history: what wrapping a tensor was before 2018.

    `isinstance(x, Variable)` asks whether x is a tensor.
    """

    _execution_engine = _Engine

    def __new__(cls, data: Any, requires_grad: bool = False, volatile: bool = False) -> Any:
        """A tensor over the memory of `data`."""
        found = call(lookup("detach"), (data,))
        found.requires_grad = requires_grad
        return found

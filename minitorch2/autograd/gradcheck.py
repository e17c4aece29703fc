"""gradcheck: compares vjps with central finite differences.

In: a function of float64 or complex128 tensors. Out: True, or AutogradError that names the first
element whose derivative differs. A complex tensor is checked as the real numbers it is made of.

Source: torch.autograd.gradcheck's documentation (eps 1e-6, atol 1e-5, rtol 1e-3).
"""

from collections.abc import Callable
from typing import Any

import numpy

from minitorch2.autograd.public import grad
from minitorch2.dispatch import call
from minitorch2.errors import AutogradError
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor, wrap


def _pairs(value: Any) -> Any:
    """A complex tensor as pairs of real numbers; anything else as it is."""
    if isinstance(value, (tuple, list)):
        return tuple(map(_pairs, value))
    is_complex = isinstance(value, Tensor) and value.dtype.is_complex
    return call(lookup("view_as_real"), (value,)) if is_complex else value


def _of_real_numbers(function: Callable, inputs: tuple) -> tuple[Callable, tuple]:
    """The function and its inputs with real pairs for complex numbers, going in and coming out."""
    whole = [isinstance(t, Tensor) and t.dtype.is_complex for t in inputs]

    def real(*given: Any) -> Any:
        joined = [
            call(lookup("view_as_complex"), (t.contiguous(),)) if is_complex else t
            for t, is_complex in zip(given, whole, strict=True)
        ]
        return _pairs(function(*joined))

    parts = [
        wrap(numpy.array(_pairs(t.detach()).array)).requires_grad_(t.requires_grad)
        if is_complex
        else t
        for t, is_complex in zip(inputs, whole, strict=True)
    ]
    return real, tuple(parts)


def _outputs(function: Callable, inputs: tuple) -> list[Tensor]:
    found = function(*inputs)
    return [
        t
        for t in (found if isinstance(found, (tuple, list)) else [found])
        if isinstance(t, Tensor) and t.dtype.is_floating_point
    ]


def _numerical(
    function: Callable, inputs: tuple, at: int, output: int, columns: int, eps: float
) -> Any:
    """The Jacobian of one output in one input by central differences: [input, output]."""
    base = inputs[at].detach().array.astype(numpy.float64)
    rows = []
    for index in numpy.ndindex(*base.shape):
        sides = []
        for step in (eps, -eps):
            moved = base.copy()
            moved[index] += step
            there = wrap(moved)
            there.requires_grad = True  # the function may itself ask for gradients
            changed = (*inputs[:at], there, *inputs[at + 1 :])
            sides.append(_outputs(function, changed)[output].detach().array.reshape(-1).copy())
        rows.append((sides[0] - sides[1]) / (2 * eps))
    return numpy.array(rows).reshape(base.size, columns)


def gradcheck(
    func: Callable,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    **ignored: Any,
) -> bool:
    """Whether the vjps of `func` agree with finite differences at `inputs` (use float64)."""
    given = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    func, given = _of_real_numbers(func, given)
    wanted = [i for i, t in enumerate(given) if isinstance(t, Tensor) and t.requires_grad]
    for output, tensor in enumerate(_outputs(func, given)):
        if not tensor.requires_grad:
            continue
        for at in wanted:
            expected = _numerical(func, given, at, output, tensor.numel(), eps)
            for column in range(expected.shape[1]):
                start = numpy.zeros(expected.shape[1], tensor.dtype.numpy)
                start[column] = 1
                seed = wrap(start.reshape(tuple(tensor.shape)))
                fresh = _outputs(func, given)[output]
                (found,) = grad(fresh, given[at], seed, allow_unused=True)
                got = 0 if found is None else found.detach().array.reshape(-1)
                if not numpy.allclose(got, expected[:, column], rtol, atol):
                    if not raise_exception:
                        return False
                    raise AutogradError(
                        f"gradcheck of output {output} in input {at}",
                        f"Jacobian mismatch at output element {column}: analytical {got}, "
                        f"numerical {expected[:, column]}",
                        "check the vjp, and that the function is smooth at this point",
                    )
    return True


def gradgradcheck(func: Callable, inputs: Any, grad_outputs: Any = None, **options: Any) -> bool:
    """gradcheck of the gradient of `func`."""
    given = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    func, given = _of_real_numbers(func, given)
    wanted = [i for i, t in enumerate(given) if isinstance(t, Tensor) and t.requires_grad]
    outputs = _outputs(func, given)
    seeds = grad_outputs or [
        wrap(numpy.asarray(numpy.random.RandomState(i).randn(*t.shape), t.dtype.numpy))
        for i, t in enumerate(outputs)
    ]
    for seed in seeds:
        seed.requires_grad = True

    def gradient(*args: Any) -> Any:
        inside, start = args[: len(given)], args[len(given) :]
        fresh = _outputs(func, inside)
        return grad(
            fresh,
            [inside[i] for i in wanted],
            list(start),
            create_graph=True,
            allow_unused=True,
            materialize_grads=True,
        )

    return gradcheck(gradient, (*given, *seeds), **options)

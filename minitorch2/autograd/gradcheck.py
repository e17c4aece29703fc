"""gradcheck: compares vjps with central finite differences.

In: a function of float64 or complex128 tensors. Out: True, or AutogradError that names the first
element whose derivative differs. A complex tensor is checked as the real numbers it is made of.

Source: torch.autograd.gradcheck's documentation (eps 1e-6, atol 1e-5, rtol 1e-3).
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

from minitorch2.autograd.forward_ad import dual_of, tangent_in
from minitorch2.autograd.public import grad
from minitorch2.autograd.saving import UndefinedGrad
from minitorch2.autograd.tangents import Duals
from minitorch2.batching.batched import physical
from minitorch2.batching.mode import VmapMode
from minitorch2.dispatch import call
from minitorch2.dtypes import complex128, float64
from minitorch2.errors import ArgumentValueError, GradcheckError, OperationError
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
        for kind in ("shape", "dtype"):
            a, b = (getattr(side, kind) for side in sides)
            assert a == b, (
                f"Expected `fn` to return outputs with the same {kind} when inputs are perturbed, "
                f"but got {a} and {b}"
            )
        rows.append((sides[0] - sides[1]) / (2 * eps))
    return numpy.array(rows).reshape(base.size, columns)


@dataclass(frozen=True)
class _Options:
    """How closely, and what else, to compare."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    grad_dtypes: bool
    undefined: bool
    batched: bool
    forward: bool
    batched_forward: bool
    backward: bool
    fast: bool


class _Check:
    """One comparison: a function, its inputs, and which of them are differentiated."""

    def __init__(self, func: Callable, inputs: tuple, options: _Options, complex_outputs: bool):
        self.func, self.inputs, self.options = func, inputs, options
        self.complex_outputs = complex_outputs
        self.wanted = [i for i, t in enumerate(inputs) if isinstance(t, Tensor) and t.requires_grad]

    def run(self) -> None:
        """GradcheckError at the first difference."""
        outputs = _outputs(self.func, self.inputs)
        if not outputs:
            return
        if not any(tensor.requires_grad for tensor in outputs):
            self._constant(outputs)
        for output, tensor in enumerate(outputs):
            if not tensor.requires_grad:
                continue
            for at in self.wanted:
                expected = _numerical(
                    self.func, self.inputs, at, output, tensor.numel(), self.options.eps
                )
                if self.options.backward:
                    self._backward(at, output, expected)
                if self.options.forward:
                    self._forward(at, output, expected, self.options.batched_forward)

    def _constant(self, outputs: list[Tensor]) -> None:
        for output, tensor in enumerate(outputs):
            for at in self.wanted:
                found = _numerical(
                    self.func, self.inputs, at, output, tensor.numel(), self.options.eps
                )
                if not numpy.allclose(found, 0, self.options.rtol, self.options.atol):
                    raise GradcheckError(
                        f"gradcheck of output {output} in input {at}",
                        "Numerical gradient for function expected to be zero: the output does "
                        "not require a gradient",
                        "do not cut the history in the function (detach, no_grad, numpy)",
                    )

    def _gradient(self, at: int, output: int, start: Any, batched: bool = False) -> Any:
        """The gradient of one input, as an array; rows for a batch of starts."""
        fresh = _outputs(self.func, self.inputs)[output]
        (found,) = grad(fresh, self.inputs[at], start, allow_unused=True, is_grads_batched=batched)
        if found is None:
            shape = tuple(self.inputs[at].shape)
            return numpy.zeros((*start.shape[:1], *shape) if batched else shape)
        if found.is_sparse and not self.inputs[at].is_sparse:
            raise GradcheckError(
                f"gradcheck of output {output} in input {at}",
                f"grad is incorrect layout ({found.layout} is not {self.inputs[at].layout})",
            )
        if self.options.grad_dtypes and found.dtype is not self.inputs[at].dtype:
            raise GradcheckError(
                f"gradcheck of output {output} in input {at}",
                f"the gradient has dtype {found.dtype}, the input {self.inputs[at].dtype}",
            )
        return found.detach().array

    def _backward(self, at: int, output: int, expected: Any) -> None:
        """Each row of the Jacobian: the other outputs get no gradient meanwhile."""
        size, count = expected.shape
        shape = tuple(_outputs(self.func, self.inputs)[output].shape)
        units = numpy.eye(count)
        if self.options.fast:
            units = numpy.random.RandomState(0).randn(1, count)
            expected = expected @ units.T
        starts = [wrap(unit.reshape(shape)) for unit in units]
        rows = [self._gradient(at, output, start).reshape(-1) for start in starts]
        order = range(len(rows))
        if self.complex_outputs and not self.options.fast:  # imaginary parts first, as in torch
            order = [*order[1::2], *order[::2]]  # type: ignore[assignment]
        for row in order:
            self._compare(at, output, row, rows[row], expected[:, row], "analytical")
        self._of_nothing(at, output, shape)
        for row, start in enumerate(starts[:1]):  # one row twice: enough to see chance at work
            again = self._gradient(at, output, start).reshape(-1)
            if size and abs(rows[row] - again).max() > self.options.nondet_tol:
                raise GradcheckError(
                    f"gradcheck of output {output} in input {at}",
                    "Backward is not reentrant, i.e., running backward with same input and "
                    f"grad_output multiple times gives different values at element {row}",
                    "raise nondet_tol if sums in another order are meant",
                )
        if self.options.batched and count:
            stacked = wrap(numpy.stack([unit.reshape(shape) for unit in units]))
            found = self._gradient(at, output, stacked, batched=True).reshape(len(units), -1)
            for row in range(len(units)):
                self._compare(at, output, row, found[row], rows[row], "batched")

    def _of_nothing(self, at: int, output: int, shape: tuple) -> None:
        """A zero gradient, and one that is missing, give zero or nothing."""
        zero = wrap(numpy.zeros(shape))
        if numpy.any(self._gradient(at, output, zero)):
            raise GradcheckError(
                f"gradcheck of output {output} in input {at}",
                "backward not multiplied by grad_output",
                "multiply what the backward returns by the gradient it gets",
            )
        if not self.options.undefined:
            return
        fresh = UndefinedGrad()(_outputs(self.func, self.inputs)[output])
        try:
            (found,) = grad(fresh, self.inputs[at], zero, allow_unused=True)
        except RuntimeError as error:
            warnings.warn(
                "Backwards compatibility: New undefined gradient support checking feature is "
                "enabled by default, but it may break existing callers of this function. If this "
                "is true for you, you can call this function with check_undefined_grad=False.",
                stacklevel=4,
            )
            raise GradcheckError(
                f"gradcheck of output {output} in input {at}",
                f"Expected backward function to handle undefined output grads: {error}",
                "treat None among the gradients as zeros",
            ) from error
        if found is not None and numpy.any(found.detach().array):
            raise GradcheckError(
                f"gradcheck of output {output} in input {at}",
                "Expected all input grads to be undefined or zero when all output grads are "
                "undefined or zero.",
            )

    def _forward(self, at: int, output: int, expected: Any, batched: bool) -> None:
        """Each column of the Jacobian by forward mode; with `batched`, also all of them at once."""
        shape = (-1, *self.inputs[at].shape)
        units = numpy.eye(expected.shape[0]).reshape(shape)
        for index, unit in enumerate(units):
            self._compare(
                at, output, index, self._pushed(at, output, wrap(unit)), expected[index], "forward"
            )
        if batched and len(units):
            mode = VmapMode(len(units))
            with mode:
                found = self._pushed(at, output, mode.wrapped(wrap(units)))
            for index, got in enumerate(found.reshape(expected.shape)):
                self._compare(at, output, index, got, expected[index], "batched forward")

    def _pushed(self, at: int, output: int, tangent: Tensor) -> Any:
        """The output's tangent as a flat array, for one of an input (or for a batch of them)."""
        with Duals() as level:
            dual = dual_of(level, self.inputs[at], tangent, "gradcheck")
            changed = (*self.inputs[:at], dual, *self.inputs[at + 1 :])
            result = _outputs(self.func, changed)[output]
            found = physical(tangent_in(level, result))
            shape = physical(result).layout.shape
        return numpy.zeros(shape).reshape(-1) if found is None else found.array.reshape(-1).copy()

    def _compare(
        self, at: int, output: int, element: int, got: Any, wanted: Any, what: str
    ) -> None:
        if numpy.allclose(got, wanted, self.options.rtol, self.options.atol):
            return
        how = {"forward": "computed with forward mode ", "batched": "computed with batched grad "}
        place = f"output {output} with respect to input {self.wanted.index(at)}"
        part = ""
        if self.complex_outputs and what == "analytical" and not self.options.fast:
            part = "imaginary" if element % 2 else "real"
            part = f"While considering the {part} part of complex outputs only, "
        raise GradcheckError(
            f"gradcheck of output {output} in input {at}",
            f"{part}Jacobian {how.get(what, '')}mismatch for {place}, at output element {element}: "
            f"{what} {got}, numerical {wanted}",
            "check the vjp, and that the function is smooth at this point",
        )


def gradcheck(
    func: Callable,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether the vjps of `func` agree with finite differences at `inputs` (use float64).

    Also: that a second backward gives the same to `nondet_tol`; with `check_batched_grad`, that a
    batch of gradients gives what each gives; with `check_forward_ad`, that Jacobian-vector products
    agree; with `fast_mode`, one random combination of the rows instead of each. Every output is
    differentiated alone, so that backwards meet undefined gradients of the others
    (`check_undefined_grad`). ArgumentValueError when no input requires a gradient.
    """
    given = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    assert check_forward_ad or check_backward_ad, (
        "Expected at least one of check_forward_ad or check_backward_ad to be True"
    )
    for name, wanted, needed, other in (
        ("check_undefined_grad", check_undefined_grad, check_backward_ad, "check_backward_ad"),
        ("check_batched_grad", check_batched_grad, check_backward_ad, "check_backward_ad"),
        ("check_batched_forward_grad", check_batched_forward_grad, check_forward_ad,
         "check_forward_ad"),
    ):  # fmt: skip
        assert needed or not wanted, f"Setting {name}=True requires {other} to be True"
    _check_inputs(given)
    found = func(*given)
    parts = found if isinstance(found, (tuple, list)) else (found,)
    complex_outputs = any(isinstance(t, Tensor) and t.dtype.is_complex for t in parts)
    func, given = _of_real_numbers(func, given)
    options = _Options(
        eps, atol, rtol, nondet_tol, check_grad_dtypes, check_undefined_grad, check_batched_grad,
        check_forward_ad, check_batched_forward_grad, check_backward_ad, fast_mode,
    )  # fmt: skip
    try:
        _Check(func, given, options, complex_outputs).run()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_inputs(given: tuple) -> None:
    differentiated = [t for t in given if isinstance(t, Tensor) and t.requires_grad]
    if not differentiated:
        raise ArgumentValueError(
            "gradcheck",
            "gradcheck expects at least one input tensor to require gradient, but none of the "
            "them have requires_grad=True.",
            "set requires_grad on the inputs to be checked",
        )
    for index, tensor in enumerate(differentiated):
        if tensor.dtype not in (float64, complex128):
            warnings.warn(
                f"Input #{index} requires gradient and is not a double precision floating point "
                "or complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex.",
                stacklevel=3,
            )
        if 0 in [s for s, n in zip(tensor.layout.strides, tensor.shape, strict=True) if n > 1]:
            raise OperationError(
                "gradcheck",
                f"The {index}th input has a dimension with stride 0. gradcheck only supports "
                "inputs that are non-overlapping to be able to compute the numerical gradients "
                "correctly.",
                "call .contiguous() on it",
            )


def gradgradcheck(func: Callable, inputs: Any, grad_outputs: Any = None, **options: Any) -> bool:
    """gradcheck of the gradient of `func`, in its inputs and in what the backward starts from.

    `grad_outputs`: what it starts from, random if not given. `gen_non_contig_grad_outputs` and the
    options of gradcheck are taken, too.
    """
    spread = options.pop("gen_non_contig_grad_outputs", False)
    given = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    func, given = _of_real_numbers(func, given)
    wanted = [i for i, t in enumerate(given) if isinstance(t, Tensor) and t.requires_grad]
    outputs = _outputs(func, given)
    seeds = grad_outputs or [
        wrap(numpy.asarray(numpy.random.RandomState(i).randn(*t.shape), t.dtype.numpy))
        for i, t in enumerate(outputs)
    ]
    seeds = [seeds] if isinstance(seeds, Tensor) else list(seeds)
    if spread and grad_outputs is None:
        seeds = [wrap(numpy.stack([seed.array, seed.array], -1)[..., 0]) for seed in seeds]
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

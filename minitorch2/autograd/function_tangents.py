"""Tangents of an autograd.Function: the user's `jvp` is called with those of the inputs.

In: the context of one `apply`, its arguments and what it returned. Out: the outputs' tangents. The
forward ran without tangents; `jvp` runs once for each level that an input has one in, from the
outermost, so that what it computes is differentiated by those around it.

    >>> import minitorch2 as torch
    >>> class Double(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     def jvp(ctx, tangent):
    ...         return tangent * 2
    >>> torch.func.jvp(Double.apply, (torch.ones(1),), (torch.ones(1),))
    (tensor([2.]), tensor([2.]))

Source: torch's "Extending autograd", on forward mode.
"""

from typing import Any

from minitorch2.autograd.contexts import FunctionCtx
from minitorch2.autograd.tangents import Duals, below
from minitorch2.dispatch import call, state
from minitorch2.errors import AutogradError
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


class Call:
    """One `apply` of a Function: what is needed to know its outputs' tangents."""

    def __init__(self, cls: Any, ctx: FunctionCtx, args: tuple):
        self.cls, self.ctx, self.args = cls, ctx, args
        self.asked = f"the jvp of {cls.__name__}"
        self.levels = [
            level for level in state.duals if any(level.of(each) is not None for each in args)
        ]

    def push(self, given: list, outputs: list, fixed: set[int], dirty: set[int]) -> None:
        """Give the outputs their tangents.

        `given` is what forward returned, `outputs` what its caller gets; `fixed` and `dirty` hold
        the ids of what forward returned without gradient, and of what it wrote in place.
        """
        for level in self.levels:
            tangents = [self._of_input(level, each) for each in self.args]
            with below(level):
                found = self._called(tangents)
                self._check_count(found, outputs)
                for place, (old, new) in enumerate(zip(given, outputs, strict=True)):
                    if not isinstance(new, Tensor) or id(old) in fixed:
                        self._refuse_fixed(place, found[place])
                    elif found[place] is None:
                        continue
                    elif id(old) in dirty:
                        self._written(level, old, found[place])
                    else:
                        self._made(level, new, found[place])

    def _of_input(self, level: Duals, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return None
        tangent = level.of(value)
        if tangent is not None or not self.ctx.materialize_grads or not value.dtype.differentiable:
            return tangent
        shape = tuple(value.layout.shape)
        return call(lookup("full"), (shape, 0, value.dtype, value.device))

    def _called(self, tangents: list) -> tuple:
        ctx = self.ctx
        ctx._forward = ctx.saved_for_forward
        try:
            found = self.cls.jvp(ctx, *tangents)
        finally:
            ctx._forward = None
        return tuple(found) if isinstance(found, (tuple, list)) else (found,)

    def _check_count(self, found: tuple, outputs: list) -> None:
        if len(found) != len(outputs):
            raise AutogradError(
                self.asked,
                "Function's jvp returned an invalid number of forward gradients (expected "
                f"{len(outputs)} but got {len(found)})",
                "return one tangent, or None, for each output of forward",
            )

    def _refuse_fixed(self, place: int, tangent: Any) -> None:
        if tangent is not None:
            raise AutogradError(
                self.asked,
                f"Function's jvp returned a gradient at position {place}, but the corresponding "
                "forward output is not a differentiable Tensor. You should return None at that "
                "position instead.",
            )

    def _written(self, level: Duals, target: Tensor, tangent: Tensor) -> None:
        old = level.of(target)
        if old is None:  # the input had none: zeros were written
            level.give_through(target, tangent)
        elif old is not tangent:
            raise AutogradError(
                self.asked,
                "An inplace custom Function is not modifying the forward mode gradients inplace. "
                "If the forward is modifying an input inplace, then the jvp function must modify "
                "the corresponding gradient inplace.",
                "write into the tangent that jvp is given, and return it",
            )

    def _made(self, level: Duals, output: Tensor, tangent: Tensor) -> None:
        if output._view is not None and tangent._view is None:
            raise AutogradError(
                self.asked,
                "A custom Function's forward is returning a view (or an input as-is) but the jvp "
                "is not returning a view.",
                "return the same view of the tangent",
            )
        if tuple(output.shape) != tuple(tangent.shape):
            raise AutogradError(
                self.asked,
                "Trying to set a forward gradient that has a different size than that of the "
                f"original Tensor, this is not supported. Tensor is of size {list(output.shape)} "
                f"while the given forward gradient is of size {list(tangent.shape)}.",
            )
        level.give(output, tangent)

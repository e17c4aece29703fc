"""Activation checkpointing: the forward is run again in the backward instead of being kept.

In: a function and its arguments. Out: its result, of whose computation only the arguments are kept.
The random numbers are the same both times, unless `preserve_rng_state` is False.

    out = checkpoint(block, x, use_reentrant=False)

With `use_reentrant=False`, the tensors that autograd would save are left out, and made again by
running the function when the backward asks for the first of them. With True, the function runs
without recording, and one node runs it again, differentiates it and hands the gradients on; it
needs an argument that requires a gradient, and knows `backward()` only.

Source: torch.utils.checkpoint; Chen et al. 2016.
"""

import contextlib
from collections.abc import Callable
from typing import Any

from minitorch2.autograd.function import Function
from minitorch2.autograd.graph import saved_tensors_hooks
from minitorch2.autograd.modes import enable_grad, no_grad
from minitorch2.autograd.public import backward
from minitorch2.dispatch import state
from minitorch2.errors import ArgumentValueError, AutogradError
from minitorch2.random import default_generator
from minitorch2.tensors import Tensor


def noop_context_fn() -> tuple[Any, Any]:
    """Two contexts, for the forward and for the recomputation, that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


class _Surroundings:
    """Autocast and the random generator as they are when the forward runs."""

    def __init__(self, preserve_rng_state: bool):
        self.autocast = state.autocast
        self.random = default_generator.get_state() if preserve_rng_state else None

    @contextlib.contextmanager
    def again(self) -> Any:
        """Inside, they are as they were; the generator goes on afterwards from where it was."""
        before, now = state.autocast, None
        if self.random is not None:
            now = default_generator.get_state()
            default_generator.set_state(self.random)
        state.autocast = self.autocast
        try:
            yield
        finally:
            state.autocast = before
            if now is not None:
                default_generator.set_state(now)


class _Frame:
    """One checkpointed call: what its forward saved, by number, and how to make it again."""

    def __init__(self, run: Callable, surroundings: _Surroundings, context: Any, check: bool):
        self.run, self.surroundings, self.context = run, surroundings, context
        self.check = check
        self.facts: list[tuple] = []  # shape, dtype of each tensor that the forward saved
        self.made: dict[int, Any] = {}

    def pack(self, tensor: Tensor) -> int:
        """Keep the number of a tensor in its place."""
        self.facts.append((tuple(tensor.shape), tensor.dtype))
        return len(self.facts) - 1

    def unpack(self, number: int) -> Tensor:
        """The tensor; the first that is asked for has the forward run again."""
        if number not in self.made:
            self._remake()
        return self.made.pop(number)

    def _remake(self) -> None:
        made: list[Tensor] = []

        def pack(tensor: Tensor) -> Tensor:
            made.append(tensor.detach())
            return made[-1]

        hooks = saved_tensors_hooks(pack, lambda kept: kept)
        with self.surroundings.again(), self.context, enable_grad(), hooks:
            self.run()
        if len(made) != len(self.facts):
            raise AutogradError(
                "checkpoint: running the forward again",
                "A different number of tensors was saved during the original forward and "
                f"recomputation: {len(self.facts)} and {len(made)}",
                "the function must do the same each time it is called",
            )
        for number, (tensor, fact) in enumerate(zip(made, self.facts, strict=True)):
            if self.check and (tuple(tensor.shape), tensor.dtype) != fact:
                raise AutogradError(
                    "checkpoint: running the forward again",
                    f"Recomputed values for tensor {number} have different metadata than during "
                    f"the forward pass: {fact} became {(tuple(tensor.shape), tensor.dtype)}",
                    "the function must do the same each time it is called",
                )
        self.made = dict(enumerate(made))


class CheckpointFunction(Function):
    """The reentrant form: one node for the whole call."""

    @staticmethod
    def forward(ctx: Any, run_function: Callable, preserve_rng_state: bool, *args: Any) -> Any:
        ctx.run_function = run_function
        ctx.surroundings = _Surroundings(preserve_rng_state)
        ctx.places = [index for index, value in enumerate(args) if isinstance(value, Tensor)]
        ctx.plain = [None if isinstance(value, Tensor) else value for value in args]
        ctx.save_for_backward(*[args[place] for place in ctx.places])
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        inputs = list(ctx.plain)
        for place, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            made = tensor.detach()
            if made.dtype.is_floating_point or made.dtype.is_complex:
                made.requires_grad = tensor.requires_grad
            inputs[place] = made
        with ctx.surroundings.again(), enable_grad():
            outputs = ctx.run_function(*inputs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [
            (output, grad)
            for output, grad in zip(outputs, grads, strict=True)
            if isinstance(output, Tensor) and output.requires_grad
        ]
        if not pairs:
            raise AutogradError(
                "checkpoint(use_reentrant=True)",
                "none of output has requires_grad=True, this checkpoint() is not necessary",
            )
        backward([pair[0] for pair in pairs], [pair[1] for pair in pairs])
        found = [value.grad if isinstance(value, Tensor) else None for value in inputs]
        return (None, None, *found)


def checkpoint(
    function: Callable,
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Call the function, keeping its arguments instead of what autograd would save.

    `use_reentrant`: which of the two forms (see the module); False when it is not said.
    `context_fn` returns a context for the forward and one for the recomputation.
    `determinism_check` 'none' skips the comparison of shapes and dtypes.
    """
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ArgumentValueError(
                "checkpoint(use_reentrant=True)",
                "Unexpected keyword arguments: " + ",".join(kwargs),
                "use_reentrant=False takes them",
            )
        if context_fn is not noop_context_fn:
            raise ArgumentValueError(
                "checkpoint(use_reentrant=True)",
                "Passing `context_fn` is only supported when use_reentrant=False.",
            )
        return CheckpointFunction.apply(function, preserve, *args)
    if not state.grad_enabled:
        return function(*args, **kwargs)
    forward, again = context_fn()
    frame = _Frame(
        lambda: function(*args, **kwargs),
        _Surroundings(preserve),
        again,
        determinism_check != "none",
    )
    with forward, saved_tensors_hooks(frame.pack, frame.unpack):
        return function(*args, **kwargs)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Run modules one after the other, checkpointed in `segments` parts; the last part is not."""
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ArgumentValueError(
            "checkpoint_sequential", "Unexpected keyword arguments: " + ",".join(kwargs)
        )
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(steps) // segments

    def part(start: int, end: int) -> Callable:
        def run(value: Any) -> Any:
            for step in steps[start : end + 1]:
                value = step(value)
            return value

        return run

    end = -1
    for start in range(0, size * (segments - 1), size):
        end = start + size - 1
        input = checkpoint(
            part(start, end), input, use_reentrant=use_reentrant, preserve_rng_state=preserve
        )
    return part(end + 1, len(steps) - 1)(input)

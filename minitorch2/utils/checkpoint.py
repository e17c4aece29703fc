"""Activation checkpointing: the forward is run again in the backward instead of being kept.

In: a function and its arguments. Out: its result, of whose computation only the arguments are kept.
The random numbers are the same both times, unless `preserve_rng_state` is False.

    out = checkpoint(block, x, use_reentrant=False)

With `use_reentrant=False`, the tensors that autograd would save are left out, and made again by
running the function when a backward asks for the first of them, as far as the last of them; each
backward makes its own, and takes each once. Checkpoints nest: the arguments of an inner one are
saved by the outer. With True, the function runs
without recording, and one node runs it again, differentiates it and hands the gradients on; it
needs an argument that requires a gradient, and knows `backward()` only.

Source: torch.utils.checkpoint; Chen et al. 2016.
"""

import contextlib
import itertools
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from minitorch2.autograd.function import Function
from minitorch2.autograd.graph import SavedTensor, saved_tensors_hooks
from minitorch2.autograd.modes import enable_grad, no_grad
from minitorch2.autograd.public import backward
from minitorch2.autograd.saving import current_graph_task_id
from minitorch2.dispatch import state
from minitorch2.errors import ArgumentValueError, AutogradError
from minitorch2.random import default_generator
from minitorch2.tensors import Tensor


def noop_context_fn() -> tuple[Any, Any]:
    """Two contexts, for the forward and for the recomputation, that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def get_device_states(*args: Any) -> tuple[list, list]:
    """The GPUs that tensors among the arguments are on, and their generators: none."""
    return [], []


def set_device_states(devices: Any, states: Any, **options: Any) -> None:
    """Nothing to set: there are no GPUs."""


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


class _Stop(Exception):
    """Ends a recomputation that has made all that is needed."""


class _Holder:
    """Stands for a tensor that was not saved; what recomputations made of it, by their backward."""

    __slots__ = ("made", "fact", "__weakref__")

    def __init__(self, tensor: Tensor):
        self.made: dict[int, Tensor] = {}
        self.fact = tuple(tensor.shape), tensor.dtype, tensor.device


_numbers = itertools.count(-2, -1)  # of recomputations outside of any backward


class _Frame:
    """One checkpointed call: what its forward would have saved, and how to make it again."""

    def __init__(self, run: Callable, args: tuple, early_stop: bool, check: bool, debug: bool):
        self.run, self.early_stop, self.check, self.debug = run, early_stop, check, debug
        self.args = [
            SavedTensor(value) if isinstance(value, Tensor) and state.grad_enabled else value
            for value in args
        ]
        self.holders: list[weakref.ref[_Holder]] = []
        self.done: set[int] = set()  # backwards for which the forward was run again

    def pack(self, tensor: Tensor) -> _Holder:
        """Keep a holder in the place of a tensor."""
        holder = _Holder(tensor)
        self.holders.append(weakref.ref(holder))
        return holder

    def unpack(self, holder: _Holder) -> Tensor:
        """The tensor; the first that a backward asks for has the forward run again."""
        group = _groups[-1] if _groups else None
        number = current_graph_task_id() if group is None else group.number
        if number == -1:
            number = next(_numbers)
        if number not in self.done:
            self.done.add(number)
            self._remake(number)
        if number not in holder.made:
            raise AutogradError(
                "checkpoint: a saved tensor",
                "Performing two backward calls that overlap (i.e. require the same saved "
                "activation to be computed more than once) is not supported in a GraphExecGroup"
                if group is not None
                else "Unpack is being triggered for a tensor that was already unpacked once: ask "
                "for ctx.saved_tensors once in a backward",
            )
        return holder.made.pop(number)

    def _remake(self, number: int) -> None:
        made = 0

        def pack(tensor: Tensor) -> Tensor:
            """Hand a tensor that is saved again to the one saved first; what differs raises."""
            nonlocal made
            holder = self.holders[made]() if made < len(self.holders) else None
            made += 1
            kept = tensor.detach() if tensor.requires_grad else tensor
            if holder is not None:
                holder.made[number] = kept
                self._compare(made - 1, holder.fact, kept)
            elif made > len(self.holders) and not self.early_stop:
                raise self._differs(
                    "trying to save more tensors during recomputation than during the original "
                    "forward pass"
                )
            if self.early_stop and made == len(self.holders):
                raise _Stop
            return kept

        hooks = saved_tensors_hooks(pack, lambda kept: kept)
        args = [each.unpack() if isinstance(each, SavedTensor) else each for each in self.args]
        with contextlib.suppress(_Stop), enable_grad(), hooks:
            self.run(*args)
        if made < len(self.holders):
            raise self._differs(
                "A different number of tensors was saved during the original forward and "
                f"recomputation. Number of tensors saved during forward: {len(self.holders)}, "
                f"during recomputation: {made}"
            )

    def _compare(self, number: int, fact: tuple, tensor: Tensor) -> None:
        now = tuple(tensor.shape), tensor.dtype, tensor.device
        if self.check and now != fact:
            raise self._differs(
                "Recomputed values for the following tensors have different metadata than during "
                f"the forward pass: tensor at position {number}: saved {fact}, recomputed {now}"
            )

    def _differs(self, wrong: str) -> AutogradError:
        debug = _settings["debug"] if _settings["debug"] is not None else self.debug
        seen = "You are seeing this error because you passed `debug=True` to checkpoint. "
        return AutogradError(
            "checkpoint: running the forward again",
            (seen if debug else "") + wrong,
            "the function must do the same each time it is called",
        )


_settings: dict[str, Any] = {"early_stop": None, "debug": None}


class _Setting:
    """Sets one of `_settings` for a block."""

    name = ""

    def __init__(self, value: Any):
        self.value = value

    def __enter__(self) -> None:
        self.before, _settings[self.name] = _settings[self.name], self.value

    def __exit__(self, *exc: object) -> None:
        _settings[self.name] = self.before


class set_checkpoint_early_stop(_Setting):
    """Within the block, whether checkpoints end a recomputation once all is made that is needed."""

    name = "early_stop"


class set_checkpoint_debug_enabled(_Setting):
    """Within the block, `debug` of all checkpoints; None leaves each its own."""

    name = "debug"


class GraphExecGroup:
    """Within the block, backwards through parts of one graph share what checkpoints make again."""

    def __enter__(self) -> "GraphExecGroup":
        if _groups:
            raise AutogradError("GraphExecGroup", "GraphExecGroup contexts cannot be nested.")
        self.number = next(_numbers)
        _groups.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _groups.remove(self)


_groups: list[GraphExecGroup] = []


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
        if state.backward is not None and state.backward.wanted is not None:
            raise AutogradError(
                "checkpoint(use_reentrant=True)",
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward()",
                "pass use_reentrant=False",
            )
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

    `use_reentrant`: which of the two forms (see the module); True, with a warning, when it is not
    said, as in torch. `context_fn` returns a context for the forward and one for the recomputation.
    `determinism_check` 'none' skips the comparison of shapes and dtypes.
    """
    if use_reentrant is None:
        _warn_of_default("checkpoint")
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ArgumentValueError(
                "checkpoint(use_reentrant=True)",
                "Unexpected keyword arguments: " + ",".join(kwargs),
                "use_reentrant=False takes them",
            )
        if context_fn is not noop_context_fn or debug:
            raise ArgumentValueError(
                "checkpoint(use_reentrant=True)",
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False.",
            )
        return CheckpointFunction.apply(function, preserve, *args)
    if not state.grad_enabled:
        return function(*args, **kwargs)
    forward, again = context_fn()
    surroundings = _Surroundings(preserve)

    def run(*inputs: Any) -> None:
        with surroundings.again(), again:
            function(*inputs, **kwargs)

    stop = early_stop if _settings["early_stop"] is None else _settings["early_stop"]
    frame = _Frame(run, args, stop, determinism_check != "none", debug)
    with forward, saved_tensors_hooks(frame.pack, frame.unpack):
        return function(*args, **kwargs)


def _warn_of_default(name: str) -> None:
    warnings.warn(
        f"torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly to "
        f"{name}(). use_reentrant=False is recommended.",
        UserWarning,
        stacklevel=3,
    )


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Run modules one after the other, checkpointed in `segments` parts; the last part is not."""
    if use_reentrant is None:
        _warn_of_default("checkpoint_sequential")
        use_reentrant = True
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

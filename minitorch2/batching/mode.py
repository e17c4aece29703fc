"""VmapMode: carries out operations on Batched tensors by their rules.

In: an op row and arguments among which are tensors Batched at this mode's level. Out: results
Batched at it. An op without such arguments goes to the layer below; a composite is taken apart, and
its parts come back here, unless it has a derivative of its own; that, and a primitive, gets the
rule of its name if there is one, else the rule of its kind.

Random numbers are drawn as `randomness` says: 'different' ones for each sample, the 'same' for all,
or not at all ('error').

Source: JAX's vmap (batching rules by primitive); torch.func.vmap's documentation.
"""

from collections.abc import Callable
from typing import Any

from minitorch2 import random
from minitorch2.batching.batched import Batched, op
from minitorch2.dispatch import Mode, call, state
from minitorch2.errors import OperationError
from minitorch2.layouts import element_count
from minitorch2.tensors import Tensor

# Rules: (mode, op, args) -> hidden result(s). Filled by the files of rules.
OWN: dict[str, Callable] = {}
BY_KIND: dict[str, Callable] = {}


class VmapMode(Mode):
    """One vmap: its level, the size of its batch, and how it draws random numbers."""

    def __init__(self, size: int, randomness: str = "error"):
        self.size, self.randomness = size, randomness
        self.level = 1 + sum(isinstance(mode, VmapMode) for mode in state.modes)
        self.reserved: list[tuple[int, int, int]] = []  # (seed, first counter, counters) taken

    # ---- operations ----------------------------------------------------------------------------

    def handle(self, op: Any, args: tuple) -> Any:
        """Carry out an op: by its rule when it has Batched arguments of this level."""
        if not self.touches(op, args):
            if op.kind == "random":
                return self.random(op, args)
            if op.decomp is not None and op.effects == "random":
                return self.inside(op.decomp, *args)
            return call(op, args)
        rule = OWN.get(op.name)
        if rule is None and op.decomp is not None and not op.slope:
            return self.inside(op.decomp, *args)
        if op.effects == "data_dependent":
            raise OperationError(
                f"vmap: {op.name}",
                "the shape of the result depends on the values, which differ between samples",
                "use an operation whose result has one shape: torch.where, masks, sums",
            )
        result = (rule or BY_KIND[op.kind])(self, op, args)
        return args[0] if result is None else self.wrapped(result)  # None: written in place

    def inside(self, function: Callable, *args: Any) -> Any:
        """Call a function with this mode on the stack again."""
        before = state.modes
        state.modes = (*before, self)
        try:
            return function(*args)
        finally:
            state.modes = before

    def touches(self, op: Any, args: tuple) -> bool:
        """Whether a tensor among the arguments is Batched at this level."""
        for position in op.tensor_positions:
            argument = args[position]
            if type(argument) is tuple or type(argument) is list:
                if any(self.is_batched(item) for item in argument):
                    return True
            elif self.is_batched(argument):
                return True
        return False

    def is_batched(self, value: Any) -> bool:
        """Whether a value is a tensor Batched at this level."""
        return type(value) is Batched and value.level == self.level

    def wrapped(self, result: Any) -> Any:
        """Hidden results as Batched tensors."""
        if type(result) is tuple:
            return tuple(self.wrapped(item) for item in result)
        return Batched(result, self.level) if isinstance(result, Tensor) else result

    def hidden(self, value: Any) -> tuple[Any, bool]:
        """(hidden tensor, True) of a tensor Batched here, (value, False) of anything else."""
        if type(value) is Batched and value.level == self.level:
            return value.value, True
        return value, False

    def spread(self, value: Any) -> Any:
        """The hidden tensor [B, ...] of any tensor: one that is not Batched here is expanded."""
        found, is_batched = self.hidden(value)
        if is_batched or not isinstance(found, Tensor):
            return found
        return op("expand", found, (self.size, *found.layout.shape))

    # ---- what the rest of the house asks a mode ------------------------------------------------

    def concrete(self, tensor: Tensor, asked: str) -> Any:
        """The elements of a tensor that is not Batched; OperationError for one that is."""
        if isinstance(tensor, Batched):
            raise OperationError(
                f"vmap: {asked}",
                "It looks like you're calling .item() on a Tensor, or using it in data-dependent "
                "control flow (if, while, int()): its samples may have different values",
                "use torch.where instead of if; return the tensor and look at it outside",
            )
        for mode in reversed(state.modes):
            handler = getattr(mode, "concrete", None)
            if handler is not None and not isinstance(mode, VmapMode):
                return handler(tensor, asked)
        return tensor.array

    def replaced(self, tensor: Any, view: Any) -> None:
        """A tensor takes the place of its view (`unsqueeze_` and its like)."""
        if self.is_batched(tensor):
            tensor.value = view.value

    # ---- random numbers ------------------------------------------------------------------------

    def take_counters(self, count: int, generator: Any) -> tuple[Any, Any]:
        """Reserve counters for `count` numbers of each sample: (seed, the first sample's first)."""
        self._refuse_random()
        below = [mode for mode in state.modes if mode is not self]
        below = below[: state.modes.index(self)] if self in state.modes else below
        blocks = (count + 3) // 4
        if self.randomness == "different":
            count = 4 * blocks * self.size
        for mode in reversed(below):
            taker = getattr(mode, "take_counters", None)
            if taker is not None:
                seed, first = taker(count, generator)
                break
        else:
            seed, first = (generator or random.default_generator).take(count)
        if self.randomness == "different":
            self.reserved.append((seed, first, blocks))
        return seed, first

    def random(self, drawing: Any, args: tuple) -> Any:
        """Draw for every sample from its own counters: [B, *size]; or the same for all."""
        self._refuse_random()
        if self.randomness == "same":
            return call(drawing, args)
        seed, counter, size, *rest = args
        blocks = self._blocks(seed, counter)
        drawn = call(drawing, (seed, counter, (self.size, 4 * blocks), *rest))
        count = element_count(size)
        if count != 4 * blocks:
            drawn = op("slice", drawn, 1, 0, count, 1)
        return self.wrapped(op("reshape", drawn, (self.size, *size)))

    def _blocks(self, seed: Any, counter: Any) -> int:
        """How many counters one sample has in the reservation that a counter belongs to."""
        for own, first, blocks in reversed(self.reserved):
            if own == seed and first <= counter < first + max(blocks, 1):
                return blocks
        raise OperationError("vmap: random numbers", "drawn from counters nobody reserved")

    def _refuse_random(self) -> None:
        if self.randomness == "error":
            raise OperationError(
                "vmap: a random operation",
                "called random operation while in randomness error mode",
                "say whether samples get the same numbers: vmap(f, randomness='same' or "
                "'different')",
            )

"""Reductions across the threads of a GPU: shuffles inside a warp, shared memory between warps.

In: one value a thread (for argmax and argmin its position too). Out: the fold of all of them, the
same in every thread. The order is fixed: distances 16, 8, 4, 2, 1 inside each warp, then the same
over the warps. Two machines run this text: CUDA threads (cuda_intrinsics.py) and the simulator's
arrays, which hold one element a thread:

    >>> import numpy as np
    >>> team = ArrayTeam(np.arange(64), 64)
    >>> [total] = fold(team, "sum", (np.ones(64, np.float32),), warps=2)
    >>> total[0], total[63]
    (np.float32(64.0), np.float32(64.0))

Source: M. Harris, "Optimizing Parallel Reduction in CUDA" (2007); warp shuffles since Kepler.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from minitorch2.kernels.vecmath import primitives as p
from minitorch2.kernels.vecmath.arithmetic import maximum, minimum

WARP = 32  # threads
Values = tuple[Any, ...]


class Team(ABC):
    """The threads of a block, as far as they can tell each other something."""

    @abstractmethod
    def shuffle(self, value: Any, distance: int) -> Any:
        """The value of the thread of this warp whose number differs in the bit `distance`."""

    @abstractmethod
    def exchange(self, value: Any, warps: int) -> Any:
        """The value of warp `lane % warps`, through shared memory, between two barriers."""


@dataclass(frozen=True, slots=True)
class ArrayTeam(Team):
    """All threads at once: values are arrays with one element a thread, block after block."""

    numbers: np.ndarray
    threads: int

    def shuffle(self, value: Any, distance: int) -> Any:
        return value[self.numbers ^ distance]

    def exchange(self, value: Any, warps: int) -> Any:
        shared = value.reshape(-1, warps, WARP)[:, :, 0]
        lanes = np.arange(self.threads) % warps
        return shared[:, lanes].reshape(-1)


def takes(largest: bool, best: Values, new: Values) -> Any:
    """Whether (value, position) `new` beats `best`: NaN first, then the value, then position."""
    (old, old_at), (value, at) = best, new
    better = value > old if largest else value < old
    same = value == old
    if p.type_of(value) in ("f32", "f64"):
        old_nan, nan = old != old, value != value
        better = (better & ~old_nan) | (nan & ~old_nan)
        same = same | (nan & old_nan)
    return better | (same & (at < old_at))


def _position(largest: bool) -> Callable[[Values, Values], Values]:
    def step(best: Values, new: Values) -> Values:
        wins = takes(largest, best, new)
        return tuple(p.select(wins, b, a) for a, b in zip(best, new, strict=True))

    return step


# How two partial results become one.
STEPS: dict[str, Callable[[Values, Values], Values]] = {
    "sum": lambda a, b: (a[0] + b[0],),
    "prod": lambda a, b: (a[0] * b[0],),
    "max": lambda a, b: (maximum(a[0], b[0]),),
    "min": lambda a, b: (minimum(a[0], b[0]),),
    "any": lambda a, b: (a[0] | b[0],),
    "all": lambda a, b: (a[0] & b[0],),
    "argmax": _position(True),
    "argmin": _position(False),
}


def fold(team: Team, reducer: str, values: Values, warps: int) -> Values:
    """The fold over a block of `warps` warps; 0: over each warp on its own."""
    step = STEPS[reducer]

    def butterfly(values: Values, distance: int) -> Values:
        while distance:
            other = tuple(team.shuffle(value, distance) for value in values)
            values, distance = step(values, other), distance // 2
        return values

    values = butterfly(values, WARP // 2)
    if warps < 2:
        return values
    return butterfly(tuple(team.exchange(value, warps) for value in values), warps // 2)


def start(reducer: str, kind: np.dtype) -> Values:
    """What a thread without any element holds."""
    if reducer in ("sum", "any"):
        return (kind.type(0),)
    if reducer in ("prod", "all"):
        return (kind.type(1),)
    lowest, highest = _bounds(kind)
    worst = kind.type(lowest if reducer in ("max", "argmax") else highest)
    return (worst, np.int64(2**63 - 1)) if reducer.startswith("arg") else (worst,)


def _bounds(kind: np.dtype) -> tuple[Any, Any]:
    if kind.kind == "b":
        return False, True
    if kind.kind in "iu":
        return np.iinfo(kind).min, np.iinfo(kind).max
    return -np.inf, np.inf

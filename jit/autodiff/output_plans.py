"""A functional graph, and where the outputs of the captured graph come from.

In: what functionalize.py found. Out: plain data, which the later stages and a program from the disk
share; the latter needs nothing of the stage that made it.

Source: PyTorch's ViewAndMutationMeta, of AOTAutograd.
"""

from dataclasses import dataclass
from typing import Any

from minitorch2.jit.ir.graph import Graph
from minitorch2.jit.shapes.size_expression import Size


@dataclass(frozen=True, slots=True)
class OutputPlan:
    """Where one output of the captured graph comes from.

    It is output `index` of the functional graph, or input `alias`, or a view of one of them:
    `steps` are the (op, arguments) that lead there. A constant has neither. `differentiable` says
    whether gradients flow through it; `freed`, that they did, but a backward inside the graph has
    used its history up.
    """

    index: int | None
    differentiable: bool = False
    alias: int | None = None
    steps: tuple = ()
    constant: Any = None
    freed: bool = False


@dataclass(frozen=True, slots=True)
class Functional:
    """A functional graph and how its outputs become those of the captured one.

    `writes` are (input, output index) of values to write back that carry gradients; those without
    stand in the graph itself. `random_count` is how many counters one call uses. `reaches` says
    for each output which inputs get a gradient from it: zeros, where all of it was overwritten.
    `held` are inputs that a layer (an op defined by others) reads as a whole: a program that writes
    into them before the backward does not expect one, so the backward may read them. `frees` says
    for each output, by number, which steps' saved tensors a backward from it uses up; `lost` what
    that backward refuses with, where the program itself wrote into a saved tensor.
    """

    graph: Graph
    outputs: tuple[OutputPlan, ...]
    requires_grad: tuple[bool, ...]
    writes: tuple[tuple[int, int], ...]
    random_count: Size | None
    differentiable: tuple[bool, ...] = ()
    reaches: tuple[frozenset[int], ...] = ()
    held: frozenset[int] = frozenset()
    frees: tuple[frozenset[int], ...] = ()
    lost: tuple[tuple[str, str, str] | None, ...] = ()

    @property
    def name(self) -> str:
        """The graph's name."""
        return self.graph.name

    @property
    def output_count(self) -> int:
        """How many outputs the graph has."""
        return len(self.graph.outputs)

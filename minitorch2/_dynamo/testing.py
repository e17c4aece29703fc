"""torch._dynamo.testing: backends that count what they are given, and keep it.

    counter = CompileCounter()
    torch.compile(f, backend=counter)(x)
    counter.frame_count, counter.op_count     # graphs, and calls in them

Source: torch._dynamo.testing.
"""

from collections.abc import Callable
from typing import Any

from minitorch2._dynamo.utils import same
from minitorch2.custom_backends import lookup_backend
from minitorch2.fx.graph_module import GraphModule

__all__ = ["CompileCounter", "CompileCounterWithBackend", "EagerAndRecordGraphs", "same"]


class CompileCounter:
    """Runs graphs as they are; counts graphs (`frame_count`) and calls in them (`op_count`)."""

    def __init__(self) -> None:
        self.frame_count: int = 0
        self.op_count: int = 0

    def __call__(self, gm: GraphModule, example_inputs: list[Any]) -> Callable:
        self.count(gm)
        return gm.forward

    def count(self, gm: GraphModule) -> None:
        """Count one graph."""
        self.frame_count += 1
        self.op_count += sum("call" in node.op for node in gm.graph.nodes)

    def clear(self) -> None:
        """Begin again at 0."""
        self.frame_count = self.op_count = 0


class CompileCounterWithBackend(CompileCounter):
    """Counts, and hands the graph on to another backend of the user's own; `graphs` keeps it."""

    def __init__(self, backend: Any) -> None:
        super().__init__()
        self.backend = backend
        self.graphs: list[GraphModule] = []

    def __call__(self, gm: GraphModule, example_inputs: list[Any]) -> Callable:
        self.count(gm)
        self.graphs.append(gm)
        return lookup_backend(self.backend)(gm, example_inputs)

    def clear(self) -> None:
        """Begin again."""
        super().clear()
        self.graphs = []


class EagerAndRecordGraphs:
    """Runs graphs as they are and keeps them in `graphs`."""

    def __init__(self) -> None:
        self.graphs: list[GraphModule] = []

    def __call__(self, gm: GraphModule, example_inputs: list[Any]) -> Callable:
        self.graphs.append(gm)
        return gm.forward

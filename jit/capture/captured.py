"""What one capture found: a graph, its guards, and the host function around it.

In: the parts that `attempt` puts together. Out: `bind`, which makes the host function from a
compiled graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from minitorch2.jit.capture.resume.stop import Stop
from minitorch2.jit.capture.source import Source
from minitorch2.jit.guards import GuardSet, define
from minitorch2.jit.ir.graph import Graph


@dataclass(frozen=True, slots=True, eq=False)
class CapturedProgram:
    """What one capture found. `inputs` are the sources of the graph's inputs, in order."""

    unit: str
    graph: Graph
    guards: GuardSet
    inputs: tuple[Source, ...]
    source_text: str
    namespace: Mapping[str, Any]
    compiled_name: str  # what the host function calls the compiled graph
    stop: Stop | None = None  # where the program ends before the call does, and what comes then
    scopes: list[dict[str, Any]] = field(default_factory=list)  # globals of host functions

    def bind(self, compiled: Callable[[list], list]) -> Callable[..., Any]:
        """The host function over a compiled graph."""
        scope = dict(self.namespace) | {self.compiled_name: compiled}
        self.scopes.append(scope)
        return define(self.source_text, "call", f"call of {self.unit}", scope)

    def rebind(self, compiled: Callable[[list], list]) -> None:
        """From now on the host functions call this one."""
        for scope in self.scopes:
            scope[self.compiled_name] = compiled

    def __str__(self) -> str:
        return f"{self.graph}\n\n{self.guards}\n\n{self.source_text}"

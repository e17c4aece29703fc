"""Runs a backend of the user's own: `fn(graph, example_inputs)`, for each captured graph.

In: the function, and what `compile` was given for it. Out: a backend as `compile` takes them: a
captured program in, a function of its inputs out. A backend that fails, or that returns something
else, raises BackendCompilerFailed, which says which backend and what it did.

Source: torch.compile's documentation, "Custom Backends".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch2 import forks
from minitorch2.autograd.modes import set_grad_enabled
from minitorch2.errors import BackendCompilerFailed
from minitorch2.jit.as_module import as_module, runs_with_grad
from minitorch2.jit.capture.program import CapturedProgram
from minitorch2.jit.ir.interpreter import run_captured
from minitorch2.tensors import Tensor


def custom(
    compiler_fn: Callable[..., Any], options: dict[str, Any] | None, mode: str | None
) -> Any:
    """The backend that calls a user's function; `options` and `mode` go on to it when given."""
    given: dict[str, Any] = {"options": options} if options is not None else {}
    if mode is not None:
        given["mode"] = mode

    def backend(program: CapturedProgram, _: Any) -> Callable[[list], list]:
        return LateCustom(program, compiler_fn, given)

    return backend


class LateCustom:
    """A captured graph that the user's function compiles when the first inputs are there."""

    def __init__(
        self, program: CapturedProgram, compiler_fn: Callable[..., Any], given: dict[str, Any]
    ):
        self.program, self.compiler_fn, self.given = program, compiler_fn, given
        self.grad = runs_with_grad(program.graph)
        self.compiled: Callable[..., Any] | None = None
        self.lock = forks.lock()

    def __call__(self, inputs: list[Any]) -> list[Any]:
        graph = self.program.graph
        if not graph.nodes:  # nothing to compile
            return run_captured(graph, inputs)
        compiled = self.compiled
        if compiled is None:
            with self.lock:
                compiled = self.compiled = self.compiled or self._compile(inputs)
        before = set_grad_enabled(self.grad)
        with before:
            found = compiled(*inputs)
        return self._results(found)

    @property
    def name(self) -> str:
        """How errors call the backend."""
        return getattr(self.compiler_fn, "__name__", type(self.compiler_fn).__name__)

    def _compile(self, inputs: list[Any]) -> Callable[..., Any]:
        module = as_module(self.program.graph)
        try:
            compiled = self.compiler_fn(module, list(inputs), **self.given)
        except Exception as error:
            raise BackendCompilerFailed(
                f"compile {self.program.unit} with backend={self.name!r}",
                f"the backend raised {type(error).__name__}: {error}",
                "mend the backend, or compile with another one",
            ) from error
        if not callable(compiled):
            raise BackendCompilerFailed(
                f"compile {self.program.unit} with backend={self.name!r}",
                f"the backend returned {compiled!r}, which cannot be called",
                "return a function of the graph's inputs, such as graph.forward",
            )
        return compiled

    def _results(self, found: Any) -> list[Any]:
        results = [found] if isinstance(found, Tensor) else found
        count = len(self.program.graph.outputs)
        if not isinstance(results, list | tuple) or len(results) != count:
            shape = len(results) if isinstance(results, list | tuple) else type(found).__name__
            raise BackendCompilerFailed(
                f"run {self.program.unit}, compiled with backend={self.name!r}",
                f"it gave {shape}, where the graph gives a list of {count}",
                "return as many results as the graph's output has, in its order",
            )
        return list(results)

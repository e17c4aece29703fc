"""torch.compiler: questions about, and switches for, compilation.

In: functions, tensors, or nothing. Out: whether capture is running, functions that are captured in
another way or never, sizes that are marked, a region in which a graph break is an error, the names
of the backends.

    >>> is_compiling()
    False

Source: torch.compiler's documentation.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from minitorch2 import compiling, custom_backends
from minitorch2.compile_config import config
from minitorch2.compile_settings import settings, take_stance
from minitorch2.custom_backends import register_backend
from minitorch2.dispatch import is_compiling, state
from minitorch2.errors import ArgumentValueError
from minitorch2.nn.module import Module
from minitorch2.size_marks import mark_dynamic, mark_static
from minitorch2.tensors import Tensor

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "config",
    "disable",
    "error_on_graph_break",
    "explain",
    "is_compiling",
    "is_dynamo_compiling",
    "list_backends",
    "mark_dynamic",
    "mark_static",
    "maybe_mark_dynamic",
    "register_backend",
    "reset",
    "set_stance",
]
STANCES = ("default", "force_eager", "eager_on_recompile", "fail_on_recompile")


def is_dynamo_compiling() -> bool:
    """Whether the code that asks is being captured."""
    return state.capturing


def list_backends(exclude_tags: Sequence[str] | None = ("debug", "experimental")) -> list[str]:
    """The names that `compile(backend=...)` takes, without backends that have such tags.

    Source: torch.compiler.list_backends.
    """
    offered = custom_backends.list_backends(exclude_tags)
    return sorted({*compiling.backends, *compiling.ALIASES, *offered})


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """A function that capture does not follow: a call of it is a graph break, Python runs it.

    A module gets such a `forward`. What the function calls runs as Python too, whatever `recursive`
    says: there is nothing that could compile it.
    """
    if fn is None:
        return lambda function: disable(function, recursive, reason=reason)
    if isinstance(fn, Module):
        disabled_forward = disable(fn.forward, recursive, reason=reason)
        fn.forward = disabled_forward  # type: ignore[method-assign]
        return fn

    @functools.wraps(fn)
    def disabled(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    disabled._minitorch2_disabled = reason or "torch.compiler.disable"  # type: ignore[attr-defined]
    return disabled


@contextlib.contextmanager
def error_on_graph_break(error_on_graph_break: bool = True) -> Iterator[None]:
    """Inside, a function that is compiled and breaks raises GraphBreakError, as `fullgraph=True`
    does; with False it does not. What was compiled before is used as it is. Also a decorator.

    Source: torch._dynamo.error_on_graph_break.
    """
    before, settings.error_on_break = settings.error_on_break, error_on_graph_break
    try:
        yield
    finally:
        settings.error_on_break = before


def allow_in_graph(fn: Any) -> Any:
    """Functions that capture does not read through: they run on tensors without numbers, and their
    operations go into the graph. Nothing else that they do is seen, or done again.

    Source: torch.compiler.allow_in_graph.
    """
    for function in fn if isinstance(fn, (list, tuple)) else [fn]:
        function._minitorch2_in_graph = True
    return fn


def assume_constant_result(fn: Callable) -> Callable:
    """A function that gives the same in each call: capture calls it once and keeps the result.

    Source: torch.compiler.assume_constant_result.
    """
    fn._minitorch2_constant = True  # type: ignore[attr-defined]
    return fn


def maybe_mark_dynamic(tensor: Tensor, index: int | tuple[int, ...]) -> None:
    """Sizes that may vary: capture finds out by itself, at the second value.

    Source: torch._dynamo.maybe_mark_dynamic.
    """


def reset() -> None:
    """Forget everything that was compiled in this process.

    Source: torch.compiler.reset.
    """
    for compiled in list(compiling._compiled.values()):
        compiled.cache.forget()


class set_stance(contextlib.ContextDecorator):
    """What calls of compiled functions do in this thread, from now on or inside `with`.

    `default`; `force_eager`: what is not compiled yet runs as Python; `eager_on_recompile`: so does
    what would be compiled again; `fail_on_recompile`: that raises CompileError. What was compiled
    already is used as it is, except by `force_eager`, which leaves it aside.

    Source: torch.compiler.set_stance.
    """

    def __init__(self, stance: str = "default"):
        if stance not in STANCES:
            raise ArgumentValueError(
                f"set_stance({stance!r})", "no such stance", f"use one of {', '.join(STANCES)}"
            )
        self.stance, self.before = stance, take_stance(stance)

    def __enter__(self) -> None:
        take_stance(self.stance)

    def __exit__(self, *exc: object) -> None:
        take_stance(self.before)


@dataclass(frozen=True)
class Explanation:
    """What `explain` found in one call; its text is the report.

    `graphs` are torch.fx modules of those that compute something, `ops_per_graph` the names of
    their ops, `out_guards` what must hold for each graph to be used again.
    """

    graph_count: int
    graph_break_count: int
    op_count: int
    break_reasons: tuple[str, ...]
    graphs: tuple[Any, ...] = ()
    ops_per_graph: tuple[list[str], ...] = ()
    out_guards: tuple[list[str], ...] = ()

    def __str__(self) -> str:
        counts = f"Graph Count: {self.graph_count}\nGraph Break Count: {self.graph_break_count}\n"
        return "\n".join([f"{counts}Op Count: {self.op_count}", *self.break_reasons])


def explain(fn: Callable, *args: Any, **kwargs: Any) -> Any:
    """A function that calls `fn` once, captured, and tells how many graphs that made and why; with
    arguments, what it tells of the call with them.

    Source: torch._dynamo.explain.
    """

    def explained(*args: Any, **kwargs: Any) -> Explanation:
        """The Explanation of one call with these arguments, which runs the function compiled."""
        original = getattr(fn, "_orig_mod", None) or getattr(fn, "original", fn)
        graphs: list[Any] = []

        def kept(graph: Any, example_inputs: list[Any]) -> Any:
            graphs.append(graph)
            return graph.forward

        compiled = compiling.compile(original, backend=kept)
        compiled(*args, **kwargs)
        inner = getattr(compiled, "_compiled", compiled)
        breaks = inner.cache.breaks
        programs = [each.program for each in inner.cache.all_entries() if each.program is not None]
        ops = tuple([node.op for node in program.graph.nodes] for program in programs)
        guards = tuple(
            [f"{guard.subject()}: {guard.meaning}" for guard in program.guards.guards]
            for program in programs
        )
        reasons = tuple(one.text() for one in breaks)
        return Explanation(len(programs), len(breaks), sum(map(len, ops)), reasons,
                           tuple(graphs), ops, guards)  # fmt: skip

    return explained(*args, **kwargs) if args or kwargs else explained

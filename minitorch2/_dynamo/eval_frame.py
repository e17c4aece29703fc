"""torch._dynamo.eval_frame: compile by its older name, and small switches.

Example: `torch._dynamo.optimize("eager", nopython=True)(f)(x)`.
Source: torch._dynamo.eval_frame.
"""

import functools
from collections.abc import Callable
from typing import Any

from minitorch2 import compiling
from minitorch2.compile_settings import take_stance
from minitorch2.compiler import disable, set_stance
from minitorch2.compiling import OptimizedModule
from minitorch2.tensors import Tensor

__all__ = [
    "OptimizedModule",
    "disable",
    "graph_break",
    "is_dynamo_supported",
    "is_inductor_supported",
    "mark_static_address",
    "optimize",
    "optimize_assert",
    "run",
    "set_stance",
]


def optimize(
    backend: Any = "inductor",
    *,
    nopython: bool = False,
    disable: bool = False,
    dynamic: bool | None = None,
    **unused: Any,
) -> Callable[[Any], Any]:
    """A decorator that compiles: torch.compile by its older name. `nopython` is `fullgraph`.

    Source: torch._dynamo.optimize.
    """
    return functools.partial(
        compiling.compile, backend=backend, fullgraph=nopython, dynamic=dynamic, disable=disable
    )


def optimize_assert(backend: Any, **options: Any) -> Callable[[Any], Any]:
    """The same, where a graph break is an error."""
    return optimize(backend, nopython=True, **options)


def run(fn: Callable | None = None) -> Any:
    """A function that uses what was compiled and compiles nothing more.

    Source: torch._dynamo.run.
    """
    if fn is None:
        return run

    @functools.wraps(fn)
    def ran(*args: Any, **kwargs: Any) -> Any:
        before = take_stance("only_compiled")
        try:
            return fn(*args, **kwargs)
        finally:
            take_stance(before)

    return ran


@disable
def graph_break(msg: str = "") -> None:
    """The graph breaks where this is called. Source: torch._dynamo.graph_break."""


def is_dynamo_supported() -> bool:
    """Whether capture knows the bytecode of this Python."""
    return compiling.python_is_known()


def is_inductor_supported() -> bool:
    """Whether the default backend runs here: it always does."""
    return True


def mark_static_address(t: Tensor, guard: bool = True) -> None:
    """Nothing here depends on the address of a tensor."""

"""Backends of the user's own by name: registered, or offered by an installed package.

In: a function `fn(graph, example_inputs)` that takes a torch.fx GraphModule and the inputs of its
first call, and returns what is called from then on with such inputs and gives a list or tuple of
the results. Out: that function again, under its name. `jit/user_backends.py` runs it.

    def my_backend(graph, example_inputs):
        graph.graph.print_tabular()
        return graph.forward

    torch.compile(f, backend=my_backend)
    torch._dynamo.register_backend(my_backend, "mine"); torch.compile(f, backend="mine")

A package offers one under `[project.entry-points."minitorch2_backends"]`, or torch's own
"torch_dynamo_backends", as `name = "package.module:function"`; it is imported when it is asked for.

Source: torch.compile's documentation, "Custom Backends" and torch._dynamo.backends.registry.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from minitorch2.errors import ArgumentTypeError, ArgumentValueError, BackendCompilerFailed

CompilerFunction = Callable[[Any, list[Any]], Callable[..., Any]]
GROUPS = ("minitorch2_backends", "torch_dynamo_backends")
_registered: dict[str, CompilerFunction] = {}
_tags: dict[str, tuple[str, ...]] = {}


def register_backend(
    compiler_fn: CompilerFunction | None = None, name: str | None = None, tags: Sequence[str] = ()
) -> Any:
    """Offer a backend under a name, that of the function by default; also a decorator.

    Raises ArgumentTypeError for what cannot be called, ArgumentValueError for a name that is taken.
    Source: torch._dynamo.register_backend.
    """
    if compiler_fn is None:
        return functools.partial(register_backend, name=name, tags=tags)
    if not callable(compiler_fn):
        raise ArgumentTypeError(
            f"register_backend({compiler_fn!r})",
            "a backend is a function of (graph, example_inputs)",
            "pass the function itself",
        )
    chosen = name or getattr(compiler_fn, "__name__", "")
    if not isinstance(chosen, str) or not chosen:
        raise ArgumentValueError("register_backend()", "it has no name", 'pass name="..."')
    if _registered.get(chosen, compiler_fn) is not compiler_fn:
        raise ArgumentValueError(
            f"register_backend(name={chosen!r})",
            "another backend has this name",
            "choose another name",
        )
    _registered[chosen], _tags[chosen] = compiler_fn, tuple(tags)
    return compiler_fn


def lookup_backend(compiler_fn: Any) -> CompilerFunction:
    """The function that is registered, or installed, under a name; a function is itself.

    Raises ArgumentValueError for an unknown name. Source: torch._dynamo.lookup_backend.
    """
    if not isinstance(compiler_fn, str):
        return compiler_fn
    found = _registered.get(compiler_fn)
    if found is None:
        point = _installed().get(compiler_fn)
        if point is None:
            raise unknown_backend(compiler_fn, list_backends())
        found = _registered[compiler_fn] = _load(point)
    return found


def is_known(name: str) -> bool:
    """Whether a backend is registered or installed under this name."""
    return name in _registered or name in _installed()


def list_backends(exclude_tags: Sequence[str] | None = ("debug", "experimental")) -> list[str]:
    """Names of the backends that are registered or installed, without those with such tags."""
    hidden = set(exclude_tags or ())
    names = {*_registered, *_installed()}
    return sorted(name for name in names if hidden.isdisjoint(_tags.get(name, ())))


def unknown_backend(name: str, known: Sequence[str]) -> ArgumentValueError:
    """What is raised for a name that nobody has."""
    near = difflib.get_close_matches(name, known, 1)
    guess = f"; did you mean {near[0]!r}?" if near else ""
    return ArgumentValueError(
        f"compile(backend={name!r})",
        f"no such backend{guess}",
        f"use one of {', '.join(known)}, a function of (graph, example_inputs), or register one",
    )


def _installed() -> dict[str, EntryPoint]:
    """The backends that installed packages offer; our own group goes first."""
    found: dict[str, EntryPoint] = {}
    for group in reversed(GROUPS):
        found.update({point.name: point for point in entry_points(group=group)})
    return found


def _load(point: EntryPoint) -> CompilerFunction:
    try:
        return point.load()
    except Exception as error:
        raise BackendCompilerFailed(
            f"compile(backend={point.name!r})",
            f"its entry point {point.value!r} cannot be imported: {type(error).__name__}: {error}",
            "mend or remove the package that offers it",
        ) from error

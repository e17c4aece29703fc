"""`capture`: one call of a function to a captured program.

In: a function or module and the arguments of one call. Out: a `CapturedProgram` with the graph,
the guards under which it may be used again, and `bind`, which makes the host function from a
compiled graph; or a `GraphBreak`, whose `guards` say for which calls it would break again.

    program = capture(fn, (x,), {}, unit="fn#0", dynamic=None)
    run = program.bind(compile_somehow(program.graph))
    if program.guards.check(x): run(x)

Nothing that the function does has happened when `capture` returns.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from minitorch2 import artifacts, dispatch
from minitorch2.config import config
from minitorch2.jit import guards as kinds
from minitorch2.jit.capture.emit import Emitter
from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.inputs import written_apart
from minitorch2.jit.capture.interpreter import Machine
from minitorch2.jit.capture.source import (
    ArgumentSource,
    AttributeSource,
    RootSource,
    Source,
    argument_names,
)
from minitorch2.jit.capture.state import CaptureState
from minitorch2.jit.capture.trace import Trace
from minitorch2.jit.capture.values.base import NotKnown, UserRaise, Value
from minitorch2.jit.guards import GuardSet, define
from minitorch2.jit.ir.graph import Graph
from minitorch2.tensors import Tensor

_MODES = ("grad_enabled", "autocast")  # of dispatch.state; what the function leaves changed
FreeSizes = Mapping[str, frozenset[int]]


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

    def bind(self, compiled: Callable[[list], list]) -> Callable[..., Any]:
        """The host function over a compiled graph; `__wrapped__` is the compiled graph."""
        scope = dict(self.namespace) | {self.compiled_name: compiled}
        return define(self.source_text, "call", f"call of {self.unit}", scope)

    def __str__(self) -> str:
        return f"{self.graph}\n\n{self.guards}\n\n{self.source_text}"


def capture(
    fn: Any,
    args: tuple,
    kwargs: dict[str, Any],
    *,
    unit: str,
    dynamic: bool | None = None,
    free_sizes: FreeSizes | None = None,
) -> CapturedProgram:
    """Capture one call. Raises GraphBreak (with `guards`) where it cannot be captured whole.

    `free_sizes` names the dimensions that changed before, by source text: they become symbolic.
    """
    name = _graph_name(unit)
    positional = tuple(argument_names(len(args), tuple(kwargs), _parameter_names(fn)))
    guards = GuardSet(unit, positional, tuple(kwargs), fn)
    state = CaptureState(name, guards)
    for guard in kinds.mode_guards(dispatch.state.grad_enabled):
        guards.add(guard)
    trace = Trace(artifacts.listening(), state)
    machine = Machine(state, trace, _chooser(dynamic, free_sizes or {}))
    artifacts.emit("capture.source", unit, SourceText(fn))
    try:
        program = _run(machine, fn, args, kwargs, unit)
    except Exception as error:
        stopped = error if isinstance(error, GraphBreak) else _internal(error)
        stopped.span = stopped.span or state.span()
        stopped.guards = _finished(guards)
        artifacts.emit("capture.bytecode", unit, str(trace), rows=trace.facts())
        artifacts.emit("capture.break", unit, stopped.text(), code=stopped.row.code,
                       detail=stopped.detail, where=str(stopped.span or ""))  # fmt: skip
        raise stopped from (None if stopped is error else error)
    artifacts.emit("capture.bytecode", unit, str(trace), rows=trace.facts())
    artifacts.emit("capture.guards", unit, guards, host=program.source_text, guards=guards.facts())
    artifacts.emit("capture.graph", unit, program.graph)
    return program


def _internal(error: Exception) -> GraphBreak:
    """A mistake of capture itself: the call runs as Python, unless checks are on."""
    if config.check:
        raise error
    return GraphBreak("internal", f"{type(error).__name__}: {error}")


def _run(
    machine: Machine, fn: Any, args: tuple, kwargs: dict[str, Any], unit: str
) -> CapturedProgram:
    state = machine.state
    before = dispatch.state.grad_enabled, dispatch.state.autocast
    if dispatch.state.modes:
        raise GraphBreak("mode-active", "capture under another dispatch mode")
    hooks = dispatch.state.saved_hooks
    dispatch.state.capturing, dispatch.state.saved_hooks = True, ()
    try:
        result = _call_root(machine, fn, args, kwargs)
        after = dispatch.state.grad_enabled, dispatch.state.autocast
    except UserRaise as raised:
        raise GraphBreak("exception-escapes", _raised_text(raised.value), state.span()) from None
    except NotKnown as unknown:
        what = unknown.args[0].describe()
        raise GraphBreak("unknown-operation", f"{what} is used as a plain value") from unknown
    except RecursionError:
        raise GraphBreak("too-long", "calls too deep to follow", state.span()) from None
    finally:
        dispatch.state.capturing, dispatch.state.saved_hooks = False, hooks
        dispatch.state.grad_enabled, dispatch.state.autocast = before
    _check_memory(state)
    emitter = Emitter(state, fn)
    text = emitter.finish(result, dict(zip(_MODES, zip(before, after, strict=True), strict=True)))
    for size_guard in state.environment.guards:
        machine.add_size_guard(size_guard)
    state.builder.assumptions = [guard.condition for guard in state.environment.guards]
    graph = state.builder.build()
    inputs = tuple(item.source for item in state.inputs)
    return CapturedProgram(
        unit,
        graph,
        _finished(state.guards),
        inputs,
        text,
        emitter.writer.namespace,
        emitter.compiled,
    )


def _raised_text(error: Value) -> str:
    """`it raises KeyError: 'x'`, as far as capture knows the text."""
    text = f"it raises {error.python_type().__name__}"
    try:
        return f"{text}: {str(error.known()).splitlines()[0]}"
    except Exception:
        return text


def _call_root(machine: Machine, fn: Any, args: tuple, kwargs: dict[str, Any]) -> Value:
    guards = machine.state.guards
    root = machine.wrap(fn, RootSource(getattr(fn, "__name__", type(fn).__name__)))
    positional = [
        machine.lazy(value, ArgumentSource(name))
        for name, value in zip(guards.positional, args, strict=True)
    ]
    named = {name: machine.lazy(value, ArgumentSource(name)) for name, value in kwargs.items()}
    return machine.call(root, positional, named)


def _finished(guards: GuardSet) -> GuardSet:
    guards.compile()
    return guards


def _check_memory(state: CaptureState) -> None:
    """Inputs that are written must share memory with no other input, now and later, and none of
    their elements may be another one too (an expanded tensor)."""
    tensors = [item for item in state.inputs if isinstance(item.object, Tensor)]
    written = [item for item in tensors if state.is_written(item)]
    for item in written:
        if item.object.layout.overlaps_itself():
            raise GraphBreak("aliased-inputs", f"{item.source} is written", state.span())
        if item.object.requires_grad:  # whether a write is allowed depends on it
            state.guard_value(AttributeSource(item.source, "is_leaf"), item.object.is_leaf)
    if not written or len(tensors) < 2:
        return
    # The written ones first: the guard compares them with each other and with the rest.
    ordered = [*written, *(item for item in tensors if item not in written)]
    if not written_apart(tuple(item.object for item in ordered), len(written)):
        raise GraphBreak("aliased-inputs", f"{written[0].source} is written", state.span())
    sources = tuple(item.source for item in ordered)
    listed = ", ".join(f"{{{index}}}" for index in range(len(sources)))
    test = f"not <written_apart>(({listed},), {len(written)})"
    state.guards.add(
        kinds.plain_guard(
            "alias", sources, test, "did not share memory", state.span(),
            written_apart=written_apart,
        )
    )  # fmt: skip


def _chooser(dynamic: bool | None, free: FreeSizes) -> Callable[[str], Any]:
    """Which dimensions of an input are symbolic: all, none, or those that changed before."""
    if dynamic is True:
        return lambda name: True
    if dynamic is False:
        return lambda name: frozenset()
    return lambda name: free.get(name, frozenset())


def is_plain_python(fn: Any) -> bool:
    """Whether a function always runs as Python: generators, coroutines, async generators."""
    return (
        inspect.isgeneratorfunction(fn)
        or inspect.iscoroutinefunction(fn)
        or inspect.isasyncgenfunction(fn)
    )


def _parameter_names(fn: Any) -> tuple[str, ...]:
    """Parameter names for the generated functions, so that they read like the user's."""
    forward = getattr(fn, "forward", None)
    function = fn if isinstance(fn, types.FunctionType | types.MethodType) else forward
    if isinstance(function, types.MethodType):
        code = getattr(function.__func__, "__code__", None)
        return code.co_varnames[1 : code.co_argcount] if code is not None else ()
    if isinstance(function, types.FunctionType):
        return function.__code__.co_varnames[: function.__code__.co_argcount]
    return ()


def _graph_name(unit: str) -> str:
    text = unit.rpartition(":")[2].partition("#")[0]
    text = "".join(character if character.isalnum() else "_" for character in text).strip("_")
    return text if text and not text[0].isdigit() else f"graph_{text}"


class SourceText:
    """The user's source of a function, read only when somebody looks."""

    __slots__ = ("fn",)

    def __init__(self, fn: Any):
        self.fn = fn

    def __str__(self) -> str:
        fn = self.fn
        found = fn if inspect.isroutine(fn) else getattr(fn, "forward", type(fn))
        try:
            lines, first = inspect.getsourcelines(found)
        except (OSError, TypeError):
            return "(no source)"
        return "".join(f"{first + index:>5}  {line}" for index, line in enumerate(lines)).rstrip()

"""One run of the machine over a call: to its end, to a break, or to where an earlier run broke.

In: a function and the arguments of one call, or a `Place` and what stands there. Out: a
`CapturedProgram`, or the `GraphBreak` that stopped it and the step before which the frame of the
function can be left, so that Python goes on from there.

A run is thrown away whole when it breaks: the next one stops before the step that broke, and
nothing of what the break left half done is in it. See Note [Breaks are found by running twice].
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from typing import Any

from minitorch2 import artifacts, dispatch
from minitorch2.config import config
from minitorch2.jit import guards as kinds
from minitorch2.jit.capture.captured import CapturedProgram
from minitorch2.jit.capture.emit import Emitter
from minitorch2.jit.capture.graph_break import CALL, GraphBreak
from minitorch2.jit.capture.inputs import written_apart
from minitorch2.jit.capture.interpreter import Machine
from minitorch2.jit.capture.picking import BreakEarlier
from minitorch2.jit.capture.resume.frames import looks_at_callers
from minitorch2.jit.capture.resume.operations import operation_at
from minitorch2.jit.capture.resume.place import Place
from minitorch2.jit.capture.resume.stop import Stop, function_of
from minitorch2.jit.capture.resume.suspend import (
    RaisedHere,
    Suspended,
    leads_to,
    place_of,
    restored,
)
from minitorch2.jit.capture.source import (
    ArgumentSource,
    AttributeSource,
    MadeSource,
    RootSource,
    Source,
    argument_names,
)
from minitorch2.jit.capture.state import CaptureState, Frame
from minitorch2.jit.capture.trace import Trace
from minitorch2.jit.capture.values.base import NULL, Lazy, NotKnown, UserRaise, Value
from minitorch2.jit.capture.values.objects import HOOK_TABLES
from minitorch2.jit.capture.values.sequences import TupleValue
from minitorch2.jit.capture.wrapping import OWN_TABLES
from minitorch2.jit.guards import GuardSet
from minitorch2.nn.module import Module
from minitorch2.storages import births, count_births
from minitorch2.tensors import Tensor

_MODES = ("grad_enabled", "inference", "autocast")  # of dispatch.state, and what calls leave there
_BIRTHS = "births"  # whether tensors that are made are inference tensors

LIBRARIES = ("minitorch2.", "numpy.")
ENTERED = ("minitorch2.nn.", "minitorch2.optim.")

# Note [Breaks are found by running twice]
# When an instruction breaks, part of it has happened: operands are popped, a callee has run half
# its way, containers hold what it put there. Instead of undoing that, the machine starts again and
# stops before the instruction, whose number in the order of execution is known from the first run.


class Attempt:
    """One run of the machine over a call: to its end, to a break, or to the step of a break that
    an earlier attempt met."""

    def __init__(
        self, fn: Any, args: tuple, kwargs: dict[str, Any], unit: str, chosen: Any,
        place: Place | None, step: int | None = None, reason: GraphBreak | None = None,
        resume: bool = False,
    ):  # fmt: skip
        names = argument_names(len(args), tuple(kwargs), _parameter_names(fn))
        positional = tuple(place.names() if place is not None else names)
        self.guards = GuardSet(unit, positional, tuple(kwargs), fn)
        self.state = CaptureState(_graph_name(unit), self.guards)
        for guard in kinds.mode_guards(dispatch.state.grad_enabled):
            self.guards.add(guard)
        self.trace = Trace(artifacts.listening(), self.state)
        self.machine = Machine(self.state, self.trace, chosen)
        if step is not None:
            self.machine.stop_step = step
        self.machine.may_break = resume
        self.reason = reason
        self.fn, self.args, self.kwargs, self.unit, self.place = fn, args, kwargs, unit, place
        self.finished, self.resume = False, resume
        self.emitter: Emitter | None = None

    def forget(self) -> None:
        """Let go of everything but the program. The machine, its state and thousands of values
        refer to each other, so that only the collector would find them, and much later."""
        for part in (self.emitter, self.machine, self.state, self):
            if part is not None:
                vars(part).clear()

    def run(self) -> CapturedProgram:
        """The program, or what stopped the capture."""
        state = self.state
        before = _modes()
        if dispatch.state.modes:
            raise GraphBreak("mode-active", "capture under another dispatch mode")
        hooks = dispatch.state.saved_hooks
        dispatch.state.capturing, dispatch.state.saved_hooks = True, ()
        stop: Stop | None = None
        try:
            try:
                result = self._call()
            except Suspended as suspended:
                stop, result = self._suspended(suspended.frame)
            after = _modes()
        except UserRaise as raised:
            text = _raised_text(raised.value)
            raise GraphBreak("exception-escapes", text, state.span()) from raised
        except NotKnown as unknown:
            what = unknown.args[0].describe()
            raise GraphBreak("unknown-operation", f"{what} is used as a plain value") from unknown
        except RecursionError:
            raise GraphBreak("too-long", "calls too deep to follow", state.span()) from None
        finally:
            dispatch.state.capturing, dispatch.state.saved_hooks = False, hooks
            _set_modes(before)
        self.state.picking.settle()
        self.finished = True
        _check_memory(state)
        _check_containers(state)
        _check_keys(state)
        return self._program(result, before, after, stop)

    def _call(self) -> Value:
        """Run the call, or the frame of the place, on values."""
        machine, positional = self.machine, self.guards.positional
        labels = self.place.labels() if self.place is not None else positional
        values = [
            machine.lazy(value, ArgumentSource(name, label))
            for name, label, value in zip(positional, labels, self.args, strict=True)
        ]
        if self.place is not None:
            return machine.run(restored(machine, self.place, values, self.args))
        named = {n: machine.lazy(value, ArgumentSource(n)) for n, value in self.kwargs.items()}
        if self.fn is call_through:
            return machine.call(values[0], values[1:], named)
        root = machine.wrap(
            self.fn, RootSource(getattr(self.fn, "__name__", type(self.fn).__name__))
        )
        return machine.call(root, values, named)

    def _suspended(self, frame: Frame) -> tuple[Stop, Value]:
        """The break, and a tuple of what stands there."""
        assert self.reason is not None
        place, values = place_of(self.machine, frame)
        self.reason.span = self.reason.span or frame.current.span
        callee = self.reason.callee
        operation = operation_at(place.code, place.index)
        if callee is not None and operation is not None and operation.callee is not None:
            first, second = frame.stack[-operation.popped], frame.stack[1 - operation.popped]
            if not leads_to(second if first is NULL else first, callee):
                callee = None  # native code calls it, which runs as Python
        stop = Stop(place, self.reason.forgetful(), callee)
        self.reason.then = stop.words()
        if self.reason.row.code.startswith("exception-"):
            self.reason.then = "Python does this one operation, which raises."
        return stop, TupleValue(values)

    def _program(
        self, result: Value, before: tuple, after: tuple, stop: Stop | None
    ) -> CapturedProgram:
        state = self.state
        self.emitter = emitter = Emitter(state, self.fn)
        emitter.shares = stop is not None
        if self.resume:
            emitter.raised = self.machine.raised_at
        text = emitter.finish(
            result,
            dict(zip((*_MODES, _BIRTHS), zip(before, after, strict=True), strict=True)),
        )
        self._check_generators(emitter)
        for size_guard in state.environment.guards:
            self.machine.add_size_guard(size_guard)
        state.builder.assumptions = [guard.condition for guard in state.environment.guards]
        graph = state.builder.build()
        inputs = tuple(item.source for item in state.inputs)
        return CapturedProgram(
            self.unit, graph, _finished(self.machine), inputs, text, emitter.writer.namespace,
            emitter.compiled, stop,
        )  # fmt: skip

    def _check_generators(self, emitter: Emitter) -> None:
        """One that is left in the middle of a `try` goes on when Python frees it."""
        for generator in self.state.generators:
            if generator.is_waiting_in_try() and not emitter.has(generator):
                text = f"{generator.describe()} is left unfinished inside a try statement"
                raise GraphBreak("generator", text)

    # ---- what stopped it

    def stopped(self, error: Exception) -> GraphBreak:
        """The break, with its place and the guards under which it comes again."""
        if isinstance(error, RaisedHere):
            found = GraphBreak("exception-lives-on", "an exception is raised")
        else:
            found = error if isinstance(error, GraphBreak) else _internal(error)
        found.span = found.span or self.state.span()
        found.guards = _finished(self.machine)
        root, left = self.machine.root, self.machine.left
        if root is not None and left is not None and self.machine.left_step == root.step:
            if is_entered(left.globals.table) and not _looks_out(left):
                found.callee = left.code
        return found

    def earlier_step(self, error: Exception, step: int | None) -> int | None:
        """The step before which the root frame can be left, so that Python goes on from there;
        earlier than the one at which this run was to stop."""
        root = self.machine.root
        if root is None or root.code is not self._root_code():
            return None
        if root.code.co_flags & inspect.CO_GENERATOR:
            return None
        found = self._step_of(error, root)
        return found if found is not None and (step is None or found < step) else None

    def _step_of(self, error: Exception, root: Frame) -> int | None:
        machine = self.machine
        if isinstance(error, RaisedHere | BreakEarlier):
            return error.step
        if self.finished:  # something that leaves could not be built: where was it made?
            refused = self.emitter.refused if self.emitter is not None else []
            origins = machine.made_at | machine.raised_at
            steps = [origins[id(value)][0] for value in refused if id(value) in origins]
            return steps[0] if steps else None
        if not isinstance(error, GraphBreak) or error.row.runs == CALL:
            return None
        raised = error.__cause__
        if isinstance(raised, UserRaise) and raised.value.source is None:
            return machine.raised_at[id(raised.value)][0]
        return root.step

    def reason_at(self, error: Exception, found: GraphBreak) -> GraphBreak:
        """Why the next run stops earlier."""
        if isinstance(error, RaisedHere):
            return GraphBreak("exception-lives-on", "an exception is raised")
        if isinstance(error, BreakEarlier):
            return found
        refused = self.emitter.refused if self.emitter is not None else []
        if any(id(value) in self.machine.raised_at for value in refused):
            return GraphBreak("exception-lives-on", "an exception is raised")
        if self.finished:
            return GraphBreak("made-by-python", found.detail)
        return found

    def _root_code(self) -> types.CodeType | None:
        """The code of the frame whose result is the result of the call."""
        if self.place is not None:
            return self.place.code
        fn = self.args[0] if self.fn is call_through else self.fn
        while isinstance(fn, functools.partial):
            fn = fn.func
        if isinstance(fn, Module) and not any(getattr(fn, name) for name in HOOK_TABLES):
            fn = fn.forward
        found = function_of(fn)
        return found[0].__code__ if found is not None else None

    # ---- telling

    def told(self, stopped: GraphBreak) -> GraphBreak:
        """Emit what there is to tell of a capture that came to nothing."""
        stopped.then = "this call runs as Python from here on."
        if self.place is None:
            stopped.then = "this call runs as Python."
        artifacts.emit("capture.source", self.unit, self._source())
        artifacts.emit("capture.bytecode", self.unit, str(self.trace), rows=self.trace.facts())
        _emit_break(self.unit, stopped)
        return stopped

    def _source(self) -> SourceText:
        return SourceText(self.args[0] if self.fn is call_through else self.fn, self.place)

    def tell(self, program: CapturedProgram) -> None:
        """Emit the stages of a capture."""
        unit, trace = self.unit, self.trace
        artifacts.emit("capture.source", unit, self._source())
        artifacts.emit("capture.bytecode", unit, str(trace), rows=trace.facts())
        guards = program.guards
        artifacts.emit("capture.guards", unit, guards, host=program.source_text,
                       guards=guards.facts())  # fmt: skip
        artifacts.emit("capture.graph", unit, program.graph)
        if program.stop is not None:
            _emit_break(unit, program.stop.reason)


def _emit_break(unit: str, stopped: GraphBreak) -> None:
    artifacts.emit("capture.break", unit, stopped.text(), code=stopped.row.code,
                   detail=stopped.detail, where=str(stopped.span or ""))  # fmt: skip


def is_entered(scope: dict[str, Any]) -> bool:
    """Whether a function with these globals is compiled by itself when a break calls it: the
    user's are, modules and optimizers, but not what Python and numpy bring."""
    name = scope.get("__name__", "")
    if name.startswith(LIBRARIES):
        return name.startswith(ENTERED)
    return name == "__main__" or name.partition(".")[0] not in sys.stdlib_module_names


def _looks_out(frame: Frame) -> bool:
    """Whether a function looks at the frames of its callers, which must be Python's then."""
    first = frame.slots[0] if frame.code.co_argcount else None
    owner = type(first.object) if isinstance(first, Lazy) else getattr(first, "cls", object)
    return frame.function is not None and looks_at_callers(frame.function, owner)


def call_through(function: Any, *args: Any, **kwargs: Any) -> Any:
    """A call whose function is an argument: what is compiled for functions called at a break."""
    return function(*args, **kwargs)


def _internal(error: Exception) -> GraphBreak:
    """A mistake of capture itself: the call runs as Python, unless checks are on."""
    if config.check:
        raise error
    return GraphBreak("internal", f"{type(error).__name__}: {error}")


def _modes() -> tuple:
    return (*(getattr(dispatch.state, name) for name in _MODES), births.inference)


def _set_modes(modes: tuple) -> None:
    for name, mode in zip(_MODES, modes[:-1], strict=True):
        setattr(dispatch.state, name, mode)
    count_births(modes[-1])


def _raised_text(error: Value) -> str:
    """`it raises KeyError: 'x'`, as far as capture knows the text."""
    text = f"it raises {error.python_type().__name__}"
    try:
        return f"{text}: {str(error.known()).splitlines()[0]}"
    except Exception:
        return text


def _finished(machine: Machine) -> GuardSet:
    machine.guard_absent_names()
    guards = machine.state.guards
    guards.compile()
    return guards


def _check_containers(state: CaptureState) -> None:
    """What is written must not be one object with something else that was looked at."""
    targets = [target for target in state.effects.targets() if target.source is not None]
    seen = [value for value in state.by_id.values() if value.source is not None] if targets else []
    for kind in dict.fromkeys(target.python_type() for target in targets):
        written = [each for each in targets if each.python_type() is kind]
        mine = set(map(id, written))
        others = [
            each
            for each in seen
            if id(each) not in mine
            and each.python_type() is kind
            and not (isinstance(each.source, AttributeSource) and each.source.name in OWN_TABLES)
        ]
        own = dict.fromkeys(each.source for each in written)  # a class is several values
        guard = kinds.apart_guard(list(own), [each.source for each in others], state.span())
        if guard is not None:
            state.add(guard)


def _check_keys(state: CaptureState) -> None:
    """Keys that are hashed by identity were objects of their own, whatever was found by them."""
    kinds_of: dict[type, list[Source]] = {}
    for value in state.keyed.values():
        if value.source is not None and not isinstance(value.source, MadeSource):
            kinds_of.setdefault(value.python_type(), []).append(value.source)
    for sources in kinds_of.values():
        guard = kinds.apart_guard(list(dict.fromkeys(sources)), [], state.span())
        if guard is not None:
            state.add(guard)


def _check_memory(state: CaptureState) -> None:
    """Inputs that are written must share memory with no other input, now and later, and none of
    their elements may be another one too (an expanded tensor)."""
    tensors = [item for item in state.inputs if isinstance(item.object, Tensor)
               and not isinstance(item.source, MadeSource)]  # fmt: skip
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

    __slots__ = ("fn", "place")

    def __init__(self, fn: Any, place: Place | None = None):
        self.fn, self.place = fn, place

    def __str__(self) -> str:
        fn = self.fn if self.place is None else self.place.code
        is_code = inspect.isroutine(fn) or inspect.iscode(fn)
        found = fn if is_code else getattr(fn, "forward", type(fn))
        try:
            lines, first = inspect.getsourcelines(found)
        except (OSError, TypeError):
            return "(no source)"
        text = "".join(f"{first + index:>5}  {line}" for index, line in enumerate(lines)).rstrip()
        return text if self.place is None else f"(goes on at {self.place.span()})\n{text}"

"""The cache of one compiled function: entries with guards, tried in turn without a lock.

In: a function, and how to compile a captured program. Out: a callable that runs the first entry
whose guards hold, captures when none does, and runs the original where capture breaks.

    cache = CodeCache(fn, "script.py:fn#0", compile_program)
    cache(x)            # captures, compiles, runs
    cache(x)            # guards, run

Entries are kept by the shape of the call (how many positional arguments, which keywords), in a
tuple that is replaced as a whole. A size, an int or a float that made an entry miss is symbolic in
the next one. When an operation fails inside the compiled code, nothing has been written yet, and
the call runs as Python: it raises the error after the effects that precede it, or handles it.
"""

from __future__ import annotations

import functools
import inspect
import os
import types
import warnings
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from minitorch2 import artifacts, forks
from minitorch2.artifacts import Span
from minitorch2.compile_settings import counters, limits, settings
from minitorch2.dispatch import state
from minitorch2.errors import CompileError
from minitorch2.garbage import rarely_collected
from minitorch2.jit.autodiff.runtime import GraphFailed
from minitorch2.jit.capture.attempt import call_through
from minitorch2.jit.capture.captured import CapturedProgram
from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.inputs import VARIES
from minitorch2.jit.capture.marks import check_marks
from minitorch2.jit.capture.program import capture, is_disabled, is_plain_python
from minitorch2.jit.capture.resume.place import Place
from minitorch2.jit.capture.resume.splice import Rest
from minitorch2.jit.capture.resume.stop import entered
from minitorch2.jit.capture.source import Call
from minitorch2.jit.guards import Guard, GuardSet
from minitorch2.jit.pieces import Piece
from minitorch2.jit.recompiles import Recompile, recompile_of, story
from minitorch2.jit.trials import Trial, try_out
from minitorch2.phases import phase


@dataclass(frozen=True, slots=True)
class Entry:
    """One way to run the function: `program` is None where it runs as Python."""

    check: Callable[..., bool]
    run: Callable[..., Any]
    guards: GuardSet
    program: CapturedProgram | None
    compiled: Callable[[list], list] | None = None


@dataclass(eq=False)
class CodeCache:
    """A compiled function. `compile_program` makes the graph's callable."""

    fn: Any
    unit: str
    compile_program: Callable[[CapturedProgram], Callable[[list], list]]
    fullgraph: bool = False
    dynamic: bool | None = None
    entries: dict[Hashable, tuple[Entry, ...]] = field(default_factory=dict)
    recompiles: list[Recompile] = field(default_factory=list)
    free_sizes: dict[str, frozenset[int]] = field(default_factory=dict)
    breaks: list[GraphBreak] = field(default_factory=list)
    place: Place | None = None  # where `fn`, the rest of a function, begins
    root: CodeCache | None = None  # of the function that was compiled
    children: dict[Hashable, CodeCache] = field(default_factory=dict)
    _lock: Any = field(default_factory=forks.lock)
    _warned: set[Hashable] = field(default_factory=set)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        key = (len(args), *kwargs) if kwargs else len(args)
        for entry in self.entries.get(key, ()):
            if entry.check(*args, **kwargs):
                break
        else:
            return self._miss(key, args, kwargs)
        try:
            return entry.run(*args, **kwargs)
        except GraphFailed:
            pass  # and it has done nothing yet
        return self.fn(*args, **kwargs)

    def _miss(self, key: Hashable, args: tuple, kwargs: dict[str, Any]) -> Any:
        if state.capturing or state.modes:
            return self.fn(*args, **kwargs)
        if is_plain_python(self.fn):
            return self._plainly(args, kwargs)
        if settings.stance != "default" and self._refuses(key, args, kwargs):
            return self.fn(*args, **kwargs)
        with self._lock:
            entry = self._find(key, args, kwargs)
            if entry is None:
                entry = self._add(key, args, kwargs)
        try:
            if entry is not None:
                return entry.run(*args, **kwargs)
        except GraphFailed:
            pass
        return self.fn(*args, **kwargs)

    def _plainly(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A generator, a coroutine: Python runs it. That is told once."""
        code = getattr(self.fn, "__code__", None)
        if not self.breaks and self.root is None and code is not None and not is_disabled(self.fn):
            kind = "generator" if code.co_flags & inspect.CO_GENERATOR else "async"
            reason = GraphBreak("generator", f"{kind} function {code.co_name}()",
                                Span(code.co_filename, code.co_firstlineno))  # fmt: skip
            reason.then = "this function always runs as Python."
            if self.fullgraph:
                raise reason.as_error()
            self._broken(reason)
        return self.fn(*args, **kwargs)

    def entry_for(self, values: tuple) -> Entry | None:
        """The entry for what stands at a place; None when the rest is to run as Python."""
        key = len(values)
        for entry in self.entries.get(key, ()):
            if entry.check(*values):
                return entry
        if state.capturing or state.modes:
            return None
        with self._lock:
            return self._find(key, values, {}) or self._add(key, values, {})

    # ---- the family: what is compiled when the function goes on after a break

    def at(self, place: Place) -> CodeCache:
        """The cache of a place in this function, or in one that it calls at a break."""
        return self._child(place, lambda: Rest(place), place)

    def called(self, code: CodeType, callee: Any) -> Any:
        """A function with this code that is called at a break, compiled by itself."""
        found = entered(code, callee)
        if found is None:
            return callee
        cache = self._child(code, lambda: call_through, None)
        return functools.partial(cache, found[0], *found[1])

    def _child(self, key: Hashable, make: Callable[[], Any], place: Place | None) -> CodeCache:
        family = self.root or self
        found = family.children.get(key)
        if found is None:
            with family._lock:
                unit = _unit_of(family, place.code if place is not None else key)
                made = CodeCache(make(), unit, family.compile_program, False, family.dynamic,
                                 recompiles=family.recompiles, breaks=family.breaks, place=place,
                                 root=family)  # fmt: skip
                found = family.children.setdefault(key, made)
        return found

    def all_entries(self) -> Iterator[Entry]:
        """Everything that was compiled: for the function, then for its places and callees."""
        for cache in (self, *self.children.values()):
            for entries in cache.entries.values():
                yield from entries

    def _refuses(self, key: Hashable, args: tuple, kwargs: dict[str, Any]) -> bool:
        """Whether the stance of this thread lets the call run as Python, or not at all."""
        first = not self.entries
        if settings.stance == "fail_on_recompile" and not first:
            why: Any = "another signature"
            if key in self.entries:
                guards = self.entries[key][-1].guards
                why = recompile_of(self.unit, key, guards, guards.call_of(args, kwargs))
            raise self._too_often(f"it would be compiled again: {why}")
        return settings.stance in ("force_eager", "only_compiled") or (
            settings.stance == "eager_on_recompile" and not first
        )

    def _too_often(self, why: str) -> CompileError:
        remedy = "keep what changed the same, or allow it (set_stance, torch._dynamo.config)"
        return CompileError(f"a call of {self.unit}", why, remedy)

    def forget(self) -> None:
        """Everything that was compiled is gone, and what was learned of sizes that change."""
        with self._lock:
            self.entries, self.children, self.free_sizes = {}, {}, {}
            self.recompiles.clear()
            self.breaks.clear()
            self._warned.clear()

    def _find(self, key: Hashable, args: tuple, kwargs: dict[str, Any]) -> Entry | None:
        """Another thread may have added the entry in the meantime."""
        for entry in self.entries.get(key, ()):
            if entry.check(*args, **kwargs):
                return entry
        return None

    def _add(self, key: Hashable, args: tuple, kwargs: dict[str, Any]) -> Entry | None:
        """Capture and compile; None when there are too many entries already."""
        entries = self.entries.get(key, ())
        if key in self._warned and len(entries) >= limits.recompilations:
            return None
        if entries:
            self._record(key, entries[-1], args, kwargs)
        if entries and limits.fail_on_recompile:
            raise self._too_often(f"it would be compiled again: {self.recompiles[-1]}")
        if len(entries) >= limits.recompilations:
            self._warn(key, entries[-1].guards.call_of(args, kwargs), args, kwargs)
            return None
        entry = self._compile(args, kwargs)
        self.entries = self.entries | {key: (*entries, entry)}
        return entry

    @rarely_collected()
    @phase("capture")
    def _compile(self, args: tuple, kwargs: dict[str, Any]) -> Entry:
        asked = settings.error_on_break
        counters["frames"]["total"] += 1
        whole = self.fullgraph if asked is None else asked
        try:
            dynamic = self.dynamic if limits.automatic_dynamic else bool(self.dynamic)
            program = capture(self.fn, args, kwargs, unit=self.unit, dynamic=dynamic,
                              free_sizes=self.free_sizes, place=self.place,
                              resume=not whole)  # fmt: skip
            check_marks(program, program.guards.call_of(args, kwargs))
        except GraphBreak as stopped:
            if whole:
                raise stopped.as_error() from None
            self._broken(stopped.forgetful())
            check = stopped.guards.check
            return Entry(check, self.fn, stopped.guards, None)
        counters["frames"]["ok"] += 1
        if program.graph.nodes:
            counters["stats"]["unique_graphs"] += 1
            counters["stats"]["calls_captured"] += len(program.graph.nodes)
        compiled = self.compile_program(program)
        run = program.bind(compiled)
        if program.stop is not None:
            self._broken(program.stop.reason)
            run = Piece(self.root or self, run, program.stop)
        assert program.guards.check is not None
        return Entry(program.guards.check, run, program.guards, program, compiled)

    def _broken(self, reason: GraphBreak) -> None:
        self.breaks.append(reason)
        counters["graph_break"][reason.row.code] += 1

    def _record(self, key: Hashable, entry: Entry, args: tuple, kwargs: dict[str, Any]) -> None:
        """Say why the newest entry does not fit, and learn which sizes change."""
        call = entry.guards.call_of(args, kwargs)
        record = recompile_of(self.unit, key, entry.guards, call)
        if record is None:
            return
        self.recompiles.append(record)
        _learn(self.free_sizes, entry.guards, call)
        artifacts.emit("capture.recompile", self.unit, record, **record.facts())

    def _warn(self, key: Hashable, call: Call, args: tuple, kwargs: dict[str, Any]) -> None:
        """The whole story, once: what changed each time, and what would help."""
        self._warned.add(key)
        told = [each for each in self.recompiles if (each.unit, each.key) == (self.unit, key)]

        def capture_with(trial: Trial) -> CapturedProgram:
            with artifacts.muted():
                return capture(self.fn, args, kwargs, unit=self.unit, dynamic=trial.dynamic,
                               free_sizes={**self.free_sizes, **trial.free}, place=self.place,
                               resume=not self.fullgraph, in_place=trial.in_place)  # fmt: skip

        text = story(self.unit, limits.recompilations, told,
                     lambda trial: try_out(trial, capture_with, call), self.dynamic)  # fmt: skip
        artifacts.emit("capture.limit", self.unit, text, compilations=limits.recompilations)
        if limits.fail_at_the_limit:
            raise self._too_often(text)
        warnings.warn(text, stacklevel=5)


def _learn(free_sizes: dict[str, frozenset[int]], guards: GuardSet, call: Call) -> None:
    """Every size of an input that is not what the entry has becomes symbolic."""
    for guard in guards.guards:
        try:
            changed = _varying(guard, call)
        except (AttributeError, LookupError, TypeError):
            continue
        if changed:
            known = free_sizes.get(guard.subject(), frozenset())
            free_sizes[guard.subject()] = known | changed


def _varying(guard: Guard, call: Call) -> frozenset[int]:
    """The sizes of a tensor, or the int itself, that a guard finds changed."""
    if guard.kind == "tensor":
        return guard.expected.changed_sizes(guard.sources[0].fetch(call))
    kind = type(guard.expected)
    if kind in (int, float) and not guard.test.startswith("len"):
        now = guard.sources[0].fetch(call)
        if type(now) is kind and now != guard.expected:
            return VARIES
    return frozenset()


def _unit_of(family: CodeCache, code: Any) -> str:
    """The name of a part: `train.py:step#0.3`, and `train.py:helper#step0.4` in a callee."""
    number = len(family.children) + 1
    own, _, count = family.unit.partition("#")
    file, name = os.path.basename(code.co_filename), code.co_qualname.replace("<locals>.", "")
    stem = f"{file}:{name.replace('<lambda>', 'lambda')}"
    if stem == own:
        return f"{family.unit}.{number}"
    return f"{stem}#{own.rpartition(':')[2]}{count}.{number}"


def bound_to(cache: CodeCache, owner: Any) -> types.MethodType:
    """The cache as a method of an instance, for compiled functions in a class body."""
    return types.MethodType(cache, owner)

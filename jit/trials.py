"""Remedies for recompilations that are tried before they are named: the call is traced once more.

In: what changed at one source over several compilations. Out: trials, each with what the user
would do and how capture can pretend that it was done: other sizes are symbolic, or something else
stands in a place. A trial helps when the guards of the program it gives hold for all the values
there were. Nothing of the function happens while it is traced.

    trial = trials_for(changes, dynamic=None)[0]
    outcome = try_out(trial, capture_with, call)
    f"{trial.words}; {outcome.text}"

Source: torch._dynamo.mark_dynamic, and the remedies in torch's guide to recompilations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from minitorch2.creation import tensor
from minitorch2.dtypes import dtype
from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.source import ArgumentSource, Call, Source
from minitorch2.jit.changes import Change, described
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor, fake_tensor

_stack = lookup("stack").public
WHOLE = frozenset({-1})  # an int or a float that varies, among the free sizes
Put = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Trial:
    """What the user would do, and how to pretend it. `seen`: what stood there, after that."""

    words: str
    source: Source
    seen: tuple[Any, ...]
    dynamic: bool | None = None
    free: Mapping[str, frozenset[int]] = field(default_factory=dict)
    in_place: Mapping[str, Put] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a trial: for which share of the values one compilation is enough, and why."""

    fits: float
    text: str

    @property
    def helps(self) -> bool:
        """Whether it helps at all."""
        return self.fits > 0.5

    def sign(self) -> str:
        """One word for it."""
        return "yes" if self.fits == 1 else "partly" if self.helps else "no"


def try_out(trial: Trial, capture_with: Callable[[Trial], Any], call: Call) -> Outcome:
    """Trace the call as if it was done, and look which values the guards then let pass."""
    try:
        program = capture_with(trial)
    except GraphBreak as stopped:
        return Outcome(0, f"it cannot be captured then: {_place(stopped)}")
    except Exception as error:
        return Outcome(0, f"it fails then: {type(error).__name__}: {error}")
    refused = [(value, _refusal(program, trial.source, value, call)) for value in trial.seen]
    refused = [(value, reason) for value, reason in refused if reason is not None]
    count = len(trial.seen)
    fits = (count - len(refused)) / count if count else 1.0
    if fits == 1 and trial.in_place and program.stop is not None:
        text = f"but the graph breaks then: {_place(program.stop.reason)}"
        return Outcome(0, text)
    if fits == 1:
        return Outcome(1, f"one compilation is enough for all {count} values" if count
                       else "one compilation is enough")  # fmt: skip
    value, reason = refused[-1]
    if fits > 0.5:
        text = f"enough for {count - len(refused)} of {count} values; not for {described(value)}"
        return Outcome(fits, f"{text}, as {reason}")
    return Outcome(0, f"{reason}")


def _refusal(program: Any, source: Source, value: Any, call: Call) -> str | None:
    """Why the program's guards do not let a value pass; None when they do."""
    for guard in program.guards.guards:
        if source not in guard.sources:
            continue
        try:
            fails = guard.fails_with(call, source, value)
        except Exception:
            fails = True
        if fails:
            where = f" at {guard.span}" if guard.span is not None else ""
            return f"{guard.subject()} is needed as it is{where}: {guard.meaning}"
    return None


def _place(stopped: GraphBreak) -> str:
    return f"[{stopped.row.code}] {stopped.detail} at {stopped.span}"


def trials_for(changes: list[Change], dynamic: bool | None) -> list[Trial]:
    """What may help against the changes of one value, in the order in which to try it."""
    source, subject = changes[0].source, changes[0].subject
    assert source is not None
    seen = _unique([value for each in changes for value in (each.before, each.after)])
    newest = changes[-1]
    if all(isinstance(value, Tensor) for value in seen):
        return _of_tensors(source, changes, seen, dynamic)
    numbers = [value for value in seen if type(value) in (int, float)]
    if newest.what == "length":
        return _of_lists(source, newest, changes)
    if numbers and len(numbers) == len(seen):
        return _of_numbers(source, numbers, dynamic)
    if newest.kind == "code" or newest.what == "object":
        where = "pass the same one" if isinstance(source, ArgumentSource) else "keep it"
        return [Trial(f"make {subject} once, outside of the loop, and {where} in each call",
                      source, (), dynamic)]  # fmt: skip
    return []


def _unique(values: list[Any]) -> list[Any]:
    found: dict[Any, Any] = {}
    for value in values:
        key = repr(value) if not isinstance(value, Tensor) else (described(value), *_facts(value))
        found.setdefault(key, value)
    return list(found.values())


def _facts(value: Tensor) -> tuple:
    return value.layout.strides, value.requires_grad


def _of_numbers(source: Source, numbers: list[Any], dynamic: bool | None) -> list[Trial]:
    subject, found = str(source), []
    if dynamic is False:
        found.append(Trial("leave dynamic=False out", source, tuple(numbers), None,
                           {subject: WHOLE}))  # fmt: skip
    verb = "pass" if isinstance(source, ArgumentSource) else "keep"
    found.append(Trial(f"{verb} {subject} as a tensor, torch.tensor({subject})", source,
                       tuple(map(tensor, numbers)), dynamic, {}, {subject: tensor}))  # fmt: skip
    return found


def _of_tensors(
    source: Source, changes: list[Change], seen: list[Any], dynamic: bool | None
) -> list[Trial]:
    subject = str(source)
    places = [re.fullmatch(r"shape\[(\d+)\]", each.what) for each in changes]
    dims = frozenset(int(place[1]) for place in places if place is not None)
    found: list[Trial] = []
    if dims:
        free = {subject: dims}
        if dynamic is False:
            found.append(Trial("leave dynamic=False out", source, tuple(seen), None, free))
        marked = min(dims) if len(dims) == 1 else tuple(sorted(dims))
        found.append(Trial(f"torch.compiler.mark_dynamic({subject}, {marked})", source,
                           tuple(seen), None, free))  # fmt: skip
        if not all(value.is_contiguous() for value in seen):
            found.append(
                _changed(source, [("contiguous()", lambda x: x.contiguous())], seen, None, free)
            )
    whats = {each.what for each in changes}
    methods = {"requires_grad": ("detach()", lambda x: x.detach()), "dtype": _to(seen[0].dtype)}
    if not dims:
        methods["strides"] = ("contiguous()", lambda x: x.contiguous())
    chosen = [method for what, method in methods.items() if what in whats]
    if chosen:
        found.append(_changed(source, chosen, seen, dynamic, {}))
    return found


def _to(kind: dtype) -> tuple[str, Put]:
    return f"to({kind})", lambda x: x.to(kind)


def _changed(
    source: Source, methods: list[tuple[str, Put]], seen: list[Any], dynamic: bool | None,
    free: Mapping[str, frozenset[int]],
) -> Trial:  # fmt: skip
    """Call methods of the tensor before."""
    verb = "pass" if isinstance(source, ArgumentSource) else "keep"

    def change(value: Any) -> Any:
        for _, method in methods:
            value = method(value)
        return value

    text = ".".join(word for word, _ in methods)
    return Trial(f"{verb} {source}.{text}", source, tuple(change(each) for each in seen), dynamic,
                 free, {str(source): change})  # fmt: skip


def _of_lists(source: Source, newest: Change, changes: list[Change]) -> list[Trial]:
    """A list of like tensors as one tensor."""
    if newest.items is None:
        return []
    verb = "pass" if isinstance(source, ArgumentSource) else "keep"
    lengths = _unique([length for each in changes for length in (each.old, each.new)])
    shape = tuple(newest.items.layout.shape)
    seen = tuple(fake_tensor((length, *shape), newest.items.dtype, None, newest.items.device)
                 for length in lengths)  # fmt: skip
    subject = str(source)
    return [Trial(f"{verb} torch.stack({subject}) instead of the list", source, seen, None,
                  {subject: frozenset({0})}, {subject: _stack})]  # fmt: skip

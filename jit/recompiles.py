"""The story of the recompilations of one function, told once, when there are too many.

In: every recompilation, with all that had changed, and the call that would be the next one. Out:
one text: what changed each time, at which line, and what would help. What would help is not a
guess: `trials` traces the call again with it and looks whether the guards then hold for every
value there was.

    train.py:step#0 was compiled 8 times, which is the limit ...
      2. n: was 0; now 1 (read at train.py:12)
      ...
           for _ in range(n):
                    ^^^^^^^^
    Tried on this call, by tracing it again:
      no: dynamic=True; n==8 held at train.py:12

Source: TORCH_LOGS=recompiles, told at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from minitorch2.artifacts import Span
from minitorch2.jit.capture.graph_break import underlined
from minitorch2.jit.capture.source import Call
from minitorch2.jit.changes import Change, advice_on, described
from minitorch2.jit.guards import Guard, GuardSet
from minitorch2.jit.trials import Outcome, Trial, trials_for

MORE = 3  # changes told of one recompilation, and places shown of all


@dataclass(frozen=True, slots=True)
class Recompile:
    """Why a function was captured again: what had changed since its newest compilation.

    `unit` and `key` name the part of the program and the shape of the call.
    """

    unit: str
    key: Hashable
    changes: tuple[Change, ...]

    @property
    def first(self) -> Change:
        """The change that the guards met first."""
        return self.changes[0]

    @property
    def guard(self) -> str:
        """What the first change is about."""
        return self.first.subject

    @property
    def where(self) -> str:
        """The user's line that read it."""
        return str(self.first.span or "")

    @property
    def advice(self) -> str:
        """What to do about the first change, in general."""
        return advice_on(self.first)

    def facts(self) -> dict[str, str]:
        """The first change as plain data."""
        first = self.first
        return {"guard": first.subject, "what": first.what, "old": described(first.old),
                "new": described(first.new), "where": self.where}  # fmt: skip

    def line(self) -> str:
        """All that had changed, in one line."""
        shown = "; ".join(map(str, self.changes[:MORE]))
        more = len(self.changes) - MORE
        return f"{shown}; and {more} more" if more > 0 else shown

    def __str__(self) -> str:
        return f"{self.first}\n  to avoid it: {self.advice}"


def recompile_of(unit: str, key: Hashable, guards: GuardSet, call: Call) -> Recompile | None:
    """What a call has otherwise than the guards need; None when they hold."""
    changes: dict[tuple, Change] = {}
    for guard in guards.guards:
        if _fails(guard, call):
            for found in guard.changes(call):
                changes.setdefault((found.subject, found.what), found)
    return Recompile(unit, key, tuple(changes.values())) if changes else None


def _fails(guard: Guard, call: Call) -> bool:
    try:
        return guard.fails(call)
    except Exception:
        return True  # what it looks at is not there


def story(
    unit: str,
    limit: int,
    told: list[Recompile],
    try_out: Callable[[Trial], Outcome],
    dynamic: bool | None,
) -> str:
    """The whole text of the warning; the last of `told` is the call that is not compiled."""
    lines = [
        f"{unit} was compiled {limit} times, which is the limit "
        "(torch.compiler.config.recompile_limit); calls that would need another compilation run "
        "as Python from now on.",
        "Each time something had changed that the compiled code depends on:",
    ]
    lines += [f"  {number}. {each.line()}" for number, each in enumerate(told, 2)]
    lines += _places(told)
    found = [(trial.words, try_out(trial)) for trial in _candidates(told, dynamic)]
    found.sort(key=lambda pair: -pair[1].fits)
    if found:
        lines.append("Tried, by tracing this call again:")
    lines += [f"  {outcome.sign()}: {words}; {outcome.text}" for words, outcome in found]
    if not any(outcome.helps for _, outcome in found):
        advice = "; or ".join(dict.fromkeys(each.advice for each in told))
        lines.append(f"{'Nothing of that helps. ' if found else ''}To avoid it: {advice}")
    return "\n".join(lines)


def _candidates(told: list[Recompile], dynamic: bool | None) -> list[Trial]:
    """What may help, for each value that changed."""
    by_source: dict[object, list[Change]] = {}
    for each in told:
        for change in each.changes:
            if change.source is not None:
                by_source.setdefault(change.source, []).append(change)
    found: dict[str, Trial] = {}
    for changes in by_source.values():
        for trial in trials_for(changes, dynamic):
            found.setdefault(trial.words, trial)
    return list(found.values())


def _places(told: list[Recompile]) -> list[str]:
    """The user's lines that read what changed, with carets."""
    spans: dict[Span, None] = {}
    for each in told:
        for change in each.changes:
            if change.span is not None:
                spans[change.span] = None
    lines: list[str] = []
    for span in list(spans)[:MORE]:
        shown = underlined(span)
        lines += [f"  {span}", *shown] if shown else []
    return lines

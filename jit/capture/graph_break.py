"""Graph breaks: every reason why capture cannot go on, in the user's terms, with what to do.

In: the code of a row, details, the user's place. Out: `GraphBreak`, whose text is the same whether
it is shown by `mt2 explain` or raised by `fullgraph=True`.

    >>> print(GraphBreak("data-dependent", "Tensor.item()").text())
    graph break [data-dependent] Tensor.item()
      why: The program asks for a number inside a tensor, and capture has shapes only, no numbers.
      hint: Keep the value in a tensor (torch.where, masking), or do this outside.

A new reason is a new row; nothing else needs to know of it.
"""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from types import CodeType
from typing import Any

from minitorch2.artifacts import Span
from minitorch2.errors import GraphBreakError

# What Python does at a break, before capture goes on or instead of that.
OPERATION = "the operation"
REST = "the rest of the function"
CALL = "the function from the last break on"


@dataclass(frozen=True, slots=True)
class Row:
    """One reason: its code, what is the matter, what the user may do, what runs as Python."""

    code: str
    explanation: str
    hints: tuple[str, ...]
    runs: str = OPERATION


ROWS = (
    Row(
        "data-dependent",
        "The program asks for a number inside a tensor, and capture has shapes only, no numbers.",
        ("Keep the value in a tensor (torch.where, masking), or do this outside.",),
    ),
    Row(
        "tensor-branch",
        "A condition depends on the numbers inside a tensor.",
        ("Use torch.where(condition, a, b) when both sides are cheap.",),
    ),
    Row(
        "backward",
        "The backward pass is started inside the compiled function.",
        ("Return the loss and call loss.backward() outside.",),
    ),
    Row(
        "gradient-machinery",
        "The call reaches into autograd (retain_grad, what is in a grad_fn, hooks on results, a "
        "backward of your own that reads what may change before it runs) while it is captured.",
        ("Do it outside of the compiled function.",),
    ),
    Row(
        "input-output",
        "The call talks to the world outside (printing, files, time), which must happen in order.",
        ("Move it out of the compiled function.",),
    ),
    Row(
        "unknown-call",
        "The function called is native code of which capture does not know the effects.",
        ("Move the call out, or write it in Python, which capture reads through.",),
    ),
    Row(
        "kept-answer",
        "The function called keeps its answers (lru_cache), and what it gives here must be the "
        "cache's own: there is none yet, one may be pushed out, or the counts are asked for.",
        ("Call it once before: an answer that is there is captured.",),
    ),
    Row(
        "disabled",
        "The function called is marked with torch.compiler.disable.",
        ("Take the mark away.",),
    ),
    Row(
        "unknown-object",
        "An object of this type has no model in capture.",
        ("Pass plain Python values, tensors, modules or instances of ordinary classes.",),
    ),
    Row(
        "unknown-attribute",
        "Capture does not know what reading or writing this attribute does.",
        ("Read it outside and pass the result in.",),
    ),
    Row(
        "unknown-operation",
        "This Python operation has no model in capture for these operands.",
        ("Use plain numbers, containers and tensors here.",),
    ),
    Row(
        "unhandled-opcode",
        "This kind of bytecode instruction is not captured.",
        ("Move the statement into a function that is not compiled.",),
    ),
    Row(
        "generator",
        "Generators, coroutines and async functions run as Python, step by step.",
        ("Compile the functions they call instead.",),
    ),
    Row(
        "aliased-inputs",
        "Two inputs share memory and one of them is written.",
        ("Pass a clone of one of them.",),
        CALL,
    ),
    Row(
        "exception-escapes",
        "An exception that leaves the function is raised by Python, so that its traceback is true.",
        (),
    ),
    Row(
        "exception-lives-on",
        "An exception is raised that a later break will see; Python raises it, so that its "
        "traceback is true.",
        (),
    ),
    Row(
        "made-by-python",
        "What is made here must be there after the next break, and capture could not build it "
        "again; Python makes it.",
        ("Turn it into a list or a tuple, when it is small.",),
    ),
    Row(
        "frame",
        "The program takes hold of its own frame, which must be the real one from here to its end.",
        ("Look at the frame outside of the compiled function.",),
        REST,
    ),
    Row(
        "debugger",
        "A debugger looks at the frame from now on.",
        ("Take it out again.",),
        REST,
    ),
    Row(
        "may-fail",
        "The operation fails for some numbers, and an except or finally here would have to run.",
        ("Check the operands before, or move the try statement out.",),
    ),
    Row(
        "too-long",
        "The function runs through too many instructions or calls too deeply while captured.",
        ("Compile the body of the loop instead of the loop.",),
        CALL,
    ),
    Row(
        "class-statement",
        "What this class is made of is not known here (a base that says itself what it stands "
        "for, a metaclass over that of enums, names kept in something else than a dict).",
        ("Write the class outside of the compiled function.",),
    ),
    Row(
        "lifetime",
        "The program can tell when an object is freed (__del__, a weak reference); only where "
        "Python holds it is that its time.",
        ("Make the object outside of the compiled function.",),
        CALL,
    ),
    Row(
        "weak-reference",
        "A weak reference is asked for its object after a write that may have freed it.",
        ("Ask it before anything is written, and keep the object.",),
    ),
    Row(
        "schedule",
        "The next learning rate is computed from the number of the step, which differs each time.",
        ("Call scheduler.step() outside of the compiled function.",),
    ),
    Row(
        "random-generator",
        "The state of a generator is handed out or taken from somewhere, it is the default one, "
        "given to an operation by name, or its numbers are those of Python or numpy.",
        ("Seed a torch.Generator (manual_seed) and draw from it; both are captured.",),
    ),
    Row(
        "iterator-argument",
        "A generator, or another iterator that runs code, cannot be read ahead without moving it.",
        ("Pass a list.",),
    ),
    Row(
        "mode-active",
        "Another mode or hook watches every operation right now.",
        ("Call the compiled function outside of it.",),
        CALL,
    ),
    Row(
        "internal",
        "Capture itself failed here; the call runs as Python. Please report it.",
        (),
        CALL,
    ),
)
BY_CODE = {row.code: row for row in ROWS}


class GraphBreak(Exception):
    """Capture stops here. No user handler sees it."""

    def __init__(self, code: str, detail: str, span: Span | None = None):
        self.row = BY_CODE[code]
        self.detail = detail
        self.span = span
        self.guards: Any = None  # the GuardSet of the calls that would stop here again
        self.then = ""  # what Python does, and where capture goes on
        self.callee: CodeType | None = None  # the function it was in, called from the compiled one
        super().__init__(detail)

    def forgetful(self) -> GraphBreak:
        """The same without its traceback, whose frames hold the tensors of the call."""
        self.__traceback__ = self.__cause__ = self.__context__ = None
        return self

    def text(self, raised: bool = False) -> str:
        """The reason, the hints, and the user's line with carets under the operation. Where it is
        `raised` nothing comes then, and the hints are what to do."""
        lines = [f"graph break [{self.row.code}] {self.detail}"]
        if self.span is not None:
            lines[0] += f" at {self.span}"
            lines += underlined(self.span)
        lines.append(f"  why: {self.row.explanation}")
        if raised:
            return "\n".join([*lines, "  asked: one whole graph, by fullgraph=True"])
        lines += [f"  hint: {hint}" for hint in self.row.hints]
        if self.then:
            lines.append(f"  then: {self.then}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def as_error(self) -> GraphBreakError:
        """What `fullgraph=True` raises."""
        wholly = [GraphBreakError.remedy] if self.row.hints else []
        fix = " ".join([*self.row.hints, *wholly])
        error = GraphBreakError(self.text(raised=True), fix=fix)
        if self.span is not None:
            error.move_to(self.span.file, self.span.line)
        return error


def underlined(span: Span) -> list[str]:
    """The source line of a span with carets under its columns; nothing when there is no source."""
    line = linecache.getline(span.file, span.line).rstrip("\n")
    if not line.strip():
        return []
    text = line.strip()
    cut = len(line) - len(line.lstrip())
    # PEP 657 counts bytes of UTF-8
    start = len(line.encode()[: span.column].decode(errors="ignore")) - cut
    end = len(line.encode()[: span.end_column].decode(errors="ignore")) - cut
    if span.end_line not in (0, span.line) or end <= start:
        end = len(text)
    start = max(start, 0)
    return [f"    {text}", "    " + " " * start + "^" * max(end - start, 1)]

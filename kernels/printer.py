"""Loop IR as text: the grammar of loop_ir.py, read backwards.

In: a Kernel. Out: its text, which parser.py turns into an equal Kernel. With `origins=True` every
statement is followed by the user lines it comes from, as a comment.

Source: tinygrad and Exo print their kernels the same way, one statement a line.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from minitorch2.artifacts import Origin
from minitorch2.kernels.loop_ir import (
    Call,
    Cast,
    Check,
    Constant,
    Expression,
    IndexValue,
    Kernel,
    Let,
    LetIndex,
    Load,
    Loop,
    Name,
    Reduce,
    Require,
    Statement,
    Store,
    Window,
)

INDENT = "  "


def print_kernel(kernel: Kernel, origins: bool = False) -> str:
    """The text of a kernel, without a final newline."""
    parameters = [f"{b.name}: {b.dtype.short}[{b.size}] {b.mode}" for b in kernel.buffers]
    parameters += [f"{name}: size" for name in kernel.sizes]
    parameters += [f"{scalar.name}: {scalar.dtype.short}" for scalar in kernel.scalars]
    threads = f" threads {kernel.threads}" if kernel.threads else ""
    lines = [f"kernel {kernel.name}({', '.join(parameters)}){threads} {{"]
    lines += _block(kernel.body, 1, origins)
    return "\n".join([*lines, "}"])


def print_expression(expression: Expression) -> str:
    """The text of one expression."""
    match expression:
        case Name(name):
            return name
        case Constant(value, dtype):
            return f"{dtype.short}({value!r})"
        case Load(buffer, index):
            return f"{buffer}[{index}]"
        case IndexValue(index):
            return f"index({index})"
        case Cast(value, dtype):
            return f"cast_{dtype.short}({print_expression(value)})"
        case Call(function, args):
            return f"{function}({', '.join(map(print_expression, args))})"


def _block(body: Sequence[Statement], depth: int, origins: bool) -> list[str]:
    lines = []
    for statement in body:
        lines += _statement(statement, depth, origins)
    return lines


def _statement(statement: Statement, depth: int, origins: bool) -> list[str]:
    pad = INDENT * depth
    note = _note(statement.origin) if origins else ""
    match statement:
        case Let(name, value):
            return [f"{pad}{name}: {value.dtype.short} = {print_expression(value)}{note}"]
        case LetIndex(name, index):
            return [f"{pad}index {name} = {index}{note}"]
        case Window(name, inside, index, size):
            return [f"{pad}window {name}, {inside} = {index} in {size}{note}"]
        case Check(name, value, size, message):
            value_text = print_expression(value)
            return [f'{pad}check {name} = {value_text} in {size} else "{message}"{note}']
        case Require(condition, message):
            return [f'{pad}require {print_expression(condition)} else "{message}"{note}']
        case Store(buffer, index, value, accumulate):
            sign = "+=" if accumulate else "="
            return [f"{pad}{buffer}[{index}] {sign} {print_expression(value)}{note}"]
        case Loop(variable, extent, body, parallel):
            word = _spread("parallel" if parallel else statement.spread)
            head = f"{pad}for {variable} in {extent}{word} {{{note}"
            return [head, *_block(body, depth + 1, origins), f"{pad}}}"]
        case Reduce(_, body, accumulators):
            over = ", ".join(
                f"{variable} in {extent}{_spread(word)}"
                for variable, extent, word in statement.axes()
            )
            results = ", ".join(
                f"{a.name}: {a.dtype.short} = {a.reducer}({print_expression(a.value)})"
                for a in accumulators
            )
            head = f"{pad}reduce {over} {{{note}"
            return [head, *_block(body, depth + 1, origins), f"{pad}}} into {results}"]


def _spread(word: str) -> str:
    return f" {word}" if word else ""


def _note(origin: Origin) -> str:
    return f"  # {origin}"


@dataclass(frozen=True, slots=True)
class Listing:
    """Several kernels and host steps in order, with what fusion refused: an event's payload."""

    steps: tuple[Kernel | str, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [s if isinstance(s, str) else print_kernel(s, origins=True) for s in self.steps]
        return "\n\n".join([*parts, *(["\n".join(self.notes)] if self.notes else [])])

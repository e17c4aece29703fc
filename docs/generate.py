"""Write the pages of docs/ that the code itself knows: `python docs/generate.py`.

In: the classes of `minitorch2/errors.py`, the rows of `jit/capture/graph_break.py`, the programs of
`docs/told.py` and what they are told. Out: `docs/errors.md`, `docs/graph_breaks.md`,
`docs/told.md`, one section each. A test compares what stands there with what this writes.
"""

import contextlib
import inspect
import io
import runpy
import textwrap
from collections.abc import Callable
from pathlib import Path

from minitorch2 import errors
from minitorch2.jit.capture.graph_break import OPERATION, ROWS

DOCS = Path(__file__).resolve().parent


def builtin_of(error: type[errors.Mt2Error]) -> str:
    """The name of the builtin exception that a class also is, as torch raises it."""
    names = [
        base.__name__
        for base in error.__mro__
        if base.__module__ == "builtins" and base not in (Exception, BaseException, object)
    ]
    return names[0] if names else "Exception"


def error_classes() -> list[type[errors.Mt2Error]]:
    """Every error class, by its code."""
    found = [
        value
        for value in vars(errors).values()
        if inspect.isclass(value)
        and issubclass(value, errors.Mt2Error)
        and value is not errors.Mt2Error
    ]
    return sorted(found, key=lambda error: error.code)


def errors_page() -> str:
    """The text of docs/errors.md."""
    lines = [
        "# Errors",
        "",
        "Every error raised on purpose says what was asked, what is wrong and what to do, and",
        "names the user's line. Each class is also the builtin exception that torch raises for it.",
        "`python docs/generate.py` writes this page from `minitorch2/errors.py`; the places that",
        "a compiled function leaves to Python are in [graph_breaks.md](graph_breaks.md).",
    ]
    for error in error_classes():
        lines += [
            "",
            f"## {error.code} {error.__name__}",
            "",
            f"Caught as `{error.__name__}` or `{builtin_of(error)}`.",
            "",
            inspect.getdoc(error) or "",
            "",
            f"What to do: {error.remedy}",
        ]
    return "\n".join(lines) + "\n"


BREAKS = """\
# Graph breaks

A compiled function meets an operation that capture cannot follow: it prints, it asks for a number
inside a tensor, it calls native code. There the graph breaks. Then, in this order:

1. the graph so far runs, compiled, and the side effects before the break happen;
2. Python does the one operation, in a frame of the function's own, so that what it raises has the
   right line and reaches the function's own `except`, and open `with` blocks stay open;
3. capture goes on at the next instruction, with guards of its own for what it reads from there.

So a function with two breaks is three graphs. A loop that breaks in its body uses the same graphs
in every round. When the break is inside a function that is called, the call is the operation, and
the called function is compiled by itself, unless it looks at the frames of its callers
(`sys._getframe(1)`, `inspect.stack()`, `warnings.warn(stacklevel=2)`): it is Python's then.
Tracebacks that the program looks at show its own frames. Functions that native code calls
(`sorted(key=f)`, `map(f, xs)` that a native function reads) run as Python when they break. What is
no longer used after a break may be freed when its part of the function ends, not at once.

A generator that is alive at a break becomes Python's own there, and is asked by Python, item by
item. Iterators of Python's own (over lists, tuples, dicts, strings, ranges, and `enumerate` and
`zip` of such) are looked ahead of: a loop over one that breaks in its body is one graph a round.
Some breaks leave more to Python than one operation; each section below says so.

`mt2 explain` shows every break with its line, `mt2 count SCRIPTS` a table of ops captured, breaks
and what fell back to Python, and `compile(fullgraph=True)` raises the first break as
GraphBreakError. `python docs/generate.py` writes this page from `jit/capture/graph_break.py`.
"""


def folded(text: str) -> str:
    """A paragraph in lines of at most 100 columns."""
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def breaks_page() -> str:
    """The text of docs/graph_breaks.md."""
    lines = [BREAKS.rstrip()]
    for row in ROWS:
        lines += ["", f"## {row.code}", "", folded(row.explanation)]
        lines += [folded(f"What to do: {hint}") for hint in row.hints]
        if row.runs != OPERATION:
            lines.append(folded(f"Runs as Python: {row.runs}."))
    return "\n".join(lines) + "\n"


TOLD = """\
# What the compiler tells

A function that is compiled again and again, and one that breaks, each say so, with the user's line
and with what would help. Below are five of each, word for word. `python docs/told.py NAME` prints
one of them; `python docs/generate.py` writes this page.

## Recompilations

A compiled function is compiled again when something that it depends on has changed. A size, an int
or a float that changed once is symbolic from then on. After `torch.compiler.config.recompile_limit`
compilations further ones are not made, and one warning tells the whole story: what changed each
time, the line that reads it, and remedies. A remedy is not a guess: the call was traced again as if
it had been followed, and *yes* means that the guards then held for every value there was.
"""


def told_page() -> str:
    """The text of docs/told.md."""
    programs = runpy.run_path(str(DOCS / "told.py"))
    lines = [TOLD.rstrip()]
    for function, (title, _, options) in programs["RECOMPILED"].items():
        given = "".join(f", {name}={value}" for name, value in options.items())
        command = f"torch.compile({function.__name__}{given})"
        lines += _shown(function, title, command, programs["told"])
    lines += ["", "## Graph breaks", "", "All reasons: [graph_breaks.md](graph_breaks.md)."]
    for function, title in programs["BROKEN"].items():
        lines += _shown(
            function, title, f"torch.compiler.explain({function.__name__})", programs["told"]
        )
    return "\n".join(lines) + "\n"


def _shown(function: Callable, title: str, command: str, told: Callable) -> list[str]:
    """A section: the program, and what its user reads."""
    with contextlib.redirect_stdout(io.StringIO()):
        text = told(function.__name__)
    source = inspect.getsource(function).rstrip()
    return ["", f"### {title}", "", "```python", source, "", command, "```", "", "```text",
            *text.splitlines(), "```"]  # fmt: skip


PAGES = {"errors.md": errors_page, "graph_breaks.md": breaks_page, "told.md": told_page}


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
        print(f"docs/{name}")


if __name__ == "__main__":
    main()

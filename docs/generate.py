"""Write the pages of docs/ that the code itself knows: `python docs/generate.py`.

In: the classes of `minitorch2/errors.py` and the rows of `jit/capture/graph_break.py`. Out:
`docs/errors.md`, one section each. A test compares what stands there with what this writes.
"""

import inspect
from pathlib import Path

from minitorch2 import errors
from minitorch2.jit.capture.graph_break import ROWS

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
        "Graph breaks, the places that a compiled function runs as Python, stand below the errors.",
        "`python docs/generate.py` writes this page from `minitorch2/errors.py` and",
        "`jit/capture/graph_break.py`.",
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
    return "\n".join(lines + graph_breaks()) + "\n"


def graph_breaks() -> list[str]:
    """The lines of the section on graph breaks."""
    lines = [
        "",
        "## Graph breaks",
        "",
        "`mt2 explain` shows them, and `compile(fullgraph=True)` raises them as GraphBreakError.",
    ]
    for row in ROWS:
        lines += ["", f"### {row.code}", "", row.explanation]
        lines += [f"What to do: {hint}" for hint in row.hints]
    return lines


PAGES = {"errors.md": errors_page}


def main() -> None:
    """Write every page."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
        print(f"docs/{name}")


if __name__ == "__main__":
    main()

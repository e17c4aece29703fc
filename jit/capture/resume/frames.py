"""The frames that a program sees after a break: its own.

In: a traceback in which frames of the runtime lie between those of the program, because functions
that are called at breaks are compiled by themselves. Out: the same without these frames. Functions
that look at the frames of their callers, which no one can take away, are told beforehand.

    >>> def asks(): return sys._getframe(1).f_lineno
    >>> looks_at_callers(asks), looks_at_callers(is_of_runtime)
    (True, False)

Source: the documentation of `types.TracebackType`, `sys._getframe` and `warnings.warn`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import CellType, CodeType, FunctionType, ModuleType, TracebackType
from typing import Any

from minitorch2.errors import is_own_file
from minitorch2.jit.capture.values.functions import FunctionValue

RUNTIME = ("/jit/cache.py", "/jit/pieces.py", "/resume/stop.py", "/minitorch2/compiling.py")
CALLERS = frozenset(
    "_getframe currentframe stack extract_stack format_stack print_stack walk_stack".split()
)


def is_of_runtime(code: CodeType) -> bool:
    """Whether code of ours only hands a call on to the program's."""
    name = code.co_filename
    return is_own_file(name) and name.endswith(RUNTIME) or name.startswith("<minitorch2")


def of_program(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without the runtime's frames that have one of another file behind them."""
    steps: list[TracebackType] = []
    while trace is not None:
        steps.append(trace)
        trace = trace.tb_next
    kept: list[TracebackType] = []
    for step in reversed(steps):
        if not kept or not is_of_runtime(step.tb_frame.f_code):
            kept.append(step)
    for inner, outer in zip(kept, kept[1:], strict=False):
        outer.tb_next = inner
    return kept[-1] if kept else None


def looks_at_callers(function: Any, owner: type = object) -> bool:
    """Whether a function of the program, or one that it calls by name, looks at the frames of its
    callers, or has a warning told of the line of one. `owner`: the class whose method it is."""
    return any(_looks(code) for code in _reached(function, owner, set()))


def _looks(code: CodeType) -> bool:
    given = [name for const in code.co_consts if isinstance(const, tuple) for name in const]
    names = CALLERS | {"warn"} if "stacklevel" in given else CALLERS
    return not names.isdisjoint(code.co_names)


def _reached(function: Any, owner: type, seen: set[CodeType]) -> Iterator[CodeType]:
    """The code of a function, what lies inside it, and what it reaches by names: of its module, of
    modules there, of functions around it, of the class."""
    code, table, cells = _parts(function)
    if code in seen:
        return
    seen.add(code)
    inside = [code]
    for each in inside:
        inside += [const for const in each.co_consts if isinstance(const, CodeType)]
    yield from inside
    names = {name for each in inside for name in each.co_names}
    modules = [vars(table[name]) for name in names if isinstance(table.get(name), ModuleType)]
    for scope in (table, *modules, *(vars(cls) for cls in owner.__mro__)):
        cells += [scope[name] for name in names if name in scope]
    for found in cells:
        if isinstance(found, FunctionType | FunctionValue) and is_of_program(_parts(found)[1]):
            yield from _reached(found, owner, seen)


def _parts(function: Any) -> tuple[CodeType, dict[str, Any], list[Any]]:
    """The code of a function, its globals, and what the variables around it hold."""
    if isinstance(function, FunctionValue) and function.object is None:
        held = [getattr(cell.contents, "real", None) or cell.contents for cell in function.cells]
        return function.code, function.globals.table, held
    found: Any = function.object if isinstance(function, FunctionValue) else function
    cells = [cell for cell in found.__closure__ or () if cell != EMPTY]
    return found.__code__, found.__globals__, [cell.cell_contents for cell in cells]


EMPTY = CellType()


def is_of_program(scope: dict[str, Any]) -> bool:
    """Whether a module, by its globals, is neither ours nor came with Python or numpy."""
    top = (scope.get("__name__") or "").partition(".")[0]
    known = top in sys.stdlib_module_names or top in ("minitorch2", "torch", "numpy")
    return top == "__main__" or not known

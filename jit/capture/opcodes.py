"""Every instruction of each Python version, split into handled, graph break, and cannot occur.

In: `dis.opmap` of the running Python. Out: `split()`, three disjoint sets that cover it; a test
holds this on 3.11, 3.12 and 3.13. What is handled is what has a handler in `handlers/`; the two
tables below say, name by name, why the rest has none. The intrinsics, functions behind the two
CALL_INTRINSIC instructions of 3.12, are split the same way. To print it:

    python -m minitorch2.jit.capture.opcodes

Source: the `dis` module's documentation for each version; Include/opcode_ids.h of CPython.
"""

import dis
import sys

from minitorch2.jit.capture.handlers import HANDLERS, INTRINSICS

ASYNC = "async functions run as Python"
SCOPE = "code of a module, run as if it were a function"
BOUNDS = "a type parameter with a bound or a default, which is evaluated late"

BREAKS = {
    "ASYNC_GEN_WRAP": ASYNC,
    "BEFORE_ASYNC_WITH": ASYNC,
    "END_ASYNC_FOR": ASYNC,
    "GET_AITER": ASYNC,
    "GET_ANEXT": ASYNC,
    "GET_AWAITABLE": ASYNC,
    "IMPORT_STAR": SCOPE,
    "PRINT_EXPR": "code of the interactive prompt",
}

# Intrinsics of 3.12 and 3.13 without a function in `handlers/`.
INTRINSIC_BREAKS = {
    "INTRINSIC_1_INVALID": "written by no compiler",
    "INTRINSIC_2_INVALID": "written by no compiler",
    "INTRINSIC_PRINT": "code of the interactive prompt",
    "INTRINSIC_IMPORT_STAR": SCOPE,
    "INTRINSIC_ASYNC_GEN_WRAP": ASYNC,
    "INTRINSIC_TYPEVAR_WITH_BOUND": BOUNDS,
    "INTRINSIC_TYPEVAR_WITH_CONSTRAINTS": BOUNDS,
    "INTRINSIC_SET_TYPEPARAM_DEFAULT": BOUNDS,
    "INTRINSIC_TYPEALIAS": "a type statement inside the function",
}

PSEUDO = "a pseudo instruction: the compiler replaces it before code is made"
INSTRUMENTED = "written by sys.monitoring into the copy that runs; capture reads the original"
NEVER = {
    "CACHE": "space behind an instruction; the decoder leaves it out",
    "EXTENDED_ARG": "a prefix; the decoder folds it into the instruction",
    "INTERPRETER_EXIT": "the frame below the first Python frame",
    "EXIT_INIT_CHECK": "written by the specializing interpreter only",
    "ENTER_EXECUTOR": "written by the optimizer only",
    "RESERVED": "not an instruction",
    "JUMP": PSEUDO,
    "JUMP_NO_INTERRUPT": PSEUDO,
    "LOAD_CLOSURE": PSEUDO,
    "LOAD_METHOD": PSEUDO,
    "LOAD_SUPER_METHOD": PSEUDO,
    "LOAD_ZERO_SUPER_ATTR": PSEUDO,
    "LOAD_ZERO_SUPER_METHOD": PSEUDO,
    "POP_BLOCK": PSEUDO,
    "SETUP_CLEANUP": PSEUDO,
    "SETUP_FINALLY": PSEUDO,
    "SETUP_WITH": PSEUDO,
    "STORE_FAST_MAYBE_NULL": PSEUDO,
    "INSTRUMENTED_CALL": INSTRUMENTED,
    "INSTRUMENTED_CALL_FUNCTION_EX": INSTRUMENTED,
    "INSTRUMENTED_CALL_KW": INSTRUMENTED,
    "INSTRUMENTED_END_FOR": INSTRUMENTED,
    "INSTRUMENTED_END_SEND": INSTRUMENTED,
    "INSTRUMENTED_FOR_ITER": INSTRUMENTED,
    "INSTRUMENTED_INSTRUCTION": INSTRUMENTED,
    "INSTRUMENTED_JUMP_BACKWARD": INSTRUMENTED,
    "INSTRUMENTED_JUMP_FORWARD": INSTRUMENTED,
    "INSTRUMENTED_LINE": INSTRUMENTED,
    "INSTRUMENTED_LOAD_SUPER_ATTR": INSTRUMENTED,
    "INSTRUMENTED_POP_JUMP_IF_FALSE": INSTRUMENTED,
    "INSTRUMENTED_POP_JUMP_IF_NONE": INSTRUMENTED,
    "INSTRUMENTED_POP_JUMP_IF_NOT_NONE": INSTRUMENTED,
    "INSTRUMENTED_POP_JUMP_IF_TRUE": INSTRUMENTED,
    "INSTRUMENTED_RESUME": INSTRUMENTED,
    "INSTRUMENTED_RETURN_CONST": INSTRUMENTED,
    "INSTRUMENTED_RETURN_VALUE": INSTRUMENTED,
    "INSTRUMENTED_YIELD_VALUE": INSTRUMENTED,
}  # a name in both tables and `handlers/` is an instruction of an older Python


def split() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """(handled, graph break, cannot occur) for the running Python."""
    names = frozenset(dis.opmap)
    pseudo = frozenset(name for name, number in dis.opmap.items() if number > 255)
    handled = (names & frozenset(HANDLERS)) - pseudo
    return handled, names & frozenset(BREAKS), names & frozenset(NEVER) - handled


def intrinsics() -> tuple[frozenset[str], frozenset[str]]:
    """(handled, graph break) of the intrinsics; none before 3.12."""
    names = frozenset(
        name
        for table in ("_intrinsic_1_descs", "_intrinsic_2_descs")
        for name in getattr(dis, table, ())
    )
    return names & frozenset(INTRINSICS), names & frozenset(INTRINSIC_BREAKS)


def break_reason(name: str) -> str:
    """Why an instruction ends the capture."""
    return BREAKS.get(name, f"the instruction {name}")


def table() -> str:
    """The whole split as text."""
    handled, breaks, never = split()
    functions, stopping = intrinsics()
    lines = [f"Python {sys.version_info[0]}.{sys.version_info[1]}: {len(dis.opmap)} instructions"]
    lines += [f"\nhandled ({len(handled)})", *(f"  {name}" for name in sorted(handled))]
    lines += [f"\ngraph break ({len(breaks)})", *_reasons(breaks, BREAKS)]
    lines += [f"\ncannot occur ({len(never)})", *_reasons(never, NEVER)]
    if functions:
        lines += [f"\nintrinsics, handled ({len(functions)})"]
        lines += [f"  {name}" for name in sorted(functions)]
        lines += [f"\nintrinsics, graph break ({len(stopping)})"]
        lines += _reasons(stopping, INTRINSIC_BREAKS)
    return "\n".join(lines) + "\n"


def _reasons(names: frozenset[str], reasons: dict[str, str]) -> list[str]:
    return [f"  {name:<36}{reasons[name]}" for name in sorted(names)]


if __name__ == "__main__":
    print(table(), end="")

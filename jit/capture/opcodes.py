"""Every instruction of each Python version, split into handled, graph break, and cannot occur.

In: `dis.opmap` of the running Python. Out: `split()`, three disjoint sets that cover it; a test
holds this on 3.11, 3.12 and 3.13. What is handled is what has a handler in `handlers/`; the two
tables below say why the rest has none.

Source: the `dis` module's documentation for each version.
"""

import dis

from minitorch2.jit.capture.handlers import HANDLERS

ASYNC = "async functions run as Python"
CLASS_BODY = "a class statement inside the function"

BREAKS = {
    "BEFORE_ASYNC_WITH": ASYNC,
    "END_ASYNC_FOR": ASYNC,
    "GET_AITER": ASYNC,
    "GET_ANEXT": ASYNC,
    "GET_AWAITABLE": ASYNC,
    "ASYNC_GEN_WRAP": ASYNC,
    "CHECK_EG_MATCH": "except* is not captured",
    "PREP_RERAISE_STAR": "except* is not captured",
    "IMPORT_STAR": "from module import * inside a function",
    "LOAD_BUILD_CLASS": CLASS_BODY,
    "LOAD_CLASSDEREF": CLASS_BODY,
    "LOAD_FROM_DICT_OR_DEREF": CLASS_BODY,
    "LOAD_FROM_DICT_OR_GLOBALS": CLASS_BODY,
    "LOAD_LOCALS": CLASS_BODY,
    "SETUP_ANNOTATIONS": CLASS_BODY,
    "LOAD_NAME": "code of a module or class body",
    "STORE_NAME": "code of a module or class body",
    "DELETE_NAME": "code of a module or class body",
    "PRINT_EXPR": "code of the interactive prompt",
}

NEVER = {
    "CACHE": "space behind an instruction; the decoder leaves it out",
    "EXTENDED_ARG": "a prefix; the decoder folds it into the instruction",
    "INTERPRETER_EXIT": "the frame below the first Python frame",
    "EXIT_INIT_CHECK": "written by the specializing interpreter only",
    "ENTER_EXECUTOR": "written by the optimizer only",
    "RESERVED": "not an instruction",
    "LOAD_METHOD": "a pseudo instruction of the compiler",
    "LOAD_SUPER_METHOD": "a pseudo instruction of the compiler",
    "LOAD_ZERO_SUPER_ATTR": "a pseudo instruction of the compiler",
    "LOAD_ZERO_SUPER_METHOD": "a pseudo instruction of the compiler",
    "LOAD_CLOSURE": "a pseudo instruction of the compiler",
    "JUMP": "a pseudo instruction of the compiler",
    "JUMP_NO_INTERRUPT": "a pseudo instruction of the compiler",
    "POP_BLOCK": "a pseudo instruction of the compiler",
    "SETUP_CLEANUP": "a pseudo instruction of the compiler",
    "SETUP_FINALLY": "a pseudo instruction of the compiler",
    "SETUP_WITH": "a pseudo instruction of the compiler",
    "STORE_FAST_MAYBE_NULL": "a pseudo instruction of the compiler",
}


def split() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """(handled, graph break, cannot occur) for the running Python."""
    names = frozenset(dis.opmap)
    handled = names & frozenset(HANDLERS)
    never = {name for name in names if name.startswith("INSTRUMENTED_")} | (names & set(NEVER))
    return handled, names & frozenset(BREAKS), frozenset(never) - handled


def break_reason(name: str) -> str:
    """Why an instruction ends the capture."""
    return BREAKS.get(name, f"the instruction {name}")

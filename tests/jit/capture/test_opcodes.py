"""Every instruction of the running Python is handled, breaks the graph, or cannot occur."""

import dis

from minitorch2.jit.capture.handlers import HANDLERS
from minitorch2.jit.capture.opcodes import BREAKS, NEVER, break_reason, split

KNOWN_ELSEWHERE = {  # instructions of one of the three Pythons that another does not have
    name for name in (*HANDLERS, *BREAKS, *NEVER) if name not in dis.opmap
}


def test_the_split_is_exact():
    handled, breaks, never = split()
    assert handled | breaks | never == frozenset(dis.opmap)
    assert not handled & breaks
    assert not handled & never
    assert not breaks & never


def test_breaks_have_reasons():
    for name in split()[1]:
        assert break_reason(name) == BREAKS[name]


def test_no_handler_is_for_an_instruction_nobody_has():
    allowed = {"PRECALL", "KW_NAMES", "LOAD_METHOD", "JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP"}
    for name in KNOWN_ELSEWHERE & set(HANDLERS):
        newer = name.startswith(("LOAD_FAST", "STORE_FAST", "LOAD_SUPER", "CALL_", "FORMAT_",
                                 "POP_JUMP", "CONVERT", "TO_BOOL", "SET_FUNCTION", "RETURN_CONST",
                                 "BINARY_SLICE", "STORE_SLICE", "END_", "CLEANUP_THROW",
                                 "LIST_TO_TUPLE", "UNARY_POSITIVE", "LOAD_CLOSURE"))  # fmt: skip
        assert newer or name in allowed, name

"""Every instruction of the running Python is handled, breaks the graph, or cannot occur."""

import dis
import sys

from minitorch2.jit.capture.handlers import HANDLERS, INTRINSICS
from minitorch2.jit.capture.opcodes import (
    BREAKS,
    INTRINSIC_BREAKS,
    NEVER,
    break_reason,
    intrinsics,
    split,
    table,
)

INTRINSIC_NAMES = [
    name
    for names in ("_intrinsic_1_descs", "_intrinsic_2_descs")
    for name in getattr(dis, names, ())
]


def test_the_split_is_exact():
    handled, breaks, never = split()
    assert handled | breaks | never == frozenset(dis.opmap)
    assert len(handled) + len(breaks) + len(never) == len(dis.opmap)


def test_intrinsics_are_split_exactly():
    handled, breaks = intrinsics()
    assert handled | breaks == frozenset(INTRINSIC_NAMES)
    assert not handled & breaks
    assert bool(handled) == (sys.version_info >= (3, 12))


def test_breaks_have_reasons():
    for name in split()[1]:
        assert break_reason(name) == BREAKS[name] != ""
    assert all({**BREAKS, **NEVER, **INTRINSIC_BREAKS}.values())


def test_the_split_of_this_python(golden):
    golden(table(), per_python=True)


def test_no_name_is_of_no_python(request):
    """Each name of the tables stands in the split of one of the three Pythons."""
    folder = request.path.parents[2] / "golden"
    texts = [path.read_text() for path in folder.rglob("*test_the_split_of_this_python*")]
    known = {line.split()[0] for text in texts for line in text.splitlines() if line[:2] == "  "}
    assert len(texts) == 3
    assert {*HANDLERS, *INTRINSICS, *BREAKS, *NEVER, *INTRINSIC_BREAKS} == known

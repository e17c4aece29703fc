"""Which variables of a function are read later: only those are handed over at a break.

In: a code object and the index of an instruction. Out: the slots whose contents may still be read
from there on, exception handlers included. A tensor that nobody reads any more is then no output
of the graph, and what cannot leave the graph stops nothing when it is dead.

    >>> def f(a, b):
    ...     c = a + b
    ...     return c * b
    >>> names = f.__code__.co_varnames
    >>> [names[slot] for slot in sorted(live_slots(f.__code__, 0))]
    ['a', 'b']

A function that looks at its own frame (`locals()`, `super()` ...) keeps all of its variables.

Source: Aho, Lam, Sethi, Ullman, "Compilers", 9.2.5 Live-Variable Analysis.
"""

from __future__ import annotations

import functools
from types import CodeType

from minitorch2.jit.capture.instructions import Instruction, Program, decode

LOOKS_AT_FRAME = frozenset(
    "locals vars dir eval exec super _getframe currentframe stack breakpoint set_trace".split()
)
READS = frozenset({"LOAD_FAST", "LOAD_FAST_CHECK", "DELETE_FAST", "LOAD_FAST_AND_CLEAR"})
ENDS = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"})
JUMPS_ALWAYS = frozenset({"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"})


@functools.lru_cache(maxsize=1024)
def _live(code: CodeType) -> tuple[frozenset[int], ...]:
    """The live slots before each instruction."""
    program = decode(code)
    count = len(program.instructions)
    live: list[frozenset[int]] = [frozenset()] * (count + 1)
    changed = True
    while changed:
        changed = False
        for index in range(count - 1, -1, -1):
            instruction = program.instructions[index]
            after: frozenset[int] = frozenset()
            for follower in _followers(program, index, instruction):
                after |= live[follower]
            reads, writes = _effect(instruction)
            handler = program.handler_at(index)
            before = (after - writes) | reads | (live[handler.target] if handler else frozenset())
            if before != live[index]:
                live[index] = before
                changed = True
    return tuple(live)


def _followers(program: Program, index: int, instruction: Instruction) -> list[int]:
    if instruction.name in ENDS:
        return []
    if instruction.name in JUMPS_ALWAYS:
        return [instruction.target]  # type: ignore[list-item]
    found = [index + 1] if index + 1 < len(program.instructions) else []
    return found + ([instruction.target] if instruction.target is not None else [])


def _effect(instruction: Instruction) -> tuple[frozenset[int], frozenset[int]]:
    """(slots read, slots written) by an instruction on plain local variables."""
    name, argument = instruction.name, instruction.argument
    none: frozenset[int] = frozenset()
    if name in READS:
        return frozenset({argument}), none
    if name == "STORE_FAST":
        return none, frozenset({argument})
    if name == "LOAD_FAST_LOAD_FAST":
        return frozenset({argument >> 4, argument & 15}), none
    if name == "STORE_FAST_STORE_FAST":
        return none, frozenset({argument >> 4, argument & 15})
    if name == "STORE_FAST_LOAD_FAST":
        stored, loaded = argument >> 4, argument & 15
        return frozenset({loaded} - {stored}), frozenset({stored})
    return none, none


def live_slots(code: CodeType, index: int) -> frozenset[int]:
    """The slots of plain variables that are read at or after an instruction; cells all are."""
    if LOOKS_AT_FRAME.intersection(code.co_names):
        return frozenset(range(len(code.co_varnames))) | cell_slots(code)
    return _live(code)[index] | cell_slots(code)


@functools.lru_cache(maxsize=1024)
def cell_slots(code: CodeType) -> frozenset[int]:
    """The slots of variables that inner functions share, and of those of outer functions."""
    names = code.co_varnames + tuple(n for n in code.co_cellvars if n not in code.co_varnames)
    own = {names.index(name) for name in code.co_cellvars}
    return frozenset(own) | frozenset(range(len(names), len(names) + len(code.co_freevars)))

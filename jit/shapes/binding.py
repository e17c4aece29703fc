"""Finds the values of symbols from the sizes of actual tensors.

In: pairs of (size as declared, size as found). Out: a value for each symbol, or a SizeMismatch that
says which pair does not fit. A symbol is solved for where it stands alone or in `s0*4+1`; the
other pairs are checked with what was found.

    >>> from minitorch2.jit.shapes.parser import parse_size
    >>> bind_sizes([(parse_size("s0*4+1"), 41), (parse_size("s1"), 7), (parse_size("s0*s1"), 70)])
    {'s0': 10, 's1': 7}
"""

from collections.abc import Iterable, Mapping

from minitorch2.jit.shapes.size_expression import (
    Size,
    Symbol,
    size_symbols,
    substitute_size,
)


class SizeMismatch(Exception):
    """A declared size that the found one does not fit."""

    def __init__(self, declared: Size, found: int | None):
        super().__init__(f"declared {declared}, found {found}")
        self.declared, self.found = declared, found


def bind_sizes(
    pairs: Iterable[tuple[Size, int]], bindings: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Values for all symbols in the declared sizes, beside those in `bindings`."""
    known = dict(bindings or {})
    waiting = list(pairs)
    while waiting:
        rest = []
        for declared, found in waiting:
            size = substitute_size(declared, known)
            if isinstance(size, int):
                if size != found:
                    raise SizeMismatch(declared, found)
                continue
            solved = _solve(size, found)
            if solved is None:
                rest.append((declared, found))
            else:
                known.update([solved])
                rest.append((declared, found))
        if len(rest) == len(waiting) and not any(
            size_symbols(declared) and set(size_symbols(declared)) <= known.keys()
            for declared, _ in rest
        ):
            raise SizeMismatch(rest[0][0], rest[0][1])
        waiting = rest
    return known


def _solve(size: Size, found: int) -> tuple[str, int] | None:
    """The symbol and its value, when `size` is `coefficient * symbol + constant`."""
    if isinstance(size, int):
        return None
    match size.terms:
        case ((coefficient, (Symbol(name),)), *constants) if len(size.symbols()) == 1:
            if len(constants) > 1 or (constants and constants[0][1]):
                return None
            constant = constants[0][0] if constants else 0
            return name, (found - constant) // coefficient
    return None

"""Integer index expressions: polynomials over loop variables and sizes, with // and % atoms.

In: symbols, ints and the operators + - *, `floor_divide`, `modulo`. Out: one normal form, so that
equal expressions compare equal. Symbols named in a `ranges` table are loop variables, known to
lie in [0, extent); all other symbols are sizes, known to be at least 1. What the ranges prove is
simplified away, which is how a reshape or a transpose costs nothing inside a kernel:

    >>> i, j = symbol("i"), symbol("j")
    >>> floor_divide(i * 4 + j, constant(4), {"i": constant(8), "j": constant(4)})
    i
    >>> (i + 1) * (j + 2)
    i*j + 2*i + j + 2

Source: the normal form is that of multivariate polynomials; the div/mod rules follow Halide's
simplifier (Ragan-Kelley et al., PLDI 2013).
"""

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import gcd


@dataclass(frozen=True, slots=True)
class Symbol:
    """A loop variable or a size."""

    name: str

    def __hash__(self) -> int:
        return hash(self.name)  # of a string: kept in it

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Divide:
    """floor(top / bottom), kept because nothing could be proved about it."""

    top: "Index"
    bottom: "Index"

    def __str__(self) -> str:
        return f"({_wrapped(self.top)} // {_wrapped(self.bottom)})"


@dataclass(frozen=True, slots=True)
class Modulo:
    """top modulo bottom, in [0, bottom)."""

    top: "Index"
    bottom: "Index"

    def __str__(self) -> str:
        return f"({_wrapped(self.top)} % {_wrapped(self.bottom)})"


Atom = Symbol | Divide | Modulo
Monomial = tuple[Atom, ...]


class Index:
    """A sum of integer multiples of products of atoms: `terms` maps each product to its factor.

    Terms are sorted (higher degree first, then by text), so equal sums have equal fields. A plain
    class: thousands are made and looked up for each kernel, and its hash is computed once.
    """

    __slots__ = ("terms", "_hash", "_symbols")

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]):
        self.terms = terms
        self._hash: int | None = None
        self._symbols: frozenset[str] | None = None

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is Index and self.terms == other.terms)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self.terms)
        return self._hash

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        text = ""
        for monomial, factor in self.terms:
            body = "*".join(str(atom) for atom in monomial)
            size = abs(factor)
            piece = str(size) if not body else body if size == 1 else f"{size}*{body}"
            if text:
                text += f" - {piece}" if factor < 0 else f" + {piece}"
            else:
                text = f"-{piece}" if factor < 0 else piece
        return text

    __repr__ = __str__

    def __add__(self, other: "Index | int") -> "Index":
        right = other if type(other) is Index else as_index(other)
        if not right.terms:
            return self
        if not self.terms:
            return right
        if len(self.terms) == len(right.terms) == 1 and not (self.terms[0][0] or right.terms[0][0]):
            return constant(self.terms[0][1] + right.terms[0][1])
        return _collect((*self.terms, *right.terms))

    __radd__ = __add__

    def __sub__(self, other: "Index | int") -> "Index":
        return self + as_index(other).times(-1)

    def __rsub__(self, other: int) -> "Index":
        return as_index(other) - self

    def __mul__(self, other: "Index | int") -> "Index":
        right = other if type(other) is Index else as_index(other)
        for number, other_side in ((right.as_int(), self), (self.as_int(), right)):
            if number is not None:
                return other_side.times(number)
        return _collect(
            (_product(left_part, right_part), left_factor * right_factor)
            for left_part, left_factor in self.terms
            for right_part, right_factor in right.terms
        )

    __rmul__ = __mul__

    def times(self, number: int) -> "Index":
        """The multiple by a number; the terms keep their order."""
        if number == 1:
            return self
        return Index(tuple([(m, f * number) for m, f in self.terms])) if number else constant(0)

    def as_int(self) -> int | None:
        """The value if it is a known number, else None."""
        terms = self.terms
        if not terms:
            return 0
        return terms[0][1] if len(terms) == 1 and not terms[0][0] else None

    def symbols(self) -> frozenset[str]:
        """Names of all symbols in it, those inside // and % included."""
        if self._symbols is None:
            found: set[str] = set()
            for monomial, _ in self.terms:
                for atom in monomial:
                    if isinstance(atom, Symbol):
                        found.add(atom.name)
                    else:
                        found |= atom.top.symbols() | atom.bottom.symbols()
            self._symbols = frozenset(found)
        return self._symbols


Ranges = Mapping[str, Index]
NO_RANGES: Ranges = {}


@functools.lru_cache(maxsize=4096)
def constant(value: int) -> Index:
    """The index expression of a number."""
    return Index((((), int(value)),)) if value else Index(())


@functools.lru_cache(maxsize=4096)
def symbol(name: str) -> Index:
    """The index expression of a loop variable or size."""
    return Index((((Symbol(name),), 1),))


def as_index(value: "Index | int") -> Index:
    """Numbers become expressions; expressions stay."""
    return value if isinstance(value, Index) else constant(int(value))


def _wrapped(index: Index) -> str:
    text = str(index)
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def _product(left: Monomial, right: Monomial) -> Monomial:
    return tuple(sorted((*left, *right), key=str))


def _collect(terms: Iterable[tuple[Monomial, int]]) -> Index:
    sums: dict[Monomial, int] = {}
    for monomial, factor in terms:
        sums[monomial] = sums.get(monomial, 0) + factor
    kept = [(monomial, factor) for monomial, factor in sums.items() if factor]
    if len(kept) > 1:
        kept.sort(key=lambda term: (-len(term[0]), [str(atom) for atom in term[0]]))
    return Index(tuple(kept))


def product(sizes: Iterable[Index]) -> Index:
    """The product of sizes (1 for none)."""
    return _product_of(tuple(sizes))


@functools.lru_cache(maxsize=4096)
def _product_of(sizes: tuple[Index, ...]) -> Index:
    result = constant(1)
    for size in sizes:
        result = result * size
    return result


# Bounds


def nonnegative(index: Index, ranges: Ranges) -> bool:
    """Whether `index >= 0` can be proved for every value the ranges allow.

    Terms with a loop variable are replaced by their smallest value, one variable at a time; what
    is left is a polynomial in sizes, each at least 1: it is written in (size - 1), and if then no
    factor is negative, neither is the value.
    """
    for _ in range(64):
        found = _first_bounded(index, ranges)
        if found is None:
            break
        atom, upper = found
        with_atom = [(m, f) for m, f in index.terms if atom in m]
        index = _collect((m, f) for m, f in index.terms if atom not in m)
        for monomial, factor in with_atom:
            if factor < 0:
                rest = list(monomial)
                rest.remove(atom)
                index = index + Index(((tuple(rest), factor),)) * upper
    shifted = constant(0)
    for monomial, factor in index.terms:
        piece = constant(factor)
        for atom in monomial:
            piece = piece * (Index((((atom,), 1),)) + 1)
        shifted = shifted + piece
    return all(factor >= 0 for _, factor in shifted.terms)


def _first_bounded(index: Index, ranges: Ranges) -> tuple[Atom, Index] | None:
    for monomial, _ in index.terms:
        for atom in monomial:
            upper = _upper(atom, ranges)
            if upper is not None:
                return atom, upper
    return None


def _upper(atom: Atom, ranges: Ranges) -> Index | None:
    """The largest value of a loop variable, quotient or remainder; None for sizes."""
    if isinstance(atom, Symbol):
        return ranges[atom.name] - 1 if atom.name in ranges else None
    if isinstance(atom, Modulo):
        return atom.bottom - 1
    top = upper_bound(atom.top, ranges)
    if top is None:
        return None
    quotient = exact_quotient(top + 1, atom.bottom)
    if quotient is not None:
        return quotient - 1
    numbers = top.as_int(), atom.bottom.as_int()
    if numbers[0] is not None and numbers[1]:
        return constant(numbers[0] // numbers[1])
    return top


def upper_bound(index: Index, ranges: Ranges) -> Index | None:
    """An upper bound without loop variables, or None if a factor is negative."""
    result = constant(0)
    for monomial, factor in index.terms:
        if factor < 0:
            if any(_upper(atom, ranges) is not None for atom in monomial):
                continue  # the smallest amount subtracted is 0
            result = result + Index(((monomial, factor),))
            continue
        piece = constant(factor)
        for atom in monomial:
            upper = _upper(atom, ranges)
            piece = piece * (Index((((atom,), 1),)) if upper is None else upper)
        result = result + piece
    return result


def less(left: Index, right: Index, ranges: Ranges) -> bool:
    """Whether `left < right` can be proved."""
    return nonnegative(right - left - 1, ranges)


# Division


def exact_quotient(top: Index, bottom: Index) -> Index | None:
    """top / bottom where bottom divides every term (or is a multiple of all of top), else None."""
    if not top.terms:
        return top
    if len(bottom.terms) != 1:
        return _whole_quotient(top, bottom)
    quotient, remainder = _split(top, bottom)
    return quotient if not remainder.terms else None


def _whole_quotient(top: Index, bottom: Index) -> Index | None:
    """A quotient for a bottom of several terms: ordinary long division, leading terms first."""
    quotient, rest = constant(0), top
    lead = Index((bottom.terms[0],))
    while rest.terms:
        piece, _ = _split(Index((rest.terms[0],)), lead)
        if not piece.terms:
            return None
        quotient = quotient + piece
        before = len(rest.terms), rest
        rest = rest - piece * bottom
        if rest == before[1] or len(quotient.terms) > 16:
            return None
    return quotient


def _split(top: Index, bottom: Index) -> tuple[Index, Index]:
    """(quotient, rest) with top = quotient * bottom + rest, for a bottom of one term."""
    ((divisor, divisor_factor),) = bottom.terms
    quotient, rest = [], []
    for monomial, factor in top.terms:
        left = _without(monomial, divisor)
        if left is None or factor % divisor_factor:
            whole = factor // divisor_factor if left is not None and not left else 0
            if whole:  # a number: 7 = 1 * 4 + 3
                quotient.append((left or (), whole))
                factor -= whole * divisor_factor
            rest.append((monomial, factor))
        else:
            quotient.append((left, factor // divisor_factor))
    return _collect(quotient), _collect(rest)


def _without(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    left = list(monomial)
    for atom in divisor:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def floor_divide(top: Index, bottom: Index, ranges: Ranges) -> Index:
    """floor(top / bottom), simplified with the ranges; top is not negative, bottom at least 1."""
    if bottom == constant(1):
        return top
    if len(bottom.terms) == 1:
        quotient, rest = _split(top, bottom)
    else:
        whole = exact_quotient(top, bottom)
        quotient, rest = (constant(0), top) if whole is None else (whole, constant(0))
    for shift in (0, 1):  # s0 - i - 1 leaves -i - 1, which is s0 - i - 1 too
        inside = rest + bottom * shift
        if nonnegative(inside, ranges) and less(inside, bottom, ranges):
            return quotient - shift
    if not nonnegative(rest, ranges):  # kernels divide unsigned numbers
        quotient, rest = constant(0), top
    return quotient + _quotient_atom(*_reduced(rest, bottom, ranges))


def _quotient_atom(top: Index, bottom: Index) -> Index:
    if bottom == constant(1):
        return top
    if len(top.terms) == 1 and top.terms[0][1] == 1 and len(top.terms[0][0]) == 1:
        inner = top.terms[0][0][0]
        if isinstance(inner, Divide):  # (x // a) // b = x // (a*b)
            return _quotient_atom(inner.top, inner.bottom * bottom)
    return Index((((Divide(top, bottom),), 1),))


def _reduced(top: Index, bottom: Index, ranges: Ranges) -> tuple[Index, Index]:
    """Cancel a common factor: (4*x + y) // 8 = x // 2 for 0 <= y < 4."""
    number = bottom.as_int()
    if number is None:
        return top, bottom
    for candidate in sorted({gcd(factor, number) for _, factor in top.terms}, reverse=True):
        if candidate <= 1:
            continue
        coarse = _collect((m, f // candidate) for m, f in top.terms if f % candidate == 0)
        fine = _collect((m, f) for m, f in top.terms if f % candidate)
        if nonnegative(fine, ranges) and less(fine, constant(candidate), ranges):
            return coarse, constant(number // candidate)
    return top, bottom


def modulo(top: Index, bottom: Index, ranges: Ranges) -> Index:
    """top modulo bottom, simplified with the ranges; top is not negative, bottom at least 1."""
    if bottom == constant(1):
        return constant(0)
    if len(bottom.terms) == 1:
        _, rest = _split(top, bottom)
    else:
        rest = constant(0) if exact_quotient(top, bottom) is not None else top
    for inside in (rest, rest + bottom):
        if nonnegative(inside, ranges) and less(inside, bottom, ranges):
            return inside
    if not nonnegative(rest, ranges):
        rest = top
    quotient = floor_divide(rest, bottom, ranges)
    if not any(Divide(rest, bottom) in m for m, _ in quotient.terms) and len(quotient.terms) <= 1:
        reduced = rest - quotient * bottom
        if len(reduced.terms) < len(rest.terms):
            return reduced
    if len(rest.terms) == 1 and rest.terms[0][1] == 1 and len(rest.terms[0][0]) == 1:
        inner = rest.terms[0][0][0]
        if isinstance(inner, Modulo) and exact_quotient(inner.bottom, bottom) is not None:
            return modulo(inner.top, bottom, ranges)  # (x % (a*b)) % b = x % b
    return Index((((Modulo(rest, bottom),), 1),))


def recombine(index: Index, ranges: Ranges = NO_RANGES) -> Index:
    """Undo a division: a*(x // a) + x % a is x, also where the ranges make x // a something else.

    >>> i, four = symbol("i"), constant(4)
    >>> recombine(floor_divide(i, four, {}) * 8 + modulo(i, four, {}) * 2)
    2*i
    """
    remainders = {a for term, _ in index.terms for a in term if isinstance(a, Modulo)}
    for remainder in sorted(remainders, key=str):
        x, size = remainder.top, remainder.bottom
        quotient = floor_divide(x, size, ranges)
        if len(quotient.terms) != 1 or quotient.terms[0][1] != 1 or len(quotient.terms[0][0]) != 1:
            continue
        (divided,) = quotient.terms[0][0]
        fine, coarse = _factor(index, remainder), _factor(index, divided)
        if fine.terms and coarse == fine * size:
            both = coarse * quotient + fine * Index((((remainder,), 1),))
            return recombine(index - both + fine * x, ranges)
    return index


def _factor(index: Index, atom: Atom) -> Index:
    """The factor of an atom in the terms that hold it once."""
    parts = []
    for monomial, factor in index.terms:
        if monomial.count(atom) == 1:
            rest = list(monomial)
            rest.remove(atom)
            parts.append((tuple(rest), factor))
    return _collect(parts)


def substitute(index: Index, values: Mapping[str, Index], ranges: Ranges) -> Index:
    """Replace symbols by expressions; `ranges` describe the symbols of the result."""
    if not values or not (index.symbols() & values.keys()):
        return index
    result = constant(0)
    for monomial, factor in index.terms:
        piece = constant(factor)
        for atom in monomial:
            piece = piece * _substituted(atom, values, ranges)
        result = result + piece
    return result


def _substituted(atom: Atom, values: Mapping[str, Index], ranges: Ranges) -> Index:
    if isinstance(atom, Symbol):
        return values.get(atom.name, Index((((atom,), 1),)))
    top = substitute(atom.top, values, ranges)
    bottom = substitute(atom.bottom, values, ranges)
    rule = floor_divide if isinstance(atom, Divide) else modulo
    return rule(top, bottom, ranges)


def coefficient(index: Index, name: str) -> Index | None:
    """The factor of a symbol in an expression linear in it; None if it is not linear."""
    wanted, factors = Symbol(name), []
    for monomial, factor in index.terms:
        count = monomial.count(wanted)
        rest = tuple(atom for atom in monomial if atom != wanted)
        if count > 1 or any(_mentions(atom, name) for atom in rest):
            return None
        if count == 1:
            factors.append((rest, factor))
    return _collect(factors)


def _mentions(atom: Atom, name: str) -> bool:
    return not isinstance(atom, Symbol) and (
        name in atom.top.symbols() or name in atom.bottom.symbols()
    )


def evaluate(index: Index, values: Mapping[str, int]) -> int:
    """The number an expression stands for, given one number per symbol."""
    total = 0
    for monomial, factor in index.terms:
        piece = factor
        for atom in monomial:
            if isinstance(atom, Symbol):
                piece *= values[atom.name]
            else:
                top, bottom = evaluate(atom.top, values), evaluate(atom.bottom, values)
                piece *= top // bottom if isinstance(atom, Divide) else top % bottom
        total += piece
    return total

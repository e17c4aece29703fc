"""Integer expressions over named sizes, in one canonical form.

In: names of sizes (`s0`, `s1`, ...), integers and `+ - * // % max min`.
Out: a `SizeExpression`, or a plain `int` as soon as no name is left. A size in a tensor type is
one of the two, so the type is called `Size`.

The canonical form is a sum of products: expand products, collect equal ones, sort. Two
expressions that can be expanded into each other are therefore equal as plain data, with no solver.
`//`, `%`, `max` and `min` cannot be expanded; they are atoms, as a name is, after what can be
moved out of them has been moved out.

    >>> s0, s1 = symbol("s0"), symbol("s1")
    >>> print((s0 + 1) * 4, (s0 * s1 * 8) // (s1 * 2), (s0 * 4 + 5) // 4)
    s0*4+4 s0*4 s0+1
    >>> (s0 + s1) * (s0 - s1) == s0 * s0 - s1 * s1
    True
    >>> ((s0 + 1) * 4).evaluate({"s0": 9})
    40

A division that cancels (`s0 * 4 // s0`) assumes that the divisor is not zero, as the division
itself does.

Source: D. Cox, J. Little, D. O'Shea, "Ideals, Varieties, and Algorithms", ch. 2 (monomial orders
and polynomial division); the identities of floor division from R. Graham, D. Knuth, O. Patashnik,
"Concrete Mathematics", ch. 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

# The grammar, whole:
#   Size      = int | SizeExpression
#   SizeExpression(terms)            the sum of its terms; never a constant
#   Term      = (coefficient, factors)   coefficient != 0; factors sorted, () for the constant
#   Atom      = Symbol(name) | Apply(function, arguments)
#   function  = "//" | "%" | "max" | "min"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A named size, known only when the graph runs."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation that is no polynomial: `//` and `%` take two arguments, `max`, `min` two up."""

    function: str
    arguments: tuple[Size, ...]

    def __str__(self) -> str:
        if self.function in ("max", "min"):
            return f"{self.function}({','.join(map(str, self.arguments))})"
        left, right = (_operand_text(argument) for argument in self.arguments)
        return f"{left}{self.function}{right}"


Atom: TypeAlias = Symbol | Apply
Term: TypeAlias = tuple[int, tuple[Atom, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class SizeExpression:
    """A sum of products of atoms. Build it with `symbol` and arithmetic, never by hand."""

    terms: tuple[Term, ...]

    def __add__(self, other: Size) -> Size:
        return _sum([*self.terms, *_terms(other)]) if _is_size(other) else NotImplemented

    def __mul__(self, other: Size) -> Size:
        if not _is_size(other):
            return NotImplemented
        return _sum(
            (left * right, _sorted_factors(factors + others))
            for left, factors in self.terms
            for right, others in _terms(other)
        )

    def __neg__(self) -> Size:
        return self * -1

    def __sub__(self, other: Size) -> Size:
        return self + other * -1 if _is_size(other) else NotImplemented

    def __rsub__(self, other: Size) -> Size:
        return self * -1 + other

    def __floordiv__(self, other: Size) -> Size:
        return floor_divide(self, other) if _is_size(other) else NotImplemented

    def __rfloordiv__(self, other: Size) -> Size:
        return floor_divide(other, self)

    def __mod__(self, other: Size) -> Size:
        return modulo(self, other) if _is_size(other) else NotImplemented

    def __rmod__(self, other: Size) -> Size:
        return modulo(other, self)

    __radd__ = __add__
    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SizeExpression):
            return self.terms == other.terms
        return False if isinstance(other, int) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.terms)

    def __bool__(self) -> bool:
        raise TypeError(
            f"the truth of the size {self} is not known before the graph runs; "
            "compare it through a ShapeEnvironment, or evaluate it with bindings"
        )

    def __str__(self) -> str:
        text = "".join(_term_text(term) for term in self.terms)
        return text.removeprefix("+")

    def __repr__(self) -> str:
        return f"SizeExpression({str(self)!r})"

    def symbols(self) -> tuple[str, ...]:
        """Names of the symbols in it, each once, in the order of their numbers."""
        found: set[Symbol] = set()
        _collect_symbols(self, found)
        return tuple(atom.name for atom in sorted(found, key=_order))

    def substitute(self, bindings: Mapping[str, Size]) -> Size:
        """The expression with some names replaced by sizes; an int when no name is left."""
        total: Size = 0
        for coefficient, factors in self.terms:
            product: Size = coefficient
            for atom in factors:
                product = product * _substitute_atom(atom, bindings)
            total = total + product
        return total

    def evaluate(self, bindings: Mapping[str, int]) -> int:
        """Its value. Raises KeyError when a name has no binding, ZeroDivisionError as ints do."""
        value = self.substitute(bindings)
        if isinstance(value, int):
            return value
        raise KeyError(f"the size {self} needs a value for {', '.join(value.symbols())}")


Size: TypeAlias = int | SizeExpression


def symbol(name: str) -> SizeExpression:
    """The expression that is one name."""
    return SizeExpression(((1, (Symbol(name),)),))


def evaluate_size(size: Size, bindings: Mapping[str, int]) -> int:
    """`size` as an int: itself, or its value under `bindings`."""
    return size if isinstance(size, int) else size.evaluate(bindings)


def substitute_size(size: Size, bindings: Mapping[str, Size]) -> Size:
    """`size` with some names replaced."""
    return size if isinstance(size, int) else size.substitute(bindings)


def size_symbols(size: Size) -> tuple[str, ...]:
    """Names in `size`; none when it is an int."""
    return () if isinstance(size, int) else size.symbols()


def floor_divide(left: Size, right: Size) -> Size:
    """`left // right`, with the floor of Python.

    >>> s0 = symbol("s0")
    >>> print(floor_divide(s0 * 6 + 9, 4), floor_divide(floor_divide(s0, 2), 3))
    s0+s0//2+2 s0//6
    """
    if isinstance(left, int) and isinstance(right, int):
        return left // right
    exact = _divide_exactly(left, right)
    if exact is not None:
        return exact
    if not isinstance(right, int):
        return _atom(Apply("//", (left, right)))
    if right < 0:
        return floor_divide(-left, -right)
    # (q*c + r) // c == q + r//c for every integer q: only the remainders stay inside.
    outside = _sum((coefficient // right, factors) for coefficient, factors in _terms(left))
    inside = _sum((coefficient % right, factors) for coefficient, factors in _terms(left))
    return outside + _divide_remainder(inside, right)


def modulo(left: Size, right: Size) -> Size:
    """`left % right`, with the sign of Python.

    >>> print(modulo(symbol("s0") * 5 + 6, 4), modulo(symbol("s0") * 8, 4))
    (s0+2)%4 0
    """
    if isinstance(left, int) and isinstance(right, int):
        return left % right
    if _divide_exactly(left, right) is not None:
        return 0
    if not isinstance(right, int) or right < 0:
        return _atom(Apply("%", (left, right)))
    inside = _sum((coefficient % right, factors) for coefficient, factors in _terms(left))
    if isinstance(inside, int):
        return inside
    match inside.terms:
        case ((1, (Apply("%", (first, int() as period)),)),) if period % right == 0:
            return modulo(first, right)
    # (g*m + k) % (g*c) == (m % c)*g + k for 0 <= k < g
    divisor = _common_divisor(inside, right)
    if divisor > 1:
        rest = inside.terms[-1][0] % divisor if not inside.terms[-1][1] else 0
        return modulo(floor_divide(inside, divisor), right // divisor) * divisor + rest
    return _atom(Apply("%", (inside, right)))


def maximum(*sizes: Size) -> Size:
    """The largest of `sizes`.

    >>> s0 = symbol("s0")
    >>> print(maximum(s0, 3, maximum(1, s0 + 2)))
    max(s0+2,3)
    """
    return _extreme("max", sizes)


def minimum(*sizes: Size) -> Size:
    """The smallest of `sizes`."""
    return _extreme("min", sizes)


def _is_size(value: object) -> bool:
    return isinstance(value, (int, SizeExpression))


def _atom(atom: Atom) -> SizeExpression:
    return SizeExpression(((1, (atom,)),))


def _terms(size: Size) -> tuple[Term, ...]:
    if isinstance(size, int):
        return ((size, ()),) if size else ()
    return size.terms


def _sum(terms: Iterable[Term]) -> Size:
    """Collects equal products and sorts; the only place that makes a SizeExpression of terms."""
    collected: dict[tuple[Atom, ...], int] = {}
    for coefficient, factors in terms:
        collected[factors] = collected.get(factors, 0) + coefficient
    kept = [(coefficient, factors) for factors, coefficient in collected.items() if coefficient]
    if not kept:
        return 0
    if len(kept) == 1 and not kept[0][1]:
        return kept[0][0]
    return SizeExpression(tuple(sorted(kept, key=_term_order)))


def _order(atom: Atom) -> tuple[int, int, str]:
    """Names before operations, `s2` before `s10`."""
    text = str(atom)
    return (int(isinstance(atom, Apply)), len(text), text)


def _sorted_factors(factors: tuple[Atom, ...]) -> tuple[Atom, ...]:
    return tuple(sorted(factors, key=_order))


def _term_order(term: Term) -> tuple[int, list[tuple[int, int, str]]]:
    """Graded lexicographic: a monomial order, so polynomial division by leading terms ends."""
    _, factors = term
    return (-len(factors), [_order(atom) for atom in factors])


def _divide_exactly(left: Size, right: Size) -> Size | None:
    """The polynomial q with `q * right == left`, or None when there is none."""
    if isinstance(right, int) and right == 0:
        raise ZeroDivisionError(f"integer division of the size {left} by zero")
    leading_coefficient, leading_factors = _terms(right)[0]
    quotient: Size = 0
    rest = left
    while not (isinstance(rest, int) and rest == 0):
        coefficient, factors = _terms(rest)[0]
        if coefficient % leading_coefficient:
            return None
        remaining = _remove_factors(factors, leading_factors)
        if remaining is None:
            return None
        step = _sum([(coefficient // leading_coefficient, remaining)])
        quotient = quotient + step
        rest = rest - step * right
    return quotient


def _remove_factors(
    factors: tuple[Atom, ...], removed: tuple[Atom, ...]
) -> tuple[Atom, ...] | None:
    remaining = list(factors)
    for atom in removed:
        if atom not in remaining:
            return None
        remaining.remove(atom)
    return tuple(remaining)


def _common_divisor(inside: SizeExpression, right: int) -> int:
    """The largest number that divides `right` and all coefficients but the constant."""
    return math.gcd(right, *(coefficient for coefficient, factors in inside.terms if factors))


def _divide_remainder(inside: Size, right: int) -> Size:
    """`inside // right` where every coefficient lies in [0, right)."""
    if isinstance(inside, int):
        return inside // right
    # floor((g*m + k) / (g*c)) == floor((m + k//g) / c)
    divisor = _common_divisor(inside, right)
    if divisor > 1:
        inside = _sum((coefficient // divisor, factors) for coefficient, factors in inside.terms)
        return floor_divide(inside, right // divisor)
    # (x//b + k) // c == (x + k*b) // (b*c) for positive b and c
    match inside.terms:
        case ((1, (Apply("//", (first, int() as inner)),)), *constant) if inner > 0:
            if all(not factors for _, factors in constant):
                shift = sum(coefficient for coefficient, _ in constant)
                return floor_divide(first + shift * inner, inner * right)
    return _atom(Apply("//", (inside, right)))


def _extreme(function: str, sizes: Iterable[Size]) -> Size:
    flat: list[Size] = []
    for size in sizes:
        flat.extend(_nested_arguments(function, size))
    wins: Callable[[int], bool] = (lambda d: d >= 0) if function == "max" else (lambda d: d <= 0)
    kept: list[Size] = []
    for size in flat:
        # An argument whose distance to another one is a constant either beats it or is beaten.
        if any(isinstance(k - size, int) and wins(_constant(k - size)) for k in kept):
            continue
        kept = [k for k in kept if not isinstance(size - k, int)]
        kept.append(size)
    if len(kept) == 1:
        return kept[0]
    kept.sort(key=lambda size: [(_term_order(term), term[0]) for term in _terms(size)])
    return _atom(Apply(function, tuple(kept)))


def _constant(size: Size) -> int:
    assert isinstance(size, int)
    return size


def _nested_arguments(function: str, size: Size) -> tuple[Size, ...]:
    if isinstance(size, SizeExpression):
        match size.terms:
            case ((1, (Apply(name, arguments),)),) if name == function:
                return arguments
    return (size,)


def _collect_symbols(size: Size, found: set[Symbol]) -> None:
    for _, factors in _terms(size):
        for atom in factors:
            if isinstance(atom, Symbol):
                found.add(atom)
                continue
            for argument in atom.arguments:
                _collect_symbols(argument, found)


def _substitute_atom(atom: Atom, bindings: Mapping[str, Size]) -> Size:
    if isinstance(atom, Symbol):
        return bindings.get(atom.name, _atom(atom))
    arguments = [substitute_size(argument, bindings) for argument in atom.arguments]
    return FUNCTIONS[atom.function](*arguments)


FUNCTIONS: dict[str, Callable[..., Size]] = {
    "//": floor_divide,
    "%": modulo,
    "max": maximum,
    "min": minimum,
}


def _term_text(term: Term) -> str:
    coefficient, factors = term
    sign = "-" if coefficient < 0 else "+"
    scale = abs(coefficient)
    if not factors:
        return f"{sign}{scale}"
    # Every operator of a size binds to the left, so `s1*(s0//2)` needs its parentheses.
    alone = len(factors) == 1 and coefficient == 1
    parts = [str(atom) if alone else _operand_text(_atom(atom)) for atom in factors]
    if scale != 1:
        parts.append(str(scale))
    return sign + "*".join(parts)


def _operand_text(size: Size) -> str:
    """`size` as an operand of `*`, `//` or `%`."""
    text = str(size)
    if isinstance(size, int):
        return text if size >= 0 else f"({text})"
    match size.terms:
        case ((1, (Symbol() | Apply("max" | "min"),)),):
            return text
    return f"({text})"

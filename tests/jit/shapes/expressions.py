"""Random size expressions for the property tests.

`pairs()` draws (expression, the same as a Python function of the bindings); divisors are positive.
"""

import operator

from hypothesis import strategies as st

from minitorch2.jit.shapes.size_expression import (
    floor_divide,
    maximum,
    minimum,
    modulo,
    symbol,
)

NAMES = ("s0", "s1", "s2")
BINDINGS = st.fixed_dictionaries({name: st.integers(1, 40) for name in NAMES})


def _leaf(name_or_number):
    if isinstance(name_or_number, int):
        return name_or_number, lambda bindings: name_or_number
    return symbol(name_or_number), lambda bindings: bindings[name_or_number]


def _binary(on_sizes, on_ints):
    def combine(left, right):
        return (
            on_sizes(left[0], right[0]),
            lambda bindings: on_ints(left[1](bindings), right[1](bindings)),
        )

    return combine


_ADD = _binary(operator.add, operator.add)
_SUB = _binary(operator.sub, operator.sub)
_MUL = _binary(operator.mul, operator.mul)
_MAX, _MIN = _binary(maximum, max), _binary(minimum, min)
_DIV, _MOD = _binary(floor_divide, operator.floordiv), _binary(modulo, operator.mod)
_LEAVES = st.one_of(st.sampled_from(NAMES), st.integers(-6, 6)).map(_leaf)
_DIVISORS = st.one_of(st.sampled_from(NAMES), st.integers(1, 8)).map(_leaf)


def _larger(inner):
    both = st.tuples(st.sampled_from([_ADD, _SUB, _MUL, _MAX, _MIN]), inner, inner)
    divided = st.tuples(st.sampled_from([_DIV, _MOD]), inner, _DIVISORS)
    return st.one_of(both, divided).map(lambda parts: parts[0](parts[1], parts[2]))


def pairs():
    """Expressions beside the functions they stand for."""
    return st.recursive(_LEAVES, _larger, max_leaves=6)

"""The rewrite rules, and the pass that applies them.

In: a functional graph. Out: the same graph simplified. The rules above the line give the same bits
for every input, -0.0, infinities and nan included (a nan is a nan, whatever its bits); those below
hold for real numbers only and need `fast_math`. tests/jit/passes/test_rules.py evaluates both sides
of each rule on special values of every dtype it claims.

Why some rules are not there, or only for some dtypes:

- `add(x, 0) => x` turns -0.0 + 0 = 0.0 into -0.0; `sub(x, 0)` and `add(x, -0.0)` do not.
- `mul(x, 0) => 0` is wrong for inf, nan and negative x.
- `neg(sub(x, y)) => sub(y, x)` gives the other zero when x equals y.
- negation of an unsigned number or of the smallest integer wraps around.

Source: LLVM's InstCombine; IEEE 754-2019, clauses 5 and 6.
"""

from minitorch2.jit.ir.graph import Graph
from minitorch2.jit.passes.options import PassOptions
from minitorch2.jit.passes.rewrite import Rule, parse_rule, rewrite

_TEXT = """
mul_one: mul(x, 1) => x
div_one: true_divide(x, 1) => x
sub_zero: sub(x, 0) => x
add_zero: add(x, 0) => x for integers
add_negative_zero: add(x, -0.0) => x for floats
mul_minus_one: mul(x, -1) => neg(x) for floats|signed
pow_one: pow(x, 1) => x
pow_two: pow(x, 2) => mul(x, x)
pow_three: pow(x, 3) => mul(mul(x, x), x) for f32|f64|integers
divide_power_of_two: true_divide(x, c) => mul(x, 1 / c) for floats where power_of_two(c)
neg_neg: neg(neg(x)) => x
abs_abs: abs(abs(x)) => abs(x)
abs_neg: abs(neg(x)) => abs(x) for floats|signed
add_neg: add(x, neg(y)) => sub(x, y)
sub_neg: sub(x, neg(y)) => add(x, y)
mul_neg_neg: mul(neg(x), neg(y)) => mul(x, y)
div_neg_neg: true_divide(neg(x), neg(y)) => true_divide(x, y) for floats
relu_relu: relu(relu(x)) => relu(x)
maximum_same: maximum(x, x) => x
minimum_same: minimum(x, x) => x
where_same: where(c, x, x) => x
rebase_data: rebase(x, y) => y
logical_not_not: logical_not(logical_not(x)) => x for bools
logical_and_same: logical_and(x, x) => x for bools
logical_or_same: logical_or(x, x) => x for bools
bitwise_not_not: bitwise_not(bitwise_not(x)) => x for integers|bools
bitwise_and_same: bitwise_and(x, x) => x for integers|bools
bitwise_or_same: bitwise_or(x, x) => x for integers|bools
floor_floor: floor(floor(x)) => floor(x)
ceil_ceil: ceil(ceil(x)) => ceil(x)
trunc_trunc: trunc(trunc(x)) => trunc(x)
round_round: round(round(x)) => round(x)
sub_same: sub(x, x) => 0 for integers
mul_zero: mul(x, 0) => 0 for integers
add_numbers: add(add(x, a), b) => add(x, a + b) for integers where integer(a), integer(b)
mul_numbers: mul(mul(x, a), b) => mul(x, a * b) for integers where integer(a), integer(b)

add_zero_fast: add(x, 0) => x for floats fast_math
mul_zero_fast: mul(x, 0) => 0 for floats fast_math
sub_same_fast: sub(x, x) => 0 for floats fast_math
div_same_fast: true_divide(x, x) => 1 for floats fast_math
neg_sub_fast: neg(sub(x, y)) => sub(y, x) for floats fast_math
add_numbers_fast: add(add(x, a), b) => add(x, a + b) for floats where number(a), number(b) fast_math
mul_numbers_fast: mul(mul(x, a), b) => mul(x, a * b) for floats where number(a), number(b) fast_math
divide_number_fast: true_divide(x, c) => mul(x, 1 / c) for floats where nonzero(c) fast_math
exp_log_fast: exp(log(x)) => x for floats fast_math
log_exp_fast: log(exp(x)) => x for floats fast_math
square_root_fast: mul(sqrt(x), sqrt(x)) => x for floats fast_math
"""

RULES: tuple[Rule, ...] = tuple(parse_rule(line) for line in _TEXT.splitlines() if line)


def rule(name: str) -> Rule:
    """The rule of that name; KeyError when there is none."""
    return {each.name: each for each in RULES}[name]


def apply_rules(graph: Graph, options: PassOptions) -> Graph:
    """Apply every rule that the options admit, wherever it matches.

    Before:

    >>> before = '''
    ... graph f(%x: f32[4], %y: f32[4]) {
    ...   %0: f32[4] = mul(%x, 1)
    ...   %1: f32[4] = neg(%y)
    ...   %2: f32[4] = add(%1, %0)
    ...   %3: f32[4] = true_divide(%2, 4)
    ...   return %3
    ... }'''

    After (what nobody uses any more is left to eliminate_dead_code):

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> print(apply_rules(parse_graph(before), PassOptions()))
    graph f(%x: f32[4], %y: f32[4]) {
      %0: f32[4] = neg(%y)
      %1: f32[4] = sub(%x, %y)
      %2: f32[4] = mul(%1, 0.25)
      return %2
    }

    Complexity: nodes times rules for their op. Source: the rules above.
    """
    admitted = [
        each
        for each in RULES
        if options.allows(each.name) and (options.fast_math or not each.fast_math)
    ]
    return rewrite(graph, admitted)

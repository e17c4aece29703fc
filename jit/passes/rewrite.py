"""The engine for rewrite rules that are written as text.

    mul_one: mul(x, 1) => x
    add_zero: add(x, 0) => x for integers
    divide: true_divide(x, c) => mul(x, 1 / c) for floats where power_of_two(c)
    log_exp: log(exp(x)) => x for floats fast_math

    rule      = name ":" pattern "=>" template ["for" dtypes] ["where" conditions] ["fast_math"]
    pattern   = op "(" {pattern | variable | number} ")"     left-out arguments are the defaults
    template  = op "(" {template} ")" | variable | number | arithmetic of bound numbers
    dtypes    = "floats" | "integers" | "signed" | "bools" | short name, joined by "|"
    condition = name "(" variable ")", joined by ","; the names are in CONDITIONS

In: rules and a graph. Out: the graph with every rule applied wherever it matches, inside out,
until none does. A variable matches any argument, twice the same one if it stands twice; commutative
ops are tried both ways round; a number matches only itself (0 is not -0.0). Whatever the rule
says, it fires only if the replacement has the type of what it replaces, and the tensors it keeps
have one dtype.

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> rules = (parse_rule("neg_neg: neg(neg(x)) => x"),)
    >>> text = "graph f(%x: f32[4]) { %0: f32[4] = neg(%x) %1: f32[4] = neg(%0) return %1 }"
    >>> print(rewrite(parse_graph(text), rules).outputs[0].argument)
    %x
    >>> print(why_not(rules[0], parse_graph(text), "0"))
    neg_neg: %x is computed by no node, the rule wants neg(...)

Source: PyPy's ruleopt (C. F. Bolz-Tereick, "A DSL for peephole transformation rules").
"""

import ast
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from minitorch2 import dtypes
from minitorch2.dtypes import dtype
from minitorch2.errors import Mt2Error
from minitorch2.jit.ir.graph import (
    Argument,
    Graph,
    Node,
    Value,
    complete_arguments,
    literal_key,
)
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.passes.commutative import is_commutative
from minitorch2.jit.passes.notes import note
from minitorch2.jit.passes.rebuild import Rebuilder, rebuild
from minitorch2.jit.syntax import expression
from minitorch2.ops.signature import REQUIRED
from minitorch2.ops.table import POINTWISE, lookup

LIMIT = 1000  # firings at one node: more means that rules undo each other

_RULE = re.compile(
    r"(?P<name>\w+):\s*(?P<pattern>.+?)\s*=>\s*(?P<template>.+?)"
    r"(\s+for\s+(?P<dtypes>[\w|]+))?(\s+where\s+(?P<where>.+?))?(?P<fast>\s+fast_math)?"
)
DTYPE_GROUPS: dict[str, tuple[dtype, ...]] = {
    "floats": tuple(each for each in dtypes.ALL if each.is_floating_point),
    "integers": tuple(each for each in dtypes.ALL if each.category == dtypes.INTEGER),
    "signed": tuple(each for each in dtypes.REAL if each.category and each.is_signed),
    "bools": (dtypes.bool,),
}
_ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True, slots=True)
class Rule:
    """A parsed rule; `text` is the line it was written as."""

    name: str
    pattern: ast.Call
    template: ast.expr
    dtypes: tuple[dtype, ...]
    where: tuple[tuple[str, str], ...]
    fast_math: bool
    text: str

    def variables(self) -> tuple[str, ...]:
        """The pattern's variables, each once, in order."""
        return _names(self.pattern)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Match:
    """What the variables stand for, and the nodes that the pattern covers, root first."""

    bindings: Mapping[str, Argument]
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a rule does not fire."""

    reason: str


def parse_rule(text: str) -> Rule:
    """Read a rule; ValueError when it does not follow the grammar above."""
    found = _RULE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"not a rule: {text!r}")
    pattern = expression(found["pattern"])
    template = expression(found["template"])
    if not isinstance(pattern, ast.Call):
        raise ValueError(f"the pattern of a rule is a call: {text!r}")
    unbound = set(_names(template)) - set(_names(pattern))
    if unbound:
        raise ValueError(f"the template of {text!r} uses unbound {', '.join(sorted(unbound))}")
    return Rule(
        found["name"],
        pattern,
        template,
        _dtype_list(found["dtypes"]),
        tuple(_condition(each) for each in (found["where"] or "").split(",") if each),
        found["fast"] is not None,
        text.strip(),
    )


def rewrite(graph: Graph, rules: Sequence[Rule]) -> Graph:
    """The graph with the rules applied everywhere until none fires."""
    by_root: dict[str, list[Rule]] = {}
    for rule in rules:
        by_root.setdefault(_op_name(rule.pattern), []).append(rule)

    def step(rebuilder: Rebuilder, node: Node) -> tuple[Value, ...] | None:
        current = node
        for _ in range(LIMIT):
            replacement = _first(rebuilder, current, by_root)
            if replacement is None:
                break
            if isinstance(replacement, Value):
                return (replacement,)
            current = replacement
        else:
            raise RecursionError(f"rewrite rules undo each other at `{node}`")
        return None if current is node else rebuilder.keep(current)

    return rebuild(graph, step, lambda inner: rewrite(inner, rules))


def why_not(rule: Rule, graph: Graph, value_id: str) -> str:
    """Why `rule` does not fire at the node that computes a value; or that it does."""
    rebuilder = Rebuilder(graph)
    for node in graph.nodes:
        rebuilder.keep(node)
        if value_id in [result.id for result in node.results]:
            found = try_rule(rule, rebuilder, node)
            reason = found.reason if isinstance(found, Refusal) else "it fires"
            return f"{rule.name}: {reason}"
    return f"{rule.name}: no node computes %{value_id}"


def try_rule(rule: Rule, rebuilder: Rebuilder, node: Node) -> Node | Value | Refusal:
    """What `node` becomes under a rule: an existing value, a new root node, or a Refusal."""
    refusal: Refusal | None = None
    for match in _matches(rule.pattern, node, {}, rebuilder):
        found = match if isinstance(match, Refusal) else _apply(rule, match, rebuilder)
        if not isinstance(found, Refusal):
            return found
        refusal = refusal or found
    assert refusal is not None
    return refusal


def _first(
    rebuilder: Rebuilder, node: Node, by_root: Mapping[str, Sequence[Rule]]
) -> Node | Value | None:
    for rule in by_root.get(node.op, ()):
        found = try_rule(rule, rebuilder, node)
        if not isinstance(found, Refusal):
            result = f"{found}" if isinstance(found, Value) else _call_text(found)
            note(f"{rule.name}: {_call_text(node)} => {result}", node, rule.fast_math)
            return found
    return None


def _call_text(node: Node) -> str:
    return str(node).partition(" = ")[2]


# Matching: a generator of Matches and Refusals, because commutative ops can match in two ways.


def _matches(
    pattern: ast.Call, node: Node, bindings: Mapping[str, Argument], rebuilder: Rebuilder
) -> Iterator[Match | Refusal]:
    if node.op != _op_name(pattern) or len(node.results) != 1:
        yield Refusal(f"`{node}` is no {_op_name(pattern)}(...)")
        return
    wanted = _wanted(pattern)
    orders = [wanted]
    if is_commutative(node.op, node.args):
        orders.append((wanted[1], wanted[0], *wanted[2:]))
    for order in orders:
        yield from _match_all(
            list(zip(order, node.args, strict=True)), bindings, (node,), rebuilder
        )


def _match_all(
    pairs: list[tuple[Any, Argument]],
    bindings: Mapping[str, Argument],
    nodes: tuple[Node, ...],
    rebuilder: Rebuilder,
) -> Iterator[Match | Refusal]:
    """Matches the pairs from left to right, each with what the ones before it have bound."""
    if not pairs:
        yield Match(bindings, nodes)
        return
    (wanted, argument), *rest = pairs
    for found in _match_one(wanted, argument, bindings, rebuilder):
        if isinstance(found, Refusal):
            yield found
        else:
            yield from _match_all(rest, found.bindings, nodes + found.nodes, rebuilder)


def _match_one(
    wanted: Any, argument: Argument, bindings: Mapping[str, Argument], rebuilder: Rebuilder
) -> Iterator[Match | Refusal]:
    match wanted:
        case ast.Name(id=name):
            if name not in bindings:
                yield Match({**bindings, name: argument}, ())
            elif literal_key(bindings[name]) == literal_key(argument):
                yield Match(bindings, ())
            else:
                yield Refusal(f"{name} is both {bindings[name]} and {argument}")
        case ast.Call():
            node = rebuilder.definition(argument)
            if node is None:
                yield Refusal(
                    f"{argument} is computed by no node, the rule wants {_op_name(wanted)}(...)"
                )
            else:
                yield from _matches(wanted, node, bindings, rebuilder)
        case ast.expr():
            number = ast.literal_eval(wanted)
            same = _same_number(number, argument)
            yield Match(bindings, ()) if same else Refusal(f"{argument} is not {number!r}")
        case _:
            same = literal_key(wanted) == literal_key(argument)
            yield Match(bindings, ()) if same else Refusal(f"{argument} is not {wanted!r}")


def _wanted(pattern: ast.Call) -> tuple[Any, ...]:
    """One thing to match for each parameter: a part of the pattern, or the plain default."""
    parameters = lookup(_op_name(pattern)).signature.parameters
    named = {keyword.arg: keyword.value for keyword in pattern.keywords}
    wanted: list[Any] = list(pattern.args)
    for parameter in parameters[len(wanted) :]:
        given = named.get(parameter.name, parameter.default)
        if given is REQUIRED:
            raise ValueError(f"the pattern {ast.unparse(pattern)} leaves {parameter.name} open")
        wanted.append(given)
    return tuple(wanted)


def _same_number(number: Any, argument: Argument) -> bool:
    """Equal and of one sign, whether int or float; a bool is no number here."""
    if isinstance(argument, bool) or not isinstance(argument, int | float):
        return False
    return number == argument and math.copysign(1, number) == math.copysign(1, argument)


# Replacing.


def _apply(rule: Rule, match: Match, rebuilder: Rebuilder) -> Node | Value | Refusal:
    root = match.nodes[0]
    type = root.results[0].type
    refusal = _check(rule, match, type)
    if refusal is not None:
        return refusal
    made_by = f"rule {rule.name}"
    try:
        if isinstance(rule.template, ast.Call):
            found: Any = _build(rule.template, match, rebuilder, made_by)
        else:
            found = _value_of(rule.template, match.bindings)
            if not isinstance(found, Value):
                found = rebuilder.full(type, found, match.nodes, made_by)
    except Mt2Error as error:
        return Refusal(f"the replacement is no valid call: {error.wrong}")
    new_type = found.type if isinstance(found, Value) else found.results[0].type
    if new_type != type:
        return Refusal(f"it would change the type from {type} to {new_type}")
    return found


def _check(rule: Rule, match: Match, type: Any) -> Refusal | None:
    kept = _names(rule.template) or rule.variables()
    found = {
        bound.type.dtype
        for name in kept
        if isinstance(bound := match.bindings[name], Value) and isinstance(bound.type, TensorType)
    }
    if len(found) > 1:
        return Refusal("the tensors have several dtypes, so numbers are converted in between")
    for each in found | {_computes_in(node) for node in match.nodes}:
        if each is not None and each not in rule.dtypes:
            return Refusal(f"the rule does not hold for {each.short}")
    for condition, name in rule.where:
        if not CONDITIONS[condition](match.bindings[name], type):
            return Refusal(f"{condition}({match.bindings[name]}) does not hold")
    return None


def _computes_in(node: Node) -> dtype | None:
    """The dtype that a pointwise node converts its operands to: `mul(x, 0.0)` of integers is a
    product of floats. None for other nodes."""
    row = lookup(node.op)
    if row.kind != POINTWISE or row.promote not in ("promote", "bool"):
        return None
    operands = [each.type if isinstance(each, Value) else each for each in node.args]
    typed = [each for each in operands if isinstance(each, TensorType | int | float | complex)]
    return dtypes.result_type(*typed) if typed else None


def _build(template: ast.Call, match: Match, rebuilder: Rebuilder, made_by: str) -> Node:
    """The root of the template; its inner calls are appended to the new graph."""

    def part(tree: ast.expr) -> Any:
        if not isinstance(tree, ast.Call):
            return _value_of(tree, match.bindings)
        inner = _build(tree, match, rebuilder, made_by)
        return rebuilder.keep(inner)[0]

    args = tuple(map(part, template.args))
    named = {str(keyword.arg): part(keyword.value) for keyword in template.keywords}
    op = _op_name(template)
    return rebuilder.node(op, complete_arguments(lookup(op), args, named), match.nodes, made_by)


def _value_of(tree: ast.expr, bindings: Mapping[str, Argument]) -> Any:
    """A variable's argument, a number, or arithmetic on bound numbers."""
    match tree:
        case ast.Name(id=name):
            return bindings[name]
        case ast.BinOp(left=left, op=sign, right=right):
            function = _ARITHMETIC[type(sign)]
            return function(_value_of(left, bindings), _value_of(right, bindings))
    return ast.literal_eval(tree)


# Conditions on what a variable stands for; each gets it and the type of the result.


def is_number(argument: Argument, type: Any) -> bool:
    """Whether it is an int or float literal."""
    return isinstance(argument, int | float) and not isinstance(argument, bool)


def is_integer(argument: Argument, type: Any) -> bool:
    """Whether it is an int literal."""
    return isinstance(argument, int) and not isinstance(argument, bool)


def is_nonzero(argument: Argument, type: Any) -> bool:
    """Whether it is a finite number other than zero."""
    return is_number(argument, type) and argument != 0 and math.isfinite(argument)  # type: ignore


def is_power_of_two(argument: Argument, type: Any) -> bool:
    """Whether it and its reciprocal are normal powers of two in the result's dtype."""
    if not is_number(argument, type) or not isinstance(type, TensorType):
        return False
    assert isinstance(argument, int | float)
    if argument == 0 or not math.isfinite(argument):
        return False
    mantissa, exponent = math.frexp(argument)
    smallest = _SMALLEST_EXPONENT.get(type.dtype.short, 0)
    return abs(mantissa) == 0.5 and smallest < exponent < -smallest


# frexp's exponent of the smallest normal number
_SMALLEST_EXPONENT = {"f64": -1021, "f32": -125, "bf16": -125, "f16": -13}
CONDITIONS: dict[str, Callable[[Argument, Any], bool]] = {
    "number": is_number,
    "integer": is_integer,
    "nonzero": is_nonzero,
    "power_of_two": is_power_of_two,
}


def _condition(text: str) -> tuple[str, str]:
    name, _, rest = text.strip().partition("(")
    if name not in CONDITIONS or not rest.endswith(")"):
        raise ValueError(f"not a condition: {text!r}; there are {', '.join(CONDITIONS)}")
    return name, rest[:-1]


def _dtype_list(text: str | None) -> tuple[dtype, ...]:
    if text is None:
        return dtypes.REAL
    groups = [
        DTYPE_GROUPS[part] if part in DTYPE_GROUPS else (dtypes.from_short(part),)
        for part in text.split("|")
    ]
    return tuple(dict.fromkeys(itertools.chain(*groups)))


def _op_name(call: ast.Call) -> str:
    assert isinstance(call.func, ast.Name)
    return call.func.id


def _names(tree: ast.expr) -> tuple[str, ...]:
    """The variables in a pattern or template, each once, in order."""
    match tree:
        case ast.Name(id=name):
            return (name,)
        case ast.Call(args=args, keywords=keywords):
            parts = [*args, *(keyword.value for keyword in keywords)]
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case _:
            parts = []
    return tuple(dict.fromkeys(name for part in parts for name in _names(part)))

"""Prints graphs as text that `parser` reads back.

In: a Graph or a part of one. Out: deterministic text: no addresses, times or absolute paths.
Arguments that equal a parameter's default are left out, and what follows one is given by name, so
a call reads as a user would write it. On request each node's user line stands in a column of its
own, after a `#`, which the parser skips.

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> print(parse_graph("graph f(%x: f32[4]) { %0: f32[4] = exp(%x) return %0 }"))
    graph f(%x: f32[4]) {
      %0: f32[4] = exp(%x)
      return %0
    }

Source: LLVM's textual IR and jaxprs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from minitorch2.dtypes import dtype
from minitorch2.ops.signature import REQUIRED, Parameter
from minitorch2.ops.table import lookup

if TYPE_CHECKING:
    from minitorch2.jit.ir.graph import Argument, Graph, Input, Node, Output

INDENT = "  "


def print_graph(graph: Graph, origins: bool = False) -> str:
    """The whole graph; with `origins`, each node followed by its user line."""
    inputs = ", ".join(input_text(input) for input in graph.inputs)
    lines = [f"graph {graph.name}({inputs}) {{"]
    if graph.assumptions:
        lines.append(f"{INDENT}where {', '.join(map(str, graph.assumptions))}")
    lines += _node_lines(graph, origins)
    outputs = ", ".join(output_text(graph, output) for output in graph.outputs)
    lines.append(f"{INDENT}return {outputs}".rstrip())
    if graph.writes:
        pairs = (f"{_input_name(graph, index)} <- {value}" for index, value in graph.writes)
        lines.append(f"{INDENT}writes ({', '.join(pairs)})")
    return "\n".join([*lines, "}"])


def node_text(node: Node) -> str:
    """One node, without indentation (lines of a graph among its arguments are indented)."""
    results = ", ".join(f"{result}: {result.type}" for result in node.results)
    call = f"{node.op}({', '.join(_argument_texts(node))})"
    return (f"{results} = " if results else "") + call + ("" if node.grad else " no_grad")


def input_text(input: Input) -> str:
    """An input as the graph's first line declares it."""
    return f"{input.value}: {input.value.type}" + _strides_text(" ", input.strides)


def output_text(graph: Graph, output: Output) -> str:
    """An output as the `return` line shows it."""
    text = argument_text(output.argument)
    if output.alias is not None:
        index, offset = output.alias
        alias = f": alias({_input_name(graph, index)}, {offset})"
        return text + alias + _strides_text(" ", output.strides)
    return text + _strides_text(": ", output.strides)


def _input_name(graph: Graph, index: int) -> str:
    """An input's name; a graph that is wrong prints too."""
    return str(graph.inputs[index].value) if index < len(graph.inputs) else f"%no_input.{index}"


def argument_text(argument: Argument) -> str:
    """An argument: a value, literal, dtype, size, tuple or graph."""
    match argument:
        case str():
            return repr(argument)
        case dtype():
            return argument.short
        case tuple():
            inside = ", ".join(map(argument_text, argument))
            return f"({inside},)" if len(argument) == 1 else f"({inside})"
        case float():
            return _float_text(argument)
        case complex():
            return f"complex({_float_text(argument.real)}, {_float_text(argument.imag)})"
        case _:
            return str(argument)


def _node_lines(graph: Graph, origins: bool) -> list[str]:
    texts = [INDENT + node_text(node).replace("\n", "\n" + INDENT) for node in graph.nodes]
    if not origins:
        return texts
    width = max((len(text) for text in texts if "\n" not in text), default=0)
    lines = []
    for node, text in zip(graph.nodes, texts, strict=True):
        first, *rest = text.split("\n")
        lines += [f"{first:<{width}}  # {node.origin}" if node.origin else first, *rest]
    return lines


def _argument_texts(node: Node) -> list[str]:
    """The call's arguments, defaults left out; all of them when the op is not known."""
    parameters = _parameters(node.op)
    if len(parameters) != len(node.args):
        return [argument_text(argument) for argument in node.args]
    texts, by_name = [], False
    for parameter, argument in zip(parameters, node.args, strict=True):
        if _is_default(argument, parameter.default):
            by_name = True
            continue
        by_name = by_name or parameter.keyword_only
        text = argument_text(argument)
        texts.append(f"{parameter.name}={text}" if by_name else text)
    return texts


def _parameters(op: str) -> tuple[Parameter, ...]:
    try:
        return lookup(op).signature.parameters
    except KeyError:
        return ()


def _is_default(argument: Any, default: Any) -> bool:
    """Whether both are the same literal: 1, 1.0 and True differ, so do 0.0 and -0.0."""
    if default is REQUIRED or type(argument) is not type(default):
        return False
    return repr(argument) == repr(default)


def _float_text(value: float) -> str:
    return "nan" if math.isnan(value) else repr(value)


def _strides_text(before: str, strides: tuple | None) -> str:
    return "" if strides is None else f"{before}strides({','.join(map(str, strides))})"

"""A captured graph as a torch.fx GraphModule: what a backend of the user's own is given.

In: a captured graph. Out: a module with one placeholder an input, whose nodes call torch's
functions and methods; it can be printed, walked, changed, run, and run under autograd. `meta` of
each node holds `val`, a tensor without memory of the node's type, and the user's line.

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> graph = parse_graph("graph f(%x: f32[s0,4]) { %0: f32[s0,4] = mul(%x, s0) return %0 }")
    >>> print(as_module(graph).code.strip())
    def forward(self, x):
        size = x.size(0)
        mul = torch.mul(x, size);  x = size = None
        return (mul,)

Source: torch.compile's documentation, "Custom Backends".
"""

from __future__ import annotations

import linecache
import operator
from typing import Any

from minitorch2 import fx
from minitorch2.artifacts import Origin
from minitorch2.autograd.modes import set_grad_enabled
from minitorch2.errors import CompileError
from minitorch2.fx.node import Node as Call
from minitorch2.jit.ir.graph import Argument, Graph, Node, Value
from minitorch2.jit.ir.types import TensorType, Type
from minitorch2.jit.shapes.size_expression import Apply, Atom, SizeExpression, Symbol
from minitorch2.nn.module import Module
from minitorch2.ops.signature import REQUIRED
from minitorch2.ops.table import Op, lookup
from minitorch2.tensors import fake_tensor

ATOMS = {"//": operator.floordiv, "%": operator.mod, "max": max, "min": min}


def as_module(graph: Graph) -> fx.GraphModule:
    """The graph as a module of one tensor (or int) an input, which returns a tuple."""
    return Maker(graph).module()


def runs_with_grad(graph: Graph) -> bool:
    """Whether gradients were on where the graph begins."""
    return not graph.nodes or any(node.grad for node in graph.nodes)


class Maker:
    """One conversion. `calls` are the fx nodes by the names of the graph's values."""

    def __init__(self, graph: Graph):
        self.captured, self.made = graph, fx.Graph()
        self.root = Module()
        self.calls: dict[str, Call] = {}
        self.sizes: dict[str, Call] = {}  # by their text
        self.grad = runs_with_grad(graph)

    def module(self) -> fx.GraphModule:
        """The module."""
        for declared in self.captured.inputs:
            placeholder = self.made.placeholder(declared.name)
            placeholder.meta.update(_value(declared.value.type))
            self.calls[declared.name] = placeholder
        now = self.grad
        for node in self.captured.nodes:
            if node.grad != now:
                now = node.grad
                self.made.call_function(set_grad_enabled, (now,))
            self._node(node)
        if now != self.grad:
            self.made.call_function(set_grad_enabled, (self.grad,))
        self.made.output(tuple(self._argument(each.argument) for each in self.captured.outputs))
        return fx.GraphModule(self.root, self.made, self.captured.name)

    def _node(self, node: Node) -> None:
        op = lookup(node.op)
        positional, keywords = self._arguments(op, node.args)
        method = _method(op, node.args)
        if method is not None:
            call = self.made.call_method(method, tuple(positional), keywords)
        else:
            call = self.made.call_function(op.public, tuple(positional), keywords)
        call.meta["stack_trace"] = _place(node.origin)
        if len(node.results) == 1 and not _gives_tuple(op):
            call.meta.update(_value(node.results[0].type))
            self.calls[node.results[0].id] = call
            return
        call.meta["val"] = tuple(_value(each.type).get("val") for each in node.results)
        for place, value in enumerate(node.results):
            item = self.made.call_function(operator.getitem, (call, place))
            item.meta.update(_value(value.type), stack_trace=call.meta["stack_trace"])
            self.calls[value.id] = item

    def _arguments(self, op: Op, args: tuple[Argument, ...]) -> tuple[list, dict[str, Any]]:
        """The arguments that are not defaults: by position as far as possible, then by name."""
        parameters = op.signature.parameters
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        by_name = False
        for parameter, argument in zip(parameters, args, strict=True):
            if parameter.default is not REQUIRED and _same(argument, parameter.default):
                by_name = True
                continue
            by_name = by_name or parameter.keyword_only
            if by_name:
                keywords[parameter.name] = self._argument(argument)
            else:
                positional.append(self._argument(argument))
        return positional, keywords

    def _argument(self, argument: Argument) -> Any:
        match argument:
            case Value():
                return self.calls[argument.id]
            case SizeExpression():
                return self._size(argument)
            case tuple():
                return tuple(self._argument(item) for item in argument)
            case Graph():
                return self._subgraph(argument)
        return argument

    def _subgraph(self, graph: Graph) -> Call:
        """A graph among the arguments is a submodule."""
        name = f"{graph.name}_{len(self.root._modules)}"
        self.root.add_module(name, as_module(graph))
        return self.made.get_attr(name)

    # ---- sizes

    def _size(self, size: Any) -> Any:
        if isinstance(size, int):
            return size
        text = str(size)
        if text not in self.sizes:
            self.sizes[text] = self._sum(size)
        return self.sizes[text]

    def _sum(self, size: SizeExpression) -> Any:
        total: Any = None
        for coefficient, factors in size.terms:
            product: Any = coefficient if coefficient != 1 or not factors else None
            for factor in factors:
                item = self._atom(factor)
                product = item if product is None else self._apply(operator.mul, product, item)
            total = product if total is None else self._apply(operator.add, total, product)
        return total

    def _atom(self, atom: Atom) -> Any:
        if isinstance(atom, Apply):
            arguments = [self._size(each) for each in atom.arguments]
            return self._apply(ATOMS[atom.function], *arguments)
        return self._symbol(atom)

    def _apply(self, function: Any, *arguments: Any) -> Call:
        return self.made.call_function(function, arguments)

    def _symbol(self, wanted: Symbol) -> Call:
        """The input that is this number, or has it as a size."""
        if wanted.name in self.sizes:
            return self.sizes[wanted.name]
        for declared in self.captured.inputs:
            kind, call = declared.value.type, self.calls[declared.name]
            shape = kind.shape if isinstance(kind, TensorType) else ()
            for place, size in enumerate(shape):
                if str(size) == wanted.name:
                    found = self.made.call_method("size", (call, place))
                    self.sizes[wanted.name] = found
                    return found
            if not isinstance(kind, TensorType) and str(kind.size) == wanted.name:
                return call
        raise CompileError(
            f"the graph {self.captured.name} as a torch.fx module",
            f"no input has the size {wanted.name}, which it uses",
            "compile with dynamic=False, or with a backend of minitorch2's own",
        )


def _method(op: Op, args: tuple[Argument, ...]) -> str | None:
    """The method to call, for what torch has only as one: view, copy_."""
    if op.function or not op.method or not args or not isinstance(args[0], Value):
        return None
    return op.name


def _gives_tuple(op: Op) -> bool:
    return len(op.signature.returns) != 1 or "[]" in op.signature.returns[0]


def _same(argument: Argument, default: Any) -> bool:
    return type(argument) is type(default) and argument == default


def _value(kind: Type) -> dict[str, Any]:
    """A tensor without memory of a type whose sizes are all known."""
    if not isinstance(kind, TensorType):
        return {}
    shape = tuple(size for size in kind.shape if isinstance(size, int))
    if len(shape) < kind.ndim:
        return {"type": str(kind)}
    return {"type": str(kind), "val": fake_tensor(shape, kind.dtype, None, kind.device)}


def _place(origin: Origin | None) -> str | None:
    """The user's line as a traceback shows it."""
    if origin is None or not origin.spans:
        return None
    span = origin.spans[0]
    text = linecache.getline(span.file, span.line).strip()
    return f'  File "{span.file}", line {span.line}\n    {text}'

"""A graph as Python source.

In: the nodes. Out: the text of `def forward(self, ...)` and the globals its names stand for. A
value is set to None behind its last use, so that its memory is free as it would be in a program
written by hand.

    def forward(self, x):
        relu = torch.relu(x);  x = None
        return relu

Source: torch.fx's generated code looks like this.
"""

import math
import operator
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from minitorch2 import dtypes
from minitorch2.devices import device
from minitorch2.fx.node import Node, target_text, type_text
from minitorch2.tensors import Size

BINARY = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "lshift": "<<", "rshift": ">>", "and_": "&", "or_": "|", "xor": "^", "matmul": "@",
    "eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">=",
}  # fmt: skip
UNARY = {"pos": "+", "neg": "-", "invert": "~"}
WRITTEN = {f"i{name.rstrip('_')}": f"{sign}=" for name, sign in list(BINARY.items())[:13]}


@dataclass
class PythonCode:
    """The text, and what its names stand for."""

    src: str
    globals: dict[str, Any]


class CodeGen:
    """Writes the source of `forward`; subclasses may write another head or result."""

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """The first line."""
        parameters = ", ".join(["self", *[v for v in free_vars if v.split(" ")[0] != "self"]])
        return f"def forward({parameters}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any) -> str:
        """The last line."""
        return f"return {argument_text(output_args, {})}"

    def generate(self, nodes: Iterable[Node], root_module: str = "self") -> PythonCode:
        """The whole source and its globals."""
        writer = _Writer(root_module)
        order = list(nodes)
        last: dict[Node, list[Node]] = {}
        seen: set[Node] = set()
        for node in reversed(order):
            for used in [node, *node.all_input_nodes]:
                if used not in seen:
                    seen.add(used)
                    if used is not node:
                        last.setdefault(node, []).append(used)
        for node in order:
            writer.node(node, self)
            writer.forget(node, last.get(node, []))
        body = "".join(writer.body) or "pass\n"
        lines = "\n".join("    " + line for line in body.split("\n"))
        head = self.gen_fn_def(_ordered(writer.free), writer.returns)
        return PythonCode(f"\n\n\n{head}\n{lines}", writer.names)


def _ordered(free: list[str]) -> list[str]:
    """Parameters first, then *args, then **kwargs."""
    plain = [text for text in free if not text.startswith("*")]
    return plain + [text for text in free if text.startswith("*")]


class _Writer:
    """The text so far."""

    def __init__(self, root: str):
        self.root = root
        self.body: list[str] = []
        self.free: list[str] = []
        self.names: dict[str, Any] = {"torch": sys.modules["minitorch2"]}
        self.returns = ""

    def node(self, node: Node, codegen: CodeGen) -> None:
        """Write one node's line, without its end."""
        if node.op == "placeholder":
            self._placeholder(node)
        elif node.op == "output":
            if node.type is not None:
                self.returns = f" -> {self._annotation(node.type)}"
            argument_text(node.args, self.names)  # what stands in it gets its name
            self.body.append(codegen.generate_output(node.args[0]))
        elif _writes(node):
            target, value = (argument_text(argument, self.names) for argument in node.args)
            sign = WRITTEN[node.target.__name__]
            self.body.append(f"{target} {sign} {value};  {node.name} = {target}")
        else:
            kind = "" if node.type is None else f" : {self._annotation(node.type)}"
            self.body.append(f"{node.name}{kind} = {self._call(node)}")

    def _annotation(self, kind: Any) -> str:
        text = type_text(kind)
        if isinstance(kind, type) and kind.__module__ not in ("builtins",) and "." not in text:
            self.names[text] = kind
        elif not isinstance(kind, (type, str)):
            text = self._global("annotation", kind) if not text.startswith("torch.") else text
        return text

    def _placeholder(self, node: Node) -> None:
        kind = "" if node.type is None else f" : {self._annotation(node.type)}"
        default = f" = {argument_text(node.args[0], self.names)}" if node.args else ""
        self.free.append(f"{node.target}{kind}{default}")
        raw = node.target.replace("*", "")
        if raw != node.name:
            self.body.append(f"{node.name} = {raw}")

    def forget(self, node: Node, last: list[Node]) -> None:
        """End the line, after setting what is not needed any more to None."""
        if node.op == "placeholder":
            if self.body and not self.body[-1].endswith("\n"):
                self.body.append("\n")
            return
        last = last if node.users else [*last, node]
        if node.op == "output" or not last:
            self.body.append("\n")
            return
        gone = " = ".join([repr(used) for used in last] + ["None"])
        self.body.append(f";  {gone}\n")

    def _call(self, node: Node) -> str:
        if node.op == "get_attr":
            return path_text(self.root, node.target)
        if node.op == "call_method":
            rest = self._arguments(node.args[1:], node.kwargs)
            return f"{self._receiver(node.args[0])}.{node.target}({rest})"
        if node.op == "call_module":
            return f"{path_text(self.root, node.target)}({self._arguments(node.args, node.kwargs)})"
        return self._function(node)

    def _receiver(self, value: Any) -> str:
        text = argument_text(value, self.names)
        return text if isinstance(value, (Node, str)) else f"({text})"

    def _function(self, node: Node) -> str:
        target, args = node.target, node.args
        if getattr(target, "__module__", "") == "_operator" and not node.kwargs:
            found = self._operator(target.__name__, args)
            if found is not None:
                return found
        if target is getattr and len(args) == 2 and str(args[1]).isidentifier():
            return f"{self._receiver(args[0])}.{args[1]}"
        return f"{self._function_name(target)}({self._arguments(args, node.kwargs)})"

    def _operator(self, name: str, args: tuple) -> str | None:
        texts = [argument_text(argument, self.names) for argument in args]
        if name in BINARY and len(args) == 2:
            return f"{texts[0]} {BINARY[name]} {texts[1]}"
        if name in UNARY and len(args) == 1:
            return f"{UNARY[name]}{texts[0]}"
        if name == "getitem" and len(args) == 2:
            return f"{texts[0]}[{texts[1]}]"
        return None

    def _function_name(self, target: Any) -> str:
        name = target_text(target)
        if name.startswith("torch."):
            value: Any = sys.modules["minitorch2"]
            for part in name.split(".")[1:]:
                value = getattr(value, part, None)
            if value is target:
                return name
        if getattr(target, "__module__", "") == "builtins" and getattr(target, "__self__", None):
            return target.__name__
        return self._global(name, target)

    def _global(self, name: str, value: Any) -> str:
        """A name for an object that the source cannot spell."""
        name = re.sub(r"^builtins\.", "", name)
        if value is getattr(sys.modules["builtins"], name, None):
            return name
        base = re.sub(r"\W+", "_", name)
        made, number = base, 0
        while made in self.names and self.names[made] is not value:
            number += 1
            made = f"{base}_{number}"
        self.names[made] = value
        return made

    def _arguments(self, args: tuple, kwargs: dict[str, Any]) -> str:
        texts = [argument_text(argument, self.names) for argument in args]
        texts += [f"{key} = {argument_text(value, self.names)}" for key, value in kwargs.items()]
        return ", ".join(texts)


def _writes(node: Node) -> bool:
    """Whether a node is `a += b` and its like."""
    if node.op != "call_function" or getattr(node.target, "__module__", "") != "_operator":
        return False
    return node.target.__name__ in WRITTEN and len(node.args) == 2 and not node.kwargs


def path_text(root: str, path: str) -> str:
    """An attribute's path as source: getattr where a part is no name."""
    text = root
    for part in path.split("."):
        text = f"{text}.{part}" if part.isidentifier() else f'getattr({text}, "{part}")'
    return text


def argument_text(value: Any, names: dict[str, Any]) -> str:
    """An argument as source."""
    if isinstance(value, Node):
        return repr(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        kind = type(value).__name__
        names.setdefault(kind, type(value))
        return f"{kind}({', '.join(argument_text(item, names) for item in value)})"
    if isinstance(value, Size):
        return f"torch.Size([{', '.join(argument_text(item, names) for item in value)}])"
    if isinstance(value, tuple):
        inside = ", ".join(argument_text(item, names) for item in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, list):
        return f"[{', '.join(argument_text(item, names) for item in value)}]"
    if isinstance(value, dict):
        pairs = (f"{key!r}: {argument_text(item, names)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, slice):
        parts = (argument_text(part, names) for part in (value.start, value.stop, value.step))
        return f"slice({', '.join(parts)})"
    return _constant_text(value, names)


def _constant_text(value: Any, names: dict[str, Any]) -> str:
    if isinstance(value, dtypes.dtype):
        return repr(value)
    if isinstance(value, device):
        return f"torch.device('{value}')"
    if isinstance(value, float) and not math.isfinite(value):
        names[repr(abs(value))] = abs(value)
        return repr(value)
    if isinstance(value, type):
        text = type_text(value)
        if "." not in text:
            names[text] = value
        return text
    if callable(value) and getattr(value, "__module__", None) == "_operator":
        names.setdefault("operator", operator)
        return f"operator.{value.__name__}"
    return repr(value)

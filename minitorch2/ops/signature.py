"""Signatures: the schema line of an op row, parsed, and the Python functions made from it.

In: `sum(Tensor self, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor`.
Out: a Signature with typed parameters, and generated functions that bind a call to one argument
per parameter.

    parameter := type name ["=" default] | "*"
    type      := ("Tensor" | "Operand" | "Scalar" | "int" | "int[]" | "int[...]" | "float" |
                  "bool" | "str" | "dtype" | "device" | "Tensor[]" | "any") ["(a)" | "(a!)"] ["?"]

An Operand is a tensor or a Python number; `int[...]` may also be given as separate arguments; (a)
marks an alias of the result and (a!) a tensor that is written.

Source: the schema language is that of PyTorch's native functions.
"""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

from minitorch2.errors import ArgumentTypeError
from minitorch2.ops.code_cache import code_of

# What numpy calls parameters: torch takes these names too.
NUMPY_NAMES = {"dim": "axis", "keepdim": "keepdims"}
TENSOR_TYPES = ("Tensor", "Operand", "Tensor[]")
REQUIRED = object()


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: `alias` is '' or 'a' (the result shares its memory) or 'a!' (written)."""

    name: str
    type: str
    optional: bool
    default: Any
    keyword_only: bool
    alias: str

    @property
    def is_tensor(self) -> bool:
        """Whether tensors may be given (as one, as an operand, or as a list)."""
        return self.type in TENSOR_TYPES


@dataclass(frozen=True, slots=True)
class Signature:
    """A parsed schema line; `text` is the line itself, `returns` the result types.

    `result_names`: those of several results, where the line names them.
    """

    name: str
    parameters: tuple[Parameter, ...]
    returns: tuple[str, ...]
    text: str
    result_names: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters' names in order."""
        return tuple(parameter.name for parameter in self.parameters)


_SCHEMA = re.compile(r"^(\w+)\((.*)\)\s*->\s*(.+)$")
_TYPE = re.compile(r"^([A-Za-z]+)(\[\]|\[\.\.\.\])?(\((a!?)\))?(\?)?$")


def parse_signature(text: str) -> Signature:
    """Parse a schema line; ValueError when it does not follow the grammar above."""
    match = _SCHEMA.match(text)
    if match is None:
        raise ValueError(f"not a schema: {text!r}")
    name, inside, result = match.groups()
    parameters, keyword_only = [], False
    for part in _split(inside):
        if part == "*":
            keyword_only = True
            continue
        declaration, _, default = part.partition("=")
        kind, parameter_name = declaration.split()
        found = _TYPE.match(kind)
        if found is None:
            raise ValueError(f"not a type: {kind!r} in {text!r}")
        base, many, _, alias, optional = found.groups()
        parameters.append(
            Parameter(
                parameter_name,
                base + (many or ""),
                optional is not None,
                ast.literal_eval(default) if default else REQUIRED,
                keyword_only,
                alias or "",
            )
        )
    results = _split(result[1:-1]) if result.startswith("(") else [result]
    words = [part.split() for part in results if part]
    named = len(words) > 1 and all(len(each) == 2 for each in words)
    return Signature(
        name,
        tuple(parameters),
        tuple(each[0] for each in words),
        text,
        tuple(each[1] for each in words) if named else (),
    )


def _split(text: str) -> list[str]:
    """Split at top-level commas."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text + ","):
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth == 0:
            part = text[start:index].strip()
            if part:
                parts.append(part)
            start = index + 1
    return parts


def as_ints(value: Any, name: str) -> Any:
    """A tuple of integers from an int or a sequence; None stays None."""
    if value is None:
        return None
    if isinstance(value, (tuple, list)):
        return _plain(tuple(value), name)
    if hasattr(value, "__index__"):
        return _plain((value,), name)
    raise ArgumentTypeError(
        f"argument '{name}'",
        f"must be an int or a sequence of ints, not {type(value).__name__}",
        f"pass {name}=1 or {name}=(0, 1)",
    )


def as_variadic(values: tuple, name: str) -> tuple:
    """The sizes of `f(2, 3)` or `f((2, 3))` as one tuple."""
    if len(values) == 1 and not hasattr(values[0], "__index__"):
        return _plain(tuple(values[0]), name)
    return _plain(values, name)


def as_tensors(value: Any, name: str, function: str) -> tuple:
    """A tuple from a tuple or list, as which alone torch takes several tensors."""
    if isinstance(value, (tuple, list)):
        return tuple(value)
    raise ArgumentTypeError(
        f"{function}({name}={type(value).__name__})",
        f"{function}(): argument '{name}' (position 1) must be tuple of Tensors, "
        f"not {type(value).__name__}",
        f"give a tuple or list of tensors: {function}([x, y])",
    )


def _plain(values: tuple, name: str) -> tuple:
    """The integers, numpy's own made plain ones; symbolic sizes stay. A bool is none, but torch
    looks at the first only."""
    if values and values[0].__class__ is bool:
        raise no_int(name, values[0], "tuple of ints")
    for value in values:
        if isinstance(value, (numpy.integer, bool)):
            return tuple(int(x) if isinstance(x, (numpy.integer, bool)) else x for x in values)
    return values


def an_int(value: Any, name: str) -> Any:
    """The value, which may be anything but a bool."""
    if value.__class__ is bool:
        raise no_int(name, value)
    return value


def no_int(name: str, value: Any, wanted: str = "int") -> Exception:
    """What is raised for a bool where an integer belongs."""
    return ArgumentTypeError(
        f"{name}={value}",
        f"argument '{name}' must be {wanted}, not bool",
        f"pass {int(value)} if that is meant",
    )


def must_be_tensor(op: Any, parameter: Parameter) -> bool:
    """Whether users may give nothing but a tensor for a parameter."""
    if parameter.type != "Operand":
        return parameter.type == "Tensor"
    if op.numbers is not None:
        return parameter.name not in op.numbers.split()
    operands = sum(each.type == "Operand" for each in op.signature.parameters)
    return operands == 1 and op.kind == "pointwise"


_PREPARE = {
    "int[]": "{0} = as_ints({0}, '{0}')",
    "int[...]": "{0} = as_variadic({0}_ if {0} is None else ({0},), '{0}')",
    "Tensor[]": "{0} = as_tensors({0}, '{1}', op.name)",
}


_SHORT = """if state.direct{usual}:
        found = op.short({operands})
        if found is not None:
            return found"""


def _short_line(names: list[str], scope: dict[str, Any]) -> str:
    """The try of the short way, for a call whose parameters after the operands are not given."""
    given = {name: f"default_{index}" for index, name in enumerate(names)}
    others = {name: default for name, default in given.items() if default in scope}
    usual = "".join(f" and {name} is {default}" for name, default in others.items())
    operands = ", ".join(name for name in names if name not in others)
    return _SHORT.format(usual=usual, operands=operands)


_PREPARERS = {
    "as_ints": as_ints,
    "as_variadic": as_variadic,
    "as_tensors": as_tensors,
    "no_int": no_int,
}


def _numpy_names(parameters: tuple[Parameter, ...]) -> list[tuple[str, str]]:
    """Parameters that need not be given, and what numpy calls them."""
    free = {each.name for each in parameters if each.default is not REQUIRED}
    taken = {each.name for each in parameters}
    return [
        (name, alias)
        for name, alias in NUMPY_NAMES.items()
        if name in free - {alias} and alias not in taken
    ]


def _prepared(parameter: Parameter, name: str, about_bias: bool) -> list[str]:
    """The statement that makes of an argument what the row takes, if there is one."""
    if parameter.type == "int":
        return [f"if {name}.__class__ is bool: raise no_int({name!r}, {name})"]
    if parameter.type not in _PREPARE:
        return []
    line = _PREPARE[parameter.type].format(name, parameter.name)
    if parameter.type == "int[]" and about_bias:  # `var(False)` says nothing of dimensions
        return [f"{name} = ({name},) if {name}.__class__ is bool else as_ints({name}, {name!r})"]
    optional = parameter.optional and parameter.type == "Tensor[]"
    return [f"if {name} is not None: {line}" if optional else line]


def make_function(
    op: Any,
    call: Callable,
    first: str | None = None,
    short_if: Any = None,
    write_out: Callable | None = None,
    check: tuple[type, Callable] | None = None,
) -> Callable:
    """The public function of an op row: binds its arguments and calls the dispatcher.

    `first` renames the first parameter: functions call it `input`, methods `self`, as torch does.
    With `short_if`, the dispatcher's state, the row's short way is tried while it is `direct`.
    With `write_out`, the function takes out=: `write_out(op, arguments, out)`. `check` is the
    class Tensor and what gives the value of a tensor parameter that gets something else:
    `admit(op, position, arguments)`.
    """
    signature: Signature = op.signature
    parameters = signature.parameters
    passed = [first if i == 0 and first else each.name for i, each in enumerate(parameters)]
    arguments = f"({', '.join(passed)},)"
    declared, lines = [], []
    star = False
    scope: dict[str, Any] = {"call": call, "op": op, "state": short_if, **_PREPARERS}
    for index, (name, parameter) in enumerate(zip(passed, parameters, strict=True)):
        if parameter.type == "int[...]":
            declared.append(f"*{name}_, {name}=None")
            star = True
        else:
            if parameter.keyword_only and not star:
                declared.append("*")
                star = True
            if parameter.default is REQUIRED:
                declared.append(name)
            else:
                scope[f"default_{index}"] = parameter.default
                declared.append(f"{name}=default_{index}")
        checked = parameter.type == "Tensor" or parameter.type == "Operand"
        if check is not None and checked:
            missing = f"{name} is not None and " if parameter.optional else ""
            admitted = f"{name} = admit(op, {index}, {arguments})"
            lines.append(f"if {missing}not isinstance({name}, Tensor): {admitted}")
            scope["Tensor"], scope["admit"] = check
        lines += _prepared(parameter, name, "unbiased" in passed)
    for name, alias in _numpy_names(parameters):
        declared += [f"{alias}=None"] if star else ["*", f"{alias}=None"]
        lines.append(f"if {alias} is not None: {name} = {alias}")
        star = True
    if write_out is not None:
        scope["write_out"] = write_out
        declared += ["out=None"] if star else ["*", "out=None"]
        lines.append(f"if out is not None: return write_out(op, {arguments}, out)")
    if short_if is not None:
        lines.append(_short_line(passed, scope))
    body = "\n    ".join([*lines, f"return call(op, {arguments})"])
    source = f"def {signature.name}({', '.join(declared)}):\n    {body}\n"
    exec(code_of(source, f"<minitorch2 {signature.name}>"), scope)
    function = scope[signature.name]
    function.__doc__ = f"{op.doc}\n\n{signature.text}"
    function.__module__ = "minitorch2"
    function.__qualname__ = signature.name
    function.op = op
    return function

"""A Python float that changes from call to call: a learning rate, a temperature.

In: the float and its source, once it is known to vary. Out: a value that goes through arithmetic
with numbers and floating tensors as a 0-d float64 tensor, an input of the graph, which rounds as a
Python float does. Comparing it with a number guards the answer, any other use guards the number.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from minitorch2.dtypes import dtype, float64, result_type
from minitorch2.jit import guards as kinds
from minitorch2.jit.capture.source import Source
from minitorch2.jit.capture.symbols import COMPARE
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.tensors import TensorValue
from minitorch2.jit.shapes.symbolic_size import SymbolicSize
from minitorch2.tensors import Tensor

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine

SYMBOLS = frozenset({"+", "-", "*", "/"})


class FloatValue(Value):
    """A float that varies: `number` in this call, computed from `roots`, which have sources, by
    `formula`: (symbol, operands), which are such floats or plain numbers."""

    __slots__ = ("machine", "number", "roots", "fake", "formula", "looked_at")

    def __init__(
        self,
        machine: Machine,
        number: float,
        roots: tuple[FloatValue, ...],
        source: Source | None = None,
        fake: Tensor | None = None,
        formula: tuple[str, list[Any]] | None = None,
    ):
        super().__init__(source)
        self.formula = formula
        self.machine, self.number, self.fake = machine, number, fake
        self.roots = roots
        self.looked_at = False

    def python_type(self) -> type:
        return float

    def describe(self) -> str:
        return str(self.source) if self.source is not None else "a float that varies"

    def known(self) -> Any:
        """The number itself, guarded from now on."""
        for root in self.roots or (self,):
            if not root.looked_at:
                root.looked_at = True
                self.machine.state.guard_value(root.source, root.number)
        return self.number

    def is_known(self) -> bool:
        """Whether it is guarded already, so that it is as good as a constant."""
        return all(root.looked_at for root in self.roots or (self,))

    def tensor(self) -> Tensor:
        """The 0-d tensor that stands for it in the graph."""
        if self.fake is None:
            assert self.source is not None
            self.fake = self.machine.input_float(self.number, self.source)
        return self.fake

    def truth(self, machine: Machine) -> bool:
        return self.decide("!=", 0.0)

    def compare_with(self, machine: Machine, symbol: str, other: Value, swapped: bool) -> Any:
        number = other.value if isinstance(other, Constant) else None
        if isinstance(other, FloatValue) and not other.is_known():
            return Constant(self.decide(symbol, other))
        plain = type(number) in (int, float) and math.isfinite(number)  # type: ignore[arg-type]
        return Constant(self.decide(symbol, number)) if plain and not self.is_known() else None

    def decide(self, symbol: str, other: Any) -> bool:
        """The answer to a comparison with a number or another such float, guarded."""
        found = COMPARE[symbol][0](self.number, getattr(other, "number", other))
        roots: list[FloatValue] = []
        text = f"{self.text(roots)} {symbol} {text_of(other, roots)}"
        sources = tuple(root.source for root in roots if root.source is not None)
        meaning = f"{text.format(*sources)} {'held' if found else 'did not hold'}"
        self.machine.state.add(
            kinds.plain_guard("size", sources, f"({text}) is not {found}", meaning,
                              self.machine.state.span(),
                              expected=tuple(root.number for root in roots))
        )  # fmt: skip
        return found

    def text(self, roots: list[FloatValue]) -> str:
        """Python text of the number, in which `{0}` is the first of the roots."""
        if self.formula is None:
            if self not in roots:
                roots.append(self)
            return f"{{{roots.index(self)}}}"
        symbol, operands = self.formula
        return f"({f' {symbol} '.join(text_of(each, roots) for each in operands)})"

    def get_attribute(self, machine: Machine, name: str) -> Value:
        return Constant(self.known()).get_attribute(machine, name)

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        return Constant(self.known()).call_method(machine, name, args, kwargs)

    def emit(self, emitter: Emitter) -> str:
        if self.source is not None:
            return emitter.fetch(self.source)
        if self.is_known():
            return emitter.constant(self.number)
        value = self.machine.from_python(self.tensor())
        return f"{emitter.value(value)}.item()"


def text_of(operand: Any, roots: list[FloatValue]) -> str:
    """The text of an operand: a varying float, or a number."""
    return operand.text(roots) if isinstance(operand, FloatValue) else repr(operand)


def is_floating(value: Value) -> bool:
    """Whether a value is a tensor of a floating dtype."""
    return isinstance(value, TensorValue) and value.fake.dtype.is_floating_point


def meeting_dtype(operands: Arguments) -> dtype | None:
    """What a varying float becomes among the operands of an operation; None: its number counts.

    A number gives way to the dtype of every tensor, a 0-d float64 tensor to that of floating
    tensors with dimensions only; where there is none of those, it is converted. Beside tensors of
    16 bits a number is rounded to 32 bits, which no tensor is.
    """
    fakes = [each.fake for each in operands if isinstance(each, TensorValue)]
    floating = [fake for fake in fakes if fake.dtype.is_floating_point]
    if any(fake.dtype.itemsize == 2 for fake in floating):
        return None
    return float64 if any(fake.ndim for fake in floating) else result_type(*fakes)


_TO: Any = vars(Tensor)["to"]


def beside(machine: Machine, value: FloatValue, element: dtype) -> Any:
    """The tensor of a varying float, in the dtype it has beside others."""
    made = value.tensor()
    return made if element is float64 else machine.run_lowered(_TO, [made, element], {})


def float_arithmetic(machine: Machine, symbol: str, function: Any, operands: Arguments) -> Any:
    """The result of an operator with a varying float among its operands; None: look at it."""
    floats = [each for each in operands if isinstance(each, FloatValue) and not each.is_known()]
    if not floats or symbol not in SYMBOLS:
        return None
    if any(is_floating(each) for each in operands):
        element = meeting_dtype(operands)
        if element is None:
            return None
        plain = [
            beside(machine, each, element) if each in floats else each.lower(machine)
            for each in operands
        ]
        return machine.from_python(machine.run_lowered(function, plain, {}))
    numbers = []
    for each in operands:
        number = each.number if isinstance(each, FloatValue) else getattr(each, "value", None)
        if type(number) not in (int, float) or isinstance(number, SymbolicSize):
            return None
        assert isinstance(number, int | float)
        if not math.isfinite(number):
            return None
        numbers.append(number)
    if symbol == "/" and numbers[-1] == 0:
        return None
    plain = [
        each.tensor() if each in floats else number
        for each, number in zip(operands, numbers, strict=True)
    ]
    fake = machine.run_lowered(function, plain, {})
    roots = tuple(dict.fromkeys(root for each in floats for root in each.roots or (each,)))
    parts = [each if each in floats else n for each, n in zip(operands, numbers, strict=True)]
    return FloatValue(machine, function(*numbers), roots, None, fake, (symbol, parts))


def lowered_operands(machine: Machine, op: Any, args: Arguments) -> list[Any] | None:
    """Arguments of an op with varying floats where it takes tensors or numbers alike."""
    if not any(isinstance(each, FloatValue) for each in args):
        return None
    element = meeting_dtype(args) if any(is_floating(each) for each in args) else None
    if element is None:
        return None
    plain = []
    for each, parameter in zip(args, op.signature.parameters, strict=False):
        if isinstance(each, FloatValue) and not each.is_known() and parameter.type == "Operand":
            plain.append(beside(machine, each, element))
        else:
            plain.append(each.lower(machine))
    return plain if len(plain) == len(args) else None

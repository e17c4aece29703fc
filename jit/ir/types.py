"""The types of values in a graph: tensors and Python scalars.

A tensor type says dtype, sizes and device; never strides (values have none, only a graph's inputs
and outputs do). A size is an int or an expression over named sizes.

    >>> from minitorch2.dtypes import float32
    >>> from minitorch2.jit.shapes.parser import parse_size
    >>> print(TensorType(float32, (parse_size("s0*2"), 4)), ScalarType("int"))
    f32[s0*2,4] int

Source: the notation follows jaxprs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from minitorch2.devices import CPU, device
from minitorch2.dtypes import dtype
from minitorch2.jit.shapes.size_expression import Size, size_symbols, substitute_size


@dataclass(frozen=True, slots=True)
class TensorType:
    """A tensor of `dtype` with sizes `shape`, on `device` (printed unless it is the CPU)."""

    dtype: dtype
    shape: tuple[Size, ...]
    device: device = CPU

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def symbols(self) -> tuple[str, ...]:
        """Names of the symbols in the shape, each once."""
        return tuple(dict.fromkeys(name for size in self.shape for name in size_symbols(size)))

    def __str__(self) -> str:
        where = "" if self.device == CPU else f"@{self.device}"
        return f"{self.dtype.short}[{','.join(map(str, self.shape))}]{where}"


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A Python number: `kind` is 'int', 'float' or 'bool'.

    An int that sizes depend on names its expression in `size`, printed as `int(s0)`.
    """

    kind: str
    size: Size | None = None

    @property
    def scalar_kind(self) -> str:
        """The kind, under the name that promotion asks symbolic numbers for."""
        return self.kind

    def symbols(self) -> tuple[str, ...]:
        """Names of the symbols in `size`."""
        return () if self.size is None else size_symbols(self.size)

    def __str__(self) -> str:
        return self.kind if self.size is None else f"{self.kind}({self.size})"


Type: TypeAlias = TensorType | ScalarType
SCALAR_KINDS = ("int", "float", "bool")


def substitute_type(type: Type, bindings: Mapping[str, Size]) -> Type:
    """`type` with some symbols replaced."""
    if isinstance(type, TensorType):
        return replace(type, shape=tuple(substitute_size(size, bindings) for size in type.shape))
    return type if type.size is None else replace(type, size=substitute_size(type.size, bindings))

"""The element types, and torch's promotion rules between them.

In: two dtypes or several operands. Out: the dtype of the result. A Python number takes part only
with its category (bool < integer < floating < complex), and a 0-d tensor only when its category is
higher than that of the tensors with dimensions.

    >>> promote_types(int32, float32)
    torch.float32

Source: the promotion rules are those of torch's "Tensor Attributes" page; bfloat16 is ml_dtypes'.
"""

import builtins
import math
from typing import Any

import ml_dtypes
import numpy

from minitorch2.errors import ArgumentTypeError, DtypeError


class dtype:
    """An element type. Instances are the module constants; there are no others."""

    __slots__ = (
        "name",
        "short",
        "numpy",
        "itemsize",
        "category",
        "is_floating_point",
        "is_complex",
        "differentiable",
        "is_signed",
        "is_stored_only",
        "letter",
        "order",
    )

    def __init__(
        self, name: str, short: str, numpy_type: Any, category: builtins.int, order: builtins.int
    ):
        self.name, self.short = name, short
        self.numpy = numpy.dtype(numpy_type)
        self.itemsize = self.numpy.itemsize
        self.category, self.order = category, order
        self.is_floating_point = category == 2
        self.is_complex = category == 3
        self.differentiable = category >= 2  # whether its tensors may require gradients
        self.is_signed = short[0] != "u" and short not in ("bool", "f8e8m0fnu")
        self.is_stored_only = short.startswith("f8")  # converted, hardly ever computed with
        # What rows accept it by: a letter for its category, but for the dtypes of few operations.
        few = "e" if self.is_stored_only else "u" if short in ("u16", "u32", "u64") else ""
        self.letter = few or "bifc"[category]

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name

    def to_complex(self) -> "dtype":
        """The complex dtype whose parts hold this dtype's numbers (at least float32).

        DtypeError for the floats of eight bits.
        """
        if self.letter in "eu":
            raise DtypeError(
                f"{self}.to_complex()",
                f"Unknown Complex ScalarType for {self.title}",
                "convert to float32 first",
            )
        return self if self.is_complex else complex128 if self is float64 else complex64

    @property
    def in_words_of_c(self) -> str:
        """The name of its C type, which torch's messages of overflow have: 'float', 'int64_t'."""
        if self.category == INTEGER:
            return "int" if self is int32 else f"{self.name}_t"
        plain = {bool: "bool", float32: "float", float64: "double"}
        parts = {complex64: "c10::complex<float>", complex128: "c10::complex<double>"}
        return (plain | parts).get(self, f"c10::{self.title}")

    @property
    def title(self) -> str:
        """The name that torch's tensor types and messages have for it: 'Float', 'Long'."""
        return TITLES[self.name]

    def to_real(self) -> "dtype":
        """The dtype of a complex dtype's parts; a real dtype itself."""
        return {complex64: float32, complex128: float64}.get(self, self)


TITLES = {
    "float32": "Float",
    "float64": "Double",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "int64": "Long",
    "int32": "Int",
    "int16": "Short",
    "int8": "Char",
    "uint8": "Byte",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
    "bool": "Bool",
    "uint16": "UInt16",
    "uint32": "UInt32",
    "uint64": "UInt64",
    "float8_e4m3fn": "Float8_e4m3fn",
    "float8_e5m2": "Float8_e5m2",
    "float8_e4m3fnuz": "Float8_e4m3fnuz",
    "float8_e5m2fnuz": "Float8_e5m2fnuz",
    "float8_e8m0fnu": "Float8_e8m0fnu",
}
BOOL, INTEGER, FLOATING, COMPLEX = 0, 1, 2, 3
bool = dtype("bool", "bool", numpy.bool_, BOOL, 0)
uint8 = dtype("uint8", "u8", numpy.uint8, INTEGER, 1)
int8 = dtype("int8", "i8", numpy.int8, INTEGER, 2)
int16 = dtype("int16", "i16", numpy.int16, INTEGER, 3)
int32 = dtype("int32", "i32", numpy.int32, INTEGER, 4)
int64 = dtype("int64", "i64", numpy.int64, INTEGER, 5)
float16 = dtype("float16", "f16", numpy.float16, FLOATING, 6)
bfloat16 = dtype("bfloat16", "bf16", ml_dtypes.bfloat16, FLOATING, 6)
float32 = dtype("float32", "f32", numpy.float32, FLOATING, 7)
float64 = dtype("float64", "f64", numpy.float64, FLOATING, 8)
complex64 = dtype("complex64", "c64", numpy.complex64, COMPLEX, 9)
complex128 = dtype("complex128", "c128", numpy.complex128, COMPLEX, 10)
# Numbers of eight bits: tensors of them are stored, compared and converted, nothing else.
float8_e4m3fn = dtype("float8_e4m3fn", "f8e4m3fn", ml_dtypes.float8_e4m3fn, FLOATING, 6)
float8_e5m2 = dtype("float8_e5m2", "f8e5m2", ml_dtypes.float8_e5m2, FLOATING, 6)
float8_e4m3fnuz = dtype("float8_e4m3fnuz", "f8e4m3fnuz", ml_dtypes.float8_e4m3fnuz, FLOATING, 6)
float8_e5m2fnuz = dtype("float8_e5m2fnuz", "f8e5m2fnuz", ml_dtypes.float8_e5m2fnuz, FLOATING, 6)
float8_e8m0fnu = dtype("float8_e8m0fnu", "f8e8m0fnu", ml_dtypes.float8_e8m0fnu, FLOATING, 6)
# Stored, converted, compared for equality and multiplied: torch has them for others' data.
uint16 = dtype("uint16", "u16", numpy.uint16, INTEGER, 1)
uint32 = dtype("uint32", "u32", numpy.uint32, INTEGER, 1)
uint64 = dtype("uint64", "u64", numpy.uint64, INTEGER, 1)
WITHOUT_INFINITY = (float8_e4m3fn, float8_e4m3fnuz, float8_e5m2fnuz, float8_e8m0fnu)
EIGHT_BITS = (float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz, float8_e8m0fnu)
float, double, half, short, int, long = float32, float64, float16, int16, int32, int64
cfloat, cdouble = complex64, complex128

REAL = (bool, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64)
ALL = (*REAL, complex64, complex128)
UNSIGNED = (uint16, uint32, uint64)
EVERY = (*ALL, *EIGHT_BITS, *UNSIGNED)
_BY_SHORT = {each.short: each for each in EVERY}
_BY_NUMPY = {each.numpy: each for each in EVERY}
_LARGEST = {
    each: builtins.float(ml_dtypes.finfo(each.to_real().numpy).max)
    for each in EVERY
    if each.category >= FLOATING
}
_OF_PYTHON = {
    builtins.bool: bool,
    builtins.int: int64,
    builtins.float: float64,
    builtins.complex: complex128,
}
_default = float32


def from_short(short: str) -> dtype:
    """The dtype with a short name, as IR text writes it ('f32')."""
    return _BY_SHORT[short]


def from_numpy_dtype(numpy_type: Any) -> dtype:
    """The dtype of a numpy array's elements; ArgumentTypeError where there is none."""
    found = _BY_NUMPY.get(numpy_type) or _BY_NUMPY.get(numpy.dtype(numpy_type).newbyteorder("="))
    if found is None:
        raise ArgumentTypeError(
            f"a tensor of numpy dtype {numpy_type}",
            f"can't convert np.ndarray of type {numpy.dtype(numpy_type).type.__module__}."
            f"{numpy.dtype(numpy_type).type.__name__}: there is no such element type",
            "convert the array first: array.astype('float32')",
        )
    return found


def as_dtype(value: Any) -> Any:
    """A dtype from what a user writes: itself, None, or one of Python's types of numbers."""
    if value is None or isinstance(value, dtype):
        return value
    found = _OF_PYTHON.get(value) if isinstance(value, type) else None
    if found is None:
        known = isinstance(value, str) and isinstance(globals().get(value), dtype)
        raise ArgumentTypeError(
            f"dtype={value!r}",
            f"argument 'dtype' must be torch.dtype, not {builtins.type(value).__name__}",
            f"give dtype=torch.{value if known else 'float32'}",
        )
    return found


def get_default_dtype() -> dtype:
    """The dtype of tensors made from Python floats (float32 unless set)."""
    return _default


def set_default_dtype(new: dtype) -> None:
    """Set the dtype of tensors made from Python floats.

    ArgumentTypeError if it is not floating, or of eight bits.
    """
    global _default
    if isinstance(new, dtype) and new.is_stored_only:
        raise ArgumentTypeError(
            f"set_default_dtype({new})", f"couldn't find storage object {new.title}Storage"
        )
    if not isinstance(new, dtype) or not new.is_floating_point:
        raise ArgumentTypeError(
            f"set_default_dtype({new})",
            "only floating-point types are supported as the default type",
            "give torch.float32 or another floating dtype",
        )
    _default = new


def promote_types(a: dtype, b: dtype) -> dtype:
    """The smallest dtype that both convert to, as torch.promote_types.

    DtypeError where one is of eight bits and the other is not the same, or one is a long unsigned
    integer and the other neither the same nor a float.
    """
    a, b = as_dtype(a), as_dtype(b)
    if a is b:
        return a
    if a.is_stored_only or b.is_stored_only:
        first, second = (a, b) if a.is_stored_only else (b, a)
        raise DtypeError(
            f"promote_types({a}, {b})",
            "Promotion for Float8 Types is not supported, attempted to promote "
            f"{first.title} and {second.title}",
            "convert to float32 first",
        )
    if "u" in (a.letter, b.letter) and FLOATING not in (a.category, b.category):
        raise DtypeError(
            f"promote_types({a}, {b})",
            "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
            f"{a.title} and {b.title}",
            "convert one of them first",
        )
    if a.category != b.category:
        higher, lower = (a, b) if a.category > b.category else (b, a)
        return complex128 if higher.is_complex and lower is float64 else higher
    if a.category == FLOATING:
        return float32 if a.order == b.order else (a if a.order > b.order else b)
    if uint8 in (a, b):
        other = b if a is uint8 else a
        return int16 if other is int8 else other
    return a if a.order > b.order else b


def dtype_of_number(value: Any) -> dtype:
    """The dtype a Python number stands for on its own: bool, int64, default float or complex."""
    if value is True or value is False:
        return bool
    kind = getattr(value, "scalar_kind", None)  # symbolic numbers carry their kind
    if kind is not None:
        return {"bool": bool, "int": int64, "float": _default}[kind]
    if isinstance(value, builtins.complex | numpy.complexfloating):
        return _default.to_complex()
    if isinstance(value, numpy.generic):
        return _default if isinstance(value, numpy.floating) else dtype_of_number(value.item())
    return int64 if isinstance(value, builtins.int | numpy.integer) else _default


def result_type(*operands: Any) -> dtype:
    """The common dtype of tensors (anything with `dtype` and `ndim`) and Python numbers.

    Three groups count in turn: tensors with dimensions, 0-d tensors, numbers. A later group
    matters only if its category is higher than what the earlier ones have given; a complex one
    after floating tensors keeps their precision.
    """
    groups: list[dtype | None] = [None, None, None]
    for operand in operands:
        if hasattr(operand, "dtype") and not isinstance(operand, numpy.generic):
            kind, found = (1 if operand.ndim == 0 else 0), operand.dtype
        else:
            kind, found = 2, dtype_of_number(operand)
        seen = groups[kind]
        groups[kind] = found if seen is None else promote_types(seen, found)
    result = None
    for found in groups:
        if found is not None and (result is None or found.category > result.category):
            if result is not None and found.is_complex and result.is_floating_point:
                found = result.to_complex()
            result = found
    assert result is not None, "result_type needs at least one operand"
    return result


def can_hold(element: dtype, value: Any) -> builtins.bool:
    """Whether a Python number can be converted to a dtype without overflow.

    For unsigned integers -1 may wrap to the largest; an imaginary part has to be 0 for real dtypes.
    """
    if element is bool:
        return True
    if isinstance(value, builtins.complex):
        if element.is_complex:
            return can_hold(element, value.real) and can_hold(element, value.imag)
        if value.imag != 0 or element is float8_e8m0fnu:  # which has no 0 for the imaginary part
            return False
        value = value.real
    if element.category != INTEGER:
        if element is float8_e8m0fnu and isinstance(value, builtins.float) and value <= 0:
            return False
        if abs(value) <= _LARGEST[element]:
            return True
        if value in (math.inf, -math.inf):
            return element not in WITHOUT_INFINITY
        return value != value
    bits = 8 * element.itemsize
    high = 2 ** (bits - 1) - 1 if element.is_signed else 2**bits - 1
    low = -high - 1 if element.is_signed else -high if isinstance(value, builtins.int) else 0
    return value == value and low <= value <= high


def can_cast(source: dtype, target: dtype) -> builtins.bool:
    """Whether torch allows writing `source` elements into a `target` tensor in place."""
    return source.category <= target.category


class finfo:
    """The limits of a floating dtype, as torch.finfo."""

    def __init__(self, type: dtype | None = None):
        element = (_default if type is None else type).to_real()
        if not element.is_floating_point:
            raise TypeError(f"torch.finfo() requires a floating point input type, not {element}")
        found = ml_dtypes.finfo(element.numpy)
        self.dtype, self.bits = element.name, element.itemsize * 8
        self.eps, self.max, self.min = (
            builtins.float(x) for x in (found.eps, found.max, found.min)
        )
        self.tiny = self.smallest_normal = builtins.float(found.smallest_normal)
        self.resolution = 1.0 if self.bits == 8 else builtins.float(found.resolution)

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        facts = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({facts}, dtype={self.dtype})"


class iinfo:
    """The limits of an integer dtype, as torch.iinfo."""

    def __init__(self, type: dtype):
        if type.category != INTEGER:
            raise TypeError(f"torch.iinfo() requires an integer input type, not {type}")
        found = numpy.iinfo(type.numpy)
        self.dtype, self.bits = type.name, type.itemsize * 8
        self.max, self.min = builtins.int(found.max), builtins.int(found.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"

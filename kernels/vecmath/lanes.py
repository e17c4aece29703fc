"""Symbolic values that write LLVM: a vecmath helper run on them leaves its instructions behind.

In: an llvmlite IRBuilder and LLVM values with their types. Out: instructions at the builder's
position. Nothing here branches, so that LLVM can turn a loop over lanes into vector code.
No fast-math flag is ever set: what is written is what runs.

Example: `Lane(builder, value, "f32") * 2 + 1` emits an fmul and an fadd of f32 constants.

Source: LLVM Language Reference, https://llvm.org/docs/LangRef.html
"""

from typing import Any

from llvmlite import ir

from minitorch2.kernels.vecmath.primitives import DTYPES, Symbolic

LLVM_TYPES: dict[str, ir.Type] = {
    "f32": ir.FloatType(),
    "f64": ir.DoubleType(),
    "bool": ir.IntType(1),
    **{f"{sign}{width}": ir.IntType(width) for sign in "iu" for width in (8, 16, 32, 64)},
}
NOTE = ir.IntType(64)
INTRINSICS = {"rint": "nearbyint"}
COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


def is_float(short: str) -> bool:
    """Whether the type is a float."""
    return short[0] == "f"


def is_signed(short: str) -> bool:
    """Whether the type is a signed integer."""
    return short[0] == "i"


class Builder(ir.IRBuilder):
    """Writes a body; with a second builder, `stack`, for its entry it may leave rare cases out.

    The machine has an instruction that multiplies by a power of two (`scales`), and one that
    converts 16-bit floats (`converts`).
    """

    def __init__(
        self, block: ir.Block, stack: ir.IRBuilder | None, scales: bool = False,
        converts: bool = False,
    ):  # fmt: skip
        super().__init__(block)
        self.stack, self.met, self.scales, self.converts = stack, None, scales, converts

    @property
    def left_out(self) -> bool:
        """Whether something was left out."""
        return self.met is not None

    def leave_out(self, rare: ir.Value) -> bool:
        """Note where `rare` (a bool) holds that it was left out; False if nothing may be."""
        if self.stack is None:
            return False
        if self.met is None:
            self.met = self.stack.alloca(NOTE)
            self.stack.store(NOTE(0), self.met)
        self.store(self.or_(self.load(self.met), self.zext(rare, NOTE)), self.met)
        return True

    def noted(self) -> ir.Value:
        """Not 0 if a case was met that was left out."""
        return self.load(self.met) if self.met is not None else NOTE(0)


class Lane(Symbolic):
    """One LLVM value with its type, and the builder that writes what is done with it."""

    __slots__ = ("builder", "value")

    def __init__(self, builder: ir.IRBuilder, value: ir.Value, short: str):
        self.builder, self.value, self.type = builder, value, short

    def new(self, value: ir.Value, short: str | None = None) -> "Lane":
        """A lane on the same builder, of this lane's type unless said otherwise."""
        return Lane(self.builder, value, short or self.type)

    def like(self, other: Any) -> "Lane":
        """`other` as a lane of this type: a Python or NumPy number becomes a constant."""
        if isinstance(other, Lane):
            if other.type != self.type:
                raise TypeError(f"types {self.type} and {other.type} in one operation")
            return other
        if is_float(self.type):
            number = float(DTYPES[self.type].type(other))
        else:
            number = int(other)
        return self.new(ir.Constant(LLVM_TYPES[self.type], number))

    def constant(self, value: float) -> "Lane":
        return self.like(value)

    def _arithmetic(self, other: Any, name: str, swapped: bool = False) -> "Lane":
        other = self.like(other)
        left, right = (other, self) if swapped else (self, other)
        operation = getattr(self.builder, ("f" if is_float(self.type) else "") + name)
        return self.new(operation(left.value, right.value))

    def __add__(self, other: Any) -> "Lane":
        return self._arithmetic(other, "add")

    def __radd__(self, other: Any) -> "Lane":
        return self._arithmetic(other, "add", True)

    def __sub__(self, other: Any) -> "Lane":
        return self._arithmetic(other, "sub")

    def __rsub__(self, other: Any) -> "Lane":
        return self._arithmetic(other, "sub", True)

    def __mul__(self, other: Any) -> "Lane":
        return self._arithmetic(other, "mul")

    def __rmul__(self, other: Any) -> "Lane":
        return self._arithmetic(other, "mul", True)

    def __truediv__(self, other: Any) -> "Lane":
        return self._arithmetic(other, "div")

    def __rtruediv__(self, other: Any) -> "Lane":
        return self._arithmetic(other, "div", True)

    def __floordiv__(self, other: Any) -> "Lane":
        """Integers only, towards zero (as C); a helper above this corrects the sign."""
        name = "sdiv" if is_signed(self.type) else "udiv"
        return self.new(getattr(self.builder, name)(self.value, self.like(other).value))

    def __neg__(self) -> "Lane":
        negate = self.builder.fneg if is_float(self.type) else self.builder.neg
        return self.new(negate(self.value))

    def __invert__(self) -> "Lane":
        return self.new(self.builder.not_(self.value))

    def __and__(self, other: Any) -> "Lane":
        return self.new(self.builder.and_(self.value, self.like(other).value))

    def __or__(self, other: Any) -> "Lane":
        return self.new(self.builder.or_(self.value, self.like(other).value))

    def __xor__(self, other: Any) -> "Lane":
        return self.new(self.builder.xor(self.value, self.like(other).value))

    def __lshift__(self, other: Any) -> "Lane":
        return self.new(self.builder.shl(self.value, self.like(other).value))

    def __rshift__(self, other: Any) -> "Lane":
        shift = self.builder.ashr if is_signed(self.type) else self.builder.lshr
        return self.new(shift(self.value, self.like(other).value))

    def _compare(self, other: Any, sign: str) -> "Lane":
        right = self.like(other).value
        if is_float(self.type):
            compare = self.builder.fcmp_unordered if sign == "!=" else self.builder.fcmp_ordered
        elif is_signed(self.type):
            compare = self.builder.icmp_signed
        else:
            compare = self.builder.icmp_unsigned
        return self.new(compare(sign, self.value, right), "bool")

    def __lt__(self, other: Any) -> "Lane":
        return self._compare(other, "<")

    def __le__(self, other: Any) -> "Lane":
        return self._compare(other, "<=")

    def __gt__(self, other: Any) -> "Lane":
        return self._compare(other, ">")

    def __ge__(self, other: Any) -> "Lane":
        return self._compare(other, ">=")

    def __eq__(self, other: Any) -> "Lane":  # type: ignore[override]
        return self._compare(other, "==")

    def __ne__(self, other: Any) -> "Lane":  # type: ignore[override]
        return self._compare(other, "!=")

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError("a helper may not branch on a value: use select")

    def select(self, a: Any, b: Any) -> "Lane":
        a, b = (a, a.like(b)) if isinstance(a, Lane) else (b.like(a), b)
        return a.new(self.builder.select(self.value, a.value, b.value))

    def left_out(self) -> bool:
        return isinstance(self.builder, Builder) and self.builder.leave_out(self.value)

    def converts(self) -> bool:
        return isinstance(self.builder, Builder) and self.builder.converts

    def from_half(self) -> "Lane":
        half = self.builder.bitcast(self.value, ir.HalfType())
        return self.new(self.builder.fpext(half, LLVM_TYPES["f32"]), "f32")

    def to_half(self) -> "Lane":
        half = self.builder.fptrunc(self.value, ir.HalfType())
        return self.new(self.builder.bitcast(half, LLVM_TYPES["u16"]), "u16")

    def scales(self) -> bool:
        return isinstance(self.builder, Builder) and self.builder.scales

    def scaled(self, n: Any) -> "Lane":
        own, exponent = LLVM_TYPES[self.type], n.cast("i32")
        function = self.builder.module.declare_intrinsic(
            "llvm.ldexp", [own, exponent.value.type],
            ir.FunctionType(own, [own, exponent.value.type]),
        )  # fmt: skip
        return self.new(self.builder.call(function, [self.value, exponent.value]))

    def bitcast(self, to: str) -> "Lane":
        return self.new(self.builder.bitcast(self.value, LLVM_TYPES[to]), to)

    def call(self, name: str, *others: Any) -> "Lane":
        """LLVM's intrinsic of that name over this and the others, all in this one's type."""
        own = LLVM_TYPES[self.type]
        values = [self.value, *(self.like(other).value for other in others)]
        if name == "fmod":
            return self.new(self.builder.frem(*values))
        function = self.builder.module.declare_intrinsic(
            f"llvm.{INTRINSICS.get(name, name)}", [own], ir.FunctionType(own, [own] * len(values))
        )
        return self.new(self.builder.call(function, values))

    def cast(self, to: str) -> "Lane":
        """The value as a `to` ("f32", "i64", "bool", ...): bool asks whether it is not zero."""
        if to == self.type:
            return self
        if to == "bool":
            return self != 0
        if is_float(self.type):
            return self._from_float(to)
        if is_float(to):
            convert = self.builder.sitofp if is_signed(self.type) else self.builder.uitofp
            return self.new(convert(self.value, LLVM_TYPES[to]), to)
        source, target = LLVM_TYPES[self.type].width, LLVM_TYPES[to].width
        if source == target:
            return self.new(self.value, to)
        if source > target:
            return self.new(self.builder.trunc(self.value, LLVM_TYPES[to]), to)
        widen = self.builder.sext if is_signed(self.type) else self.builder.zext
        return self.new(widen(self.value, LLVM_TYPES[to]), to)

    def _from_float(self, to: str) -> "Lane":
        if is_float(to):
            convert = self.builder.fptrunc if to == "f32" else self.builder.fpext
            return self.new(convert(self.value, LLVM_TYPES[to]), to)
        if to == "u64":
            return self._to_u64()
        if to == "u32":
            return self._from_float("i64").cast("u32")
        width = 64 if to == "i64" else 32
        limit = 2.0 ** (width - 1)
        fits = (self < limit) & (self >= -limit)
        whole = self.new(self.builder.fptosi(self.value, ir.IntType(width)), f"i{width}")
        return fits.select(whole, -(1 << (width - 1))).cast(to)

    def _to_u64(self) -> "Lane":
        high = self >= 2.0**63
        fits = (self < 2.0**64) & (self > -(2.0**63))
        low = high.select(self - 2.0**63, self)
        whole = self.new(self.builder.fptosi(low.value, ir.IntType(64)), "u64")
        return fits.select(whole + high.select(whole.like(1 << 63), 0), 1 << 63)

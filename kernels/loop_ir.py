"""The loop IR: what a kernel does, in loops over single elements, before any source is generated.

In: `lower/` and `schedule/` build these records. Out: `codegen/` turns them into Numba source, the
printer into text, the interpreter into results. The text form, whole:

    kernel    := "kernel" NAME "(" parameter ("," parameter)* ")" ["threads" N] "{" statement* "}"
    parameter := NAME ":" DTYPE "[" INDEX "]" MODE     a buffer: type, element count, in|out|inout
               | NAME ":" "size"                       a size, at least 1: loop bounds, strides
               | NAME ":" DTYPE                        a number given at launch
    statement := NAME ":" DTYPE "=" expression         a value, named once
               | "index" NAME "=" INDEX                an index expression, named
               | "window" NAME "," NAME "=" INDEX "in" INDEX
                     first name: the index if 0 <= index < size, else 0; second name: bool, inside
               | "check" NAME "=" expression "in" INDEX "else" TEXT
                     the integer if 0 <= it < size; else 0, and (TEXT, it) goes to the status slot
               | "require" expression "else" TEXT      (TEXT, 0) goes to the status slot unless true
               | NAME "[" INDEX "]" "=" expression     a store
               | NAME "[" INDEX "]" "+=" expression    add to an element (of its own parallel turn)
               | "for" turns "{" statement* "}"
               | "reduce" turns ("," turns)* "{" statement* "}"
                     "into" NAME ":" DTYPE "=" REDUCER "(" expression ")" ("," ...)*
    turns     := NAME "in" INDEX ["parallel" | "blocks" | "warps" | "threads" | "vector"]
    expression:= NAME | DTYPE "(" NUMBER ")" | NAME "[" INDEX "]" | "index(" INDEX ")"
               | "cast_" DTYPE "(" expression ")" | FUNCTION "(" expression ("," expression)* ")"
    INDEX     := index.py's polynomials: 64*i + j, (i // 4) + s0;   FUNCTION, REDUCER: functions.py

A kernel's only parallel loop, if any, is its outermost statement. Within a reduction the order of
the additions is free (within tolerance); everything else is exact. 16-bit floats are only loaded,
stored and cast: arithmetic on them is done in f32. Every statement carries an Origin, which is no
part of equality.

A kernel with "threads" is scheduled for a GPU, in blocks of so many threads. Its outermost loops
deal their turns to the "blocks", "warps" (32 threads each) or "threads" of the whole grid; inside
blocks or warps, "threads" deals to the threads of the block or warp. A "vector" loop (2, 4, 8 or
16 turns, innermost) is written out, and its neighbouring elements move in one access. What stands
in no threads loop, every thread of the block or warp computes, and the first one stores. Read as
plain loops, the words change nothing.

    kernel example(b0: f32[s0] in, b1: f32[s0] out, s0: size) {
      for i in s0 parallel {
        v0: f32 = b0[i]
        v1: f32 = exp(v0)
        b1[i] = v1
      }
    }

Source: Exo's LoopIR (Ikarashi et al., PLDI 2022) and Inductor's loop-level IR.
"""

from dataclasses import dataclass, field

from minitorch2.artifacts import Origin
from minitorch2.dtypes import dtype
from minitorch2.kernels.index import Index

NOWHERE = Origin()


def _origin() -> Origin:
    return field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name:
    """A value named by an earlier statement, or a number given at launch."""

    name: str
    dtype: dtype


@dataclass(frozen=True, slots=True)
class Constant:
    """A number of a given type. NaN equals NaN here, and -0.0 differs from 0.0."""

    value: int | float | bool
    dtype: dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple:
        return self.dtype, repr(self.value)


@dataclass(frozen=True, slots=True)
class Load:
    """One element of a buffer."""

    buffer: str
    index: Index
    dtype: dtype


@dataclass(frozen=True, slots=True)
class IndexValue:
    """An index expression as an i64 value."""

    index: Index
    dtype: dtype


@dataclass(frozen=True, slots=True)
class Cast:
    """A conversion, as torch's `.to`."""

    value: "Expression"
    dtype: dtype


@dataclass(frozen=True, slots=True)
class Call:
    """A scalar function of functions.py; `dtype` follows from the arguments."""

    function: str
    args: "tuple[Expression, ...]"
    dtype: dtype


Expression = Name | Constant | Load | IndexValue | Cast | Call


@dataclass(frozen=True, slots=True)
class Let:
    """name: dtype = value"""

    name: str
    value: Expression
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class LetIndex:
    """index name = index"""

    name: str
    index: Index
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class Window:
    """window name, inside = index in size"""

    name: str
    inside: str
    index: Index
    size: Index
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class Check:
    """check name = value in size else "what is wrong\""""

    name: str
    value: Expression
    size: Index
    message: str
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class Require:
    """require condition else "what is wrong\""""

    condition: Expression
    message: str
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class Store:
    """buffer[index] = value, or += where `accumulate`."""

    buffer: str
    index: Index
    value: Expression
    accumulate: bool = False
    origin: Origin = _origin()


@dataclass(frozen=True, slots=True)
class Loop:
    """for variable in extent { body }, its turns one after the other unless it says otherwise."""

    variable: str
    extent: Index
    body: "tuple[Statement, ...]"
    parallel: bool = False
    origin: Origin = _origin()
    spread: str = ""  # for a GPU: "blocks", "warps", "threads" or "vector"


@dataclass(frozen=True, slots=True)
class Accumulator:
    """One result of a reduction: name: dtype = reducer(value)."""

    name: str
    reducer: str
    value: Expression
    dtype: dtype


@dataclass(frozen=True, slots=True)
class Reduce:
    """Run the body over a domain and fold each accumulator's value; the results are named after."""

    domain: tuple[tuple[str, Index], ...]
    body: "tuple[Statement, ...]"
    accumulators: tuple[Accumulator, ...]
    origin: Origin = _origin()
    spread: tuple[str, ...] = ()  # for a GPU: "threads", "vector" or "" for each part of the domain

    def axes(self) -> tuple[tuple[str, Index, str], ...]:
        """The parts of the domain with their spread."""
        words = self.spread or ("",) * len(self.domain)
        return tuple((*part, word) for part, word in zip(self.domain, words, strict=True))


Statement = Let | LetIndex | Window | Check | Require | Store | Loop | Reduce


@dataclass(frozen=True, slots=True)
class Buffer:
    """A one-dimensional array parameter; `mode` is "in", "out" or "inout"."""

    name: str
    dtype: dtype
    size: Index
    mode: str


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number given at launch."""

    name: str
    dtype: dtype


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel: its parameters, in the order buffers, sizes, scalars, and its statements."""

    name: str
    buffers: tuple[Buffer, ...]
    sizes: tuple[str, ...]
    scalars: tuple[Scalar, ...]
    body: tuple[Statement, ...]
    threads: int = 0  # of a block on a GPU; 0: not scheduled for one

    @property
    def parallel_extent(self) -> Index | None:
        """How far the parallel loop runs; None for a kernel without one."""
        if self.body and isinstance(self.body[0], Loop) and self.body[0].parallel:
            return self.body[0].extent
        return None

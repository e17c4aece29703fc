"""What a kernel takes, and how a call's arguments lie in memory: the kernel ABI in one file.

A kernel is a Python function `name(lo, hi, arrays..., sizes..., scalars..., status)`. Its compiled
form is `(block, i, n) -> status`, where `block` is the address of 8-byte slots

    total | status rows | one address for each array | sizes | scalars

and the call does chunk i of n of `range(total)`. The status row of a chunk holds a code (0: fine)
and an index.

>>> signature = KernelSignature(arrays=("f32", "f32"), sizes=1, scalars=("f32",))
>>> signature.text()
'arrays(f32,f32) sizes(1) scalars(f32) noalias grain(64)'
>>> len(signature.pack(1000, 0, (64, 128), (10,), (0.5,)))
48

Source: the kernel ABI of this room, kernels/__init__.py.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from minitorch2.dtypes import EIGHT_BITS

# What elements lie in memory as, where that is no type of a kernel's own.
STORAGE = {"f16": "u16", "bf16": "u16"} | {each.short: "u8" for each in EIGHT_BITS}
SLOT_FORMATS = {"f32": "f4x", "f64": "d", "bool": "?7x", "i64": "q", "u64": "Q", "i32": "i4x",
                "u32": "I4x", "i16": "h6x", "u16": "H6x", "i8": "b7x", "u8": "B7x"}  # fmt: skip


class KernelStatus(IntEnum):
    """Codes a kernel leaves in its status row."""

    OK = 0
    INDEX = 1
    DIVIDE = 2


class KernelFailure(Exception):
    """A kernel met a value it cannot work on; the caller raises with the user's line.

    `code` is a KernelStatus (or a kernel's own number from 16 on), `index` its argument.
    """

    def __init__(self, code: int, index: int):
        super().__init__(f"kernel status {code} at {index}")
        self.code, self.index = code, index


@dataclass(frozen=True, slots=True)
class KernelSignature:
    """Types of a kernel's arguments, by dtype short names, in the order of its parameters.

    `noalias` promises that an array which is written overlaps no other argument. Chunk bounds
    are multiples of `grain`.
    """

    arrays: tuple[str, ...]
    sizes: int = 0
    scalars: tuple[str, ...] = ()
    noalias: bool = True
    grain: int = 64

    def text(self) -> str:
        """The signature as text: part of the cache key."""
        alias = "noalias" if self.noalias else "alias"
        return (
            f"arrays({','.join(self.arrays)}) sizes({self.sizes}) "
            f"scalars({','.join(self.scalars)}) {alias} grain({self.grain})"
        )

    def storage_types(self) -> tuple[str, ...]:
        """What the arrays hold in memory: 16-bit floats lie there as u16, 8-bit ones as u8."""
        return tuple(STORAGE.get(short, short) for short in self.arrays)

    def layout(self) -> struct.Struct:
        """The argument block as a struct: total, status address, addresses, sizes, scalars."""
        scalars = "".join(SLOT_FORMATS[short] for short in self.scalars)
        return struct.Struct(f"={2 + len(self.arrays) + self.sizes}Q{scalars}")

    def pack(
        self,
        total: int,
        status: int,
        addresses: Sequence[int],
        sizes: Sequence[int] = (),
        scalars: Sequence[float] = (),
    ) -> bytes:
        """The argument block of one call."""
        return self.layout().pack(total, status, *addresses, *sizes, *scalars)

"""Names for annotations: torch.types.

In: nothing. Out: the types that scripts annotate with.

Source: torch.types.
"""

import builtins
import os
from typing import IO, Any, TypeAlias

from minitorch2.devices import device
from minitorch2.dtypes import dtype
from minitorch2.storages import Storage
from minitorch2.tensors import Size, Tensor

Number: TypeAlias = int | float | bool
Device: TypeAlias = device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
BoolLikeType: TypeAlias = bool
IntLikeType: TypeAlias = int
FloatLikeType: TypeAlias = float
PySymType: TypeAlias = int | float | bool

_int, _float, _bool, _complex = builtins.int, builtins.float, builtins.bool, builtins.complex
_dtype, _device, _size = dtype, device, Size
_TensorOrTensors: TypeAlias = Tensor | tuple[Tensor, ...]
_dispatchkey: TypeAlias = Any

__all__ = ["Device", "FileLike", "Number", "Size", "Storage", "Tensor"]

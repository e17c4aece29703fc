"""Devices: where a tensor's memory lives.

In: 'cpu', 'cuda:0', 'meta'. Out: an immutable, comparable device object. The meta device holds
no data at all: operations on it compute shapes, dtypes and layouts only. `with device("meta"):`
makes it the place of new tensors that name none.

    >>> device("cuda", 1)
    device(type='cuda', index=1)
"""

import threading
from typing import Any

from minitorch2.errors import ArgumentTypeError, DeviceError

_TYPES = ("cpu", "cuda", "meta")


class device:
    """A device type and an optional index, as torch.device."""

    __slots__ = ("type", "index")

    type: str
    index: int | None

    def __init__(self, type: "str | device" = "cpu", index: int | None = None):
        if isinstance(type, device):
            index = type.index if index is None else index
            type = type.type
        if not isinstance(type, str):
            raise ArgumentTypeError(
                f"device({type!r})", "a device is named by a string", "write device('cpu')"
            )
        name, _, number = type.partition(":")
        wrong = ""
        if not name.isidentifier() or (number and not number.isdigit()) or type.endswith(":"):
            wrong = f"Invalid device string: '{type}'"
        elif name not in _TYPES:
            known = ", ".join(_TYPES)
            wrong = f"Expected one of {known} device type at start of device string: {name}"
        elif index is not None and (number or index < 0):
            wrong = "Device index must not be negative"
            if number:
                wrong = f"type (string) must not include an index because index was passed: {type}"
        if wrong:
            fix = f"use one of {', '.join(_TYPES)}, with ':0' for an index"
            raise DeviceError(f"device({type!r})", wrong, fix)
        self.type = name
        self.index = int(number) if number else index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and self.type == other.type and self.index == other.index

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __enter__(self) -> "device":
        require_available(self)
        _places.stack.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        _places.stack.pop()


CPU = device("cpu")
META = device("meta")


class _Places(threading.local):
    """Where new tensors of this thread lie that name no place, innermost last."""

    def __init__(self) -> None:
        self.stack: list[device] = [CPU]


_places = _Places()


def get_default_device() -> device:
    """Where a tensor is made that names no device: the CPU, unless set otherwise."""
    return _places.stack[-1]


def set_default_device(device: Any) -> None:
    """Make a device the place of new tensors that name none; None is the CPU.

    Raises DeviceError for a device that is not there.
    """
    where = CPU if device is None else as_device(device)
    require_available(where)
    _places.stack[-1] = where


def as_device(value: "str | device | None") -> device:
    """A device from what a user writes; None is the one where new tensors are made."""
    if value is None:
        return _places.stack[-1]
    if isinstance(value, device):
        return value
    return device(value)


def require_available(wanted: device) -> None:
    """DeviceError unless tensors can be made on a device here."""
    if wanted.type == "cuda":
        raise DeviceError(
            f"a tensor on {wanted}", "this build runs on the CPU only", "use device='cpu'"
        )

"""torch.ops: operations by namespace and name, with their overloads.

In: a namespace and a name. Out: a function; `torch.ops.aten.add.Tensor(x, y)` is the row `add`, and
what `torch.library` registered is found under its own namespace.

    >>> from minitorch2 import ones
    >>> namespace("aten").add.Tensor(ones(2), ones(2))
    tensor([2., 2.])

Source: torch.ops; torch.library.
"""

from collections.abc import Callable
from typing import Any

from minitorch2 import ops as package
from minitorch2.errors import OperationError
from minitorch2.ops.aten_steps import STEPS
from minitorch2.ops.table import lookup
from minitorch2.public import public
from minitorch2.tensors import Tensor

_spaces: dict[str, "Namespace"] = {}
# Names that ATen gives to what rows call otherwise.
_ATEN = {
    "_softmax": "softmax",
    "_log_softmax": "log_softmax",
    "sym_size": "size",
    "_unsafe_view": "view",
    "_conj": "conj",
    "_local_scalar_dense": "item",
    "_pin_memory": "pin_memory",
}


class Overload:
    """One overload of an operation: `torch.ops.aten.add.Tensor`."""

    def __init__(self, packet: "Packet", name: str):
        self._packet, self._overloadname = packet, name
        self.__name__ = f"{packet.__name__}.{name}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._packet(*args, **kwargs)

    @property
    def namespace(self) -> str:
        """The namespace's name."""
        return self._packet.space

    @property
    def overloadpacket(self) -> "Packet":
        """The operation."""
        return self._packet

    def name(self) -> str:
        """`aten::add`."""
        return f"{self._packet.space}::{self._packet.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.name()}', overload='{self._overloadname}')>"


class Packet:
    """All overloads of an operation: `torch.ops.aten.add`."""

    def __init__(self, space: str, name: str, function: Callable):
        self.space, self.__name__, self.function = space, name, function
        self.__doc__ = function.__doc__
        self._overloads: dict[str, Overload] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __getattr__(self, name: str) -> Overload:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._overloads.setdefault(name, Overload(self, name))

    def overloads(self) -> list[str]:
        """The names of the overloads asked for so far."""
        return sorted(self._overloads) or ["default"]

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self.space}.{self.__name__}')>"


class Namespace:
    """Operations of one namespace, as attributes."""

    def __init__(self, name: str):
        self.__name__ = name
        self._found: dict[str, Packet] = {}

    def __getattr__(self, name: str) -> Packet:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self._found:
            function = _of_aten(name) if self.__name__ == "aten" else None
            if function is None:
                raise AttributeError(
                    f"'_OpNamespace' '{self.__name__}' object has no attribute '{name}'"
                )
            self._found[name] = Packet(self.__name__, name, function)
        return self._found[name]

    def __repr__(self) -> str:
        return f"torch.ops.{self.__name__}"


def _to_copy(self: Any, *, dtype: Any = None, device: Any = None, **options: Any) -> Any:
    """A copy, of another dtype or on another device where one is given."""
    kept = options.get("memory_format")
    more = {} if kept is None else {"memory_format": kept}
    return self.to(dtype=dtype or self.dtype, device=device or self.device, copy=True, **more)


_HERE = {"_to_copy": _to_copy}


def _of_aten(name: str) -> Callable | None:
    """The function that ATen calls `name`; None where ATen has none."""
    if name.startswith("_"):
        return (_of_a_row(name) or _internal(name)) if name in STEPS else None
    return _of_a_row(name)


def _of_a_row(name: str) -> Callable | None:
    """The function that ATen calls `name`: a row, a method, a public function, one of nn's."""
    if name in _HERE:
        return _HERE[name]
    name = _ATEN.get(name, name)
    try:
        return lookup(name).public
    except (KeyError, AttributeError):
        pass
    for holder in (Tensor, public(""), public("nn").functional):
        if callable(found := getattr(holder, name, None)):
            return found
    return None


def _internal(name: str) -> Callable:
    """A step inside ATen that is none here: it can be named, as libraries do to replace it."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise OperationError(
            f"torch.ops.aten.{name}()", "minitorch2 has no such step", "use the public operation"
        )

    refuse.__doc__ = f"OperationError: {name} is a step inside ATen."
    return refuse


def namespace(name: str) -> Namespace:
    """The operations of a namespace; it is made when it is new."""
    return _spaces.setdefault(name, Namespace(name))


def register(space: str, name: str, function: Callable) -> Packet:
    """Offer a function as torch.ops.<space>.<name>."""
    packet = Packet(space, name, function)
    namespace(space)._found[name] = packet
    return packet


def load_library(path: str) -> None:
    """OSError: libraries of C++ operations are written against torch itself."""
    raise OSError(f"{path}: operations in C++ cannot be loaded here; write them in Python")


def _attribute(name: str) -> Any:
    """What `minitorch2.ops` itself does not have: the namespaces, as torch.ops has them."""
    if name == "load_library":
        return load_library
    if name in _spaces:
        return _spaces[name]
    raise AttributeError(f"module 'torch.ops' has no namespace {name!r}")


namespace("aten")
package.__getattr__ = _attribute  # type: ignore[method-assign]

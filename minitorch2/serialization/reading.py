"""Reading: a pickle program is carried out by a machine that knows only what files of tensors need.

In: the program and a function that fetches a storage. Out: the object. An opcode or a name
that is not listed here raises SerializationError, so a file cannot make it run anything else.

Source: CPython's Lib/pickletools.py; torch's weights_only unpickler has the same idea.
"""

import struct
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from minitorch2 import dtypes
from minitorch2.devices import META, device
from minitorch2.errors import SerializationError
from minitorch2.layouts import Layout
from minitorch2.nn.parameter import Parameter
from minitorch2.serialization import opcodes as op
from minitorch2.sparse import sparse_coo_tensor, sparse_csr_tensor
from minitorch2.storages import Storage
from minitorch2.tensors import Size, Tensor


class StoredDtype:
    """A storage class of torch: the dtype its elements have."""

    def __init__(self, dtype: dtypes.dtype):
        self.dtype = dtype


def _tensor(
    stored: tuple[Storage, dtypes.dtype],
    offset: int,
    shape: tuple,
    strides: tuple,
    requires_grad: bool = False,
    hooks: Any = None,
    metadata: Any = None,
) -> Tensor:
    storage, element = stored
    layout = Layout(tuple(shape), tuple(strides), offset)
    if min([*shape, *strides, offset, 0]) < 0 or (
        layout.extent() > storage.nbytes // element.itemsize
    ):
        raise SerializationError(
            f"load: a tensor of shape {list(shape)}, strides {list(strides)}, offset {offset}",
            f"it reaches outside its storage of {storage.nbytes} bytes",
            "the file is damaged: fetch it again",
        )
    tensor = Tensor(storage, layout, element)
    tensor.requires_grad = requires_grad
    return tensor


def _tensor_of_bytes(
    stored: tuple[Storage, dtypes.dtype],
    offset: int,
    shape: tuple,
    strides: tuple,
    requires_grad: bool,
    hooks: Any,
    element: dtypes.dtype,
    metadata: Any = None,
) -> Tensor:
    return _tensor((stored[0], element), offset, shape, strides, requires_grad)


def _sparse(layout: str, parts: tuple) -> Any:
    """A sparse tensor of its parts, which are looked at: places outside are refused."""
    if any(each.device == META for each in parts[:2]):
        raise SerializationError(
            f"load: a tensor of layout {layout} on the device meta",
            "sparse tensors are made of places, which meta has not",
            "load it with map_location='cpu'",
        )
    if layout == op.SPARSE_CSR:
        starts, columns, values, size = parts
        return sparse_csr_tensor(starts, columns, values, size, check_invariants=True)
    indices, values, size, *rest = parts
    coalesced = bool(rest and rest[0])
    return sparse_coo_tensor(
        indices, values, size, check_invariants=True, is_coalesced=coalesced or None
    )


def _layout(name: str) -> str:
    if name not in (op.SPARSE_COO, op.SPARSE_CSR):
        raise SerializationError(f"load: a tensor of layout {name}", "there is no such layout")
    return name


def _bytes(text: str, encoding: str) -> bytes:
    if encoding != "latin1":
        raise SerializationError(f"load: bytes in encoding {encoding!r}", "only latin1 is used")
    return text.encode("latin1")


NAMES: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "Counter"): Counter,
    ("builtins", "set"): set,
    ("__builtin__", "set"): set,
    ("builtins", "frozenset"): frozenset,
    ("torch", "Size"): Size,
    ("torch", "device"): device,
    ("_codecs", "encode"): _bytes,
    ("torch._utils", "_rebuild_tensor_v2"): _tensor,
    ("torch._utils", "_rebuild_tensor_v3"): _tensor_of_bytes,
    ("torch._utils", "_rebuild_sparse_tensor"): _sparse,
    ("torch.serialization", "_get_layout"): _layout,
    ("builtins", "complex"): complex,
    ("__builtin__", "complex"): complex,
    op.BYTES: StoredDtype(dtypes.uint8),
    ("torch._utils", "_rebuild_parameter"): lambda data, grad, hooks: Parameter(data, grad),
}
NAMES.update({("torch", each.name): each for each in dtypes.EVERY})
NAMES.update(
    (("torch", name), StoredDtype(getattr(dtypes, short)))
    for short, name in op.STORAGE_NAMES.items()
)


class Reader:
    """The stack machine. `fetch(key, place)` gives a storage, by its number and its place."""

    def __init__(self, program: bytes, fetch: Callable[[str, str], Storage]):
        self.program, self.at, self.fetch = program, 0, fetch
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def read(self) -> Any:
        """Carry out the program; its result."""
        try:
            while True:
                code = self.take(1)
                if code == op.STOP:
                    return self.stack.pop()
                _ACTIONS[code](self)
        except (IndexError, KeyError, ValueError, TypeError, struct.error, AttributeError) as e:
            raise SerializationError(
                "load",
                f"the file's program is not one of tensors and plain containers ({e!r})",
                "save state dicts, not whole modules; pass weights_only=False for a file you "
                "trust; or fetch the file again, it may be damaged",
            ) from e

    def take(self, count: int) -> bytes:
        """The next bytes of the program; ValueError where it ends before."""
        found = self.program[self.at : self.at + count]
        if len(found) < count:
            raise ValueError("the program ends early")
        self.at += count
        return found

    def number(self, form: str) -> Any:
        """The next number, in a format of struct."""
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def line(self) -> str:
        """The text up to the next line's end."""
        end = self.program.index(b"\n", self.at)
        found = self.program[self.at : end].decode("utf-8")
        self.at = end + 1
        return found

    def push(self, value: Any) -> None:
        """Put a value on the stack."""
        self.stack.append(value)

    def above_mark(self) -> list[Any]:
        """What lies above the last mark, which goes with it, bottom first."""
        start = self.marks.pop()
        found = self.stack[start:]
        del self.stack[start:]
        return found

    def top_as(self, *kinds: type) -> Any:
        """The value on top, which stays; TypeError unless its type is one of `kinds`."""
        top = self.stack[-1]
        if type(top) not in kinds:
            raise TypeError(f"a {type(top).__name__} cannot be filled")
        return top

    def name(self) -> None:
        """Push what a listed name of a module stands for; SerializationError for others."""
        module, name = self.line(), self.line()
        found = NAMES.get((module, name))
        if found is None:
            raise SerializationError(
                f"load: the file refers to {module}.{name}",
                "only tensors, numbers, strings and containers are loaded: "
                "other names could run code",
                "save module.state_dict() and load that, or pass weights_only=False for a file "
                "whose writer you trust",
            )
        self.push(found)

    def reduce(self) -> None:
        """Call a listed function with a tuple of arguments; TypeError for any other."""
        args = self.stack.pop()
        function = self.stack.pop()
        if not callable(function) or all(function is not known for known in NAMES.values()):
            raise TypeError("a call of something that is no known function")
        self.push(function(*args))

    def build(self) -> None:
        """Attributes: torch's state dicts carry `_metadata`, the versions of their modules."""
        given = self.stack.pop()
        target = self.top_as(OrderedDict)
        if type(given) is dict and isinstance(given.get("_metadata"), dict):
            target._metadata = given["_metadata"]

    def persistent(self) -> None:
        """Push a storage with the dtype of its class."""
        kind, stored, key, where, _ = self.stack.pop()
        if kind != "storage" or type(stored) is not StoredDtype:
            raise TypeError("not a storage")
        self.push((self.fetch(key, where), stored.dtype))

    def set_items(self, flat: list[Any]) -> None:
        """Put keys and values, in turn, into the mapping on top."""
        target = self.top_as(dict, OrderedDict, Counter)
        for key, value in zip(flat[::2], flat[1::2], strict=True):
            target[key] = value

    def pop(self, count: int) -> list[Any]:
        """The last `count` values, taken off the stack, bottom first."""
        found = self.stack[-count:]
        del self.stack[-count:]
        return found

    def text(self, form: str, encoding: str) -> None:
        """Push a text whose length is in a format of struct."""
        self.push(self.take(self.number(form)).decode(encoding))

    def long(self) -> None:
        """Push an integer of up to 255 bytes, low byte first."""
        self.push(int.from_bytes(self.take(self.number("<B")), "little", signed=True))

    def put(self, form: str) -> None:
        """Remember the value on top by a number."""
        self.memo[self.number(form)] = self.stack[-1]


_ACTIONS: dict[bytes, Callable[[Reader], Any]] = {
    op.PROTO: lambda r: r.take(1),
    op.NONE: lambda r: r.push(None),
    op.NEWTRUE: lambda r: r.push(True),
    op.NEWFALSE: lambda r: r.push(False),
    op.BININT1: lambda r: r.push(r.number("<B")),
    op.BININT2: lambda r: r.push(r.number("<H")),
    op.BININT: lambda r: r.push(r.number("<i")),
    op.LONG1: Reader.long,
    op.BINFLOAT: lambda r: r.push(r.number(">d")),
    op.BINUNICODE: lambda r: r.text("<I", "utf-8"),
    op.SHORT_BINUNICODE: lambda r: r.text("<B", "utf-8"),
    op.BINSTRING: lambda r: r.text("<i", "latin1"),
    op.SHORT_BINSTRING: lambda r: r.text("<B", "latin1"),
    op.MARK: lambda r: r.marks.append(len(r.stack)),
    op.EMPTY_TUPLE: lambda r: r.push(()),
    op.TUPLE: lambda r: r.push(tuple(r.above_mark())),
    op.TUPLE1: lambda r: r.push(tuple(r.pop(1))),
    op.TUPLE2: lambda r: r.push(tuple(r.pop(2))),
    op.TUPLE3: lambda r: r.push(tuple(r.pop(3))),
    op.EMPTY_LIST: lambda r: r.push([]),
    op.APPEND: lambda r: (item := r.stack.pop(), r.top_as(list).append(item)),
    op.APPENDS: lambda r: (items := r.above_mark(), r.top_as(list).extend(items)),
    op.EMPTY_DICT: lambda r: r.push({}),
    op.SETITEM: lambda r: r.set_items(r.pop(2)),
    op.SETITEMS: lambda r: r.set_items(r.above_mark()),
    op.GLOBAL: Reader.name,
    op.REDUCE: Reader.reduce,
    op.BUILD: Reader.build,
    op.BINPERSID: Reader.persistent,
    op.BINPUT: lambda r: r.put("<B"),
    op.LONG_BINPUT: lambda r: r.put("<I"),
    op.BINGET: lambda r: r.push(r.memo[r.number("<B")]),
    op.LONG_BINGET: lambda r: r.push(r.memo[r.number("<I")]),
}

"""Writing: tensors and plain containers become a pickle program and a list of storages.

In: None, numbers, strings, bytes, tensors, dtypes, and tuples, lists, dicts, sets of them. Out: the
bytes of the program; `storages` lists the memory it refers to, each block once, so that tensors
that share memory still do when they are loaded.

Source: CPython's Lib/pickletools.py; the calls are those torch.save writes.
"""

import struct
from collections import Counter, OrderedDict
from typing import Any

from minitorch2.devices import device
from minitorch2.dtypes import dtype
from minitorch2.errors import SerializationError
from minitorch2.nn.parameter import Buffer, Parameter
from minitorch2.serialization import opcodes as op
from minitorch2.sparse import SparseTensor
from minitorch2.storages import Storage
from minitorch2.tensors import Size, Tensor


class Writer:
    """Writes one object; `program` and `storages` are the result."""

    def __init__(self) -> None:
        self.parts: list[bytes] = [op.PROTO + b"\x02"]
        self.storages: list[Storage] = []
        self.places: dict[int, int] = {}  # address of a block -> its number
        self.memo: dict[int, int] = {}
        self.kept: list[Any] = []  # what the memo names must not be freed and its id reused

    @property
    def program(self) -> bytes:
        """The finished program."""
        return b"".join([*self.parts, op.STOP])

    def emit(self, *parts: bytes) -> None:
        """Append to the program."""
        self.parts.extend(parts)

    def remember(self, value: Any) -> None:
        """Let a later occurrence of the same object be a reference to this one."""
        number = self.memo[id(value)] = len(self.memo)
        self.kept.append(value)
        if number < 256:
            self.emit(op.BINPUT, struct.pack("<B", number))
        else:
            self.emit(op.LONG_BINPUT, struct.pack("<I", number))

    def write(self, value: Any) -> None:
        """Write any supported value; SerializationError for others."""
        seen = self.memo.get(id(value))
        if seen is not None:
            small = seen < 256
            self.emit(op.BINGET if small else op.LONG_BINGET)
            self.emit(struct.pack("<B" if small else "<I", seen))
            return
        for kind, writer in _WRITERS:
            if type(value) is kind or (
                kind in (int, float, str, Tensor) and isinstance(value, kind)
            ):
                writer(self, value)
                return
        raise SerializationError(
            f"save(... {type(value).__name__} ...)",
            f"objects of type {type(value).__module__}.{type(value).__name__} cannot be saved: "
            "a file holds tensors, numbers, strings and containers, no code",
            "save module.state_dict() instead of the module, arrays as torch.from_numpy(array), "
            "other objects as dicts of their fields",
        )

    def constant(self, value: Any) -> None:
        """Write None, True or False."""
        self.emit({None: op.NONE, True: op.NEWTRUE, False: op.NEWFALSE}[value])

    def integer(self, value: int) -> None:
        """Write an integer in as few bytes as hold it."""
        if 0 <= value < 256:
            self.emit(op.BININT1, struct.pack("<B", value))
        elif 0 <= value < 65536:
            self.emit(op.BININT2, struct.pack("<H", value))
        elif -(1 << 31) <= value < 1 << 31:
            self.emit(op.BININT, struct.pack("<i", value))
        else:
            raw = int(value).to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
            self.emit(op.LONG1, struct.pack("<B", len(raw)), raw)

    def real(self, value: float) -> None:
        """Write a float, of eight bytes."""
        self.emit(op.BINFLOAT, struct.pack(">d", value))

    def text(self, value: str) -> None:
        """Write a text, in UTF-8."""
        raw = value.encode("utf-8", "surrogatepass")
        self.emit(op.BINUNICODE, struct.pack("<I", len(raw)), raw)

    def name(self, module: str, name: str) -> None:
        """Write the name of a module's object, to be looked up."""
        self.emit(op.GLOBAL, f"{module}\n{name}\n".encode("ascii"))

    def call(self, module: str, name: str, *args: Any) -> None:
        """Write a call of a named function with these arguments."""
        self.name(module, name)
        self.sequence(args)
        self.emit(op.REDUCE)

    def binary(self, value: bytes) -> None:
        """Write bytes, as torch's protocol 2 does: the call that encodes a text."""
        self.call("_codecs", "encode", value.decode("latin1"), "latin1")

    def sequence(self, value: tuple) -> None:
        """Write a tuple."""
        if not value:
            self.emit(op.EMPTY_TUPLE)
            return
        short = {1: op.TUPLE1, 2: op.TUPLE2, 3: op.TUPLE3}.get(len(value))
        if short is None:
            self.emit(op.MARK)
        for item in value:
            self.write(item)
        self.emit(short or op.TUPLE)

    def listing(self, value: list) -> None:
        """Write a list, which may hold itself."""
        self.emit(op.EMPTY_LIST)
        self.remember(value)
        self.emit(op.MARK)
        for item in value:
            self.write(item)
        self.emit(op.APPENDS)

    def mapping(self, value: dict) -> None:
        """Write a dict, plain or of collections, with its items."""
        if type(value) is dict:
            self.emit(op.EMPTY_DICT)
        else:
            self.call("collections", type(value).__name__)
        self.remember(value)
        self.emit(op.MARK)
        for key, item in value.items():
            self.write(key)
            self.write(item)
        self.emit(op.SETITEMS)
        versions = getattr(value, "_metadata", None)  # of the modules of a state dict
        if versions is not None:
            self.write({"_metadata": versions})
            self.emit(op.BUILD)

    def collection(self, value: Any) -> None:
        """Write a set or a frozenset, its elements in an order of their own."""
        self.call("builtins", type(value).__name__, sorted(value, key=repr))

    def size(self, value: Size) -> None:
        """Write a tensor's shape."""
        self.call("torch", "Size", tuple(value))

    def device(self, value: device) -> None:
        """Write a device, by its name."""
        self.call("torch", "device", str(value))

    def element_type(self, value: dtype) -> None:
        """Write a dtype, by its name."""
        self.name("torch", value.name)

    def tensor(self, value: Any) -> None:
        """Write a tensor: its storage once for all that share it, then how it is seen."""
        if value.storage.block is None:
            raise SerializationError(
                f"save(a tensor of shape {list(value.shape)} on device {value.device})",
                "the tensor has no memory",
                "save it from the device that holds its values",
            )
        if isinstance(value, Parameter):
            self.name("torch._utils", "_rebuild_parameter")
            self.emit(op.MARK)
            self._plain_tensor(value, False)
            self.constant(value.requires_grad)
            self.call("collections", "OrderedDict")
            self.emit(op.TUPLE, op.REDUCE)
        else:
            self._plain_tensor(value, value.requires_grad)
        self.remember(value)

    def sparse(self, value: Any) -> None:
        """Write a sparse tensor: its layout, and the tensors and sizes it is made of.

        One in COO is written without its gradients, as by torch; one in CSR with them.
        """
        compressed = value.is_sparse_csr
        names = ("crow_indices", "col_indices", "values") if compressed else ("_indices", "_values")
        self.name("torch._utils", "_rebuild_sparse_tensor")
        self.call(
            "torch.serialization", "_get_layout", op.SPARSE_CSR if compressed else op.SPARSE_COO
        )
        self.emit(op.MARK)
        for name in names:
            self.tensor(getattr(value, name)())
        self.size(value.shape)
        if not compressed:
            self.constant(value.is_coalesced())
        self.emit(op.TUPLE, op.TUPLE2, op.REDUCE)
        self.remember(value)

    def complex_number(self, value: complex) -> None:
        """Write a complex number as the call that makes it."""
        self.call("__builtin__", "complex", value.real, value.imag)

    def _plain_tensor(self, value: Any, requires_grad: bool) -> None:
        typed = value.dtype.name in op.STORAGE_NAMES
        self.name("torch._utils", "_rebuild_tensor_v2" if typed else "_rebuild_tensor_v3")
        self.emit(op.MARK)
        self._storage(value)
        self.integer(value.layout.offset)
        self.sequence(tuple(value.layout.shape))
        self.sequence(tuple(value.layout.strides))
        self.constant(requires_grad)
        self.call("collections", "OrderedDict")
        if not typed:
            self.element_type(value.dtype)
        self.emit(op.TUPLE, op.REDUCE)

    def _storage(self, value: Any) -> None:
        storage = value.storage
        # `x.data` is another Storage on the same block: the address tells that it is the same.
        number = self.places.setdefault(storage.address, len(self.storages))
        if number == len(self.storages):
            self.storages.append(storage)
        self.emit(op.MARK)
        self.text("storage")
        typed = op.STORAGE_NAMES.get(value.dtype.name)
        self.name(*(("torch", typed) if typed else op.BYTES))
        self.text(str(number))
        self.text("cpu")
        self.integer(storage.nbytes // (value.dtype.itemsize if typed else 1))
        self.emit(op.TUPLE, op.BINPERSID)


_WRITERS: tuple[tuple[type, Any], ...] = (
    (type(None), Writer.constant),
    (bool, Writer.constant),
    (str, Writer.text),
    (int, Writer.integer),
    (float, Writer.real),
    (complex, Writer.complex_number),
    (SparseTensor, Writer.sparse),
    (bytes, Writer.binary),
    (Size, Writer.size),
    (tuple, Writer.sequence),
    (list, Writer.listing),
    (dict, Writer.mapping),
    (OrderedDict, Writer.mapping),
    (Counter, Writer.mapping),
    (set, Writer.collection),
    (frozenset, Writer.collection),
    (dtype, Writer.element_type),
    (device, Writer.device),
    (Buffer, Writer.tensor),
    (Tensor, Writer.tensor),
)

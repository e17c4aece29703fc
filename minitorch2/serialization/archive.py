"""The file: a zip archive with a pickle program and one entry for each storage, uncompressed.

    archive/data.pkl    the program
    archive/byteorder   'little'
    archive/data/0      the bytes of storage 0
    archive/version     3

In: an object and a path or an open file. Out: the file, or the object again.

Source: PyTorch's "Serialization semantics"; the layout is that of torch.save since 1.6.
"""

import io
import os
import sys
import zipfile
from typing import Any

import numpy

from minitorch2.errors import DeviceError, SerializationError
from minitorch2.nn.parameter import Parameter
from minitorch2.serialization.reading import Reader
from minitorch2.serialization.whole import WholeReader, WholeWriter, completed
from minitorch2.serialization.writing import Writer
from minitorch2.storages import Storage
from minitorch2.tensors import Tensor


def save(obj: Any, f: Any, pickle_module: Any = None, **options: Any) -> None:
    """Write tensors and plain containers, or whole objects, to a path or a binary file.

    Tensors that share memory share it again after loading. A file of tensors and containers can be
    read by anyone; what else is in it, such as a whole module, is pickled, and `load` reads it with
    `weights_only=False` only. Raises what pickle raises for objects that it cannot write.
    """
    program, storages = _program(obj)
    # Written to memory first: a failure half-way would leave a broken file where a good one was.
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        entries: list[tuple[str, Any]] = [
            ("data.pkl", program),
            ("byteorder", sys.byteorder.encode()),
            *((f"data/{n}", s.bytes().data) for n, s in enumerate(storages)),
            ("version", b"3\n"),
        ]
        for name, content in entries:
            # A fixed date makes equal objects equal files.
            entry = zipfile.ZipInfo(f"archive/{name}", (1980, 1, 1, 0, 0, 0))
            archive.writestr(entry, content)
    if hasattr(f, "write"):
        f.write(buffer.getbuffer())
    else:
        with open(os.fspath(f), "wb") as file:
            file.write(buffer.getbuffer())


def _program(obj: Any) -> tuple[bytes, list[Storage]]:
    """The pickle program of an object, and the storages that it refers to."""
    writer = Writer()
    try:
        writer.write(obj)
    except SerializationError:
        file = io.BytesIO()
        whole = WholeWriter(file)
        whole.dump(obj)
        return file.getvalue(), whole.storages
    return writer.program, writer.storages


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **options: Any,
) -> Any:
    """Read what save (or torch.save) wrote, without running anything in the file as code.

    Tensors are placed on the CPU, or on meta where `map_location` says so. Raises
    SerializationError where the file is damaged or refers to anything but tensors and plain
    containers; with `weights_only=False` that is unpickled, which runs whatever the file says: only
    for files that one trusts. DeviceError for a GPU.
    """
    where = str(map_location)
    if "cuda" in where and "cpu" not in where:
        raise DeviceError(
            f"load(map_location={map_location!r})",
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is "
            "False.",
            "use torch.load with map_location=torch.device('cpu')",
        )
    if hasattr(f, "read"):
        found = _read(f, weights_only is False)
    else:
        with open(os.fspath(f), "rb") as file:
            found = _read(file, weights_only is False)
    return _without_memory(found) if where == "meta" else found


def _without_memory(value: Any) -> Any:
    """The containers with tensors on the device meta, which have shapes and no elements."""
    if isinstance(value, Parameter):
        return Parameter(value.detach().to("meta"), value.requires_grad)
    if isinstance(value, Tensor):
        return value.detach().to("meta").requires_grad_(value.requires_grad)
    if isinstance(value, dict):
        for key, each in value.items():
            value[key] = _without_memory(each)
    elif isinstance(value, list):
        value[:] = map(_without_memory, value)
    elif type(value) is tuple:
        return tuple(map(_without_memory, value))
    return value


def _read(file: Any, trusted: bool) -> Any:
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile as problem:
        if file.seek(0, 2) == 0:
            raise EOFError("load: Ran out of input: the file is empty") from problem
        raise SerializationError(
            "load",
            "the file is no zip archive, as torch.save writes them since version 1.6",
            "load it once with torch and save it again, or fetch it again if it is damaged",
        ) from problem
    with archive:
        names = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        if len(names) != 1:
            raise SerializationError(
                "load", "the archive has no data.pkl", "give a file that save wrote"
            )
        root = names[0].removesuffix("data.pkl")
        known = set(archive.namelist())
        order = archive.read(root + "byteorder").decode() if root + "byteorder" in known else ""
        if order and order != sys.byteorder:
            raise SerializationError("load", f"the file's numbers are {order}-endian")

        def fetch(key: str) -> numpy.ndarray:
            raw = archive.read(f"{root}data/{key}")
            return numpy.frombuffer(bytearray(raw), numpy.uint8)

        program = archive.read(names[0])
        try:
            return Reader(program, fetch).read()
        except SerializationError:
            if not trusted:
                raise
        return completed(WholeReader(program, fetch).load())

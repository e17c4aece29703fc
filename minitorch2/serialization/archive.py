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

from minitorch2.devices import CPU
from minitorch2.errors import SerializationError
from minitorch2.serialization.locations import NotPlaced, Placing, placing
from minitorch2.serialization.reading import Reader
from minitorch2.serialization.whole import WholeReader, WholeWriter, completed
from minitorch2.serialization.writing import Writer
from minitorch2.storages import Storage, storage_of_array


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

    Memory is placed where the file says, or where `map_location` sends it (`placing` says what that
    may be): on the CPU, or on meta, where tensors have shapes and no elements. Tensors that share
    memory do so on either. Raises DeviceError for a place that is not there, such as a GPU;
    SerializationError where the file is damaged or refers to anything but tensors and plain
    containers; with `weights_only=False` that is unpickled, which runs whatever the file says: only
    for files that one trusts.
    """
    place = placing(map_location)
    if hasattr(f, "read"):
        return _read(f, place, weights_only is False)
    with open(os.fspath(f), "rb") as file:
        return _read(file, place, weights_only is False)


def _read(file: Any, place: Placing, trusted: bool) -> Any:
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile as problem:
        if file.seek(0, 2) == 0:
            raise EOFError("load: Ran out of input: the file is empty") from problem
        raise SerializationError(
            f"load({getattr(file, 'name', file)!r})",
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

        found: dict[str, Storage] = {}

        def fetch(key: str, where: str) -> Storage:
            if key not in found:
                raw = archive.read(f"{root}data/{key}")
                block = numpy.frombuffer(bytearray(raw), numpy.uint8)
                try:
                    found[key] = place(storage_of_array(block, CPU), where)
                except Exception as problem:
                    raise NotPlaced from problem
            return found[key]

        program = archive.read(names[0])
        try:
            try:
                return Reader(program, fetch).read()
            except SerializationError:
                if not trusted:
                    raise
            return completed(WholeReader(program, fetch).load())
        except NotPlaced as problem:
            assert problem.__cause__ is not None
            raise problem.__cause__ from None

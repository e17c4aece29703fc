"""Single records of a file of torch.save, by name: what tools that read parts of files use.

In: a file. Out: its records' names and bytes, without unpickling.

    reader = PyTorchFileReader("model.pt")
    reader.get_record("data/0")

Source: torch.PyTorchFileReader.
"""

import zipfile
from typing import Any


class PyTorchFileReader:
    """The zip file behind `torch.save`; names are those below its top folder."""

    def __init__(self, file: Any):
        self._zip = zipfile.ZipFile(file)
        names = self._zip.namelist()
        self._top = names[0].partition("/")[0] + "/" if names else ""

    def get_all_records(self) -> list[str]:
        """The names of all records."""
        return [name.removeprefix(self._top) for name in self._zip.namelist()]

    def has_record(self, name: str) -> bool:
        """Whether a record is there."""
        return self._top + name in self._zip.namelist()

    def get_record(self, name: str) -> bytes:
        """A record's bytes; KeyError where there is none."""
        return self._zip.read(self._top + name)

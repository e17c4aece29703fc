"""Single records of a file of torch.save, by name: what tools that read parts of files use.

In: a file. Out: its records' names and bytes, without unpickling.

    reader = PyTorchFileReader("model.pt")
    reader.get_record("data/0")

Source: torch.PyTorchFileReader.
"""

import zipfile
from typing import Any

from minitorch2.errors import SerializationError


class PyTorchFileReader:
    """The zip file behind `torch.save`; names are those below its top folder.

    SerializationError where the file cannot be read, or is none of torch.save.
    """

    def __init__(self, file: Any):
        try:
            self._zip = zipfile.ZipFile(file)
        except zipfile.BadZipFile as error:
            raise SerializationError(
                f"PyTorchFileReader({file!r})",
                "failed reading zip archive: not a ZIP archive",
                "give a file that torch.save wrote",
            ) from error
        except OSError as error:
            raise SerializationError(
                f"PyTorchFileReader({file!r})", f"open file failed: {error}", "check the path"
            ) from error
        names = self._zip.namelist()
        self._top = names[0].partition("/")[0] + "/" if names else ""

    def get_all_records(self) -> list[str]:
        """The names of all records."""
        return [name.removeprefix(self._top) for name in self._zip.namelist()]

    def has_record(self, name: str) -> bool:
        """Whether a record is there."""
        return self._top + name in self._zip.namelist()

    def get_record(self, name: str) -> bytes:
        """A record's bytes; SerializationError where there is none."""
        if not self.has_record(name):
            raise SerializationError(
                f"get_record({name!r})",
                f"failed locating file {name}: file not found",
                "get_all_records() names what there is",
            )
        return self._zip.read(self._top + name)

"""save and load: tensors and plain containers in a file, in the format of torch.save.

Files, in reading order:

opcodes   the part of Python's pickle language that is used
writing   objects become that language and a list of storages
reading   the way back; names only what it knows, so a file cannot run code
whole     objects that are more than that, for files one trusts
locations where loaded memory goes
archive   the zip file around both
safe      classes that scripts allow
records   parts of a file by name

    save(model.state_dict(), "model.pt")
    model.load_state_dict(load("model.pt"))

Files of torch (since 1.6) can be loaded, and torch loads what is saved here.
"""

from minitorch2.serialization.archive import load, save
from minitorch2.serialization.safe import (
    MAP_LOCATION,
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)

__all__ = [
    "MAP_LOCATION",
    "add_safe_globals",
    "clear_safe_globals",
    "get_safe_globals",
    "load",
    "safe_globals",
    "save",
]

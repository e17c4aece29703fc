"""save and load: tensors and plain containers in a file, in the format of torch.save.

Files, in reading order:

opcodes   the part of Python's pickle language that is used
writing   objects become that language and a list of storages
reading   the way back; names only what it knows, so a file cannot run code
archive   the zip file around both

    save(model.state_dict(), "model.pt")
    model.load_state_dict(load("model.pt"))

Files of torch (since 1.6) can be loaded, and torch loads what is saved here.
"""

from minitorch2.serialization.archive import load, save

__all__ = ["load", "save"]

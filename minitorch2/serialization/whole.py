"""Whole objects: modules, and whatever else Python's pickle can write, beside tensors.

In: an object that is more than tensors and plain containers. Out: a pickle program in which each
storage is a reference to an entry of the archive, so that tensors that share memory do so again.

Reading it runs what the file says: `load` does it with `weights_only=False` only, for files whose
writer one trusts. Names of torch are looked up here, so modules that torch saved become ours.

    torch.save(model, "model.pt")
    model = torch.load("model.pt", weights_only=False)

Source: CPython's pickle, "Persistence of External Objects"; torch's "Saving & Loading Models".
"""

import importlib
import io
import pickle
import sys
import types
from collections.abc import Callable
from typing import Any

from minitorch2.errors import SerializationError
from minitorch2.layouts import Layout
from minitorch2.nn.module import Module
from minitorch2.serialization.reading import NAMES, StoredDtype
from minitorch2.storages import Storage
from minitorch2.tensors import Tensor
from minitorch2.torch_files import ours


class WholeWriter(pickle.Pickler):
    """Writes one object; `storages` lists the memory that the program refers to by number."""

    def __init__(self, file: io.BytesIO):
        super().__init__(file, protocol=4)
        self.storages: list[Storage] = []
        self.places: dict[int, str] = {}

    def persistent_id(self, obj: Any) -> Any:
        """A storage's number; None for everything else, which is written here."""
        if not isinstance(obj, Storage):
            return None
        if id(obj) not in self.places:
            self.places[id(obj)] = str(len(self.storages))
            self.storages.append(obj)
        return "storage", None, self.places[id(obj)]

    def reducer_override(self, obj: Any) -> Any:
        """A tensor as its storage and how it lies there."""
        if not isinstance(obj, Tensor) or obj.storage.block is None:
            return NotImplemented
        place = (obj.layout.shape, obj.layout.strides, obj.layout.offset)
        flags = (obj.requires_grad, dict(obj.__dict__))
        return tensor_from, (type(obj), obj.storage, obj.dtype, *place, *flags)


def tensor_from(
    cls: type,
    storage: Storage,
    element: Any,
    shape: tuple,
    strides: tuple,
    offset: int,
    requires_grad: bool,
    attributes: dict[str, Any],
) -> Any:
    """The tensor that WholeWriter wrote."""
    made: Any = Tensor(storage, Layout(tuple(shape), tuple(strides), offset), element)
    made.__class__ = cls
    made._requires_grad = requires_grad
    made.__dict__.update(attributes)
    return made


class WholeReader(pickle.Unpickler):
    """Reads what WholeWriter or torch wrote; `fetch(key, place)` gives a storage."""

    def __init__(self, program: bytes, fetch: Callable[[str, str], Storage]):
        super().__init__(io.BytesIO(program))
        self.fetch = fetch

    def persistent_load(self, pid: Any) -> Any:
        """The storage of a number; for torch's tensors with its dtype."""
        stored, key = pid[1:3]
        storage = self.fetch(key, pid[3] if len(pid) > 3 else "cpu")
        return (storage, stored.dtype) if isinstance(stored, StoredDtype) else storage

    def find_class(self, module: str, name: str) -> Any:
        """A class or function by name; torch's are ours of the same name."""
        known = NAMES.get((module, name))
        if known is not None:
            return known
        if module == "torch" or module.startswith("torch."):
            return _ours(importlib.import_module(ours(module)), name)
        return super().find_class(module, name)


def _ours(module: types.ModuleType, name: str) -> Any:
    """A name of a module, or one that the files of a package keep to themselves."""
    inside = [each for known, each in sys.modules.items() if known.startswith(module.__name__)]
    for each in (module, *inside):
        if name in vars(each):
            return vars(each)[name]
    raise SerializationError(
        f"load: the file refers to {name} of torch",
        "minitorch2 has nothing of that name",
        "save module.state_dict() with torch, and load that into a module made here",
    )


def completed(found: Any) -> Any:
    """A module that torch wrote, with the fields that ours have besides."""
    if isinstance(found, Module):
        plain = vars(Module())
        for each in found.modules():
            for name, value in plain.items():
                if name not in each.__dict__:
                    each.__dict__[name] = type(value)() if isinstance(value, (dict, set)) else value
    return found

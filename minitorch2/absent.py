"""Parts of torch that are left out: programs import their names, and must not need them.

In: the name of a module of torch. Out: whether it belongs to a part that is left out, and a module
for it whose names can be imported, subclassed and tested against (no object is an instance of
them). Whoever makes or calls one gets an error that says what there is instead.

    from torch.distributed.tensor import DTensor   # as libraries do, whether they use it or not
    isinstance(x, DTensor)                         # False
    DTensor(x)                                     # OperationError

Source: the import statements of public libraries.
"""

import functools
import importlib
import types
from typing import Any

from minitorch2.errors import OperationError

# Each part, and what to do without it.
PARTS = {
    "torch.distributed": "minitorch2 works in one process: run the model whole in this one",
    "torch.export": "use torch.compile, torch.fx or torch.save",
    "torch.fx.experimental": "use torch.fx, or `mt2 explain` to see graphs",
    "torch.fx.passes": "use torch.fx, or `mt2 explain` to see graphs",
    "torch._subclasses": "use device='meta' for tensors without memory",
    "torch._inductor": "use torch.compile, whose kernels `mt2 explain` shows",
    "torch._prims_common": "use the public operations",
    "torch._functorch": "use torch.func and torch.compile",
    "torch.onnx._internal": "save model.state_dict() and load it where torch is installed",
    "torch.onnx.symbolic_opset9": "save model.state_dict() and load it where torch is installed",
    "torch.utils.data.datapipes": "use Dataset, IterableDataset and DataLoader",
    "torch.utils.cpp_extension": "write the operation in Python and compile it by torch.compile",
    "torch.utils.flop_counter": "use `mt2 count`",
    "torch.utils._sympy": "sizes are plain integers outside compiled code",
    "torch.numa": "set the affinity of the process from outside",
}
# Their folders that are attributes of a module which is here.
FOLDERS = {
    "torch.distributed": (
        "_composable _functional_collectives _tensor algorithms checkpoint constants device_mesh "
        "elastic fsdp launcher optim pipelining rpc run tensor utils"
    ).split(),
    "torch.distributed.rpc": ["api", "internal"],
}
# Classes that only describe: libraries make some while they are imported.
DESCRIPTIONS = ("Shard", "Replicate", "Partial", "Placement")


def _part(name: str) -> str | None:
    """The part that a module belongs to."""
    return next((part for part in PARTS if (name + ".").startswith(part + ".")), None)


def is_absent(name: str) -> bool:
    """Whether a module of torch, such as 'torch.distributed.fsdp', is left out."""
    return _part(name) is not None


def _refusal(place: str) -> OperationError:
    part = _part(place)
    return OperationError(place, f"{place} is not in minitorch2", PARTS[part] if part else "")


class Absent:
    """Base of the classes that are left out: none of them can be made."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """OperationError: says what there is instead."""
        left_out = next(each for each in cls.__mro__ if is_absent(each.__module__))
        raise _refusal(f"{left_out.__module__}.{left_out.__name__}")


class Description:
    """Base of the classes that describe how a part that is left out would do something."""

    def __init__(self, *args: Any, **kwargs: Any):
        self.given = args, kwargs

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.given[0]}"


def _refusing(place: str) -> Any:
    """A function that is left out; as a decorator it gives another that refuses."""

    def function(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], types.FunctionType):
            return functools.wraps(args[0])(lambda *_, **__: function())
        raise _refusal(place)

    function.__module__, _, function.__name__ = place.rpartition(".")
    return function


def _unavailable() -> bool:
    """What a part that is left out says of itself."""
    return False


class AbsentModule(types.ModuleType):
    """A module of torch that is left out: its names are classes, functions and constants.

    CUDA_HOME and other constants are None, as where nothing was found. `is_available()` is False.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        place = f"{self.__name__}.{name}"
        if name in FOLDERS.get(self.__name__, ()):
            return importlib.import_module(place)
        made: Any
        if name.isupper() and "_" in name:
            made = None
        elif name == "is_available":
            made = _unavailable
        elif name.lstrip("_")[:1].isupper():
            base = Description if name in DESCRIPTIONS else Absent
            made = type(name, (base,), {"__module__": self.__name__})
        else:
            made = _refusing(place)
        self.__dict__[name] = made
        return made

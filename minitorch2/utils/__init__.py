"""Tools around training: torch.utils.

Files, in reading order:

data     datasets, samplers, loaders
dlpack   tensors shared with other libraries
checkpoint   the forward run again in the backward
hooks        the handle that removes a hook
pytree_nodes their containers one by one
_pytree      nested values
benchmark    how long a statement takes
model_zoo    weights by URL: torch.hub's loader
tensorboard  files that TensorBoard shows
"""

import importlib
from types import ModuleType

from minitorch2.swapping import swap_tensors
from minitorch2.utils import _pytree, checkpoint, dlpack, hooks

__all__ = ["_pytree", "checkpoint", "data", "dlpack", "hooks", "swap_tensors"]


def __getattr__(name: str) -> ModuleType:
    if name != "data":  # it brings multiprocessing along
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module("minitorch2.utils.data")


def __dir__() -> list[str]:
    return sorted({*globals(), "data"})

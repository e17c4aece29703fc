"""Running scripts written for torch: `import torch` gives minitorch2.

In: nothing. Out: `sys.modules` in which torch and its submodules are ours, until undone.

    install_as_torch()
    import torch                      # minitorch2
    from torch import nn              # minitorch2.nn
    import torch.nn.functional as F   # minitorch2.nn.functional

A finder at the front of `sys.meta_path` answers for `torch` and everything below it, so a
submodule that minitorch2 does not have raises an ImportError that says so, instead of mixing in the
real torch.

Source: the import protocol of PEP 451.
"""

import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Sequence
from typing import Any

OURS = "minitorch2"

# torch keeps these names in files of their own; here they live in the named module.
ELSEWHERE = {
    "torch.nn.modules": "minitorch2.nn",
    "torch.nn.modules.module": "minitorch2.nn.module",
    "torch.nn.modules.loss": "minitorch2.nn.loss",
    "torch.optim.adam": "minitorch2.optim.adam",
    "torch.optim.adamw": "minitorch2.optim.adam",
    "torch.optim.optimizer": "minitorch2.optim.optimizer",
    "torch.utils.data.dataloader": "minitorch2.utils.data.dataloader",
    "torch.utils.data.dataset": "minitorch2.utils.data.dataset",
}


class TorchFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `torch.x.y` as `minitorch2.x.y`."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        """A spec for torch and everything below it, None for the rest."""
        if name != "torch" and not name.startswith("torch."):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """Our module itself, so that both names are one module."""
        ours = ELSEWHERE.get(spec.name, OURS + spec.name.removeprefix("torch"))
        try:
            module = importlib.import_module(ours)
        except ModuleNotFoundError as problem:
            if problem.name is not None and not problem.name.startswith(OURS):
                raise
            raise ModuleNotFoundError(
                f"minitorch2 has no module for {spec.name!r}: leave the import out, or run the "
                "script with torch itself",
                name=spec.name,
            ) from problem
        self.kept = {name: getattr(module, name, None) for name in _FIELDS}
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Undo what the import system wrote into our module: it keeps its own name and place."""
        for name, value in self.kept.items():
            setattr(module, name, value)


_FIELDS = ("__name__", "__loader__", "__package__", "__spec__", "__path__")
_installed: list[TorchFinder] = []


def install_as_torch() -> None:
    """Let `import torch` and imports below it give minitorch2; a second call does nothing."""
    if _installed:
        return
    for name in [each for each in sys.modules if each.split(".")[0] == "torch"]:
        del sys.modules[name]
    finder = TorchFinder()
    _installed.append(finder)
    sys.meta_path.insert(0, finder)


def uninstall() -> None:
    """Let `import torch` find the real torch again."""
    while _installed:
        sys.meta_path.remove(_installed.pop())
    for name in [each for each in sys.modules if each.split(".")[0] == "torch"]:
        del sys.modules[name]

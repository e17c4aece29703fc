"""Running scripts written for torch: `import torch` gives minitorch2.

In: nothing. Out: `sys.modules` in which torch and its submodules are ours, until undone.

    install_as_torch()
    import torch                                  # minitorch2
    import torch.nn.functional as F               # minitorch2.nn.functional
    from torch.nn.modules.linear import Linear    # minitorch2.nn, through a window

A finder at the front of `sys.meta_path` answers for `torch` and everything below it. A module that
both sides have is our module itself. A file that only torch has (torch_files.py lists them) is a
window: a module of its own whose names are looked up in ours, and set there. Anything else raises
an ImportError that says so, instead of mixing in the real torch.

`torch.__version__` is the version of torch whose names are followed, for scripts that ask; so is
what importlib.metadata says of torch.

Source: the import protocol of PEP 451; importlib.metadata's finders.
"""

import difflib
import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import pkgutil
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

from minitorch2 import version
from minitorch2.torch_files import PLACES, ours


class Window(types.ModuleType):
    """A module under torch's name that shows, and changes, one of ours."""

    def __init__(self, name: str, module: types.ModuleType):
        super().__init__(name, module.__doc__)
        self.__dict__["_module"] = module

    def __getattr__(self, name: str) -> Any:
        if name in ("__path__", "__file__"):
            raise AttributeError(name)
        below = f"{self.__name__}.{name}"
        if below in PLACES:
            return importlib.import_module(below)
        module = self.__dict__["_module"]
        if name.startswith("_") and not hasattr(module, name):
            return _private(module.__name__, name)
        return getattr(module, name)

    def __setattr__(self, name: str, value: Any) -> None:
        # The import system's own fields, and the windows below, stay with the window.
        if name.startswith("__") or isinstance(value, Window):
            self.__dict__[name] = value
        else:
            setattr(self.__dict__["_module"], name, value)

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_module"])


def _private(package: str, name: str) -> Any:
    """A name that a package's files keep to themselves: torch.nn.modules.conv._ConvNd."""
    for known, module in list(sys.modules.items()):
        if known.startswith(package + ".") and name in vars(module):
            return vars(module)[name]
    raise AttributeError(f"module {package!r} has no attribute {name!r}")


class TorchDistribution(importlib.metadata.Distribution):
    """What importlib.metadata finds as the package torch: `metadata.version("torch")`."""

    def read_text(self, filename: str) -> str | None:
        """The text of METADATA, None for other files."""
        if filename not in ("METADATA", "PKG-INFO"):
            return None
        return f"Metadata-Version: 2.1\nName: torch\nVersion: {version.torch}\n"

    def locate_file(self, path: Any) -> Any:
        """The path itself: there are no files."""
        return path


class TorchFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `torch.x.y` as `minitorch2.x.y`, or as the window that torch_files.py names."""

    def find_distributions(self, context: Any = None) -> Iterator[importlib.metadata.Distribution]:
        """The package torch, where all packages or that one are asked for."""
        if getattr(context, "name", None) in (None, "torch"):
            yield TorchDistribution()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        """A spec for torch and everything below it, None for the rest."""
        if name != "torch" and not name.startswith("torch."):
            return None
        if not _exists(_target(name)):
            raise ModuleNotFoundError(
                f"minitorch2 has no module for {name!r}{_nearest(name)}: leave the import out, or "
                "run the script with torch itself",
                name=name,
            )
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """Our module itself, so that both names are one module; or a window onto it."""
        module = importlib.import_module(_target(spec.name))
        if module.__name__ != _same_place(spec.name):
            return Window(spec.name, module)
        self.kept = {name: getattr(module, name, None) for name in _FIELDS}
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Undo what the import system wrote into our module: it keeps its own name and place."""
        if isinstance(module, Window):
            return
        for name, value in self.kept.items():
            setattr(module, name, value)
        if module.__name__ == OURS:
            vars(module)["__version__"] = version.torch
            _open_windows()


OURS = "minitorch2"
# Modules of ours that scripts reach after no more than `import torch`.
WITHOUT_IMPORT = ("torch.utils._pytree",)

_FIELDS = ("__name__", "__loader__", "__package__", "__spec__", "__path__")
_installed: list[TorchFinder] = []


def _open_windows() -> None:
    """What scripts reach after no more than `import torch`: torch.nn.modules.linear.Linear.

    A window is opened where its module is there already, unless that has the name for a thing of
    its own.
    """
    for place in (*WITHOUT_IMPORT, *PLACES):
        above, _, name = place.rpartition(".")
        parent = sys.modules.get(_target(above))
        if parent is not None and ours(place) in sys.modules and not hasattr(parent, name):
            importlib.import_module(place)


def _same_place(name: str) -> str:
    """The name of our module in the same place."""
    return OURS + name.removeprefix("torch")


def _target(name: str) -> str:
    """Our module for one of torch's: in the same place, else where torch_files.py says."""
    return _same_place(name) if _exists(_same_place(name)) else ours(name)


def _exists(name: str) -> bool:
    """Whether we have a module, without importing it."""
    try:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _nearest(name: str) -> str:
    """The most similar module that exists, as a part of a sentence; empty when none is similar."""
    import minitorch2  # noqa: PLC0415  (the package is whole only after this file is)

    below = (each.name for each in pkgutil.walk_packages(minitorch2.__path__, "torch."))
    known = [each for each in (*PLACES, *below) if "._" not in each]
    found = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    return f" (the nearest is {found[0]!r})" if found else ""


def _forget() -> None:
    for name in [each for each in sys.modules if each.split(".")[0] == "torch"]:
        del sys.modules[name]


def install_as_torch() -> None:
    """Let `import torch` and imports below it give minitorch2; a second call does nothing."""
    if _installed:
        return
    _forget()
    finder = TorchFinder()
    _installed.append(finder)
    sys.meta_path.insert(0, finder)


def uninstall() -> None:
    """Let `import torch` find the real torch again."""
    while _installed:
        sys.meta_path.remove(_installed.pop())
        vars(sys.modules[OURS])["__version__"] = version.__version__
    _forget()

"""Running scripts written for torch: `import torch` gives minitorch2.

In: nothing. Out: `sys.modules` in which torch and its submodules are ours, until undone.

    install_as_torch()
    import torch                                  # minitorch2
    import torch.nn.functional as F               # minitorch2.nn.functional
    from torch.nn.modules.linear import Linear    # minitorch2.nn, through a window

A finder at the front of `sys.meta_path` answers for `torch` and everything below it. A module that
both sides have is our module itself. A file that only torch has (torch_files.py lists them) is a
window: a module of its own whose names are looked up in ours, and set there. A part of torch that
is left out (absent.py) can be imported, and says so when it is used. Anything else raises an
ImportError that names the nearest thing that exists, instead of mixing in the real torch; so does
the AttributeError of a name that a module lacks.

`torch.__version__` is the version of torch whose names are followed, for scripts that ask; so is
what importlib.metadata says of torch. `torch.__name__` is 'torch'.

Source: the import protocol of PEP 451; importlib.metadata's finders.
"""

import difflib
import importlib
import importlib.machinery
import importlib.util
import pkgutil
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

from minitorch2 import version
from minitorch2.absent import FOLDERS, AbsentModule, is_absent
from minitorch2.torch_files import PLACES, WIDER, ours


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
        if name == "__all__":
            return _public_names(module)
        if name.startswith("_") and not hasattr(module, name):
            return _private(_loaded_name(module), name)
        return getattr(module, name)

    def __setattr__(self, name: str, value: Any) -> None:
        # The import system's own fields, and the windows below, stay with the window.
        if name.startswith("__") or isinstance(value, Window):
            self.__dict__[name] = value
        else:
            setattr(self.__dict__["_module"], name, value)

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_module"])


def _public_names(module: types.ModuleType) -> list[str]:
    """A module's `__all__`, or what it would be: `from torch.nn.modules.conv import *`."""
    listed = vars(module).get("__all__")
    return list(listed) if listed else [name for name in dir(module) if name[0] != "_"]


def _private(package: str, name: str) -> Any:
    """A name that a package's files keep to themselves: torch.nn.modules.conv._ConvNd."""
    for known, module in list(sys.modules.items()):
        if known.startswith(package + ".") and name in vars(module):
            return vars(module)[name]
    raise AttributeError(f"module {package!r} has no attribute {name!r}")


class MissingName(AttributeError):
    """A name that a module of torch's may have and ours has not; the text names the nearest."""

    def __init__(self, place: str, missing: str):
        super().__init__(place, missing)
        self.place, self.missing = place, missing

    def __str__(self) -> str:  # looked for when it is read: many programs only ask with hasattr
        near = _nearest(f"{self.place}.{self.missing}")
        return f"module {self.place!r} has no attribute {self.missing!r} in minitorch2{near}"


def _answer(module: types.ModuleType, place: str) -> None:
    """Give a module a `__getattr__`: its own, and where that knows no better, a MissingName."""
    if _loaded_name(module) in _answered:
        return
    _answered.add(_loaded_name(module))
    own = vars(module).get("__getattr__")

    def __getattr__(name: str) -> Any:
        unknown = None
        if own is not None:
            try:
                found = own(name)
            except AttributeError as error:  # of the name, or a failure on the way to it
                unknown = error
            else:
                if isinstance(found, types.ModuleType) and found.__name__.startswith(OURS):
                    _answer(found, "torch" + found.__name__.removeprefix(OURS))
                return found
        if name == "__all__":
            return _public_names(module)
        if place in FOLDERS and name in FOLDERS[place]:
            return importlib.import_module(f"{place}.{name}")
        if name.startswith("__"):
            raise AttributeError(f"module {place!r} has no attribute {name!r}") from unknown
        raise MissingName(place, name) from unknown

    _replace(module, "__name__", place)
    _replace(module, "__getattr__", __getattr__)


class TorchFinder:
    """Finds `torch.x.y` as `minitorch2.x.y`, or as the window that torch_files.py names."""

    def find_distributions(self, context: Any = None) -> Iterator[Any]:
        """The package torch, where all packages or that one are asked for."""
        if getattr(context, "name", None) in (None, "torch"):
            yield importlib.import_module("minitorch2.torch_distribution").TorchDistribution()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        """A spec for torch and everything below it, None for the rest."""
        if name != "torch" and not name.startswith("torch."):
            return None
        if not _exists(_target(name)) and not is_absent(name):
            # No `name=`: `from torch import x` would hide the error behind one that names nothing.
            raise ModuleNotFoundError(
                f"minitorch2 has neither a module nor a name {name!r}{_nearest(name)}: leave the "
                "import out, or run the script with torch itself"
            )
        return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """Our module itself, so that both names are one module; or a window onto it."""
        module = (
            importlib.import_module(_target(spec.name)) if _exists(_target(spec.name)) else None
        )
        if module is None or _loaded_name(module) != _same_place(spec.name):
            _keep_place(spec.name)
            return Window(spec.name, module) if module else AbsentModule(spec.name)
        self.kept = {name: getattr(module, name, None) for name in _FIELDS}
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Undo what the import system wrote into our module: it keeps its own name and place."""
        if isinstance(module, Window | AbsentModule):
            return
        place = module.__spec__.name if module.__spec__ else ""
        for name, value in self.kept.items():
            setattr(module, name, value)
        _answer(module, place)
        if place == "torch":
            for name, each in list(sys.modules.items()):
                if name.startswith(OURS + ".") and name.split(".")[1] not in ROOMS:
                    _answer(each, "torch" + name.removeprefix(OURS))
            _replace(module, "__version__", version.torch)
            _open_windows()


OURS = "minitorch2"
ROOMS = ("jit", "kernels", "cli")
# Modules of ours that scripts reach after no more than `import torch`.
WITHOUT_IMPORT = ("torch.utils._pytree",)

_FIELDS = ("__name__", "__loader__", "__package__", "__spec__", "__path__")
_installed: list[TorchFinder] = []
_replaced: list[tuple[types.ModuleType, str, Any]] = []
_answered: set[str] = set()  # the modules that _answer has been given, by the names they have here


def _loaded_name(module: types.ModuleType) -> str:
    """The name that a module was loaded by, whatever it is called now."""
    return module.__spec__.name if module.__spec__ else module.__name__


def _replace(module: types.ModuleType, name: str, value: Any) -> None:
    """Set a name of a module until uninstall()."""
    _replaced.append((module, name, vars(module).get(name)))
    vars(module)[name] = value


def _keep_place(name: str) -> None:
    """Note what a module above has where the import system will set the module of this name."""
    above, _, last = name.rpartition(".")
    parent = sys.modules.get(above)
    if parent is not None:
        _replaced.append((parent, last, vars(parent).get(last)))


def _open_windows() -> None:
    """What scripts reach after no more than `import torch`: torch.nn.modules.linear.Linear.

    A window is opened where its module is there already, unless that has the name for a thing of
    its own.
    """
    for place in (*WITHOUT_IMPORT, *PLACES):
        if ours(place) not in sys.modules:  # nor is it looked for: that would import what is above
            continue
        above, _, name = place.rpartition(".")
        parent = sys.modules.get(_target(above))
        if parent is not None and not hasattr(parent, name):
            importlib.import_module(place)


def _same_place(name: str) -> str:
    """The name of our module in the same place."""
    return OURS + name.removeprefix("torch")


def _target(name: str) -> str:
    """Our module for one of torch's: in the same place, else where torch_files.py says."""
    if name in WIDER:
        return WIDER[name]
    return _same_place(name) if _exists(_same_place(name)) else ours(name)


def _exists(name: str) -> bool:
    """Whether we have a module, without importing it."""
    try:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _nearest(name: str) -> str:
    """The most similar module or name that exists, in parentheses; empty when none is similar."""
    import minitorch2  # noqa: PLC0415  (the package is whole only after this file is)

    above, _, last = name.rpartition(".")
    parent = sys.modules.get(above) or sys.modules.get(_same_place(above))
    names = [each for each in dir(parent) if each[0] != "_"] if parent else []
    if above == "torch":
        names += minitorch2._LAZY
    found = difflib.get_close_matches(last, names, n=1, cutoff=0.6)
    if found:
        return f" (the nearest is '{above}.{found[0]}')"
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
    for module, name, value in reversed(_replaced):
        if value is None:
            vars(module).pop(name, None)
        else:
            vars(module)[name] = value
    _replaced.clear()
    _answered.clear()
    _forget()

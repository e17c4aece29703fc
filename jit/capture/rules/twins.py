"""Functions of the standard library whose native code has a twin in Python.

In: a native function, for instance `heapq.heappush`. Out: the Python function that does the same,
from the standard library's own source, which capture reads through.

Source: the modules' own fallbacks, for Pythons without the native code.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from types import FunctionType, ModuleType
from typing import Any

NATIVE = {
    "_heapq": "heapq",
    "_bisect": "bisect",
    "_functools": "functools",
}  # native module: the module with the twins


@functools.cache
def _without_native(name: str, native: str) -> ModuleType:
    """The module as it is where the native one is missing."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(native)
    sys.modules[native] = None  # type: ignore[assignment]
    try:
        spec.loader.exec_module(module)
    finally:
        if before is None:
            del sys.modules[native]
        else:
            sys.modules[native] = before
    return module


def twin_of(function: Any) -> FunctionType | None:
    """The Python function that does what a native one does, if there is one."""
    native = getattr(function, "__module__", None)
    if function is functools._lru_cache_wrapper:
        native = "_functools"
    if native not in NATIVE:
        return None
    found = getattr(_without_native(NATIVE[native], native), function.__name__, None)
    return found if isinstance(found, FunctionType) else None

"""The code of generated functions, kept in a file beside Python's own .pyc files.

In: the text of a function. Out: its code, compiled now or found in the file, which Python's rules
for .pyc files hold for as well: no file where `sys.dont_write_bytecode` is set or nothing may be
written, another one for each version of Python. An entry is found by its whole text, so that it
cannot be out of date. Importing the package makes a thousand functions from the rows of the op
table; compiling them takes longer than numpy's import.

    >>> scope = {}
    >>> exec(code_of("double = lambda x: 2 * x", "<example>"), scope)
    >>> scope["double"](4)
    8

Source: importlib's cache of bytecode (PEP 3147).
"""

import contextlib
import importlib.util
import marshal
import os
import sys
from types import CodeType

FILE = os.path.join(
    os.path.dirname(importlib.util.cache_from_source(__file__)),
    f"functions.{sys.implementation.cache_tag}.bin",
)
VERSION = importlib.util.MAGIC_NUMBER  # of the bytecode


def _kept() -> dict[tuple[str, str], CodeType]:
    try:
        with open(FILE, "rb") as file:
            version, found = marshal.loads(file.read())
    except (OSError, ValueError, EOFError, TypeError):
        return {}
    return found if version == VERSION else {}


_found = _kept()
_used: dict[tuple[str, str], CodeType] = {}


def code_of(text: str, name: str) -> CodeType:
    """The code of a module's text; `name` stands for its file in tracebacks."""
    key = text, name
    code = _used.get(key) or _found.get(key)
    if code is None:
        code = compile(text, name, "exec")
    _used[key] = code
    return code


def save() -> None:
    """Write what was used, if anything of it was new; then forget it all."""
    global _found
    if not sys.dont_write_bytecode and not _used.keys() <= _found.keys():
        mine = f"{FILE}.{os.getpid()}"
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(FILE), exist_ok=True)
            with open(mine, "wb") as file:
                file.write(marshal.dumps((VERSION, _used)))
            os.replace(mine, FILE)
    _found = {}
    _used.clear()

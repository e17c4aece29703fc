"""The code of generated functions, kept in files beside Python's own .pyc files.

In: the text of a function. Out: its code, compiled now or found in a file, which Python's rules
for .pyc files hold for as well: no file where `sys.dont_write_bytecode` is set or nothing may be
written, another one for each version of Python. An entry is found by its whole text, so that it
cannot be out of date. Importing the package makes a thousand functions from the rows of the op
table; compiling them takes longer than numpy's import. The compiler has seventy dataclasses, each
of whose methods Python generates and compiles: `kept_dataclasses` keeps those.

    >>> scope = {}
    >>> exec(code_of("double = lambda x: 2 * x", "<example>"), scope)
    >>> scope["double"](4)
    8

Source: importlib's cache of bytecode (PEP 3147).
"""

import contextlib
import dataclasses
import importlib.util
import marshal
import os
import sys
from collections.abc import Iterator
from types import CodeType
from typing import Any

FOLDER = os.path.dirname(importlib.util.cache_from_source(__file__))
VERSION = importlib.util.MAGIC_NUMBER  # of the bytecode


class KeptCode:
    """The code that was used in one place, and the file it is kept in."""

    def __init__(self, place: str):
        self.file = os.path.join(FOLDER, f"{place}.{sys.implementation.cache_tag}.bin")
        self.found = self._read()
        self.used: dict[tuple[str, str], CodeType] = {}

    def _read(self) -> dict[tuple[str, str], CodeType]:
        try:
            with open(self.file, "rb") as file:
                version, found = marshal.loads(file.read())
        except (OSError, ValueError, EOFError, TypeError):
            return {}
        return found if version == VERSION else {}

    def code_of(self, text: str, name: str) -> CodeType:
        """The code of a module's text; `name` stands for its file in tracebacks."""
        key = text, name
        code = self.used.get(key) or self.found.get(key)
        if code is None:
            code = compile(text, name, "exec")
        self.used[key] = code
        return code

    def run(self, text: str, *scopes: Any) -> None:
        """What `exec` does with a text, as the dataclasses module calls it."""
        exec(self.code_of(text, "<string>"), *scopes)

    def save(self) -> None:
        """Write what was used, if anything of it was new; then forget it all."""
        if not sys.dont_write_bytecode and not self.used.keys() <= self.found.keys():
            mine = f"{self.file}.{os.getpid()}"
            with contextlib.suppress(OSError):
                os.makedirs(os.path.dirname(self.file), exist_ok=True)
                with open(mine, "wb") as file:
                    file.write(marshal.dumps((VERSION, self.used)))
                os.replace(mine, self.file)
        self.found, self.used = {}, {}


functions = KeptCode("functions")
code_of = functions.code_of


@contextlib.contextmanager
def kept_dataclasses(place: str) -> Iterator[None]:
    """A block of imports: what the dataclasses module generates in it is kept in the file `place`.

    That module calls `exec`, which is looked up in its own names first. A block in a block
    changes nothing.
    """
    if "exec" in vars(dataclasses):
        yield
        return
    kept = KeptCode(place)
    vars(dataclasses)["exec"] = kept.run
    try:
        yield
    finally:
        vars(dataclasses).pop("exec", None)
        kept.save()

"""The version of minitorch2, the torch whose names it follows, and what it was built with.

In: nothing. Out: texts. Scripts that `import torch` and find minitorch2 (compat.py) are told the
version of torch, as they choose by it which names to use.

    >>> TorchVersion("2.13.0") >= "2.9", TorchVersion("2.13.0") < (2, 4)
    (True, False)

Example: `torch.version.cuda` is None, as nothing here was compiled for CUDA beforehand.

Source: torch.version, torch.torch_version.
"""

import re
from typing import Any

__version__ = "0.1.0"
cuda = None
hip = None
git_version = ""
debug = False


class TorchVersion(str):
    """A version that compares by its numbers, with a text or a tuple of numbers."""

    __slots__ = ()

    def _numbers(self, other: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The numbers of both, filled up with zeros to the same length."""
        mine, others = _release(self), _release(other)
        size = max(len(mine), len(others))
        return mine + (0,) * (size - len(mine)), others + (0,) * (size - len(others))

    def __lt__(self, other: Any) -> bool:
        mine, others = self._numbers(other)
        return mine < others

    def __le__(self, other: Any) -> bool:
        mine, others = self._numbers(other)
        return mine <= others

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (str, tuple)):
            return NotImplemented
        mine, others = self._numbers(other)
        return mine == others

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def _release(version: Any) -> tuple[int, ...]:
    """The numbers before any '+', 'rc' or 'dev' of a text; of a tuple, its numbers."""
    if isinstance(version, tuple):
        return tuple(int(each) for each in version if str(each).isdigit())
    found = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return tuple(int(each) for each in found[1].split(".")) if found else ()


torch = TorchVersion("2.13.0+minitorch2")

"""Source lines as they are written, each with the Origin it comes from.

In: lines of text. Out: the same, indented. Example: `with write.indented(): write.line("x = y")`.

Source: any code generator's emitter.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from minitorch2.artifacts import Origin
from minitorch2.kernels.loop_ir import NOWHERE


class Writer:
    """Source lines with their Origins, and the indentation they are written at."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, Origin]] = []
        self.depth = 0
        self.counter = 0

    def line(self, text: str, origin: Origin = NOWHERE) -> None:
        """Add one line."""
        self.lines.append(("    " * self.depth + text, origin))

    def fresh(self, stem: str) -> str:
        """A local name not used before."""
        self.counter += 1
        return f"{stem}{self.counter}"

    @contextmanager
    def indented(self) -> Iterator[None]:
        """Lines inside are one level deeper."""
        self.depth += 1
        yield
        self.depth -= 1

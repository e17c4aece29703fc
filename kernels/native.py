"""What LLVM made of a graph's kernels, with the user's lines: for those who ask for it.

In: the sources of the kernels. Out: the events "kernel.llvm" (optimized LLVM) and "kernel.asm"
(machine code as text), each only if somebody wants it; making them compiles the kernels again.

    with subscribe(events.append, also=["kernel.asm"]):
        compile_graph(graph)

Source: the two outputs of `clang -O2 -S`, with and without -emit-llvm.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from minitorch2.artifacts import emit, wants
from minitorch2.kernels.codegen.source import KernelSource
from minitorch2.kernels.runtime.native_text import NativeText, native_texts

LLVM, ASSEMBLY = "kernel.llvm", "kernel.asm"


@dataclass(frozen=True, slots=True)
class NativeListing:
    """The texts of some kernels, each with its source: an event's payload."""

    parts: tuple[tuple[NativeText, KernelSource], ...]

    def __str__(self) -> str:
        return "\n\n".join(
            "\n".join(f"{line}  # {place}" if place else line for line, place in lines(*part))
            for part in self.parts
        )

    def line_table(self) -> dict[str, dict[int, list[str]]]:
        """User lines for each line of each kernel's text (counted from 1)."""
        return {
            text.name: {
                number: place.split(", ")
                for number, (_, place) in enumerate(lines(text, source), 1)
                if place
            }
            for text, source in self.parts
        }


def lines(text: NativeText, source: KernelSource) -> list[tuple[str, str]]:
    """Each line with the user lines it works for."""
    found = []
    for line, number in text.rows:
        origin = source.lines[number - 1] if number else None
        found.append((line, str(origin) if origin is not None and origin.spans else ""))
    return found


def emit_native(sources: Sequence[KernelSource], unit: str, graph: str) -> None:
    """Emit the events that somebody wants."""
    if not (wants(LLVM) or wants(ASSEMBLY)):
        return
    texts = [native_texts(source.text, source.signature, source.name) for source in sources]
    llvm = NativeListing(tuple((text, s) for (text, _), s in zip(texts, sources, strict=True)))
    machine = NativeListing(tuple((text, s) for (_, text), s in zip(texts, sources, strict=True)))
    if wants(LLVM):
        emit("kernel.llvm", unit, llvm, graph=graph, lines=llvm.line_table())
    if wants(ASSEMBLY):
        emit("kernel.asm", unit, machine, graph=graph, lines=machine.line_table())

"""What LLVM made of a kernel, to be read: its own function only, line by line, loops marked.

In: LLVM's optimized module or its assembly as text, with the line of the kernel's source that each
instruction comes from. Out: a NativeText: lines without directives and metadata, each with its
source line (0: none). Above each innermost loop stands what it is, and its lines have a bar:

    # vector loop, 512 bits, 7 instructions
    .LBB0_8:
    |   vmovups    (%r10,%r11,4), %zmm14

Source: https://sourceware.org/binutils/docs/as/ for directives; https://llvm.org/docs/LangRef.html
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from minitorch2.kernels.runtime.build import build_texts
from minitorch2.kernels.runtime.signature import KernelSignature
from minitorch2.kernels.runtime.translate import FUNCTION

SYMBOL = "launch"
BAR, INDENT = "| ", "  "
Row = tuple[str, int]

# Assembly, of x86 and ARM, on Linux and macOS (where names get a "_" and labels lose their ".").
ASM_START = re.compile(rf"^_?({FUNCTION}|{SYMBOL}):")
ASM_END = re.compile(r"^\.?Lfunc_end|^\s+\.cfi_endproc|^(?!L)\w+:")
ASM_LABEL = re.compile(r"^(\.?L\w+):")
ASM_JUMP = re.compile(r"^\s+(?:j|b|cb|tb).*[\s,](\.?L\w+)$")
ASM_LINE = re.compile(r"^\s+\.loc\s+\d+ (\d+)")
ASM_COMMENT = re.compile(r"\s+(?:##?|//|;)(?: .*|)$")
# Scalar floats live in %xmm too, and are moved and chosen by packed instructions: arithmetic tells.
ASM_PACKED = (
    r"^\s+v?(?:(?:add|sub|mul|div|min|max|sqrt|round|cmp\w*|fn?m\w+)p[sd]"
    r"|p(?:add|sub|mul|min|max|cmp|sll|srl|sra)\w*)\s.*%xmm"
)
ASM_VECTORS = (
    (512, re.compile(r"%zmm")),
    (256, re.compile(r"%ymm")),
    (128, re.compile(rf"{ASM_PACKED}|\bv\d+\.(?:16b|8h|4s|2d)\b")),
)

IR_START = re.compile(rf'^define .*@"?({FUNCTION}|{SYMBOL})"?\(')
IR_LABEL = re.compile(r"^([\w.]+):")
IR_JUMP = re.compile(r"label %([\w.]+)")
IR_BRANCH = re.compile(r"^\s+(?:br|switch|\]) ")
IR_LINE = re.compile(r"!dbg !(\d+)")
IR_LOCATION = re.compile(r"^!(\d+) = !DILocation\(line: (\d+)", re.M)
IR_METADATA = re.compile(r",? ![\w.]+ !\d+")
IR_ATTRIBUTES = re.compile(r" (?:unnamed_addr|local_unnamed_addr|#\d+)(?= )")
IR_VECTOR = re.compile(r"<(\d+ x \w+)>")


@dataclass(frozen=True, slots=True)
class NativeText:
    """One function as text; `rows` are lines with the source line they come from (0: none)."""

    name: str
    rows: tuple[Row, ...]

    def __str__(self) -> str:
        return "\n".join(text for text, _ in self.rows)


def native_texts(
    source: str, signature: KernelSignature, name: str, frontend: str = "direct"
) -> tuple[NativeText, NativeText]:
    """A kernel's optimized LLVM and its assembly (compiles the kernel again)."""
    module, assembly = build_texts(source, signature, SYMBOL, frontend)
    return llvm_text(module, name), assembly_text(assembly, name)


def assembly_text(text: str, name: str) -> NativeText:
    """The kernel's function in an assembly file."""
    lines = text.split("\n")
    first = _first(lines, ASM_START)
    jumps = {found[1] for line in lines for found in [ASM_JUMP.match(_bare(line))] if found}
    rows: list[Row] = [(f"{name}:", 0)]
    number = 0
    for line in map(_bare, lines[first + 1 :]):
        place, label = ASM_LINE.match(line), ASM_LABEL.match(line)
        if ASM_END.match(line):
            break
        if place:
            number = int(place[1])
        elif label:
            rows += [(line, 0)] if label[1] in jumps else []
        elif line and not line.lstrip().startswith("."):
            mnemonic, _, operands = line.strip().partition("\t")
            rows.append((f"  {mnemonic:<12} {operands}".rstrip(), number))
    return NativeText(name, tuple(_loops_marked(rows, "#", ASM_LABEL, _asm_targets, _asm_kind)))


def llvm_text(text: str, name: str) -> NativeText:
    """The kernel's function in an LLVM module."""
    lines = text.split("\n")
    places = {found[1]: int(found[2]) for found in IR_LOCATION.finditer(text)}
    first = _first(lines, IR_START)
    rows: list[Row] = []
    for line in lines[first:]:
        found = IR_LINE.search(line)
        plain = IR_METADATA.sub("", line.split(" ; preds")[0]).rstrip()
        if not rows:
            plain = IR_ATTRIBUTES.sub("", re.sub(r'@"?\w+"?\(', f"@{name}(", plain, count=1))
        if plain:
            rows.append((plain, places.get(found[1], 0) if found else 0))
        if line == "}":
            break
    return NativeText(name, tuple(_loops_marked(rows, ";", IR_LABEL, _ir_targets, _ir_kind)))


def _first(lines: Sequence[str], start: re.Pattern[str]) -> int:
    """Where the kernel begins; where its wrapper does, if the kernel was put into that."""
    found = {
        match[1]: at for at, line in enumerate(lines) for match in [start.match(line)] if match
    }
    return found.get(FUNCTION, found.get(SYMBOL, 0))


def _bare(line: str) -> str:
    return ASM_COMMENT.sub("", line)


def _asm_targets(line: str) -> list[str]:
    found = ASM_JUMP.match(line)
    return [found[1]] if found else []


def _ir_targets(line: str) -> list[str]:
    return IR_JUMP.findall(line) if IR_BRANCH.match(line) else []


def _asm_kind(lines: Sequence[str]) -> str:
    for bits, pattern in ASM_VECTORS:
        if any(pattern.search(line) for line in lines):
            return f"{bits} bits"
    return ""


def _ir_kind(lines: Sequence[str]) -> str:
    found = [kind for line in lines for kind in IR_VECTOR.findall(line)]
    wide = [kind for kind in found if not kind.endswith(" i1")]
    return max(wide or found, key=lambda kind: int(kind.split()[0]), default="")


def _loops_marked(
    rows: Sequence[Row],
    comment: str,
    label: re.Pattern[str],
    targets: Callable[[str], list[str]],
    kind: Callable[[Sequence[str]], str],
) -> list[Row]:
    """Rows with a heading above each innermost loop, and a bar beside the lines of vector loops."""
    loops = dict(_innermost([text for text, _ in rows], label, targets))
    marked: list[Row] = []
    end, margin = -1, ""
    for at, (text, number) in enumerate(rows):
        if at in loops:
            end = loops[at]
            lines = [row for row, _ in rows[at : end + 1] if not label.match(row)]
            width = kind(lines)
            margin = BAR if width else ""
            what = f"vector loop, {width}" if width else "scalar loop"
            marked.append((f"{INDENT}{comment} {what}, {len(lines)} instructions", 0))
        inside = at <= end and not label.match(text)
        marked.append(((margin or INDENT if inside else INDENT) + text if at else text, number))
    return marked


def _innermost(
    lines: Sequence[str], label: re.Pattern[str], targets: Callable[[str], list[str]]
) -> list[tuple[int, int]]:
    """First and last line of each loop without another one inside: jumps back to a label."""
    places: dict[str, int] = {}
    loops: dict[int, int] = {}
    for at, line in enumerate(lines):
        found = label.match(line)
        if found:
            places[found[1]] = at
        for target in targets(line):
            if target in places:
                loops[places[target]] = at
    spans = list(loops.items())
    return [
        (first, last)
        for first, last in spans
        if not any((a, b) != (first, last) and first <= a and b <= last for a, b in spans)
    ]

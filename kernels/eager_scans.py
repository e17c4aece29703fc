"""Running sums, for eager and compiled code alike: on all threads, at the speed of memory.

In: an array of float32, float64 or int64, and an axis. Out: the running sums along it, of the same
type. Floats are added up in double precision and rounded once. Which numbers are added in which
order depends on the shape alone, not on the number of threads.

    cumsum(array, -1)

Lines of memory are scanned eight elements at a time (runtime/scan_code.py). Few long lines are cut
into pieces: what each piece adds up to is found first. Along another axis columns are added up side
by side; where there are only few, the axis is moved to the end and back.

Source: G. E. Blelloch, "Prefix Sums and Their Applications" (1990).
"""

import math
from functools import cache

import numpy

from minitorch2.kernels.runtime import scan_code
from minitorch2.kernels.runtime.buffers import empty
from minitorch2.kernels.runtime.compile import compile_kernel
from minitorch2.kernels.runtime.launcher import Launch, direct, thread_count
from minitorch2.kernels.runtime.native_objects import kernel_addresses
from minitorch2.kernels.runtime.scan_code import ScanCode
from minitorch2.kernels.runtime.signature import KernelSignature

SHORT = {"f": "f32", "d": "f64", "l": "i64"}
PIECE = 1 << 15  # elements of a piece of a long line
FEW_LINES = 16
FEW_COLUMNS = 16
COLUMNS = 2048  # at most at a time: their sums stay in the nearest cache
ROWS = 4  # read side by side
SUM, COLUMN = 0.4, 0.3  # nanoseconds an element


def takes(array: numpy.ndarray) -> bool:
    """Whether `cumsum` is for such arrays here."""
    return array.dtype.char in SHORT and _launch("sums", SHORT[array.dtype.char]) is not None


def cumsum(array: numpy.ndarray, axis: int) -> numpy.ndarray:
    """The running sums along an axis of an array that has elements."""
    axis %= array.ndim
    inner = math.prod(array.shape[axis + 1 :])
    if 1 < inner < FEW_COLUMNS:
        moved = _lines(numpy.ascontiguousarray(numpy.moveaxis(array, axis, -1)))
        return numpy.ascontiguousarray(numpy.moveaxis(moved, -1, axis))
    array = numpy.ascontiguousarray(array)
    return _lines(array, array.shape[axis]) if inner == 1 else _columns(array, axis, inner)


def _lines(array: numpy.ndarray, length: int = 0) -> numpy.ndarray:
    """Along lines of `length` elements (default: the last dimension)."""
    length = length or array.shape[-1]
    short, lines = SHORT[array.dtype.char], array.size // length
    result = empty(array.shape, array.dtype)
    long = lines < FEW_LINES and length >= 2 * PIECE
    piece = PIECE if long else length
    pieces = -(-length // piece)
    wide = numpy.int64 if short == "i64" else numpy.float64
    before = numpy.zeros((lines, pieces), wide)
    numbers = length, piece, pieces
    if long:
        _run("totals", short, (array, result, before), numbers)
        before[:, 1:] = numpy.cumsum(before[:, :-1], axis=1)
        before[:, 0] = 0
    _run("sums", short, (array, result, before), numbers)
    return result


def _run(name: str, short: str, arrays: tuple, numbers: tuple[int, int, int]) -> None:
    launch = _launch(name, short)
    assert launch is not None
    launch(arrays[-1].size, arrays, numbers, (), SUM * numbers[1])


@cache
def _launch(name: str, short: str) -> Launch | None:
    wide = "i64" if short == "i64" else "f64"
    signature = KernelSignature((short, short, wide), sizes=3)
    names = [f"{each}_{short}" for each in ("sums", "totals")]
    addresses = kernel_addresses(
        lambda: ScanCode(short), [scan_code], f"running sums {short}", names
    )
    return direct(addresses[f"{name}_{short}"], signature)


def _columns(array: numpy.ndarray, axis: int, inner: int) -> numpy.ndarray:
    """Along an axis that is not the last one: `inner` columns side by side, each by itself.

    Bands of columns are work for several threads; narrow ones would read pages in small bits.
    """
    result = empty(array.shape, array.dtype)
    length = array.shape[axis]
    outer = array.size // (length * inner)
    bands = max(-(-inner // COLUMNS), min(thread_count() // outer, inner // FEW_COLUMNS), 1)
    band = -(-inner // bands)
    launch = _column_launch(SHORT[array.dtype.char])
    launch(outer * bands, (array, result), (length, inner, bands, band), (), COLUMN * length * band)
    return result


@cache
def _column_launch(short: str) -> Launch:
    wide = "i64" if short == "i64" else "f64"
    zero = "i64(0)" if short == "i64" else "f64(0.0)"
    names = [f"total{row}" for row in range(ROWS)]
    lines = [
        "def columns(lo, hi, x, y, length, inner, bands, band, status):",
        f"    sums = local_{wide}({COLUMNS})",
        "    for unit in range(lo, hi):",
        "        first = minimum(umod(unit, bands) * band, inner)",
        "        count = minimum(band, inner - first)",
        "        for j in range(count):",
        f"            sums[j] = {zero}",
        "        start = udiv(unit, bands) * length * inner + first",
        f"        several = length // u64({ROWS})",
        "        for k in range(several):",
        "            for j in range(count):",
        f"                at = start + k * u64({ROWS}) * inner + j",
        *_column_steps(names, short, wide),
        f"        for k in range(several * u64({ROWS}), length):",
        "            for j in range(count):",
        "                at = start + k * inner + j",
        *_column_steps(names[:1], short, wide),
    ]
    signature = KernelSignature((short, short), sizes=4, grain=1)
    return compile_kernel("\n".join(lines) + "\n", signature).direct()


def _column_steps(names: list[str], short: str, wide: str) -> list[str]:
    """One element of so many rows, which lie `inner` apart."""
    lines, before = [], "sums[j]"
    for row, name in enumerate(names):
        lines += [f"{name} = {before} + {wide}(x[at + u64({row}) * inner])",
                  f"y[at + u64({row}) * inner] = {short}({name})"]  # fmt: skip
        before = name
    return [" " * 16 + line for line in (*lines, f"sums[j] = {before}")]

"""Matrix products on the pool's threads, cut into pieces that wait for nobody.

In: two arrays of at least two dimensions and the array for the result. Out: whether it was done.
A batch is cut into its products, a large product into rows and columns; each piece runs on one
thread: in product_code.py's kernel where that is the quicker one, else as one cblas call. Kernel
and cut depend on the shapes alone, so the bits do not depend on the threads.
What this file does not do (broadcast operands, vectors, element types and layouts that BLAS does
not take) is left to numpy.matmul.

    >>> import numpy
    >>> a = numpy.ones((4, 2, 3)); b = numpy.ones((4, 3, 2)); out = numpy.empty((4, 2, 2))
    >>> multiply(a, b, out), out[3, 1, 1].item()
    (True, 3.0)

OpenBLAS's own way to use threads, jobs that spin until the others are as far, takes tenfold as long
as one thread where other processes need a CPU; pieces cost a few percent more than it on a quiet
machine, for packing the shared operand once a piece.

Source: numpy's matmul (numpy/_core/src/umath/matmul.c.src), for when it calls BLAS and how.
"""

import ctypes
import math
import operator
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from minitorch2.backends import blas
from minitorch2.kernels.runtime import convolution_code, product_code, tiles
from minitorch2.kernels.runtime import pool as threads
from minitorch2.kernels.runtime.convolution_code import shape
from minitorch2.kernels.runtime.launcher import Launch, direct
from minitorch2.kernels.runtime.native_objects import kernel_addresses
from minitorch2.kernels.runtime.pool_blas import PIECE, PRODUCT_SLOTS
from minitorch2.kernels.runtime.product_code import ProductCode
from minitorch2.kernels.runtime.signature import KernelSignature

NANOSECONDS_A_MULTIPLICATION = 0.02
LEAST_PIECE = 2_000_000  # multiplications
LEAST_EXTENT, LARGE_EXTENT, LARGE = 128, 160, 64_000_000
MOST_PIECES = 32
UNIT = 16  # pieces begin at multiples of it
# Our own kernel: the least multiplications, rows and terms; the most terms in one stretch.
LEAST_OWN, LEAST_ROWS, LEAST_TERMS, MOST_TERMS = 1_000_000, 32, 16, 800
MOST_COLUMNS = 512  # of a piece in a chain: what is laid out of them stays in the cache
PLAIN, TRANSPOSED = 111, 112
GEMM = {"f": ("cblas_sgemm", "gemm_f32", "f32"), "d": ("cblas_dgemm", "gemm_f64", "f64")}
NAMES = ("scipy_{}64_", "{}64_")  # the names of functions that take 64-bit sizes
SIZES = len(PRODUCT_SLOTS) - PRODUCT_SLOTS.index("gemm")
Shapes = tuple[tuple[int, ...], ...]


@cache
def gemm(kind: str) -> tuple[int, Launch] | None:
    """The address of cblas_?gemm and the launch of our kernel that calls it, where both exist."""
    outside, inside, short = GEMM[kind]
    found = blas.find(outside, NAMES)
    if found is None or not threads.supported():
        return None
    signature = KernelSignature((short, short, short, "i64"), sizes=SIZES)
    launch = direct(threads.code().address[inside], signature)
    address = ctypes.cast(found, ctypes.c_void_p).value  # type: ignore[arg-type]
    return (address, launch) if launch is not None and address else None


def _row(height: int, step: int, columns: int, size: int) -> int:
    """Elements between two rows, if the rows have no holes; 0 if BLAS cannot take the matrix."""
    fits = height == size and step % size == 0 and columns <= step // size < 2**31
    return step // size if fits else 0


@lru_cache(maxsize=1024)
def _layout(shapes: Shapes, strides: Shapes, size: int) -> tuple[int, ...] | None:
    """Rows and transposition flags of a, b and c as BLAS counts them; None if it cannot."""
    (*batch, m, k), n = shapes[0], shapes[1][-1]
    same = shapes[1] == (*batch, k, n) and shapes[2] == (*batch, m, n)
    if not same or min(m, n, k) < 2:
        return None
    a, b, c = strides
    rows = [_row(a[-1], a[-2], k, size), _row(b[-1], b[-2], n, size), _row(c[-1], c[-2], n, size)]
    flags = [PLAIN if row else TRANSPOSED for row in rows[:2]]
    rows[0] = rows[0] or _row(a[-2], a[-1], m, size)
    rows[1] = rows[1] or _row(b[-2], b[-1], k, size)
    return (*rows, *flags) if all(rows) else None


def _cuts(count: int, m: int, k: int, n: int) -> int:
    """In how many pieces to cut each of `count` products: a power of two."""
    work, extent = m * k * n, max(m, n)
    least = LARGE_EXTENT if work > LARGE else LEAST_EXTENT
    most = min(MOST_PIECES // count, work // LEAST_PIECE, extent // least)
    return 1 << (max(1, most).bit_length() - 1)


@lru_cache(maxsize=1024)
def _pieces(shapes: Shapes, strides: Shapes) -> np.ndarray:
    """Where each piece begins, and its size."""
    (*batch, m, k), n = shapes[0], shapes[1][-1]
    cuts = _cuts(max(1, int(np.prod(batch))), m, k, n)
    axis, extent = (0, m) if m >= n else (1, n)
    step = extent if cuts == 1 else -(-extent // (cuts * UNIT)) * UNIT
    starts = np.arange(0, extent, step)
    pieces = np.zeros((*batch, len(starts), len(PIECE)), np.int64)
    for at, each in enumerate(batch):
        index = np.arange(each).reshape(-1, *[1] * (len(batch) - at))
        pieces[..., :3] += (index * np.array([stride[at] for stride in strides]))[..., None, :]
    moves = (
        (strides[0][-2], 0, strides[2][-2]) if axis == 0 else (0, strides[1][-1], strides[2][-1])
    )
    pieces[..., :3] += starts[:, None] * np.array(moves)
    pieces[..., 3:6] = m, n, k
    pieces[..., 3 + axis] = np.minimum(step, extent - starts)
    return pieces.reshape(-1, len(PIECE))


# Our own kernel.


@cache
def own_address(short: str) -> int | None:
    """The address of product_code.py's kernel; None where there is none for this CPU."""
    made = shape()
    if made is None or not threads.supported():
        return None
    name = f"product_{short}"
    sources = [convolution_code, tiles, product_code]
    return kernel_addresses(lambda: ProductCode(made, short), sources, f"{name}, {made}", [name])[
        name
    ]


@cache
def own(short: str) -> Launch | None:
    """Its launch."""
    address = own_address(short)
    if address is None:
        return None
    numbers = len(product_code.PRODUCT) - product_code.PRODUCT.index("together")
    return direct(address, KernelSignature((short, short, short, "i64"), sizes=numbers))


@lru_cache(maxsize=1024)
def _pays(count: int, m: int, k: int, n: int, lanes: int) -> bool:
    """Whether our kernel is the quicker one: full vectors, and enough rows for each of them."""
    full = n * 8 >= -(-n // lanes) * lanes * 5
    return count * m * k * n > LEAST_OWN and m >= LEAST_ROWS and k >= LEAST_TERMS and full


@lru_cache(maxsize=1024)
def _own_pieces(shapes: Shapes, strides: Shapes, columns: int) -> tuple[np.ndarray, int, int]:
    """Where each piece begins, and its size; the most rows and columns that one has."""
    (*batch, m, k), n = shapes[0], shapes[1][-1]
    wanted = min(MOST_PIECES // max(1, math.prod(batch)), m * k * n // LEAST_PIECE)
    across = max(1, min(wanted, n // (2 * columns)))
    down = max(1, min(wanted // across, m // LEAST_EXTENT))
    wide, high = -(-n // (across * columns)) * columns, -(-m // (down * UNIT)) * UNIT
    a, b, c = strides
    found = [
        (
            sum(at * stride for at, stride in zip(place, a, strict=False)) + i * a[-2],
            sum(at * stride for at, stride in zip(place, b, strict=False)) + j * b[-1],
            sum(at * stride for at, stride in zip(place, c, strict=False)) + i * c[-2] + j * c[-1],
            min(high, m - i),
            min(wide, n - j),
            k,
            0,
        )
        for place in np.ndindex(*batch)
        for i in range(0, m, high)
        for j in range(0, n, wide)
    ]
    return np.array(found, np.int64), min(high, m), min(wide, n)


def _multiply_own(
    launch: Launch, a: np.ndarray, b: np.ndarray, out: np.ndarray, rows: tuple[int, ...]
) -> None:
    """The product by our kernel; `rows` is the layout as BLAS counts it."""
    made = shape()
    assert made is not None
    columns = 2 * made.lanes(GEMM[a.dtype.char][2])
    shapes, strides = (a.shape, b.shape, out.shape), (a.strides, b.strides, out.strides)
    pieces, high, wide = _own_pieces(shapes, strides, columns)
    numbers = _own_numbers(a.shape[-1], rows, high, wide)
    cost = a.size * b.shape[-1] * NANOSECONDS_A_MULTIPLICATION / len(pieces)
    launch(len(pieces), (a, b, out, pieces), numbers, (), cost)


def _own_numbers(k: int, rows: tuple[int, ...], high: int, wide: int) -> tuple[int, ...]:
    """What our kernel takes after its arrays: the length of a stretch, steps, the largest piece."""
    together = -(-k // -(-k // MOST_TERMS))
    a_steps = (rows[0], 1) if rows[3] == PLAIN else (1, rows[0])
    b_steps = (rows[1], 1) if rows[4] == PLAIN else (1, rows[1])
    return (together, *a_steps, *b_steps, rows[2], high, wide)


def multiply(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> bool:
    """Write a @ b into `out` and return True; False, and nothing written, if it must be numpy."""
    kind = a.dtype.char
    if kind not in GEMM or b.dtype.char != kind or out.dtype.char != kind:
        return False
    found = gemm(kind)
    shapes, strides = (a.shape, b.shape, out.shape), (a.strides, b.strides, out.strides)
    layout = _layout(shapes, strides, a.itemsize)
    if found is None or layout is None:
        return False
    (*batch, m, k), n, made = a.shape, b.shape[-1], shape()
    mine = own(GEMM[kind][2]) if made is not None else None
    if made and mine and _pays(math.prod(batch), m, k, n, made.lanes(GEMM[kind][2])):
        _multiply_own(mine, a, b, out, layout)
        return True
    pieces, (address, launch) = _pieces(shapes, strides), found
    cost = a.size * b.shape[-1] * NANOSECONDS_A_MULTIPLICATION / len(pieces)
    with blas.one_thread():
        launch(len(pieces), (a, b, out, pieces), (address, *layout), (), cost)
    return True


# As a member of a chain.


@dataclass(frozen=True, slots=True)
class Piecewise:
    """A batch of products for chains.py: the kernel, its pieces (as many for each unit), and what
    it takes after its arrays."""

    address: int
    pieces: np.ndarray
    numbers: tuple[int, ...]
    by_blas: bool


def piecewise(
    a: np.ndarray, b: np.ndarray, out: np.ndarray, units: int, in_sums: bool = False
) -> Piecewise | None:
    """a @ b cut into units of rows, by the kernel that `multiply` uses; None if it has none.

    `in_sums`: a unit has some of the terms of each sum instead, and adds to what is there.
    """
    kind = a.dtype.char
    if kind not in GEMM or b.dtype.char != kind or out.dtype.char != kind:
        return None
    (*batch, m, k), n, made = a.shape, b.shape[-1], shape()
    matrices = math.prod(batch)
    layout = _layout((a.shape, b.shape, out.shape), (a.strides, b.strides, out.strides), a.itemsize)
    found = gemm(kind)
    if found is None or layout is None or units % matrices:
        return None
    cuts = units // matrices
    if (k if in_sums else m) % cuts:
        return None
    address = own_address(GEMM[kind][2])
    lanes = made.lanes(GEMM[kind][2]) if made else 1
    mine = address is not None and _pays(matrices, m, k, n, lanes)
    wide = min(n, MOST_COLUMNS) if mine else n
    size = (m, k // cuts) if in_sums else (m // cuts, k)
    pieces = _unit_pieces((a, b, out), cuts, size, wide)
    if mine:
        assert address is not None
        return Piecewise(address, pieces, _own_numbers(size[1], layout, size[0], wide), False)
    inside = threads.code().address[GEMM[kind][1]]
    return Piecewise(inside, pieces, (found[0], *layout), True)


def _unit_pieces(
    arrays: tuple[np.ndarray, ...], cuts: int, size: tuple[int, int], wide: int
) -> np.ndarray:
    """Where each piece begins and its size: matrix by matrix, cut by cut, columns by columns.

    `size` are the rows and the terms of a piece: all of one of them.
    """
    (high, terms), (a, b, c) = size, (each.strides for each in arrays)
    *batch, m, _ = arrays[0].shape
    n, down = arrays[1].shape[-1], high if high < m else 0
    along = 0 if down else terms
    found = []
    for place in np.ndindex(*batch):
        starts = [sum(map(operator.mul, place, steps)) for steps in (a, b, c)]
        found += [
            (starts[0] + cut * (down * a[-2] + along * a[-1]),
             starts[1] + cut * along * b[-2] + j * b[-1],
             starts[2] + cut * down * c[-2] + j * c[-1],
             high, min(wide, n - j), terms, cut * along)
            for cut in range(cuts) for j in range(0, n, wide)
        ]  # fmt: skip
    return np.array(found, np.int64)

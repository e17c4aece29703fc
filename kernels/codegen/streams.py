"""Results larger than the caches, written past them.

In: a kernel, and a loop of it that stores neighbours. Out: source lines in which a strip of the
results is computed on the stack and then copied by stores that do not fetch what they overwrite:

    strip0 = local_f32(512)
    for strip in ...:                            # 512 elements at a time
        for lane in range(width): i = first + lane; ... strip0[lane] = v
        for lane in streamed(width): y[first + lane] = strip0[lane]

A plain store reads its cache line first, a third of what an addition moves. The bits are the same.
A kernel with an exp or the like for every element waits for its arithmetic, not for memory: the way
over a strip would only make it slower.

Source: the non-temporal stores of STREAM's triads; what they gain is in `mt2 bench`'s first line.
"""

from collections.abc import Sequence

from minitorch2.kernels.codegen.expressions import SIXTEEN, expression_text, index_text, stored_text
from minitorch2.kernels.codegen.reductions import WriteStatement
from minitorch2.kernels.codegen.writer import Writer
from minitorch2.kernels.functions import EXPENSIVE
from minitorch2.kernels.index import coefficient
from minitorch2.kernels.loop_ir import Kernel, Let, LetIndex, Loop, Reduce, Statement, Store
from minitorch2.kernels.lower.nests import functions_in
from minitorch2.kernels.runtime.machine import cache_bytes

STRIP = 512  # elements: all strips of a kernel stay in the fastest cache
MANY = 1.5  # times the largest cache: what a kernel must move before its results are streamed
SHORTEST = 256  # an inner loop


def streamed_buffers(kernel: Kernel) -> frozenset[str]:
    """The buffers that are only written, of a kernel that moves more than the caches hold."""
    if computes(kernel.body):
        return frozenset()
    sizes = {each.name: each.size.as_int() for each in kernel.buffers}
    bytes_of = {each.name: (sizes[each.name] or 0) * each.dtype.itemsize for each in kernel.buffers}
    if sum(bytes_of.values()) < MANY * cache_bytes():
        return frozenset()
    large = [
        each.name
        for each in kernel.buffers
        if each.mode == "out" and bytes_of[each.name] >= cache_bytes() / 4
    ]
    plain = [each.name for each in kernel.buffers if not each.dtype.is_complex]
    return frozenset(large) & frozenset(plain)


def computes(body: Sequence[Statement]) -> bool:
    """Whether an innermost loop calls a function that takes as long as moving its elements."""
    inner = [each for each in body if isinstance(each, Loop | Reduce)]
    if inner:
        return any(computes((*each.body, *_folded(each))) for each in inner)
    values = [each.value for each in body if isinstance(each, Let | Store)]
    return any(EXPENSIVE & set(functions_in(each)) for each in values)


def _folded(loop: Loop | Reduce) -> tuple[Let, ...]:
    """What a reduction folds, as statements of its body."""
    if isinstance(loop, Loop):
        return ()
    return tuple(Let(each.name, each.value, loop.origin) for each in loop.accumulators)


def streams(loop: Loop, buffers: frozenset[str]) -> tuple[Store, ...]:
    """The stores of a loop that can be streamed; none unless the loop only computes and stores."""
    if not buffers or any(not isinstance(each, Let | LetIndex | Store) for each in loop.body):
        return ()
    extent = loop.extent.as_int()
    if extent is None or extent < SHORTEST:
        return ()
    stores = [each for each in loop.body if isinstance(each, Store)]
    if any(each.accumulate for each in stores):
        return ()
    found = [each for each in stores if each.buffer in buffers and _neighbours(each, loop)]
    places = [each.buffer for each in found]
    return tuple(each for each in found if places.count(each.buffer) == 1)


def _neighbours(store: Store, loop: Loop) -> bool:
    along = coefficient(store.index, loop.variable)
    return along is not None and along.as_int() == 1


def write_streams(
    write: Writer, loop: Loop, bounds: tuple[str, str], stores: Sequence[Store],
    types: dict, statement: WriteStatement,
) -> None:  # fmt: skip
    """The loop, strip by strip; `bounds` are the texts of its first and last index."""
    low, high = bounds
    strips = {id(store): write.fresh("strip") for store in stores}
    for store in stores:
        element = types[store.buffer]
        short = "u16" if element.short in SIXTEEN else element.short
        write.line(f"{strips[id(store)]} = local_{short}({STRIP})", loop.origin)
    strip, first, width, lane = (write.fresh(stem) for stem in ("strip", "first", "width", "lane"))
    count = f"({high} - {low} + u64({STRIP - 1})) // u64({STRIP})"
    write.line(f"for {strip} in range({count}):", loop.origin)
    with write.indented():
        write.line(f"{first} = {low} + {strip}*u64({STRIP})", loop.origin)
        write.line(f"{width} = minimum(u64({STRIP}), {high} - {first})", loop.origin)
        write.line(f"for {lane} in range({width}):", loop.origin)
        with write.indented():
            write.line(f"{loop.variable} = {first} + {lane}", loop.origin)
            for each in loop.body:
                if id(each) not in strips:
                    statement(each)
                    continue
                assert isinstance(each, Store)
                value = stored_text(expression_text(each.value), types[each.buffer])
                write.line(f"{strips[id(each)]}[{lane}] = {value}", each.origin)
        for store in stores:
            write.line(f"for {lane} in streamed({width}):", store.origin)
            with write.indented():
                write.line(f"{loop.variable} = {first} + {lane}", store.origin)
                at = index_text(store.index)
                write.line(f"{store.buffer}[{at}] = {strips[id(store)]}[{lane}]", store.origin)

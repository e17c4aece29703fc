"""Writes into inputs inside a kernel: allowed only where each element is read before it is written.

In: a kernel whose buffers may be read and written. Out: nothing, or Refused. A buffer that is
written may be read only at the very place that is written, so that no order of the iterations, and
no division among threads, can show the new value to a read that means the old one.

Source: the write-after-read hazard of any vectorizing compiler.
"""

from collections.abc import Mapping
from typing import TypeVar

from minitorch2.kernels.index import Index, substitute, symbol
from minitorch2.kernels.loop_ir import Kernel, Loop, Reduce, Statement, Store
from minitorch2.kernels.schedule.frames import Refused
from minitorch2.kernels.schedule.rewrite import loads_of

Key = TypeVar("Key")


def check_writes(kernel: Kernel) -> None:
    """Raise Refused if a buffer is read elsewhere than where it is written."""
    check_places(*places_of(kernel))


def places_of(kernel: Kernel) -> tuple[dict[str, set[Index]], dict[str, set[Index]]]:
    """Where a kernel stores into each buffer and where it loads from it."""
    stores: dict[str, set[Index]] = {}
    loads: dict[str, set[Index]] = {}
    _collect(kernel.body, {}, stores, loads, 0)
    return stores, loads


def check_places(stores: Mapping[Key, set[Index]], loads: Mapping[Key, set[Index]]) -> None:
    """Raise Refused if anything is read elsewhere than where it is written."""
    for buffer, places in stores.items():
        read = loads.get(buffer, set())
        if read and (len(places) != 1 or read - places):
            raise Refused("it would write elements that other iterations still read")


def _collect(
    body: tuple[Statement, ...],
    names: dict[str, Index],
    stores: dict[str, set[Index]],
    loads: dict[str, set[Index]],
    depth: int,
) -> None:
    """Loads and stores with loop variables named by depth, so that sibling loops compare."""
    for statement in body:
        if isinstance(statement, Loop | Reduce):
            own = ((statement.variable, statement.extent),) if isinstance(statement, Loop) else (
                statement.domain)  # fmt: skip
            inner = dict(names)
            for step, (variable, _) in enumerate(own):
                inner[variable] = symbol(f"d{depth + step}")
            _collect(statement.body, inner, stores, loads, depth + len(own))
            if isinstance(statement, Reduce):
                for accumulator in statement.accumulators:
                    for load in loads_of(accumulator.value):
                        place = substitute(load.index, inner, {})
                        loads.setdefault(load.buffer, set()).add(place)
            continue
        for load in loads_of(statement):
            place = substitute(load.index, names, {})
            loads.setdefault(load.buffer, set()).add(place)
        if isinstance(statement, Store):
            place = substitute(statement.index, names, {})
            stores.setdefault(statement.buffer, set()).add(place)

"""A graph's kernels for a GPU: run in the simulator, and shown as schedule, source and PTX.

In: the kernels of a plan. Out: `simulated`, a function that runs one as executors.py's do, and
three events, for a subscriber that wants CUDA: "cuda.schedule" (the loops dealt to blocks and
threads), "cuda.source" (what numba-cuda compiles) and "cuda.ptx" (with ptxas's report, or the word
that the extra is missing).

    run = simulated(kernel)        # MT2_CUDA=sim does this for every compiled graph

Source: the stages of backend.py, for the other target.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from minitorch2.artifacts import Origin, emit
from minitorch2.kernels.codegen.cuda import generate_cuda
from minitorch2.kernels.codegen.source import KernelSource
from minitorch2.kernels.executors import flat
from minitorch2.kernels.loop_ir import Kernel
from minitorch2.kernels.printer import Listing
from minitorch2.kernels.runtime.cuda import INSTALL, assemble, available, compile_ptx
from minitorch2.kernels.schedule.gpu import grid_blocks, schedule_gpu
from minitorch2.kernels.simulator import simulate_kernel
from minitorch2.kernels.verify import verify_kernel

CUDA = "cuda.schedule"  # the stage to ask for; the other two come with it
SHOWN = (9, 0)  # the architecture whose PTX is shown
LineTable = Callable[[KernelSource], Mapping[int, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Texts:
    """Several texts in order: an event's payload."""

    parts: tuple[Any, ...]

    def __str__(self) -> str:
        return "\n\n".join(str(part).rstrip("\n") for part in self.parts)


def scheduled(kernel: Kernel) -> Kernel:
    """The kernel for a GPU, checked."""
    result = schedule_gpu(kernel)
    verify_kernel(result)
    return result


def simulated(
    kernel: Kernel,
) -> Callable[[int, Sequence[Any], Sequence[int], Sequence[Any], float], None]:
    """A function that runs the kernel's GPU schedule in the simulator."""
    found = scheduled(kernel)

    def run(
        total: int, arrays: Sequence[Any], sizes: Sequence[int], numbers: Sequence[Any], cost: float
    ) -> None:
        blocks = grid_blocks(found, dict(zip(kernel.sizes, map(int, sizes), strict=True)))
        memory = [numpy.asarray(flat(array)) for array in arrays]
        simulate_kernel(found, memory, sizes, numbers, blocks)

    return run


def emit_cuda(kernels: Iterable[Kernel], unit: str, graph: str, lines: LineTable) -> None:
    """The three events of a graph. `lines` gives the table from source lines to user lines."""
    found = [scheduled(kernel) for kernel in kernels]
    emit("cuda.schedule", unit, Listing(tuple(found)), graph=graph, kernels=len(found))
    sources = tuple(generate_cuda(kernel) for kernel in found)
    tables = {source.name: lines(source) for source in sources}
    emit("cuda.source", unit, Texts(sources), graph=graph, lines=tables)
    if not available():
        missing = f"No PTX: numba-cuda is not installed. To add it: {INSTALL}"
        emit("cuda.ptx", unit, missing, graph=graph, reports={})
        return
    texts, reports = [], {}
    for source in sources:
        ptx = compile_ptx(source.text, source.signature, SHOWN)
        reports[source.name] = str(assemble(ptx, SHOWN))
        user = ", ".join(dict.fromkeys(map(str, Origin.union(source.lines, "cuda").spans)))
        texts.append(f"// {source.name} on {reports[source.name]}; {user}\n{ptx}")
    emit("cuda.ptx", unit, Texts(tuple(texts)), graph=graph, reports=reports)

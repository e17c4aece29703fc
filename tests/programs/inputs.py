"""The tensors that a random program is called with.

In: specs and a batch size. Out: for one library (minitorch2 or torch) fresh tensors with the same
numbers, and the leaves that gradients are read from. An input may be laid out in any way, have a
history, be the same tensor as another input, or overlap it.
"""

from dataclasses import dataclass
from typing import Any

import numpy

BATCH = -1  # stands for the size that changes from call to call
LAYOUTS = ("plain", "plain", "transposed", "strided", "offset", "expanded")
HISTORIES = ("none", "leaf", "inner", "view")
SHARED = ("same", "tail", "flat", "detached", "turned")


@dataclass(frozen=True)
class InputSpec:
    """One input: `shares` names the earlier input whose memory it is, seen as `how` says."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    layout: str = "plain"
    history: str = "none"
    shares: str = ""
    how: str = ""
    special: bool = False


def numbers(spec: InputSpec, shape: tuple[int, ...], seed: int) -> numpy.ndarray:
    """Small exact numbers, so that sums of them are exact in any order; or special ones."""
    random = numpy.random.RandomState(seed % 2**31)
    if spec.dtype == "bool":
        return random.randint(0, 2, shape).astype(bool)
    if spec.dtype in ("uint8", "int8"):
        return random.randint(0, 100, shape).astype(spec.dtype)
    if spec.dtype.startswith("int"):
        return random.randint(-3, 4, shape).astype(spec.dtype)
    found = random.randint(-8, 9, shape) / 4.0
    if spec.special:
        chosen = random.choice([numpy.nan, numpy.inf, -numpy.inf, -0.0, 0.0, 1e30, 2e-41], shape)
        found = numpy.where(random.rand(*shape) < 0.4, chosen, found)
    return found.astype("float64" if spec.dtype == "float64" else "float32")


def make_inputs(
    library: Any, specs: tuple[InputSpec, ...], batch: int, seed: int
) -> tuple[dict[str, Any], list[Any]]:
    """Tensors by name, and the leaves among what they are made of."""
    found: dict[str, Any] = {}
    leaves: list[Any] = []
    for position, spec in enumerate(specs):
        if spec.shares:
            found[spec.name] = _shared(found[spec.shares], spec.how)
            continue
        shape = tuple(batch if size == BATCH else size for size in spec.shape)
        found[spec.name] = _fresh(library, spec, shape, seed + 31 * position + batch, leaves)
    return found, leaves


def _fresh(
    library: Any, spec: InputSpec, shape: tuple[int, ...], seed: int, leaves: list[Any]
) -> Any:
    memory, look = _laid_out(spec.layout, shape)
    data = library.from_numpy(numpy.ascontiguousarray(numbers(spec, memory, seed)))
    data = data.to(getattr(library, spec.dtype)).clone()
    if not data.is_floating_point() or spec.history == "none":
        return look(data)
    if spec.history == "leaf":
        leaf = look(data).detach().requires_grad_(True)
        leaves.append(leaf)
        return leaf
    leaf = data.requires_grad_(True)
    leaves.append(leaf)
    return look(leaf * 1 if spec.history == "inner" else (leaf * 2).view(-1).view(memory))


def _laid_out(layout: str, shape: tuple[int, ...]) -> tuple[tuple[int, ...], Any]:
    """The shape of the memory behind a layout, and how the input is seen in it."""
    if layout == "transposed" and len(shape) > 1:
        return shape[::-1], lambda x: x.permute(*range(len(shape))[::-1])
    if layout == "strided" and shape:
        return (*shape[:-1], 2 * shape[-1]), lambda x: x[..., ::2]
    if layout == "offset" and shape:
        return (shape[0] + 2, *shape[1:]), lambda x: x[1:-1]
    if layout == "expanded" and shape:
        return (1, *shape[1:]), lambda x: x.expand(*shape)
    return shape, lambda x: x


def _shared(source: Any, how: str) -> Any:
    if how == "tail" and source.dim():
        return source[1:] if source.shape[0] > 1 else source[:]
    if how == "flat" and source.is_contiguous():
        return source.view(-1)
    if how == "turned" and source.dim() > 1:
        return source.transpose(0, 1)
    return source.detach() if how == "detached" else source

"""How a tensor prints: as torch prints it.

In: a tensor. Out: text with four digits, scientific notation where needed, summarized above a
thousand elements, and a tail that names dtype and history where they are not the usual ones.

Source: torch.set_printoptions' documentation.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy

from minitorch2 import dtypes
from minitorch2.errors import InPlaceError


@dataclass
class Options:
    """What set_printoptions sets: digits, where to summarize, how much of an edge, line width."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}
options = Options()
PRINT_OPTS = options  # torch's name


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """How tensors print: digits after the point, the number of elements above which the middle is
    left out, how many are kept at each end, the width of a line, scientific notation."""
    given = {"precision": precision, "threshold": threshold}
    given |= {"edgeitems": edgeitems, "linewidth": linewidth}
    chosen = dict(PROFILES[profile]) if profile else {}
    chosen |= {name: value for name, value in given.items() if value is not None}
    for name, value in chosen.items():
        setattr(options, name, value)
    options.sci_mode = sci_mode


class _Formatter:
    """Chooses one format for all (shown) elements of a tensor."""

    def __init__(self, values: numpy.ndarray, floating: bool):
        self.floating, self.integral, self.scientific, self.width = floating, True, False, 1
        flat = values.reshape(-1)
        if not floating:
            self.width = max((len(str(value)) for value in flat.tolist()), default=1)
            return
        wide = flat.astype(numpy.float64)
        usual = wide[numpy.isfinite(wide) & (wide != 0)]
        if usual.size:
            self._choose(numpy.abs(usual))
            self.width = max(len(self.number(value)) for value in usual.tolist())

    def _choose(self, sizes: numpy.ndarray) -> None:
        largest, smallest = float(sizes.max()), float(sizes.min())
        self.integral = bool((sizes == numpy.ceil(sizes)).all())
        wide = largest / smallest > 1000.0 or largest > 1e8
        self.scientific = wide or (not self.integral and smallest < 1e-4)
        if options.sci_mode is not None:
            self.scientific = options.sci_mode

    def number(self, value: Any) -> str:
        """One element, not yet padded."""
        if not self.floating:
            return str(value)
        if self.scientific:
            return f"{value:.{options.precision}e}"
        if self.integral:
            return f"{value:.0f}." if math.isfinite(value) else str(value)
        return f"{value:.{options.precision}f}" if math.isfinite(value) else str(value)

    def padded(self, value: Any) -> str:
        """One element in a column of equal width."""
        return self.number(value).rjust(self.width)


class _ComplexFormatter:
    """The real parts in one format, the imaginary ones in another."""

    def __init__(self, values: numpy.ndarray):
        self.real, self.imag = _Formatter(values.real, True), _Formatter(values.imag, True)
        self.width = self.real.width + self.imag.width + 1

    def number(self, value: complex) -> str:
        """One element: the real part in its column, the imaginary one right after it."""
        imaginary = self.imag.padded(value.imag).lstrip() + "j"
        sign = "" if imaginary[0] in "+-" else "+"
        return self.real.padded(value.real) + sign + imaginary

    padded = number


def _formatter(values: numpy.ndarray, dtype: dtypes.dtype) -> _Formatter | _ComplexFormatter:
    if dtype.is_complex:
        return _ComplexFormatter(values)
    return _Formatter(values, dtype.is_floating_point)


def _body(values: numpy.ndarray, formatter: Any, indent: int, summarize: bool) -> str:
    if values.ndim == 0:
        return formatter.number(values.item())
    size = values.shape[0]
    cut = summarize and size > 2 * options.edgeitems
    if values.ndim == 1:
        numbers = values.tolist()
        if cut:
            shown = [formatter.padded(v) for v in numbers[: options.edgeitems]] + [" ..."]
            shown += [formatter.padded(v) for v in numbers[-options.edgeitems :]]
        else:
            shown = [formatter.padded(v) for v in numbers]
        per_line = max(1, (options.linewidth - indent) // (formatter.width + 2))
        lines = [", ".join(shown[at : at + per_line]) for at in range(0, len(shown), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    edge = options.edgeitems
    rows = [*range(edge), -1, *range(size - edge, size)] if cut else list(range(size))
    parts = [
        "..." if cut and at == edge else _body(values[row], formatter, indent + 1, summarize)
        for at, row in enumerate(rows)
    ]
    return "[" + ("," + "\n" * (values.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _shown(values: numpy.ndarray, summarize: bool) -> numpy.ndarray:
    """The elements that will be printed (they alone decide the format)."""
    if not summarize:
        return values
    for axis, size in enumerate(values.shape):
        if size > 2 * options.edgeitems:
            keep = [*range(options.edgeitems), *range(size - options.edgeitems, size)]
            values = numpy.take(values, keep, axis)
    return values


def _tensor_str(self: Any, indent: int) -> str:
    """A tensor's numbers in brackets, as `repr(tensor)` has them, further lines indented."""
    values = self.detach().array
    if self.dtype is dtypes.bfloat16:
        values = values.astype(numpy.float32)
    summarize = values.size > options.threshold
    return _body(values, _formatter(_shown(values, summarize), self.dtype), indent, summarize)


def tensor_text(tensor: Any, name: str = "tensor") -> str:
    """The text of `repr(tensor)`."""
    tail = []
    if tensor.storage.block is None:
        tail.append(f"device='{tensor.device}', size={tuple(tensor.shape)}")
        body = "..."
    else:
        body = "[]" if tensor.numel() == 0 else _tensor_str(tensor, len(name) + 1)
        if tensor.numel() == 0 and tuple(tensor.shape) != (0,):
            tail.append(f"size={tuple(tensor.shape)}")
    default = dtypes.get_default_dtype()
    usual = (default, dtypes.int64, dtypes.bool, default.to_complex())
    if tensor.dtype not in usual or (body == "[]" and tensor.dtype is not usual[0]):
        tail.append(f"dtype={tensor.dtype}")
    tail += _history(tensor)
    return _with_tail(f"{name}({body}", tail, len(name) + 1) + ")"


def _history(tensor: Any) -> list[str]:
    try:
        node = tensor.grad_fn
    except InPlaceError:  # a view whose base was written since: nobody may use its history
        return ["grad_fn=<Invalid>"]
    if node is not None:
        return [f"grad_fn=<{node.name()}>"]
    return ["requires_grad=True"] if tensor.requires_grad else []


def parts_text(parts: dict[str, Any], tail: list[str], whole: Any, apart: bool) -> str:
    """The text of a sparse tensor: its parts one below the other, then the tail, `apart` or not."""
    indent = len("tensor(")
    texts = []
    for name, tensor in parts.items():
        values = tensor.detach().array
        start = f"{name}=tensor("
        if values.size:
            summarize = values.size > options.threshold
            formatter = _formatter(_shown(values, summarize), tensor.dtype)
            texts.append(start + _body(values, formatter, indent + len(start), summarize) + ")")
        else:
            texts.append(f"{start}[], size={tuple(tensor.shape)})")
    default = dtypes.get_default_dtype()
    if whole.dtype not in (default, dtypes.int64, dtypes.bool, default.to_complex()):
        tail = [*tail, f"dtype={whole.dtype}"]
    tail = [*tail, f"layout={whole.layout_kind}"]
    tail += _history(whole)
    texts, tail = ([*texts, tail[0]], tail[1:]) if apart else (texts, tail)
    return _with_tail("tensor(" + (",\n" + " " * indent).join(texts), tail, indent) + ")"


def _with_tail(text: str, tail: list[str], indent: int) -> str:
    """The text with what follows the numbers, on a new line where it does not fit."""
    used = len(text) - text.rfind("\n") + 1
    for part in tail:
        if used + len(part) + 2 > options.linewidth:
            text += ",\n" + " " * indent + part
            used = indent + len(part)
        else:
            text += ", " + part
            used += len(part) + 2
    return text

"""Composite rows that rearrange or repeat elements, and random choices among them.

In: tensors. Out: new tensors.

Source: torch's documentation of each function.
"""

from minitorch2 import dtypes
from minitorch2.dispatch import call
from minitorch2.errors import (
    ArgumentTypeError,
    DimensionError,
    DtypeError,
    OperationError,
    ShapeError,
)
from minitorch2.layouts import normalize_dim
from minitorch2.ops.composites import composite, like
from minitorch2.ops.infer import can_be_read, describe_value
from minitorch2.ops.matrices import scaled
from minitorch2.ops.table import COMPOSITE, defop, lookup
from minitorch2.tensors import Tensor


def _op(name, *args):
    return call(lookup(name), args)


def _roll(self, shifts, dims):
    if not dims:
        if len(shifts) != 1:
            raise OperationError(
                f"roll({describe_value(self)}, shifts={shifts})",
                "several shifts need as many dims",
                "give dims",
            )
        return _op("reshape", _roll_one(self.reshape((-1,)), shifts[0], 0), self.layout.shape)
    if len(shifts) != len(dims):
        raise OperationError(
            f"roll({describe_value(self)}, shifts={shifts}, dims={dims})",
            f"shifts and dimensions must align. shifts: {len(shifts)}, dims: {len(dims)}",
            "give one shift for each dimension",
        )
    if not self.ndim:
        raise DimensionError(
            f"roll(dims={dims}) of a 0-d tensor",
            f"Dimension specified as {dims[0]} but tensor has no dimensions",
            "leave dims away",
        )
    for shift, dim in zip(shifts, dims, strict=True):
        self = _roll_one(self, shift, normalize_dim(dim, self.ndim))
    return self


def _roll_one(self, shift, dim):
    size = self.layout.shape[dim]
    if size == 0:
        return _op("clone", self)
    start = size - shift % size
    before, after = _op("slice", self, dim, 0, start, 1), _op("slice", self, dim, start, None, 1)
    return _op("cat", (after, before), dim)


composite(
    "roll(Tensor self, int[] shifts, int[] dims=()) -> Tensor",
    _roll,
    "Elements moved along dimensions; what leaves at the end comes in at the start.",
)


def _ends(self, repeats):
    """The running sum of counts, none of which may be negative."""
    asked = f"repeat_interleave({describe_value(self)}, {describe_value(repeats)})"
    if repeats.dtype not in (dtypes.int32, dtypes.int64):
        raise DtypeError(asked, "repeats has to be Long or Int tensor", "use repeats.long()")
    if bool((repeats < 0).any()):
        raise OperationError(asked, "repeats can not be negative")
    return repeats.cumsum(0)


def _repeat_interleave(self, repeats, dim, output_size):
    if dim is None:
        self, dim = self.reshape((-1,)), 0
    dim = normalize_dim(dim, self.ndim)
    if not self.ndim:
        raise DimensionError(
            f"repeat_interleave(dim={dim}) of a 0-d tensor",
            "a 0-d tensor has no dimension to repeat along",
            "leave dim away",
        )
    size = self.layout.shape[dim]
    if isinstance(repeats, Tensor) and repeats.numel() != 1:
        if tuple(repeats.shape) != (size,):
            raise ShapeError(
                f"repeat_interleave({describe_value(self)}, {describe_value(repeats)}, {dim})",
                f"repeats must have the same size as input along dim, but got {size}",
                "give one count for each index",
            )
        ends = _ends(self, repeats)
        total = int(ends[-1].item()) if size else 0
        if output_size is not None and output_size != total:
            raise OperationError(
                f"repeat_interleave({describe_value(self)}, output_size={output_size})",
                f"allocated size does not match required size: the counts add up to {total}",
                "give that, or leave output_size out",
            )
        places = _op("range_", 0, total, 1, None, None)
        index = (places.unsqueeze(1) >= ends).sum(1)
        return _op("index_select", self, dim, index)
    count = int(repeats.item()) if isinstance(repeats, Tensor) else repeats
    if isinstance(count, float):
        raise ArgumentTypeError(
            f"repeat_interleave({describe_value(self)}, {count})",
            "repeats must be an int or a tensor of ints, not float",
            "repeat a whole number of times",
        )
    if count < 0:
        raise OperationError(
            f"repeat_interleave({describe_value(self)}, {count})", "repeats can not be negative"
        )
    shape = self.layout.shape
    grown = self.unsqueeze(dim + 1).expand((*shape[: dim + 1], count, *shape[dim + 1 :]))
    grown = _op("reshape", grown, (*shape[:dim], size * count, *shape[dim + 1 :]))
    return grown.contiguous()


composite(
    "repeat_interleave(Tensor self, Operand repeats, int? dim=None, *, int? output_size=None)"
    " -> Tensor",
    _repeat_interleave,
    "Each index of a dimension several times in a row.",
)


def _index_fill(self, dim, index, value):
    if isinstance(value, Tensor) and value.ndim:
        raise OperationError(
            f"index_fill({describe_value(self)}, {dim}, ..., {describe_value(value)})",
            "index_fill_ only supports a 0-dimensional value tensor",
            "use index_copy or index_put for several values",
        )
    if isinstance(value, complex) and not self.dtype.is_complex:
        raise OperationError(
            f"index_fill({describe_value(self)}, {dim}, ..., {value})",
            "index_fill_(): Converting complex Scalar to non-complex type is not supported",
            "fill with value.real",
        )
    at = normalize_dim(dim, self.ndim)
    index = _op("where", index < 0, index + (self.layout.shape[at] if self.ndim else 1), index)
    count = index.layout.shape[0] if index.ndim else 1
    shape = self.layout.shape
    picked = _op("expand", _op("full", (), 1, None, None), (count,))
    counts = _op("full", (shape[at],) if shape else (1,), 0, dtypes.int64, self.device)
    counts = _op("index_add", counts, 0, index.reshape((-1,)), picked)
    mask = (counts != 0).reshape((-1,) + (1,) * (self.ndim - at - 1) if shape else ())
    return _op("where", mask, like(value, self), self)


composite(
    "index_fill(Tensor self, int dim, Tensor index, Operand value) -> Tensor",
    _index_fill,
    "`self` with `value` at the given indices of a dimension.",
)


def _multinomial(self, num_samples, replacement, generator):
    count = self.layout.shape[-1] if self.ndim in (1, 2) else 0
    wrong = ""
    if self.ndim not in (1, 2):
        wrong = "prob_dist must be 1 or 2 dim"
    elif num_samples <= 0:
        wrong = "cannot sample n_sample <= 0 samples"
    elif count == 0 or (num_samples > count and not replacement):
        wrong = "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
    if wrong:
        raise OperationError(
            f"multinomial({describe_value(self)}, {num_samples}, replacement={replacement})",
            wrong,
            "draw fewer, or with replacement=True",
        )
    wide = self.to(dtypes.float64)
    if can_be_read(self) and self.numel():
        if not bool((wide.isfinite() & (wide >= 0)).all()):
            raise OperationError(
                f"multinomial({describe_value(self)})",
                "probability tensor contains either `inf`, `nan` or element < 0",
            )
        if bool((wide.sum(-1) <= 0).any()):
            raise OperationError(
                f"multinomial({describe_value(self)})",
                "invalid multinomial distribution (sum of probabilities <= 0)",
            )
    if replacement:
        sums = wide.cumsum(-1)
        shape = (*wide.shape[:-1], num_samples)
        draws = _op("rand", shape, dtypes.float64, None, generator) * sums[..., -1:]
        return (draws.unsqueeze(-1) >= sums.unsqueeze(-2)).sum(-1).clamp(max=count - 1)
    # Exponential races: index i is first with probability weight i.
    races = -(1 - _op("rand", tuple(wide.shape), dtypes.float64, None, generator)).log() / wide
    return _op("topk", races, num_samples, -1, False, True)[1]


composite(
    "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1)"
    " -> Tensor",
    lambda self, a, b, beta, alpha: scaled(self, a.bmm(b), beta, alpha),
    "beta * self + alpha * batch1 @ batch2, for each matrix of the batches.",
    same="self batch1 batch2",
    precision="lower",
)
defop(
    "multinomial(Tensor self, int num_samples, bool replacement=False, *, any? generator=None)"
    " -> Tensor",
    COMPOSITE,
    decomp=_multinomial,
    effects="random",
    accepts="f",
    doc="Indices of the last dimension, each drawn as often as its weight says.",
)

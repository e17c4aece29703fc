"""Tables of vectors: embedding, and embedding_bag, which adds up the rows of each bag.

In: integers that name rows, a weight [rows, columns]. Out: [*, columns], or one row for each bag.

    >>> from minitorch2 import arange, tensor
    >>> weight = arange(6.0).reshape(3, 2)
    >>> embedding_bag(tensor([0, 2, 1]), weight, tensor([0, 2]), mode="sum")
    tensor([[4., 6.],
            [2., 3.]])

With `sparse=True` the gradient of the weight is a sparse tensor of the rows that were taken;
compiled code computes dense ones.

Source: torch.nn.functional.
"""

from typing import Any

from minitorch2.autograd.function import Function, once_differentiable
from minitorch2.autograd.modes import no_grad
from minitorch2.creation import tensor
from minitorch2.dispatch import is_compiling
from minitorch2.dtypes import int64
from minitorch2.errors import ArgumentValueError, OperationError
from minitorch2.nn.functional.rows import row
from minitorch2.ranges import arange
from minitorch2.sparse.tensor import made_of

_embedding, _where, _stack = (row(name) for name in ("embedding", "where", "stack"))


class _SparseRows(Function):
    """Rows of a table, whose gradient is sparse."""

    @staticmethod
    def forward(ctx: Any, index: Any, weight: Any, padding_idx: int | None) -> Any:
        ctx.save_for_backward(index)
        ctx.save_for_forward(index)
        ctx.size, ctx.padding = tuple(weight.shape), padding_idx
        return _embedding(index, weight, padding_idx)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Any) -> Any:
        (index,) = ctx.saved_tensors
        rows, values = index.reshape(-1).to(int64), grad.reshape(-1, ctx.size[1])
        if ctx.padding is not None:
            kept = rows != ctx.padding % ctx.size[0]
            rows, values = rows[kept], values[kept]
        return None, made_of(rows.unsqueeze(0), values, ctx.size, False), None

    @staticmethod
    def jvp(ctx: Any, _index: Any, tangent: Any, _padding: Any) -> Any:
        return _embedding(ctx.saved_tensors[0], tangent)

    @staticmethod
    def vmap(info: Any, in_dims: tuple, index: Any, weight: Any, padding_idx: int | None) -> Any:
        return _SparseRows.apply(index.movedim(in_dims[0], 0), weight, padding_idx), 0


class _GradientTimes(Function):
    """The value itself; its gradient times a factor."""

    @staticmethod
    def forward(ctx: Any, value: Any, factor: Any) -> Any:
        ctx.save_for_backward(factor)
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (factor,) = ctx.saved_tensors
        return grad * factor, None


def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """The rows of `weight` at the given indices; row `padding_idx` gets no gradient.

    Rows longer than `max_norm` are first shortened, in `weight` itself. With `scale_grad_by_freq` a
    row's gradient is divided by how often the row was taken. With `sparse` the gradient is sparse.
    """
    if max_norm is not None:
        shorten(weight, input, max_norm, norm_type)
    if sparse and weight.requires_grad and scale_grad_by_freq:
        raise OperationError(
            "embedding(scale_grad_by_freq=True, sparse=True)",
            "scale_grad_by_freq not supported with sparse gradients",
        )
    one_table = weight.has_elements  # of a batch of tables each has a gradient of its own: dense
    if sparse and weight.requires_grad and one_table and not is_compiling():
        found = _SparseRows.apply(input, weight, padding_idx)
    else:
        found = _embedding(input, weight, padding_idx)
    if scale_grad_by_freq:
        counts = input.reshape(-1).bincount(minlength=weight.shape[0])
        factor = 1 / counts[input].to(weight.dtype)
        found = _GradientTimes.apply(found, factor.unsqueeze(-1))
    return found


def shorten(weight: Any, index: Any, max_norm: float, norm_type: float) -> None:
    """Scale the rows of a table that are longer than a norm down to it, in place."""
    with no_grad():
        rows = index.reshape(-1).unique()
        taken = weight.detach()[rows]
        norms = taken.norm(norm_type, -1, True)
        factor = _where(norms > max_norm, max_norm / (norms + 1e-7), 1.0)
        weight.detach().index_copy_(0, rows, taken * factor)


def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """The sum, mean or maximum of the rows of each bag: [bags, columns].

    input [bags, length], or [N] with `offsets`, the places where bags begin. Rows at `padding_idx`
    do not count. `per_sample_weights` scale the rows, with mode 'sum'.
    """
    _check(input, offsets, mode, per_sample_weights)
    if input.ndim == 2:
        bags, length = input.shape
        offsets = arange(bags) * length
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif include_last_offset:
        offsets = offsets[:-1]
    if max_norm is not None:
        shorten(weight, input, max_norm, norm_type)
    if padding_idx is not None:
        padding_idx %= weight.shape[0]
    starts = [int(start) for start in offsets.tolist()]
    ends = [*starts[1:], input.shape[0]]
    sizes = [end - start for start, end in zip(starts, ends, strict=True)]
    bag_of = [bag for bag, size in enumerate(sizes) for _ in range(size)]
    rows = embedding(input, weight, padding_idx, None, 2.0, scale_grad_by_freq, sparse)
    counted = input != padding_idx if padding_idx is not None else (input == input)
    if mode == "max":
        return _largest(rows, counted, starts, ends, weight)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1)
    rows = _where(counted.unsqueeze(-1), rows, 0.0)
    index = tensor(bag_of, dtype=int64)
    total = rows.new_zeros((len(starts), weight.shape[1])).index_add(0, index, rows)
    if mode == "sum":
        return total
    ones = counted.to(weight.dtype)
    counts = ones.new_zeros(len(starts)).index_add(0, index, ones)
    return total / counts.clamp(min=1).unsqueeze(-1)


def _check(input: Any, offsets: Any, mode: str, scales: Any) -> None:
    asked = f"embedding_bag({list(input.shape)}, mode={mode!r})"
    if mode not in ("sum", "mean", "max"):
        raise ArgumentValueError(asked, "mode has to be one of sum, mean or max")
    if scales is not None and mode != "sum":
        raise ArgumentValueError(
            asked,
            "per_sample_weights was not None. per_sample_weights is only supported for mode='sum'",
            "use mode='sum'",
        )
    if input.ndim == 2 and offsets is not None:
        raise ArgumentValueError(
            asked,
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of "
            "fixed length sequences",
            "leave offsets out",
        )
    if input.ndim == 1 and (offsets is None or offsets.ndim != 1):
        raise ArgumentValueError(
            asked, "offsets has to be a 1D Tensor but got " + str(offsets), "say where bags begin"
        )
    if input.ndim not in (1, 2):
        raise ArgumentValueError(asked, f"input has to be 1D or 2D Tensor, but got {input.ndim}D")


def _largest(rows: Any, counted: Any, starts: list[int], ends: list[int], weight: Any) -> Any:
    """The largest element of each column of each bag; 0 for an empty bag."""
    found = []
    for start, end in zip(starts, ends, strict=True):
        taken = rows[start:end][counted[start:end]]
        if taken.shape[0] == 0:
            found.append(weight.new_zeros(weight.shape[1]))
        else:
            found.append(taken.max(0)[0])
    return _stack(found, 0) if found else weight.new_zeros((0, weight.shape[1]))

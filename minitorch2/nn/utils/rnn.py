"""Sequences of different lengths as one tensor: packed or padded.

In: a padded batch [T, N, ...] and the lengths, or a list of sequences [T_i, ...]. Out: a
PackedSequence, whose `data` has the steps of all sequences one after the other, step by step,
without padding; recurrent layers take and return it.

    >>> import minitorch2 as torch
    >>> packed = pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4, 5])])
    >>> packed.data, packed.batch_sizes
    (tensor([1, 4, 2, 5, 3]), tensor([2, 2, 1]))

Source: torch.nn.utils.rnn.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from minitorch2.creation import empty_like, tensor
from minitorch2.dtypes import int64
from minitorch2.errors import ArgumentValueError, OperationError
from minitorch2.ops.table import lookup
from minitorch2.ranges import arange
from minitorch2.tensors import Tensor

_cat = lookup("cat").public


class _Fields(NamedTuple):
    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(_Fields):
    """`data` [sum of lengths, ...], how many sequences have a step t (`batch_sizes`), the order.

    Sequences stand longest first; `sorted_indices` says which was where, None if nobody moved.
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Any,
        batch_sizes: Any = None,
        sorted_indices: Any = None,
        unsorted_indices: Any = None,
    ) -> Any:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            raise OperationError("PackedSequence(data)", "batch_sizes is missing")
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def _with(self, data: Any) -> "PackedSequence":
        return PackedSequence(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> "PackedSequence":
        """With `data` on another device or of another dtype."""
        return self._with(self.data.to(*args, **kwargs))

    def double(self) -> "PackedSequence":
        """With float64 data."""
        return self._with(self.data.double())

    def float(self) -> "PackedSequence":
        """With float32 data."""
        return self._with(self.data.float())

    def half(self) -> "PackedSequence":
        """With float16 data."""
        return self._with(self.data.half())

    def long(self) -> "PackedSequence":
        """With int64 data."""
        return self._with(self.data.long())

    def int(self) -> "PackedSequence":
        """With int32 data."""
        return self._with(self.data.int())

    def cpu(self) -> "PackedSequence":
        """In the main memory."""
        return self._with(self.data.cpu())

    def pin_memory(self) -> "PackedSequence":
        """The same: there is no other memory to copy to."""
        return self

    def is_pinned(self) -> bool:
        """Whether the memory is pinned: never."""
        return False

    @property
    def is_cuda(self) -> bool:
        """Whether the data lies on a GPU."""
        return self.data.is_cuda


def invert_permutation(permutation: Any) -> Any:
    """The permutation that undoes another; None stays None."""
    if permutation is None:
        return None
    found = empty_like(permutation)
    found[permutation] = arange(permutation.numel())
    return found


def _lengths(lengths: Any) -> list[int]:
    return [int(n) for n in (lengths.tolist() if isinstance(lengths, Tensor) else lengths)]


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack a padded batch [T, N, ...] (or [N, T, ...]) of sequences with these lengths.

    With `enforce_sorted` the lengths must not rise; without it the sequences are put in order.
    """
    sizes = _lengths(lengths)
    order: Any = None
    if not enforce_sorted:
        places = sorted(range(len(sizes)), key=lambda at: -sizes[at])
        order = tensor(places, dtype=int64)
        input = input.index_select(0 if batch_first else 1, order)
        sizes = [sizes[at] for at in places]
    if batch_first:
        input = input.transpose(0, 1)
    if len(sizes) != input.shape[1]:
        raise OperationError(
            "pack_padded_sequence",
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} "
            f"(batch_size={input.shape[1]})",
        )
    if any(size <= 0 for size in sizes):
        raise OperationError(
            "pack_padded_sequence",
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0",
        )
    if any(a < b for a, b in zip(sizes, sizes[1:], strict=False)):
        raise OperationError(
            "pack_padded_sequence",
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True",
            "pass enforce_sorted=False",
        )
    if sizes[0] > input.shape[0]:
        raise OperationError(
            "pack_padded_sequence",
            f"Expected the longest length, {sizes[0]}, to be at most the {input.shape[0]} steps",
        )
    counts = [sum(size > step for size in sizes) for step in range(sizes[0])]
    data = _cat([input[step, :count] for step, count in enumerate(counts)], 0)
    return PackedSequence(data, tensor(counts, dtype=int64), order)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Any, Any]:
    """(padded batch [T, N, ...], lengths) of a packed sequence, in the order before packing."""
    counts = _lengths(sequence.batch_sizes)
    steps = len(counts)
    if total_length is not None:
        if total_length < steps:
            raise ArgumentValueError(
                f"pad_packed_sequence(total_length={total_length})",
                "Expected total_length to be at least the length of the longest sequence in "
                f"input, but got total_length={total_length} and max sequence length being {steps}",
            )
        steps = total_length
    rows, data = [], sequence.data
    start = 0
    for count in counts + [0] * (steps - len(counts)):
        row = data[start : start + count]
        missing = counts[0] - count
        if missing:
            filler = data.new_full((missing, *data.shape[1:]), padding_value)
            row = _cat([row, filler], 0)
        rows.append(row)
        start += count
    padded = lookup("stack").public(rows, 0)
    lengths = tensor([sum(count > at for count in counts) for at in range(counts[0])], dtype=int64)
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices]
    return (padded.transpose(0, 1) if batch_first else padded), lengths


def pad_sequence(
    sequences: Any,
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Any:
    """Sequences [T_i, ...] as one tensor [T, N, ...] (or [N, T, ...]), the short ones filled up."""
    if not isinstance(sequences, Iterable):
        raise OperationError(
            f"pad_sequence({type(sequences).__name__})",
            "pad_sequence: Expected iterable for input sequences",
        )
    if padding_side not in ("left", "right"):
        raise OperationError(
            f"pad_sequence(padding_side={padding_side!r})",
            "Expected padding_side to be one of left or right",
        )
    parts = list(sequences.unbind(0) if isinstance(sequences, Tensor) else sequences)
    if not parts:
        raise OperationError("pad_sequence([])", "received an empty list of sequences")
    longest = sorted(part.shape[0] for part in parts)[-1]
    rows = []
    for part in parts:
        missing = longest - part.shape[0]
        if missing:
            filler = part.new_full((missing, *part.shape[1:]), padding_value)
            part = _cat([part, filler] if padding_side == "right" else [filler, part], 0)
        rows.append(part)
    return lookup("stack").public(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """The sequences of a padded batch, each cut to its length."""
    batch = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [batch[at, :size] for at, size in enumerate(_lengths(lengths))]


def pack_sequence(sequences: Sequence[Any], enforce_sorted: bool = True) -> PackedSequence:
    """Pack a list of sequences [T_i, ...]."""
    lengths = [each.shape[0] for each in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, False, enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    """The list of sequences of a packed one."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)

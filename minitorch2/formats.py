"""How elements may be ordered in memory, by name: torch.memory_format, torch.layout.

In: `torch.channels_last` and its like. Out: the order of dimensions that they stand for. A tensor
[N, C, H, W] in channels_last keeps its shape; its channels lie side by side.

    >>> from minitorch2.layouts import Layout, layout
    >>> laid_out_as(Layout((2, 3, 4, 5), (60, 1, 15, 3)), channels_last)
    True

Source: torch's "Tensor Attributes": memory_format and layout.
"""

from minitorch2.errors import OperationError
from minitorch2.layouts import Layout, layout


class memory_format:
    """One of the constants below; `order` is that of the dimensions in memory, slowest first."""

    __slots__ = ("name", "order")

    def __init__(self, name: str, order: tuple[int, ...] = ()):
        self.name, self.order = name, order

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last", (0, 2, 3, 1))
channels_last_3d = memory_format("channels_last_3d", (0, 2, 3, 4, 1))
strided, sparse_coo, sparse_csr = layout("strided"), layout("sparse_coo"), layout("sparse_csr")
# No tensor here has one of these: they are names to compare with.
sparse_csc, sparse_bsr = layout("sparse_csc"), layout("sparse_bsr")
sparse_bsc, jagged = layout("sparse_bsc"), layout("jagged")


def laid_out_as(where: Layout, wanted: memory_format) -> bool:
    """Whether the elements lie in the wanted order without gaps."""
    if not wanted.order:
        return where.is_contiguous()
    return len(where.shape) == len(wanted.order) and where.permuted(wanted.order).is_contiguous()


def order_of(ndim: int, wanted: memory_format) -> tuple[int, ...]:
    """The dimensions of a tensor in memory; OperationError for another number of dimensions."""
    if ndim != len(wanted.order):
        raise OperationError(
            f"a tensor of {ndim} dimensions in {wanted}",
            f"required rank {len(wanted.order)} tensor to use {wanted.name} format",
            "give [N, C, H, W] (channels_last) or [N, C, D, H, W] (channels_last_3d)",
        )
    return wanted.order

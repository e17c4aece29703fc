"""torch.sparse: tensors that hold only the elements that are not zero, and where they stand.

Files, in reading order:

tensor     SparseTensor: indices, values, and what can be done with them
functions  functions of sparse tensors: products, sums, softmax
arranging  indexing, joining, other orders and dtypes
making     sparse tensors from indices and values, or from dense ones

    >>> import minitorch2 as torch
    >>> s = torch.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))
    >>> s @ torch.ones(3, 1)
    tensor([[3.],
            [4.]])

Source: torch.sparse.
"""

from minitorch2.sparse.arranging import smm, sparse_mask, sspaddmm
from minitorch2.sparse.functions import (
    addmm,
    log_softmax,
    mm,
    sampled_addmm,
    softmax,
    spmm,
    sum,
)
from minitorch2.sparse.making import (
    BoolTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    install,
    sparse_coo_tensor,
    sparse_csr_tensor,
)
from minitorch2.sparse.tensor import SparseTensor

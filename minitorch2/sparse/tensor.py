"""SparseTensor: indices [dimensions, n], values [n, *dense sizes], and what can be done with them.

In: the parts. Out: a Tensor of the whole size whose operations are the methods here, each made of
dense operations on the values, so gradients reach the values and the dense operands. An operation
that is not here raises OperationError. The first sparse tensor opens the doors of overrides.py,
which lets it answer public functions too.

    SparseTensor.matmul(s, x)      # rows of x, times values, added up where the indices say

Source: torch.sparse.
"""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy

from minitorch2 import overrides
from minitorch2.creation import from_numpy, zeros
from minitorch2.devices import as_device
from minitorch2.dtypes import int64
from minitorch2.errors import OperationError
from minitorch2.formats import sparse_coo, sparse_csr
from minitorch2.layouts import Layout, element_count, normalize_dim, normalize_dims
from minitorch2.layouts import layout as layout_name
from minitorch2.ops.table import lookup
from minitorch2.printing import parts_text
from minitorch2.tensors import Tensor, fake_tensor

_cat, _stack = lookup("cat").public, lookup("stack").public
_index_add, _matmul = lookup("index_add").public, lookup("matmul").public


class _SparseLayout(Layout):
    """The sizes of a sparse tensor; equal to torch.sparse_coo, or torch.sparse_csr."""

    __slots__ = ("kind",)

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...], kind: layout_name):
        super().__init__(shape, strides)
        self.kind = kind

    @property
    def name(self) -> str:  # type: ignore[override]
        """That of its kind."""
        return self.kind.name

    def __reduce__(self) -> tuple:
        return _SparseLayout, (self.shape, self.strides, self.kind)


class SparseTensor(Tensor):
    """Indices and values; `layout_kind` says how torch would print and index them (COO or CSR)."""

    _places: Any
    _numbers: Any
    _coalesced: bool

    @property
    def layout_kind(self) -> layout_name:
        """How torch would print and index it: torch.sparse_coo or torch.sparse_csr."""
        return self.layout.kind  # type: ignore[attr-defined]

    # ---- facts -------------------------------------------------------------------------------

    is_sparse = property(lambda self: self.layout_kind is sparse_coo)
    is_sparse_csr = property(lambda self: self.layout_kind is sparse_csr)

    @property
    def requires_grad(self) -> bool:
        """Whether the values require a gradient."""
        return self._numbers.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._numbers.requires_grad = value

    @property
    def grad_fn(self) -> Any:
        """The node that made the values."""
        return self._numbers.grad_fn

    @property
    def grad(self) -> Any:
        """The gradient of the values, at their places."""
        found = self._numbers.grad
        return None if found is None else with_values(self, found)

    @grad.setter
    def grad(self, value: Any) -> None:
        self._numbers.grad = None if value is None else value._numbers

    T = property(lambda self: self.t())

    def sparse_dim(self) -> int:
        """How many dimensions the indices name."""
        return self._places.shape[0]

    def dense_dim(self) -> int:
        """How many dimensions each value has."""
        return self._numbers.ndim - 1

    def _nnz(self) -> int:
        """How many values there are."""
        return self._places.shape[1]

    def is_coalesced(self) -> bool:
        """Whether each place occurs once, in order."""
        return self._coalesced

    def _indices(self) -> Any:
        """The places as they are held."""
        return self._places

    def _values(self) -> Any:
        """The values as they are held, without history."""
        return self._numbers.detach()

    def indices(self) -> Any:
        """The places [dimensions, n] of a coalesced tensor."""
        _require_coalesced(self, "indices")
        return self._places

    def values(self) -> Any:
        """The values [n, *dense sizes] of a coalesced tensor."""
        _require_coalesced(self, "values")
        return self._numbers

    def crow_indices(self) -> Any:
        """Of a matrix in CSR: where each row's values begin, and where the last one's end."""
        rows = self._places[0]
        counts = _index_add(zeros(self.shape[0], dtype=int64), 0, rows, zeros(len(rows)).long() + 1)
        return _cat((zeros(1, dtype=int64), counts.cumsum(0)), 0)

    def col_indices(self) -> Any:
        """Of a matrix in CSR: the column of each value."""
        return self._places[1]

    def size(self, dim: int | None = None) -> Any:
        """The size of the whole tensor, or of one dimension."""
        return self.shape if dim is None else self.shape[dim]

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return _text(self)

    def __deepcopy__(self, memo: dict) -> Any:
        found = self.detach().clone()
        return found.requires_grad_() if self.requires_grad else found

    def __reduce_ex__(self, protocol: Any) -> Any:
        parts = (self._places, self._numbers, tuple(self.shape), self._coalesced)
        return made_of, (*parts, self.layout_kind)

    # ---- other forms -------------------------------------------------------------------------

    def coalesce(self) -> Any:
        """Each place once, in order: values that share one are summed."""
        if self._coalesced:
            return self
        sizes = tuple(self.shape[: self.sparse_dim()])
        flat = numpy.ravel_multi_index(tuple(self._places.numpy()), sizes) if sizes else None
        flat = numpy.zeros(self._nnz(), numpy.int64) if flat is None else flat
        kept, inverse = numpy.unique(flat, return_inverse=True)
        places = numpy.array(numpy.unravel_index(kept, sizes)) if sizes else kept[None, :0]
        shape = (len(kept), *self._numbers.shape[1:])
        into = zeros(shape, dtype=self._numbers.dtype)
        numbers = _index_add(into, 0, from_numpy(inverse.reshape(-1)), self._numbers)
        return made_of(from_numpy(places.astype(numpy.int64)), numbers, self.shape, True)

    def to_dense(self, dtype: Any = None, *, masked_grad: Any = None) -> Any:
        """The whole tensor, with its zeros."""
        sparse = tuple(self.shape[: self.sparse_dim()])
        flat = zeros(self._nnz(), dtype=int64)
        for row, size in zip(self._places.unbind(0), sparse, strict=True):
            flat = flat * size + row
        whole = zeros((element_count(sparse), *self._numbers.shape[1:]), dtype=self._numbers.dtype)
        found = _index_add(whole, 0, flat, self._numbers).reshape(tuple(self.shape))
        return found if dtype is None else found.to(dtype)

    def to_sparse(self, *args: Any, **options: Any) -> Any:
        """In COO."""
        return made_of(self._places, self._numbers, self.shape, self._coalesced)

    def to_sparse_coo(self) -> Any:
        """In COO."""
        return self.to_sparse()

    def to_sparse_csr(self, dense_dim: Any = None) -> Any:
        """A matrix in CSR."""
        if self.sparse_dim() != 2 or self.dense_dim():
            raise OperationError(
                "to_sparse_csr()", "only matrices can be held in CSR here", "use COO"
            )
        found = self.coalesce()
        return made_of(found._places, found._numbers, self.shape, True, sparse_csr)

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """The values in another dtype or device."""
        kwargs.pop("non_blocking", None)
        return with_values(self, self._numbers.to(*args, **kwargs))

    def clone(self, *, memory_format: Any = None) -> Any:
        """A copy."""
        parts = (self._places.clone(), self._numbers.clone(), self.shape, self._coalesced)
        return made_of(*parts, self.layout_kind)

    def detach(self) -> Any:
        """The same values without history."""
        return with_values(self, self._numbers.detach())

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Let the values require a gradient."""
        self._numbers.requires_grad_(requires_grad)
        return self

    def cpu(self) -> Any:
        """The tensor itself."""
        return self

    def transpose(self, dim0: int, dim1: int) -> Any:
        """Two of the dimensions that the indices name, exchanged."""
        first, second = normalize_dim(dim0, self.ndim), normalize_dim(dim1, self.ndim)
        if max(first, second) >= self.sparse_dim():
            raise OperationError(
                f"transpose({dim0}, {dim1}) of a sparse tensor",
                "dense dimensions cannot be exchanged with sparse ones",
                "name dimensions of the indices",
            )
        order = list(range(self.ndim))
        order[first], order[second] = second, first
        places = _stack([self._places[d] for d in order[: self.sparse_dim()]])
        same = first == second and self._coalesced
        return made_of(places, self._numbers, [self.shape[d] for d in order], same)

    def t(self) -> Any:
        """The matrix with rows and columns exchanged."""
        return self.transpose(0, 1)

    def sum(self, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
        """The sum of all elements; over some dimensions, a sparse tensor of the others."""
        numbers = self._numbers if dtype is None else self._numbers.to(dtype)
        if dim is None:
            return numbers.sum()
        dims = normalize_dims(dim, self.ndim)
        count = self.sparse_dim()
        dense = tuple(d - count + 1 for d in dims if d >= count)
        numbers = numbers.sum(dense) if dense else numbers
        rest = [d for d in range(count) if d not in dims]
        sizes = [self.shape[d] for d in range(self.ndim) if d not in dims]
        found = numbers.sum(0)
        if rest:
            found = made_of(_stack([self._places[d] for d in rest]), numbers, sizes, False)
        for d in sorted(dims) if keepdim else ():
            found = found.unsqueeze(d)
        return found

    # ---- arithmetic --------------------------------------------------------------------------

    def _mapped(self, function: Callable) -> Any:
        """A function that leaves zero alone, of every element."""
        found = self.coalesce()
        return with_values(found, function(found._numbers))

    def add(self, other: Any, *, alpha: Any = 1) -> Any:
        """Sparse plus sparse is sparse; torch has no sparse plus dense, only dense plus sparse."""
        if not isinstance(other, SparseTensor):
            refuse("add(sparse, dense)", "Use add(dense, sparse) instead.")
        if tuple(self.shape) != tuple(other.shape):
            refuse("add of two sizes", f"{tuple(self.shape)} and {tuple(other.shape)}")
        scaled = other._numbers if alpha == 1 else other._numbers * alpha
        places = _cat((self._places, other._places), 1)
        found = made_of(places, _cat((self._numbers, scaled), 0), self.shape, False)
        return found.coalesce() if self._coalesced and other._coalesced else found

    def sub(self, other: Any, *, alpha: Any = 1) -> Any:
        """self - alpha * other, both sparse."""
        return SparseTensor.add(self, other, alpha=-alpha)

    def mul(self, other: Any) -> Any:
        """Times a number, or element by element a tensor of the same size, dense or sparse."""
        if isinstance(other, SparseTensor):
            return self.mul(other.to_dense())
        if not isinstance(other, Tensor) or other.ndim == 0:
            return with_values(self, self._numbers * other)
        found = self.coalesce()
        whole = other.expand(tuple(self.shape))
        return with_values(found, found._numbers * whole[tuple(found._places.unbind(0))])

    def div(self, other: Any, *, rounding_mode: Any = None) -> Any:
        """Divided by a number."""
        if isinstance(other, Tensor) and other.ndim:
            refuse("div(sparse, tensor)", "a quotient by zeros is not sparse")
        return self._mapped(lambda numbers: numbers.div(other, rounding_mode=rounding_mode))

    def pow(self, exponent: Any) -> Any:
        """Each element to a positive power."""
        if not (isinstance(exponent, int | float) and exponent > 0):
            refuse("pow of a sparse tensor", "only positive powers of zero are zero")
        return self._mapped(lambda numbers: numbers**exponent)

    def matmul(self, other: Any) -> Any:
        """A matrix times a dense matrix or vector (dense), or times a sparse matrix (sparse)."""
        if isinstance(other, SparseTensor):
            return FUNCTIONS["to_sparse"](self.matmul(other.to_dense()))
        if self.ndim != 2 or self.dense_dim() or other.ndim not in (1, 2):
            refuse(
                f"a product of shapes {tuple(self.shape)} and {tuple(other.shape)}",
                "a sparse matrix multiplies matrices and vectors",
            )
        if other.shape[0] != self.shape[1] or other.dtype is not self._numbers.dtype:
            _matmul(self.to_dense(), other)  # raises what dense operands would
        if other.ndim == 1:
            return self.matmul(other.unsqueeze(1)).squeeze(1)
        rows, columns = self._places.unbind(0)
        terms = other.index_select(0, columns) * self._numbers.unsqueeze(1)
        return _index_add(zeros(self.shape[0], other.shape[1], dtype=other.dtype), 0, rows, terms)

    mm = mv = matmul
    multiply = mul
    divide = true_divide = div
    __matmul__ = matmul
    __add__ = add
    __sub__ = sub
    __mul__ = __rmul__ = mul
    __truediv__ = div
    __pow__ = pow

    def _become(self, found: Any) -> Any:
        """This tensor itself, with another's elements."""
        self._places, self._numbers = found._places, found._numbers
        self._coalesced = found._coalesced
        return self

    def add_(self, other: Any, *, alpha: Any = 1) -> Any:
        """add, of the tensor itself."""
        return self._become(SparseTensor.add(self, other, alpha=alpha))

    def sub_(self, other: Any, *, alpha: Any = 1) -> Any:
        """sub, of the tensor itself."""
        return self._become(SparseTensor.add(self, other, alpha=-alpha))

    def mul_(self, other: Any) -> Any:
        """mul, of the tensor itself."""
        return self._become(self.mul(other))

    def div_(self, other: Any, *, rounding_mode: Any = None) -> Any:
        """div, of the tensor itself."""
        return self._become(self.div(other, rounding_mode=rounding_mode))

    def neg_(self) -> Any:
        """neg, of the tensor itself."""
        return self._become(self.mul(-1))

    def zero_(self) -> Any:
        """Nothing held any more: every element is zero."""
        none = self._places[:, :0]
        return self._become(made_of(none, self._numbers[:0].detach(), list(self.shape), True))

    __iadd__, __isub__, __imul__, __itruediv__ = add_, sub_, mul_, div_

    def __radd__(self, other: Any) -> Any:
        return FUNCTIONS["add"](other, self)

    def __rsub__(self, other: Any) -> Any:
        return FUNCTIONS["sub"](other, self)

    def __rmatmul__(self, other: Any) -> Any:
        return FUNCTIONS["mm"](other, self)

    def __neg__(self) -> Any:
        return self.mul(-1)

    def _answer(cls, func: Callable, types: tuple, args: tuple = (), kwargs: Any = None) -> Any:
        """`__torch_function__`, once install() was called: the method of that name, or an error."""
        name = func.__name__
        rule = FUNCTIONS.get(name) or vars(SparseTensor).get(name)
        if rule is None and name in KEEPING_ZERO:
            return args[0]._mapped(lambda numbers: getattr(numbers, name)())
        if rule is None and name in ASKING:
            with overrides.DisableTorchFunctionSubclass():
                return func(*args, **(kwargs or {}))
        if not callable(rule) or (name not in FUNCTIONS and not isinstance(args[0], SparseTensor)):
            refuse(f"{name}() of a sparse tensor", f"{name} has no definition for sparse tensors")
        with overrides.DisableTorchFunctionSubclass():
            return rule(*args, **(kwargs or {}))


# Functions of each element that leave zero alone, and methods that ask what needs no elements.
KEEPING_ZERO = frozenset("neg abs sin tan tanh sinh asin atan sqrt sign expm1 log1p relu".split())
KEEPING_ZERO |= {"floor", "ceil", "round", "trunc", "square", "deg2rad", "rad2deg", "erf"}
ASKING = frozenset("dim is_floating_point is_complex element_size get_device ndimension".split())
ASKING |= {"register_hook", "numel", "nelement", "is_tensor", "_is_view"}

FUNCTIONS: dict[str, Callable] = {}  # by name, those that need not be methods: functions.py


def refuse(asked: str, wrong: str) -> NoReturn:
    """OperationError for what sparse tensors do not do."""
    raise OperationError(asked, wrong, "make it dense first: x.to_dense()")


def _require_coalesced(tensor: SparseTensor, name: str) -> None:
    if not tensor._coalesced:
        raise OperationError(
            f"{name}() of a sparse tensor",
            f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first",
            f"call .coalesce(), or ask for _{name}()",
        )


_opened = False


def made_of(
    places: Any, numbers: Any, size: Any, coalesced: bool, kind: layout_name = sparse_coo
) -> Any:
    """A sparse tensor of these parts."""
    global _opened
    if not _opened:
        _opened = True
        overrides.activate()
    made: Any = fake_tensor(tuple(size), numbers.dtype, None, as_device(None))
    made.__class__, made.key = SparseTensor, None
    made.layout = _SparseLayout(made.layout.shape, made.layout.strides, kind)
    made._places, made._numbers = places, numbers
    made._coalesced = coalesced or places.shape[1] < 2
    return made


def with_values(tensor: SparseTensor, numbers: Any) -> Any:
    """Other values at the same places."""
    kind = tensor.layout_kind
    sizes = (*tensor.shape[: tensor.sparse_dim()], *numbers.shape[1:])
    return made_of(tensor._places, numbers, sizes, tensor._coalesced, kind)


def _text(tensor: SparseTensor) -> str:
    if tensor.layout_kind is sparse_csr:
        parts = {"crow_indices": tensor.crow_indices(), "col_indices": tensor.col_indices()}
    else:
        parts = {"indices": tensor._places}
    parts["values"] = tensor._numbers
    tail = [f"size={tuple(tensor.shape)}", f"nnz={tensor._nnz()}"]
    return parts_text(parts, tail, tensor, tensor.layout_kind is sparse_coo)

"""weight_norm, spectral_norm, orthogonal: the parametrizations that torch has.

In: a module and the name of its weight. Out: the module, its weight in the form asked for whatever
the trained parameters are.

    weight_norm      g * v / |v|: length and direction apart
    spectral_norm    divided by its largest singular value, followed by power iterations
    orthogonal       columns (or rows) orthonormal

Source: Salimans & Kingma 2016; Miyato et al. 2018; Lezcano-Casado & Martinez-Rubio 2019 (the
exponential and Cayley maps, and their trivialization around a base point).
"""

from typing import Any

from minitorch2 import linalg
from minitorch2.array_functions import matrix_exp
from minitorch2.autograd.modes import no_grad
from minitorch2.creation import randn, zeros_like
from minitorch2.errors import ArgumentValueError
from minitorch2.nn import functional as F
from minitorch2.nn.convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from minitorch2.nn.module import Module
from minitorch2.nn.utils.parametrize import register_parametrization
from minitorch2.ops.table import lookup
from minitorch2.ranges import eye
from minitorch2.tensors import Tensor

_cat = lookup("cat").public


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norm over all dimensions but one, of a shape that broadcasts with `v`; -1: over all."""
    if dim == -1:
        return v.norm(pow)
    dims = tuple(each for each in range(v.ndim) if each != dim % v.ndim)
    return v.norm(pow, dims, True) if dims else v.abs()


class _WeightNorm(Module):
    """(g, v) -> g * v / |v|."""

    def __init__(self, dim: int | None = 0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / norm_except_dim(weight_v, 2, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Length and direction of a weight as parameters of their own: original0 and original1.

    Each index of `dim` has its own length; None gives one length for all.
    """
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    """Divides by the largest singular value; `_u`, `_v` follow its vectors while training."""

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ):
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise ArgumentValueError(
                f"spectral_norm(dim={dim})",
                f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}])",
            )
        if n_power_iterations <= 0:
            raise ArgumentValueError(
                f"spectral_norm(n_power_iterations={n_power_iterations})",
                "Expected n_power_iterations to be positive",
            )
        self.dim, self.eps = dim % ndim, eps
        self.n_power_iterations = n_power_iterations
        if ndim > 1:
            with no_grad():
                matrix = self._matrix(weight)
                height, width = matrix.shape
                u = matrix.new_empty(height).normal_(0, 1)
                v = matrix.new_empty(width).normal_(0, 1)
                self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
                self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
                self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Any:
        rest = [dim for dim in range(weight.ndim) if dim != self.dim]
        return weight.permute(self.dim, *rest).flatten(1)

    def _iterate(self, matrix: Any, count: int) -> None:
        with no_grad():
            for _ in range(count):
                self._u.copy_(F.normalize(matrix.mv(self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(matrix.t().mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        return weight / self._u.clone().dot(matrix.mv(self._v.clone()))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


_TRANSPOSED = (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """A weight divided by its largest singular value, seen as a matrix with `dim` first."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ArgumentValueError(
            f"spectral_norm(module, {name!r})",
            f"Module '{module}' has no parameter or buffer with name '{name}'",
        )
    if dim is None:
        dim = 1 if isinstance(module, _TRANSPOSED) else 0
    made = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return register_parametrization(module, name, made)


class _Orthogonal(Module):
    """A matrix with orthonormal columns (rows, when it is wide) from any matrix."""

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool):
        super().__init__()
        self.shape, self.orthogonal_map = tuple(weight.shape), orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)
        self.trivialized = use_trivialization

    def forward(self, X: Any) -> Any:
        n, k = X.shape[-2:]
        wide = n < k
        if wide:
            X, n, k = X.mT, k, n
        Q = self._exponential(X, n, k) if self.orthogonal_map != "householder" else None
        if Q is None:
            A = X.tril(-1)
            tau = 2 / (1 + (A * A).sum(-2))
            signs = X.diagonal(0, -2, -1).int().to(X.dtype)
            Q = reflections(A, tau) * signs.unsqueeze(-2)
        if self.trivialized and self.base is not None:
            Q = self.base @ Q
        return Q.mT if wide else Q

    def _exponential(self, X: Any, n: int, k: int) -> Any:
        """exp(A) or (I - A/2)^-1 (I + A/2) of the skew-symmetric A, its first k columns."""
        X = X.tril()
        if n != k:
            X = _cat([X, X.new_zeros(*X.shape[:-1], n - k)], -1)
        A = X - X.mT
        if self.orthogonal_map == "matrix_exp":
            Q = matrix_exp(A)
        else:
            identity = eye(n, dtype=A.dtype)
            Q = linalg.solve(identity - A * 0.5, identity + A * 0.5)
        return Q[..., :k] if n != k else Q

    def right_inverse(self, Q: Any) -> Any:
        if tuple(Q.shape) != self.shape:
            raise ArgumentValueError(
                "an assignment to an orthogonal weight",
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of "
                f"shape {tuple(Q.shape)}.",
            )
        given = Q
        n, k = Q.shape[-2:]
        wide = n < k
        if wide:
            Q, n, k = Q.mT, k, n
        if not self.trivialized:
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley "
                    "parametrizations when use_trivialization=False."
                )
            A = householder_form(Q)
            return A.mT if wide else A
        if n != k:
            rest = randn(*Q.shape[:-2], n, n - k, dtype=Q.dtype)
            Q = orthonormal(_cat([Q, rest], -1))
        elif not _is_orthonormal(Q):
            Q = orthonormal(Q)
        else:
            Q = Q.clone()
        self.base = Q
        start = zeros_like(given)
        start.diagonal(0, -2, -1).fill_(-1.0)
        return start


def reflections(A: Any, tau: Any) -> Any:
    """The first k columns of H_1 ... H_k, H_i = I - tau_i v_i v_i^T, v_i below A's diagonal."""
    n, k = A.shape[-2:]
    Q = eye(n, k, dtype=A.dtype).expand(*A.shape)
    ones = eye(n, k, dtype=A.dtype)
    for i in reversed(range(k)):
        v = (A[..., :, i] + ones[:, i]).unsqueeze(-1)
        Q = Q - tau[..., i, None, None] * v @ (v.mT @ Q)
    return Q


def householder_form(Q: Any) -> Any:
    """What `_Orthogonal` with 'householder' takes to Q: vectors below signs on the diagonal."""
    n, k = Q.shape[-2:]
    rest, A = Q.clone(), zeros_like(Q)
    for i in range(k):
        x = rest[..., i:, i]
        first = x[..., 0]
        length = x.norm(2, -1)
        tail = x[..., 1:]
        sign = (first >= 0).to(Q.dtype) * 2 - 1
        flat = tail.norm(2, -1) == 0 if i < n - 1 else length >= 0
        beta = -sign * length
        tau = ((beta - first) / beta) * (1 - flat.to(Q.dtype))
        divisor = first - beta
        v = tail / divisor.unsqueeze(-1) * (1 - flat.to(Q.dtype)).unsqueeze(-1)
        A[..., i + 1 :, i] = v
        whole = _cat([zeros_like(first).unsqueeze(-1) + 1, v], -1).unsqueeze(-1)
        below = rest[..., i:, :]
        rest[..., i:, :] = below - tau[..., None, None] * whole @ (whole.mT @ below)
        corner = rest[..., i, i]
        A[..., i, i] = (corner >= 0).to(Q.dtype) * 2 - 1
    return A


def orthonormal(X: Any) -> Any:
    """The nearest frame by QR, with the signs that make R's diagonal positive."""
    Q, R = linalg.qr(X)
    return Q * R.diagonal(0, -2, -1).sign().unsqueeze(-2)


def _is_orthonormal(Q: Any) -> bool:
    n, k = Q.shape[-2:]
    gap = (Q.mT @ Q - eye(k, dtype=Q.dtype)).abs()
    limit = 1e-5 if Q.dtype.itemsize == 4 else 1e-12
    return bool((gap < 10 * n * limit).all())


def orthogonal(
    module: Any,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Any:
    """A weight of orthonormal columns (rows, when it is wide).

    `orthogonal_map`: 'matrix_exp' (the default of square ones), 'cayley' or 'householder' (the
    default of others). With `use_trivialization` the map starts at the weight's own value.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ArgumentValueError(
            f"orthogonal(module, {name!r})",
            f"Module '{module}' has no parameter or buffer with name '{name}'",
        )
    if weight.ndim < 2:
        raise ArgumentValueError(
            f"orthogonal(module, {name!r})",
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.",
        )
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ArgumentValueError(
            f"orthogonal(orthogonal_map={orthogonal_map!r})",
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder".',
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)

"""Samples of linear algebra: well-conditioned matrices, batches, singular ones, bad shapes.

In: a row's name. Out: calls.
"""

import numpy

from minitorch2.ops.table import Op
from tests.samples.specs import Sample, TensorSpec, call, of, refused, rough, t


def square(*batch: int, n: int = 3, dtype: str = "f64", seed: int = 0) -> TensorSpec:
    """Matrices far from singular."""
    random = numpy.random.RandomState(seed)
    return of(random.uniform(-1, 1, (*batch, n, n)) + 2.5 * numpy.eye(n), dtype)


def positive(*batch: int, n: int = 3, dtype: str = "f64") -> TensorSpec:
    """Symmetric positive definite matrices with distinct eigenvalues."""
    random = numpy.random.RandomState(3)
    a = random.uniform(-1, 1, (*batch, n, n))
    return of(a @ a.swapaxes(-1, -2) + numpy.diag(numpy.arange(1.0, n + 1)), dtype)


def _square(op) -> list[Sample]:
    found = [call(square()), call(square(2)), call(square(dtype="f32")), call(square(n=1))]
    return [*found, refused(t((2, 3))), refused(t((3,))), refused(t((2, 2), "i64"))]


def _solve(op) -> list[Sample]:
    found = [call(square(), t((3,))), call(square(), t((3, 2))), call(square(2), t((2, 3, 1)))]
    found += [call(square(2), t((2, 3))), call(square(), t((2, 3, 2)))]
    return [*found, refused(square(), t((2, 2))), refused(square(), t((3,), "f32"))]


def _cholesky(op) -> list[Sample]:
    # rough: finite differences leave the symmetric matrices
    found = [rough(positive()), rough(positive(2)), rough(positive(dtype="f32"))]
    return [*found, refused(of(-numpy.eye(2))), refused(t((2, 3)))]


def _qr(op) -> list[Sample]:
    return [call(t((4, 3))), call(t((2, 3, 3))), call(t((2, 4), grad=False)), refused(t((3,)))]


def _eigh(op) -> list[Sample]:
    return [rough(positive()), rough(positive(2)), refused(t((2, 3)))]


def _eig(op) -> list[Sample]:
    return [rough(square()), rough(square(2, dtype="f32")), refused(t((2, 3)))]


def _lu(op) -> list[Sample]:
    found = [call(square()), call(square(2, n=4)), call(square(dtype="f32"))]
    found += [call(t((4, 2), grad=False)), call(t((2, 2, 3), grad=False))]
    return [*found, refused(t((3,))), refused(t((2, 2), "i64"))]


def _svd(op) -> list[Sample]:
    found = [call(t((4, 3)), False), call(t((2, 2, 3)), full_matrices=False)]
    return [*found, call(t((4, 2), grad=False)), refused(t((3,)))]


def _diagonals(op) -> list[Sample]:
    found = [call(t((3,))), call(t((3,)), 1), call(t((3,)), -2), call(t((2,), "i64"))]
    if op.name == "diag":
        return [*found, call(t((3, 4))), call(t((3, 4)), -1), refused(t((2, 2, 2)))]
    found += [call(t((2, 3))), call(t((2, 2), "bool"))]
    if op.name == "diag_embed":
        found += [call(t((2, 3)), 0, 0, 2), call(t((2, 3)), 1, 1, 0), refused(t((2,)), 0, 1, 1)]
    return found


def _trace(op) -> list[Sample]:
    return [call(t((3, 3))), call(t((2, 4), "f32")), refused(t((3,))), call(t((2, 2), "i64"))]


def _added(op) -> list[Sample]:
    if op.name == "addmv":
        operands = (t((3,)), t((3, 4), seed="a"), t((4,), seed="b"))
    elif op.name == "addr":
        operands = (t((3, 4)), t((3,), seed="a"), t((4,), seed="b"))
    else:
        operands = (t((3, 5)), t((2, 3, 4), seed="a"), t((2, 4, 5), seed="b"))
    found = [call(*operands), call(*operands, beta=0.5, alpha=2.0), call(*operands, beta=0)]
    return [*found, refused(operands[0], operands[1], t((9,) * len(operands[2].shape)))]


def _products(op) -> list[Sample]:
    if op.name in ("inner", "kron"):
        found = [call(t((3, 4)), t((2, 4), seed="b")), call(t((4,)), t((4,), seed="b"))]
        return [*found, call(t(()), t((2, 4), seed="b")), call(t((2, 3, 4)), t((4,), seed="b"))]
    if op.name == "vdot":
        return [call(t((4,)), t((4,), seed="b")), refused(t((4,)), t((3,)))]
    if op.name == "tensordot":
        x, y = t((2, 3, 4)), t((3, 4, 5), seed="b")
        found = [call(x, y), call(x, t((4, 2), seed="b"), 1), call(t((2,)), t((3,), seed="b"), 0)]
        found += [call(x, t((5, 4, 2), seed="b"), ([2, 0], [1, 2])), refused(x, y, 3)]
        return found
    if op.name == "linalg_vecdot":
        return [call(t((2, 3)), t((2, 3), seed="b")), call(t((2, 3)), t((3,), seed="b"), dim=-1)]
    found = [call(t((2, 3)), t((2, 3), seed="b")), call(t((3, 2)), t((3, 2), seed="b"), dim=0)]
    return [*found, call(t((2, 3)), t((1, 3), seed="b")), refused(t((2, 4)), t((2, 4)))]


def _power(op) -> list[Sample]:
    found = [call(square(), n) for n in (1, 2, 5, -1, -3)]
    found += [call(t((3, 3), grad=False), 0), call(square(2), 3)]
    return [*found, refused(t((2, 3)), 2)]


def _distances(op) -> list[Sample]:
    if op.name == "cdist":
        found = [call(t((3, 2)), t((4, 2), seed="b"), p) for p in (2.0, 1.0, 3.0, float("inf"))]
        return [*found, call(t((2, 3, 2)), t((2, 4, 2), seed="b")), refused(t((3, 2)), t((3, 3)))]
    if op.name == "dist":
        return [call(t((3, 2)), t((3, 2), seed="b")), call(t((3,)), t((3,), seed="b"), 1)]
    found = [call(t((3, 4)), t((3, 4), seed="b")), call(t((3, 4)), t((4,), seed="b"), dim=-1)]
    return [*found, call(t((2, 3, 4)), t((2, 3, 4), seed="b"), 0, 1e-6), call(t((3,)), t((3,)), 0)]


def _pinv(op: Op) -> list[Sample]:
    zero, most = of(1e-10, grad=False), of([[0.5], [0.1]], grad=False)
    found = [call(t(shape), zero) for shape in ((3, 3), (4, 2), (2, 4))]
    return [*found, call(t((2, 3, 2)), most), rough(of([[1.0, 2.0], [2.0, 4.0]]), zero)]


OWN = {
    **dict.fromkeys(("linalg_det", "linalg_slogdet", "linalg_inv"), _square),
    "linalg_solve": _solve,
    "linalg_cholesky": _cholesky,
    "linalg_qr": _qr,
    "linalg_eigh": _eigh,
    "linalg_svd": _svd,
    "linalg_eig": _eig,
    "linalg_lu_parts": _lu,
    "linalg_pinv_above": _pinv,
    **dict.fromkeys(("diag", "diag_embed", "diagflat"), _diagonals),
    "trace": _trace,
    **dict.fromkeys(("addmv", "addr", "addbmm"), _added),
    **dict.fromkeys(
        ("vdot", "inner", "tensordot", "kron", "linalg_cross", "linalg_vecdot"), _products
    ),
    "matrix_power": _power,
    **dict.fromkeys(("cdist", "dist", "cosine_similarity"), _distances),
}

"""Linear algebra: torch.linalg.

Files, in reading order:

forms     norms, factorizations, solutions
checked   factorizations that say which matrices failed
ranks     ranks, pseudoinverses, least squares: up to a tolerance
reflections  QR kept as reflections, symmetric matrices as L D L^T
"""

from minitorch2.linalg.checked import cholesky_ex, inv_ex, lu_factor_ex, solve_ex
from minitorch2.linalg.forms import (
    PLU,
    QR,
    SVD,
    Eigh,
    LinAlgError,
    LUFactor,
    SLogDet,
    cholesky,
    cross,
    det,
    diagonal,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    inv,
    lu,
    lu_factor,
    lu_solve,
    matmul,
    matrix_exp,
    matrix_norm,
    matrix_power,
    multi_dot,
    norm,
    order_of_rows,
    qr,
    slogdet,
    solve,
    solve_triangular,
    svd,
    svdvals,
    tensorinv,
    tensorsolve,
    vander,
    vecdot,
    vector_norm,
)
from minitorch2.linalg.ranks import LstSq, cond, lstsq, matrix_rank, pinv
from minitorch2.linalg.reflections import (
    geqrf,
    householder_product,
    ldl_factor,
    ldl_factor_ex,
    ldl_solve,
    ormqr,
)
from minitorch2.ops.outputs import with_out

for _name in (
    *("cholesky", "cholesky_ex", "cond", "cross", "det", "eig", "eigh", "eigvals", "eigvalsh"),
    *("householder_product", "inv", "inv_ex", "ldl_factor", "ldl_factor_ex", "ldl_solve", "lstsq"),
    *("lu", "lu_factor", "lu_factor_ex", "lu_solve", "matmul", "matrix_norm", "matrix_power"),
    *("matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "solve_ex"),
    *("solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve", "vecdot", "vector_norm"),
):
    globals()[_name] = with_out(globals()[_name], f"linalg.{_name}")

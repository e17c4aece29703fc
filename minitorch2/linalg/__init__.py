"""Linear algebra: torch.linalg.

Files, in reading order:

forms     norms, factorizations, solutions
checked   factorizations that say which matrices failed
"""

from minitorch2.linalg.checked import cholesky_ex, inv_ex, lu_factor_ex, solve_ex
from minitorch2.linalg.forms import (
    PLU,
    QR,
    SVD,
    Eigh,
    LinAlgError,
    LstSq,
    LUFactor,
    SLogDet,
    cholesky,
    cond,
    cross,
    det,
    diagonal,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    inv,
    lstsq,
    lu,
    lu_factor,
    lu_solve,
    matmul,
    matrix_exp,
    matrix_norm,
    matrix_power,
    matrix_rank,
    multi_dot,
    norm,
    order_of_rows,
    pinv,
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

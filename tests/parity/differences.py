"""Where minitorch2 differs from torch by design: the one reviewed list.

Each entry: the rows it is about, a regular expression of the judge's complaint, and the reason.
A test fails when an entry no longer matches anything, so the list cannot grow stale.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """Rows (a pattern of their names), what the judge says, and why it is meant."""

    rows: str
    complaint: str
    reason: str

    def covers(self, row: str, complaint: str) -> bool:
        """Whether this entry is about a complaint of a row."""
        return bool(re.fullmatch(self.rows, row) and re.search(self.complaint, complaint))


DIFFERENCES = (
    Difference(
        "(atan2|maximum|minimum|logical_(and|or|xor))_?",
        "must be Tensor, not|can't be cast",
        "every pointwise row takes Python numbers; torch asks for tensors in these",
    ),
    Difference(
        "maximum|minimum|relu",
        r"result 0: \d+ values differ .*\[\((-?0\.0, -?0\.0)(\), \((-?0\.0, -?0\.0))*\)\]$",
        "which zero wins in a tie of 0.0 and -0.0 is open; torch's own dtypes disagree",
    ),
    Difference(
        "pow_?",
        r"not defined for torch.bool|gradient 0: 2 values differ",
        "torch lets bool ** True through alone among bools; x ** -0.5 of -0.0 is rsqrt's there",
    ),
    Difference(
        "norm|normalize",
        r"double gradient 0: 2 values differ .*\(0.0, nan\)",
        "the second derivative of a zero vector's norm is 0 here, nan in torch",
    ),
    Difference(
        "elu",
        "double gradient 0: 2 values differ",
        "at exactly 0 elu's second derivative is the left one here, 0 in torch",
    ),
    Difference(
        "index",
        "result 0: strides",
        "picked elements are row-major; torch keeps the order of a permuted operand",
    ),
    Difference(
        "index|index_put_?",
        "index of dtype torch.bool",
        "these rows take integers; brackets turn masks into them",
    ),
    Difference(
        "linalg_.*|matrix_power|fft_.*",
        "result [0-9]: strides",
        "results are row-major; torch shows the order LAPACK and the transforms work in",
    ),
    Difference(
        "linalg_(svd|eig)",
        "result [012]: .* values differ|gradient",
        "the signs of such vectors are free; test_linalg.py and test_complex.py compare the rest",
    ),
    Difference(
        "sinc_?|asinh",
        r"double gradient 0: \d values differ .*nan",
        "the second derivative of sinc at 0, and of asinh at infinity, is finite here",
    ),
    Difference("gelu", r"\(inf, nan\)", "torch's vectorized float32 gelu(inf) is nan"),
    Difference(
        "as_strided_scatter",
        "gradient 0",
        "torch gives the written elements a gradient and the kept ones none",
    ),
    Difference(
        "logical_(and|or|xor|not)_",
        "gradient 0",
        "torch passes the gradient through as if nothing had been written",
    ),
    Difference(
        "(eq|ne|lt|le|gt|ge)_|logical_(and|or|xor)_",
        "requires_grad False, torch True",
        "an integer tensor never requires a gradient",
    ),
    Difference(
        ".*",
        "torch raises .*(implemented for '?Complex|outputs with complex|supported for complex)",
        "complex numbers work wherever the definition holds for them",
    ),
    Difference(
        "logcumsumexp|logaddexp2?",
        "not defined for torch.complex",
        "logarithms of sums of complex exponentials have no row; use logsumexp",
    ),
    Difference(
        "tril_|triu_",
        "more than one element of the written-to tensor",
        "no write into memory that overlaps itself",
    ),
)

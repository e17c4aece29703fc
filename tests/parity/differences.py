"""Where minitorch2 differs from torch by design: the one reviewed list.

Each entry: the rows it is about, a regular expression of the judge's complaint, and the reason.
A test fails when an entry no longer matches anything, so the list cannot grow stale, and when
there are more than fifteen.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """Rows (a pattern of their names), what the judge says of them, and why it is meant."""

    rows: str
    complaint: str
    reason: str

    def covers(self, row: str, complaint: str) -> bool:
        """Whether this entry is about a complaint of a row."""
        said = f"{row}: {complaint}"  # so that a pattern may be of one row alone
        return bool(re.fullmatch(self.rows, row) and re.search(self.complaint, said))


DIFFERENCES = (
    Difference(
        ".*",
        r"raises NotImplementedError: |raises .*(implemented for|for complex|outputs with complex)"
        "|Unsupported input type",
        "torch lacks the CPU kernel of a function for a dtype; here the definition is computed",
    ),
    Difference(
        "logcumsumexp|logaddexp2?|complex|view_as_complex|searchsorted|bucketize",
        "not defined for torch.complex|complex numbers of 16-bit|floating point tensors of 32",
        "no complex numbers of 16-bit parts, no order and no logarithms of sums among complex ones",
    ),
    Difference(
        ".*",
        r"received an invalid combination of arguments|takes from \d+ to \d+ positional"
        "|missing 1 required positional arguments",
        "one signature a function: combinations of arguments of several of torch's overloads",
    ),
    Difference(
        ".*",
        "Autograd not support dtype",
        "a result of integers has no gradient; torch refuses some such calls",
    ),
    Difference(
        "index|index_copy|put|addr|kron|pow|complex|polar|adjoint|phase|.*_scatter|linalg_.*|fft_.*"
        "|matrix_power",
        r"result \d: strides",
        "the memory order of these results: row-major here, or as another operand is in torch",
    ),
    Difference(
        "maximum|minimum|relu|nextafter|clamp.*|clip|kthvalue|(nan)?median_.*|mode|topk|(arg)?sort",
        r"values differ .*\[\((-?0\.0, -?0\.0)(\), \((-?0\.0, -?0\.0))*\)\]$|result 1:|gradient",
        "which of several equal elements is named is open; torch's own dtypes disagree",
    ),
    Difference(
        "linalg_(svd|eigh?|qr|det|lu_parts)|slogdet",
        "values differ|gradient",
        "signs of vectors are free, factors of singular matrices too; test_linalg.py has the rest",
    ),
    Difference(
        "norm|normalize|var|var_mean|group_norm|corrcoef|elu|sinc_?|asinh|pow_?|softplus|polar"
        "|copysign_?|gelu|hardtanh|relu6|ldexp_?|logit_?|cumprod|entr|xlog1py|i0|i1e?|nanmean",
        r"^(?!var|group|corr).*(gradient|\(inf, nan\)|defined for torch.bool|requires_grad False)"
        r"|^var(_mean)?: gradient 0: .*\(nan, |^group_norm: gradient 1: .*, nan\)\]$"
        "|^corrcoef: double gradient 0",
        "where there is no derivative (0, ties, infinity, nothing): one limit here, another there",
    ),
    Difference(
        "take_along_dim|scatter_reduce_?|isin|kron",
        "out of bounds|view size is not compatible|(take|scatter|isin).*: gradient 1",
        "torch reads outside of its memory, hands gradients to unused elements, or fails to view",
    ),
    Difference(
        "as_strided_scatter",
        "gradient|values differ",
        "the tensor's own elements count here, those of its storage in torch",
    ),
    Difference(
        "(eq|ne|lt|le|gt|ge|logical_(and|or|xor|not)|index_(put|fill))_",
        "gradient 0|requires_grad False, torch True",
        "truth and integers have no gradient; torch passes one on as if nothing had been written",
    ),
    Difference(
        ".*",
        "we raise InPlaceError: .*single memory|: out= the input: torch raises.*single memory",
        "no write into memory that overlaps itself, or partly what is read; torch checks some",
    ),
    Difference(
        "cummax|cummin|cat|diff|bmm|(log_)?softmax",
        "we raise ((Dimension|Dtype)Error|UnsupportedDtype: .* is not defined for torch)",
        "dimensions and dtypes must fit, also where torch finds nothing to do and does not look",
    ),
    Difference(
        "true_divide|pow_?|atan2|maximum|minimum|var|var_mean|hypot_?|digamma_?|xlogy_?|xlog1py"
        "|logaddexp2?|entr|quantile|(nan)?median_.*|nextafter|squared_difference",
        r"tangent \d(, no finite number|.*; the values have no one slope there$)",
        "tangents at ties, infinities, nans and poles: those of the gradient here; torch's forward "
        "formulas differ from its own gradients",
    ),
    Difference(
        "pow_?|silu|nll_loss|cross_entropy|scatter_(reduce|fold)|nextafter|sinc_?"
        "|logical_(and|or|xor|not)_|copy_|norm|squared_difference",
        r"tangent \d: (dtype|.*; differences of the values agree with ours$)",
        "torch's forward formulas leave out weights, imaginary parts, products, writes and dtypes",
    ),
)

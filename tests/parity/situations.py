"""A line of Python, evaluated with real torch and with minitorch2: what must be equal.

In: an expression that says `torch` (and `t` for torch.tensor, `np`, `inf`, `nan`). Out: nothing;
an AssertionError unless both give equal values, dtypes, shapes and strides, or both refuse, with
exceptions of which ours is an instance of torch's class.
"""

import math
import warnings
from typing import Any

import numpy
import torch

import minitorch2

Outcome = tuple[str, Any]


def _facts(value: Any) -> Any:
    """What is compared of a result: plain data."""
    if isinstance(value, (torch.Tensor, minitorch2.Tensor)):
        seen = value.detach()
        if value.is_sparse:
            return "sparse", str(value.dtype), _facts(seen.to_dense())
        if isinstance(seen, torch.Tensor):
            seen = seen.resolve_conj().resolve_neg()
        array = (seen.float() if "bfloat16" in str(value.dtype) else seen).numpy()
        strides = [s for n, s in zip(value.shape, value.stride(), strict=True) if n > 1]
        dense = strides if value.numel() else []
        return str(value.dtype), tuple(value.shape), dense, value.requires_grad, array
    if isinstance(value, (torch.dtype, minitorch2.dtype)):
        return str(value)
    if isinstance(value, (tuple, list)):
        return [_facts(item) for item in value]
    return value


def _outcome(line: str, library: Any) -> Outcome:
    names = {
        "torch": library, "t": library.tensor, "np": numpy, "inf": math.inf, "nan": math.nan,
    }  # fmt: skip
    library.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return "value", _facts(eval(line, names))
        except Exception as error:
            return "refusal", error


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, numpy.ndarray):
        if a.dtype.kind in "fc":
            tight = a.dtype.itemsize >= 8 and a.dtype.char not in "fF"
            return numpy.allclose(a, b, 1e-9 if tight else 2e-4, 1e-6, equal_nan=True)
        return numpy.array_equal(a, b)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(a, float):
        return a == b or (a != a and b != b) or abs(a - b) <= 1e-5 * abs(a)
    return a == b and type(a) is type(b)


def check(line: str) -> None:
    """AssertionError unless both libraries do the same."""
    (kind, theirs), (ours_kind, ours) = _outcome(line, torch), _outcome(line, minitorch2)
    assert kind == ours_kind, f"{line}\n  torch: {theirs!r}\n  ours: {ours!r}"
    if kind == "refusal":
        private = type(theirs).__name__.startswith("_")  # torch's LinAlgError is one of these
        wanted = RuntimeError if private else type(theirs)
        assert isinstance(ours, wanted), f"{line}\n  torch: {theirs!r}\n  ours: {ours!r}"
    else:
        assert _equal(theirs, ours), f"{line}\n  torch: {theirs}\n  ours: {ours}"


def lines(text: str) -> list[str]:
    """The lines of a block of text that say something."""
    return [line.strip() for line in text.splitlines() if line.strip()]

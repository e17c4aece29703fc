"""How torch judges a row: the same call in both libraries, and every difference in words.

In: a row and a sample. Out: a list of complaints; empty when values, dtypes, shapes, strides,
gradients, double gradients and refusals agree.

A row's `torch` field names the judge's function. Rows that torch spells otherwise stand in SPELLED;
differences by design stand in `differences.py`.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy
import torch

import minitorch2
from minitorch2.ops.overloads import FUNCTIONS
from minitorch2.ops.table import POINTWISE, Op
from tests.op_samples import Sample, TensorSpec, build, specs_in

# (relative, absolute) tolerances by dtype. Transcendental functions and sums may differ in order.
TOLERANCES = {
    "float64": (1e-8, 1e-11),
    "float32": (2e-5, 1e-5),
    "float16": (4e-3, 4e-3),
    "bfloat16": (3e-2, 3e-2),
    "complex128": (1e-8, 1e-11),
    "complex64": (5e-5, 1e-5),
}


def _slice(x: Any, dim: int, start: Any, end: Any, step: int) -> Any:
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


def _index(x: Any, indices: tuple) -> Any:
    return x[tuple(slice(None) if index is None else index for index in indices)]


def _strided_add(x: Any, src: Any, size: tuple, stride: tuple, offset: int) -> Any:
    places = torch.arange(x.numel()).as_strided(size, stride, offset)
    return x.index_put((places,), src, accumulate=True)


def _convolution(x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    none = (0,) * len(stride)
    return torch.convolution(x, weight, None, stride, padding, dilation, False, none, groups)


def _convolution_part(at: int) -> Callable:
    """One gradient of a convolution: torch's conv2d_input and conv2d_weight for any rank."""

    def part(grad: Any, other: Any, size: Any, *given: Any) -> Any:
        *how, groups = given
        if at == 0:
            x, weight = grad.new_zeros((grad.shape[0], other.shape[1] * groups, *size)), other
        else:
            x, weight = other, grad.new_zeros((grad.shape[1], other.shape[1] // groups, *size))
        mask = [at == 0, at == 1, False]
        none = (0,) * len(size)
        backward = torch.ops.aten.convolution_backward
        return backward(grad, x, weight, None, *how, False, none, groups, mask)[at]

    return part


def _causal(query: Any, key: Any) -> Any:
    rows, columns = query.shape[-2], key.shape[-2]
    return torch.ones(rows, columns, dtype=torch.bool).tril(columns - rows)


def _lu_parts(x: Any) -> tuple:
    factors, pivots = torch.linalg.lu_factor(x)
    return factors, pivots, torch.linalg.lu(x.detach())[0].abs().mT.argmax(-1)


SPELLED: dict[str, Callable] = {
    "convolution": _convolution,
    "max_pool": lambda x, *how: torch.nn.functional.max_pool2d(x, *how, return_indices=True),
    "polygamma": lambda x, n: torch.polygamma(n, x),
    "median_all": torch.Tensor.median,
    "median_dim": torch.Tensor.median,
    "unique_parts": lambda x, dim=None: torch.unique(
        x, return_inverse=True, return_counts=True, dim=dim
    ),
    "unique_consecutive_parts": lambda x, dim=None: torch.unique_consecutive(
        x, return_inverse=True, return_counts=True, dim=dim
    ),
    "convolution_to_input": _convolution_part(0),
    "convolution_to_weight": _convolution_part(1),
    "trunc_divide": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "conj": lambda x: x.conj().resolve_conj(),  # ours computes
    "convert": lambda x, dtype: x.to(dtype),
    "slice": _slice,
    "index": _index,
    "fft_c2c": lambda x, dim, norm, forward, last=None: (
        torch.fft.fftn if forward else torch.fft.ifftn
    )(x, dim=dim, norm=norm),
    "fft_r2c": lambda x, dim, norm: torch.fft.rfft(x, dim=dim, norm=norm),
    "fft_c2r": lambda x, dim, size, norm: torch.fft.irfft(x, size, dim, norm),
    "linalg_lu_parts": _lu_parts,
    "linalg_pinv_above": lambda x, bound, hermitian=False: torch.linalg.pinv(
        x,
        atol=bound[..., 0] if bound.ndim else bound,
        rtol=torch.zeros_like(bound.sum()),
        hermitian=hermitian,
    ),
    "rebase": lambda x, data: x + (data - x).detach(),
    "channel_norm": lambda x, mean, variance, weight, bias, eps: torch.nn.functional.batch_norm(
        x, mean, variance, weight, bias, False, 0, eps
    ),
    "batch_statistics_norm": lambda *given: _batch_statistics_norm(*given),
    "sort_first": lambda x, dim, count, descending: torch.topk(x, count, dim, descending),
    "attention": lambda q, k, v, mask, scale, causal: (
        torch.nn.functional.scaled_dot_product_attention(
            q, k, v, _causal(q, k) if causal else mask, scale=scale
        )
    ),
    "softmax_backward": lambda g, y, dim: torch._softmax_backward_data(g, y, dim, y.dtype),
    "log_softmax_backward": lambda g, y, dim: torch._log_softmax_backward_data(g, y, dim, y.dtype),
    "squared_difference": lambda x, y: torch.ops.aten.mse_loss(x, y, 0),
    "bit_entropy": lambda x, y: torch.nn.functional.binary_cross_entropy(x, y, reduction="none"),
    "reshape": torch.Tensor.reshape,
    "permute": torch.Tensor.permute,
    "any_true": lambda x, *where, **how: torch.any(x.bool(), *where, **how),
    "all_true": lambda x, *where, **how: torch.all(x.bool(), *where, **how),
    "index_put": lambda x, indices, values, accumulate=False: torch.ops.aten.index_put(
        x, indices, values, accumulate
    ),
    "index_put_": torch.ops.aten.index_put_,
    "flip": torch.Tensor.flip,
    "gradients": lambda outputs, starts, inputs: torch.autograd.grad(
        outputs, inputs, starts, materialize_grads=True
    ),
    "view_dtype": lambda x, dtype, itemsize: x.view(dtype),
    "alias": lambda x: x.view_as(x),
    "after": lambda x, other: x.view_as(x),
    "contiguous_copy": lambda x: x.clone(memory_format=torch.contiguous_format),
    "as_strided_add": _strided_add,
    "uniform": lambda seed, counter, size, dtype: torch.rand(size, dtype=dtype),
    "random_words": lambda seed, counter, size: torch.randint(0, 9, size),
}


def _batch_statistics_norm(x: Any, weight: Any, bias: Any, eps: float) -> tuple:
    found, mean, inverse = torch.native_batch_norm(x, weight, bias, None, None, True, 0, eps)
    return found, mean.detach(), (inverse.detach() ** -2 - eps)


def function_of(op: Op) -> Callable:
    """torch's function of a row."""
    found: Any = torch
    for name in op.torch.split(".")[1:]:
        found = getattr(found, name) if op.name not in SPELLED else None
    return SPELLED.get(op.name) or found


def ours_of(op: Op) -> Callable:
    """What the user calls: the row, or the function of several signatures in its place."""
    return minitorch2.full if op.name == "full" else FUNCTIONS.get(op.name, op.public)


class Outcome:
    """What a call gave: results (a flat list) or the error."""

    def __init__(self, call: Callable[[], Any]):
        self.error: Exception | None = None
        self.results: list[Any] = []
        try:
            found = call()
        except Exception as error:  # the judge's refusals count as answers
            self.error = error
            return
        self.results = list(found) if isinstance(found, (tuple, list)) else [found]


def is_internal(op: Op) -> bool:
    """Whether only other rows use a row: what it refuses is then nobody's business."""
    published = op.function or op.method or op.torch.count(".") > 1
    return not published or op.name in SPELLED and not (op.function or op.method)


def complain(
    op: Op, sample: Sample, random: bool = False, accepted: Callable[[], None] = lambda: None
) -> list[str]:
    """Every difference between minitorch2 and torch on one call.

    `accepted` is called when both carried it out (and did not both refuse it).
    """
    judge = function_of(op)
    if op.inplace_of is not None:
        return _complain_in_place(op, sample, judge, accepted)
    mine_args = build((sample.args, sample.kwargs), minitorch2, grad=True)
    their_args = build((sample.args, sample.kwargs), torch, grad=True)
    if op.name == "copy_":
        mine = Outcome(lambda: mine_args[0][0].copy_(*mine_args[0][1:]))
    else:
        mine = Outcome(lambda: ours_of(op)(*mine_args[0], **mine_args[1]))
    theirs = Outcome(lambda: judge(*their_args[0], **their_args[1]))
    if not mine.error and not theirs.error:
        accepted()
    exact, refusals = op.kind == POINTWISE, sample.fails or not is_internal(op)
    found = compare(mine, theirs, sample, exact, values=not random, refusals=refusals)
    if found or mine.error or theirs.error or random:
        return found
    return compare_gradients(mine, theirs, mine_args, their_args, specs_in(sample))


def compare(
    mine: Outcome,
    theirs: Outcome,
    sample: Sample,
    exact: bool = False,
    values: bool = True,
    refusals: bool = True,
) -> list[str]:
    """Differences of refusals, then of each result."""
    if mine.error or theirs.error:
        return compare_errors(mine.error, theirs.error) if refusals else []
    if sample.fails:
        return ["marked as refused, but both accept it"]
    if len(mine.results) != len(theirs.results):
        return [f"{len(mine.results)} results, torch gives {len(theirs.results)}"]
    found = []
    passed = [TOLERANCES[s.dtype.name] for s in specs_in(sample) if s.dtype.name in TOLERANCES]
    loosest = None if exact else max(passed, default=None)  # operands may be computed in their own
    for index, (a, b) in enumerate(zip(mine.results, theirs.results, strict=True)):
        close = max(loosest, TOLERANCES.get(name_of(a), (0, 0))) if loosest else None
        close = close if name_of(a) in TOLERANCES else None
        found += compare_tensors(a, b, f"result {index}", exact, values, close)
    return found


def compare_errors(mine: Exception | None, theirs: Exception | None) -> list[str]:
    """Both must refuse, and `except` clauses written for torch must catch ours."""
    unspoken = (
        "INTERNAL ASSERT",
        "Expected a proper",
        "Expected a value of",
        "setStorage",
        "a leaf Variable",
    )  # torch's own slips
    if theirs is not None and any(text in str(theirs) for text in unspoken):
        return []
    if theirs is None:
        return [f"we raise {type(mine).__name__}: {str(mine).splitlines()[0]}; torch does not"]
    if mine is None:
        return [f"torch raises {type(theirs).__name__}: {str(theirs).splitlines()[0]}; we do not"]
    if not isinstance(mine, minitorch2.errors.Mt2Error) and not isinstance(mine, TypeError):
        return [f"we raise a bare {type(mine).__name__}: {mine}"]
    if isinstance(theirs, (AttributeError, AssertionError)):  # torch's own bare error
        return []
    sizes = (IndexError, RuntimeError)  # a wrong dimension or size: torch is not of one mind
    if isinstance(mine, sizes) and isinstance(theirs, sizes):
        return []
    spoken = (NotImplementedError, torch.linalg.LinAlgError)
    kind = RuntimeError if isinstance(theirs, spoken) else type(theirs)
    if not isinstance(mine, kind):
        return [f"we raise {type(mine).__mro__[:3]}: {mine.args}; torch {theirs!r}"]
    return []


def as_numpy(tensor: Any) -> numpy.ndarray:
    """The elements of a tensor of either library; 16-bit floats widened."""
    tensor = tensor.detach()
    if isinstance(tensor, torch.Tensor) and tensor._is_zerotensor():
        tensor = tensor.clone()
    if str(tensor.dtype) in ("torch.bfloat16", "torch.float16"):
        tensor = tensor.to(
            torch.float32 if isinstance(tensor, torch.Tensor) else minitorch2.float32
        )
    return numpy.array((tensor.resolve_conj() if tensor.dtype.is_complex else tensor).numpy())


def significant_strides(tensor: Any) -> tuple:
    """Strides of the dimensions with more than one index; () when there are no elements."""
    shape = tuple(tensor.shape)
    if 0 in shape:
        return ()
    return tuple(s for n, s in zip(shape, tensor.stride(), strict=True) if n != 1)


def name_of(tensor: Any) -> str:
    """The name of the dtype of a tensor (or of a TensorSpec)."""
    return str(tensor.dtype).removeprefix("torch.")


def compare_tensors(
    mine: Any,
    theirs: Any,
    what: str,
    exact: bool = False,
    values: bool = True,
    tolerance: tuple[float, float] | None = None,
) -> list[str]:
    """Differences of dtype, shape, strides and values."""
    if not isinstance(theirs, torch.Tensor):
        return [] if mine == theirs else [f"{what}: {mine!r}, torch {theirs!r}"]
    if str(mine.dtype) != str(theirs.dtype):
        return [f"{what}: dtype {mine.dtype}, torch {theirs.dtype}"]
    if tuple(mine.shape) != tuple(theirs.shape):
        return [f"{what}: shape {tuple(mine.shape)}, torch {tuple(theirs.shape)}"]
    found = []
    if significant_strides(mine) != significant_strides(theirs):
        found.append(f"{what}: strides {mine.stride()}, torch {theirs.stride()}")
    if values:
        a, b = as_numpy(mine), as_numpy(theirs)
        relative, absolute = tolerance or TOLERANCES.get(name_of(mine), (0, 0))
        close = numpy.isclose(a, b, relative, absolute, equal_nan=True)
        if exact and a.dtype.kind == "f":
            close &= (a != 0) | (b != 0) | (numpy.signbit(a) == numpy.signbit(b))
        if not close.all():
            bad = numpy.argwhere(~close)[:3].tolist()
            some = [(a[tuple(at)].item(), b[tuple(at)].item()) for at in bad]
            found.append(f"{what}: {(~close).sum()} values differ at {bad}: (ours, torch's) {some}")
    return found


def _leaves(arguments: Any, library: Any) -> list[Any]:
    if isinstance(arguments, library.Tensor):
        return [arguments] if arguments.requires_grad else []
    if isinstance(arguments, dict):
        arguments = tuple(arguments.values())
    if isinstance(arguments, (tuple, list)):
        return [leaf for item in arguments for leaf in _leaves(item, library)]
    return []


def _seed(shape: tuple, index: int, is_complex: bool = False) -> numpy.ndarray:
    random = numpy.random.RandomState(17 + index)
    real = random.uniform(0.5, 1.5, shape)
    return numpy.asarray(real + 1j * random.uniform(-1, 1, shape)) if is_complex else real


def _gradients(outputs: list[Any], leaves: list[Any], library: Any) -> list[Any] | Exception:
    wanted = [o for o in outputs if isinstance(o, library.Tensor) and o.requires_grad]
    if not wanted:
        return []
    seeds = [
        library.from_numpy(_seed(tuple(o.shape), index, o.dtype.is_complex)).to(o.dtype)
        for index, o in enumerate(wanted)
    ]
    try:
        return list(
            library.autograd.grad(wanted, leaves, seeds, create_graph=True, allow_unused=True)
        )
    except Exception as error:
        return error


def compare_gradients(
    mine: Outcome,
    theirs: Outcome,
    mine_args: Any,
    their_args: Any,
    specs: Sequence[TensorSpec] = (),
) -> list[str]:
    """Differences of first and second gradients."""
    ours, judges = _leaves(mine_args, minitorch2), _leaves(their_args, torch)
    found = []
    for index, (a, b) in enumerate(zip(mine.results, theirs.results, strict=True)):
        if isinstance(b, torch.Tensor) and a.requires_grad != b.requires_grad:
            found.append(
                f"result {index}: requires_grad {a.requires_grad}, torch {b.requires_grad}"
            )
    if found or not ours:
        return found
    results = [r for r in theirs.results if isinstance(r, torch.Tensor)] + list(specs)
    first, expected = (
        _gradients(mine.results, ours, minitorch2),
        _gradients(theirs.results, judges, torch),
    )
    if isinstance(expected, Exception):  # torch cannot; whether we can is gradcheck's matter
        return []
    if isinstance(first, Exception):
        return [f"gradient: {first!r}"[:300]]
    found = _compare_gradient_lists(first, expected, "gradient", results)
    if found or not any(g is not None and g.requires_grad for g in expected):
        return found
    second = _gradients([g for g in first if g is not None], ours, minitorch2)
    judged = _gradients([g for g in expected if g is not None], judges, torch)
    if isinstance(judged, Exception):
        return []
    if isinstance(second, Exception):
        return [f"double gradient: {second!r}"[:300]]
    return _compare_gradient_lists(second, judged, "double gradient", results)


def _compare_gradient_lists(
    mine: list[Any], theirs: list[Any], what: str, results: list[Any]
) -> list[str]:
    passed = [tensor for tensor in (*mine, *theirs, *results) if tensor is not None]
    loosest = [TOLERANCES[name_of(tensor)] for tensor in passed if name_of(tensor) in TOLERANCES]
    if not mine or not theirs:  # nothing left that requires a gradient: all zeros
        rest = [g for g in [*mine, *theirs] if g is not None]
        least = max([1e-6, *(absolute for _, absolute in loosest)])
        zero = all((abs(as_numpy(g)) < least).all() or numpy.isnan(as_numpy(g)).all() for g in rest)
        return [] if zero else [f"{what}: {mine}, torch {theirs}"[:300]]
    found = []
    for index, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        if a is None or b is None:
            rest = [g for g in (a, b) if g is not None]
            if rest and not (as_numpy(rest[0]) == 0).all():
                found.append(f"{what} {index}: {a}, torch {b}"[:300])
            continue
        widen = 8 if "double" in what else 1  # it may have passed through an operand's dtype
        relative, absolute = max(loosest)
        close = widen * relative, widen * absolute
        complaints = compare_tensors(a, b, f"{what} {index}", tolerance=close)
        found += [c for c in complaints if "strides" not in c]  # nobody's promise
    return found


def _complain_in_place(
    op: Op, sample: Sample, judge: Callable, accepted: Callable[[], None]
) -> list[str]:
    if sample.args and not specs_in(sample.args[0]):
        return []
    found = []
    for grad in (False, True):
        mine_args = build((sample.args, sample.kwargs), minitorch2, grad)
        their_args = build((sample.args, sample.kwargs), torch, grad)
        target, judged = mine_args[0][0], their_args[0][0]
        if grad:
            target, judged = target.clone(), judged.clone()
        method = getattr(target, op.name)
        mine = Outcome(partial(method, *mine_args[0][1:], **mine_args[1]))
        theirs = Outcome(partial(judge, judged, *their_args[0][1:], **their_args[1]))
        if not mine.error and not theirs.error and not grad:
            accepted()
        if not mine.error and mine.results[0] is not target:
            found.append("does not return self")
        found += compare(mine, theirs, Sample(sample.args, sample.kwargs))
        if mine.error or theirs.error or found:
            return found
        if grad:
            found += compare_gradients(mine, theirs, mine_args, their_args)
    return found

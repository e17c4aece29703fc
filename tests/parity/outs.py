"""How torch judges out=: the same call with the same kinds of tensors to write.

In: a row and a sample. Out: complaints about what is returned, written, resized or refused.
"""

import warnings
from collections.abc import Callable, Collection, Iterator
from typing import Any

import torch

import minitorch2
from minitorch2.ops.outputs import takes_out
from minitorch2.ops.table import Op
from tests.op_samples import Sample, build, specs_in
from tests.parity.judge import (
    TOLERANCES,
    Outcome,
    compare_errors,
    compare_tensors,
    function_of,
    name_of,
    ours_of,
)

Make = Callable[[Any, tuple, Any, list[Any]], Any]


def _fitting(library: Any, shape: tuple, dtype: Any, args: list[Any]) -> Any:
    return library.zeros(shape, dtype=dtype)


def _empty(library: Any, shape: tuple, dtype: Any, args: list[Any]) -> Any:
    return library.empty(0, dtype=dtype)


def _wider(library: Any, shape: tuple, dtype: Any, args: list[Any]) -> Any:
    return library.zeros(shape, dtype=library.float64)


def _narrower(library: Any, shape: tuple, dtype: Any, args: list[Any]) -> Any:
    return library.zeros(shape, dtype=library.int16)


def _turned(library: Any, shape: tuple, dtype: Any, args: list[Any]) -> Any:
    order = tuple(range(len(shape) - 1, -1, -1))
    return library.zeros(shape[::-1], dtype=dtype).permute(order)


def _resized(library: Any, shape: tuple, dtype: Any, args: list[Any]) -> Any:
    return library.ones((5, 2), dtype=dtype)


def _expanded(library: Any, shape: tuple, dtype: Any, args: list[Any]) -> Any:
    return library.zeros((1,) * len(shape), dtype=dtype).expand(shape)


def _the_input(library: Any, shape: tuple, dtype: Any, args: list[Any]) -> Any:
    first = next((a for a in args if isinstance(a, library.Tensor)), None)
    fits = first is not None and shape and tuple(first.shape) == shape and first.dtype == dtype
    return first if fits else library.zeros(shape, dtype=dtype)


def _beside_the_input(library: Any, shape: tuple, dtype: Any, args: list[Any]) -> Any:
    """Memory that the input shares in part."""
    at = next((i for i, a in enumerate(args) if isinstance(a, library.Tensor)), None)
    if at is None or not shape or tuple(args[at].shape) != shape or args[at].dtype != dtype:
        return library.zeros(shape, dtype=dtype)
    whole = library.cat([args[at], args[at][:1]], 0)
    args[at] = whole[:-1]
    return whole[1:]


def _with_gradient(library: Any, shape: tuple, dtype: Any, args: list[Any]) -> Any:
    made = library.zeros(shape, dtype=dtype)
    return made.requires_grad_() if made.is_floating_point() else made


FORMS: dict[str, Make] = {
    "fitting": _fitting,
    "empty": _empty,
    "wider": _wider,
    "narrower": _narrower,
    "turned": _turned,
    "another shape": _resized,
    "expanded": _expanded,
    "the input": _the_input,
    "beside the input": _beside_the_input,
    "with a gradient": _with_gradient,
}


def complaints(
    op: Op, sample: Sample, forms: Collection[str] = tuple(FORMS)
) -> Iterator[tuple[str, list[str]]]:
    """(form, differences) for these kinds of tensors to write; none where torch has no out=."""
    judge = function_of(op)
    if not takes_out(op) or sample.fails:
        return
    expected = Outcome(lambda: judge(*build(sample.args, torch), **build(sample.kwargs, torch)))
    if expected.error or not _has_out(judge, sample, expected):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of resizing
        for name in forms:
            make = FORMS[name]
            mine, my_outs = _run(ours_of(op), minitorch2, sample, make, expected)
            theirs, their_outs = _run(judge, torch, sample, make, expected)
            found = _compare(sample, mine, theirs, my_outs, their_outs, expected)
            yield name, [f"out= {name}: {complaint}" for complaint in found]


def _has_out(judge: Callable, sample: Sample, expected: Outcome) -> bool:
    outcome, _ = _run(judge, torch, sample, _fitting, expected)
    return not isinstance(outcome.error, TypeError)


def _run(
    function: Callable, library: Any, sample: Sample, make: Make, expected: Outcome
) -> tuple[Outcome, list[Any]]:
    args, kwargs = list(build(sample.args, library)), build(sample.kwargs, library)
    outs = []
    for result in expected.results:
        dtype = getattr(library, str(result.dtype).removeprefix("torch."))
        outs.append(make(library, tuple(result.shape), dtype, args))
    out = outs[0] if len(outs) == 1 else tuple(outs)
    return Outcome(lambda: function(*args, **kwargs, out=out)), outs


def _compare(
    sample: Sample,
    mine: Outcome,
    theirs: Outcome,
    ours: list[Any],
    judges: list[Any],
    expected: Outcome,
) -> list[str]:
    if mine.error and theirs.error:
        return []
    if mine.error or theirs.error:
        return compare_errors(mine.error, theirs.error)
    passed = [TOLERANCES[s.dtype.name] for s in specs_in(sample) if s.dtype.name in TOLERANCES]
    found = [] if all(a is b for a, b in zip(mine.results, ours, strict=True)) else ["not out=s"]
    for index, (a, b, usual) in enumerate(zip(ours, judges, expected.results, strict=True)):
        usual_close = TOLERANCES.get(name_of(usual), (0, 0))
        close = max([*passed, usual_close, TOLERANCES.get(name_of(a), (0, 0))])
        found += compare_tensors(a, b, f"out {index}", tolerance=close)
    return found

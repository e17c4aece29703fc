"""One run of a program, and what differs between two.

In: a program, a library, a function that compiles (or not), batch sizes. Out: for each call an
Outcome: results, gradients of the leaves, what became of the inputs, which tensors share memory,
the error, and how far the random state moved. `differences` puts two of them into words.
"""

import linecache
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy

import minitorch2
from minitorch2.errors import SavedTensorModified
from tests.programs.inputs import make_inputs
from tests.programs.writing import Program

TOLERANCE = {"float64": 1e-8, "float32": 5e-5, "float16": 2e-2, "bfloat16": 0.1}
ROUNDED = {"float32": 5e-5, "float16": 2**-9, "bfloat16": 2**-6}  # of halves, two last bits


@dataclass
class Outcome:
    """What one call did. Tensors are (dtype, shape, strides, requires_grad, numbers)."""

    results: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    gradients: list[Any] = field(default_factory=list)
    sharing: list[Any] = field(default_factory=list)
    error: Exception | None = None
    backward_error: Exception | None = None
    drawn: int = 0


def function_of(program: Program, library: Any) -> Callable:
    """The program as a function, with its source where tracebacks look for it."""
    file = f"<program {program.seed}>"
    linecache.cache[file] = (len(program.text), None, program.text.splitlines(True), file)
    scope: dict[str, Any] = {"torch": library}
    exec(compile(program.text, file, "exec"), scope)
    return scope["program"]


def run(
    program: Program, library: Any, function: Callable, batches: Sequence[int]
) -> list[Outcome]:
    """One outcome for each batch size."""
    return [_run_once(program, library, function, batch) for batch in batches]


def _run_once(program: Program, library: Any, function: Callable, batch: int) -> Outcome:
    tensors, leaves = make_inputs(library, program.inputs, batch, program.seed)
    given = list(tensors.values())
    library.manual_seed(program.seed)
    outcome = Outcome()
    found: Any = []
    try:
        found = function(*given)
    except Exception as error:
        outcome.error = error
    if library is minitorch2:
        outcome.drawn = minitorch2.default_generator.counter
    results = list(flat(found))
    outcome.results = [described(item) for item in results]
    outcome.inputs = [described(item) for item in given]
    outcome.sharing = _sharing(library, given, results)
    try:
        _backward(library, [*results, *given], leaves)
    except Exception as error:
        outcome.backward_error = error
    outcome.gradients = [_gradient(leaf.grad) for leaf in leaves]
    return outcome


def flat(found: Any) -> Any:
    """Everything in nested results, in order."""
    if isinstance(found, dict):
        found = list(found.values())
    if isinstance(found, (list, tuple)):
        for item in found:
            yield from flat(item)
    else:
        yield found


def described(item: Any) -> Any:
    """A tensor as plain data; numbers and None as they are."""
    if not hasattr(item, "requires_grad"):
        return item
    dtype = str(item.dtype).removeprefix("torch.")
    plain = item.detach()
    if dtype in ("float16", "bfloat16"):
        plain = plain.float()
    strides = tuple(s for n, s in zip(item.shape, item.stride(), strict=True) if n > 1)
    strides = () if 0 in tuple(item.shape) else strides
    numbers = numpy.array(plain.numpy())
    return dtype, tuple(item.shape), strides, item.requires_grad, numbers


def _gradient(tensor: Any) -> Any:
    """A gradient as plain data; how it is laid out is nobody's promise."""
    found = described(tensor)
    return found if tensor is None else (*found[:2], (), *found[3:])


def _memory(library: Any, tensor: Any) -> tuple:
    if library is minitorch2:
        return id(tensor.storage.block), tensor.storage_offset()
    where = tensor.untyped_storage().data_ptr()
    return where, tensor.storage_offset()


def _sharing(library: Any, inputs: list[Any], results: list[Any]) -> list[Any]:
    """For each tensor: the first one that it is, and the first one whose memory it shares."""
    tensors = [item for item in [*inputs, *results] if isinstance(item, library.Tensor)]
    found: list[Any] = []
    for tensor in tensors:
        same = next(i for i, other in enumerate(tensors) if other is tensor)
        place, offset = _memory(library, tensor)
        if tensor.numel() == 0:
            found.append((same, None, 0))
            continue
        first = next(i for i, other in enumerate(tensors) if _memory(library, other)[0] == place)
        found.append((same, first, offset - _memory(library, tensors[first])[1]))
    return found


def _backward(library: Any, tensors: list[Any], leaves: list[Any]) -> None:
    total = None
    for index, tensor in enumerate(tensors):
        if not getattr(tensor, "requires_grad", False) or any(tensor is x for x in tensors[:index]):
            continue
        weights = numpy.random.RandomState(index).randint(-2, 3, tuple(tensor.shape))
        term = (tensor * library.from_numpy(weights.astype("float32"))).to(library.float64).sum()
        total = term if total is None else total + term
    if total is not None and leaves:
        total.backward()


def differences(
    want: Outcome, got: Outcome, bitwise: bool, torch: bool = False, coarsest: str = "float32"
) -> list[str]:
    """What is not the same, in words."""
    found = _compare_errors("error", want.error, got.error, torch)
    loose = ROUNDED[coarsest] if torch else 0.0  # any number may have been computed from those
    found += _compare_lists("result", want.results, got.results, bitwise, loose)
    found += _compare_lists("input", want.inputs, got.inputs, bitwise, loose)
    if not found:
        if isinstance(want.backward_error, SavedTensorModified) and got.backward_error is None:
            return []  # a functional graph has no writes: nothing it saved is modified
        found += _compare_errors("backward", want.backward_error, got.backward_error, torch)
        if not (torch and want.backward_error and got.backward_error):  # nobody promises a part
            found += _compare_lists("gradient", want.gradients, got.gradients, False, loose)
    if want.sharing != got.sharing and not found:
        found.append(f"sharing {got.sharing}, expected {want.sharing}")
    if want.drawn != got.drawn and not torch:
        found.append(f"drew {got.drawn}, expected {want.drawn}")
    return found


def _compare_errors(
    what: str, want: Exception | None, got: Exception | None, torch: bool
) -> list[str]:
    if (want is None) != (got is None):
        return [f"{what} {got!r}, expected {want!r}"]
    if want is None or torch:
        return []
    same = type(want) is type(got)
    if what == "error":  # a backward names the graph's node, which is not eager's
        same = same and str(want) == str(got)
    return [] if same else [f"{what} {got!r}, expected {want!r}"]


def _compare_lists(
    what: str, want: list[Any], got: list[Any], bitwise: bool, loose: float = 0.0
) -> list[str]:
    if len(want) != len(got):
        return [f"{len(got)} {what}s, expected {len(want)}"]
    pairs = list(enumerate(zip(want, got, strict=True)))
    if what == "gradient":  # 0 * inf of a result that was overwritten: not computed when compiled
        pairs = [(i, (a, _where_finite(a, b))) for i, (a, b) in pairs]
    return [f"{what} {i}: {text}" for i, (a, b) in pairs for text in _compare(a, b, bitwise, loose)]


def _where_finite(want: Any, got: Any) -> Any:
    """`got` with the numbers of `want` where those are not finite."""
    if want is None or got is None or want[4].shape != got[4].shape:
        return got
    return *got[:4], numpy.where(numpy.isfinite(want[4]), got[4], want[4])


def _compare(want: Any, got: Any, bitwise: bool, loose: float = 0.0) -> list[str]:
    if not isinstance(want, tuple) or not isinstance(got, tuple) or len(want) != 5 != len(got):
        same = type(want) is type(got) and want == got or got != got and want != want
        return [] if same else [f"{got!r}, expected {want!r}"]
    for name, a, b in zip(("dtype", "shape", "strides", "requires_grad"), want, got, strict=False):
        if a != b:
            return [f"{name} {b}, expected {a}"]
    a, b = want[4], got[4]
    if a.dtype.kind == "f" and not bitwise:
        finite = numpy.abs(a[numpy.isfinite(a)])
        tolerance = max(TOLERANCE[want[0]], loose)
        with numpy.errstate(all="ignore"):
            scale = tolerance * (1 + finite.max(initial=0))
            same = numpy.isclose(a, b, tolerance, scale, equal_nan=True)
    else:
        same = (a == b) | ((a != a) & (b != b))
        if a.dtype.kind == "f":
            same &= (a != 0) | (numpy.signbit(a) == numpy.signbit(b))
    if same.all():
        return []
    where = [tuple(map(int, at)) for at in numpy.argwhere(~same)[:3]]
    shown, expected = [b[at].item() for at in where], [a[at].item() for at in where]
    return [f"{(~same).sum()} of {a.size} differ, at {where}: {shown}, expected {expected}"]

"""Functions that make tensors from Python values and sizes.

In: numbers, nested lists, numpy arrays, sizes. Out: tensors; floats become the default dtype,
integers int64, bools bool.

    >>> tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])

Source: torch's "Creation Ops".
"""

from typing import Any

import numpy

from minitorch2 import dtypes, formats
from minitorch2.batching.batched import batched_as
from minitorch2.devices import as_device, require_available
from minitorch2.dispatch import call, state
from minitorch2.errors import ArgumentTypeError, ArgumentValueError, DtypeError, OperationError
from minitorch2.ops import ordering
from minitorch2.ops.infer import pointwise_layout
from minitorch2.ops.memory_methods import resize_
from minitorch2.ops.signature import as_variadic
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor, fake_tensor, wrap


def _op(name: str, *args: Any) -> Any:
    return call(lookup(name), args)


def _finished(tensor: Tensor, requires_grad: bool) -> Tensor:
    if requires_grad:
        tensor.requires_grad = True
    return tensor


def _array_of(data: Any, wanted: dtypes.dtype | None) -> numpy.ndarray:
    """A fresh numpy array with the elements of nested Python values."""
    if isinstance(data, numpy.ndarray | numpy.generic):
        array = numpy.array(data)
        dtypes.from_numpy_dtype(array.dtype)
    else:
        data = _plain(data)
        try:
            array = numpy.array(data)
        except (ValueError, OverflowError) as problem:
            raise ArgumentValueError(
                "tensor(nested lists)", str(problem), "make all rows the same length"
            ) from None
        if array.dtype.kind not in "biufc":
            raise ArgumentTypeError(
                f"tensor({type(data).__name__})",
                f"cannot make a tensor of elements of type {array.dtype}",
                "give numbers, nested lists of numbers, or a numpy array",
            )
        if array.dtype.kind == "c":
            return array.astype((wanted or dtypes.get_default_dtype().to_complex()).numpy)
        if array.dtype.kind == "f" or array.size == 0:
            return array.astype((wanted or dtypes.get_default_dtype()).numpy)
    return array if wanted is None else array.astype(wanted.numpy)


def _plain(data: Any) -> Any:
    """Nested sequences with tensors inside replaced by their values."""
    if isinstance(data, Tensor):
        return data.detach().numpy() if data.ndim else data.item()
    if isinstance(data, (list, tuple, range)):
        return [_plain(part) for part in data]
    if hasattr(data, "__array__") and not isinstance(data, numpy.generic):
        return numpy.asarray(data)
    return data


def tensor(
    data: Any,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor with a copy of `data` (numbers, nested lists, arrays, tensors)."""
    where = as_device(device)
    if isinstance(data, Tensor):
        fresh = data.detach().clone()
        return _finished(fresh if dtype is None else fresh.to(dtype), requires_grad)
    require_available(where)
    for mode in reversed(state.modes):
        constant = getattr(mode, "constant", None)
        if constant is not None:
            return _finished(constant(_array_of(data, dtype)), requires_grad)
    result = wrap(_array_of(data, dtype))
    if where.type == "meta":
        result = fake_tensor(result.layout.shape, result.dtype)
    return _finished(result, requires_grad)


def as_tensor(data: Any, dtype: dtypes.dtype | None = None, device: Any = None) -> Tensor:
    """A tensor that shares memory with an array or tensor where that is possible."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, numpy.ndarray):
        shared = from_numpy(data)
        return shared if dtype is None else shared.to(dtype)
    return tensor(data, dtype=dtype, device=device)


def from_numpy(array: numpy.ndarray) -> Tensor:
    """A tensor that shares the memory of a numpy array. Negative strides are refused."""
    if not isinstance(array, numpy.ndarray):
        raise ArgumentTypeError(
            "from_numpy",
            f"expected np.ndarray (got {type(array).__name__})",
            "use torch.tensor(value)",
        )
    if any(stride < 0 for stride in array.strides):
        raise ArgumentValueError(
            "from_numpy",
            "At least one stride in the given numpy array is "
            "negative, and tensors with negative strides are not supported",
            "copy it first: array.copy()",
        )
    return wrap(array)


def _sized(name: str, value: int) -> Any:
    def function(
        *sizes: Any,
        size: Any = None,
        out: Any = None,
        dtype: dtypes.dtype | None = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
        memory_format: Any = None,
    ) -> Tensor:
        wanted_sizes = _given_sizes(name, sizes, size)
        if out is not None:
            return _filled(out, name, wanted_sizes, value, dtype)
        where = as_device(device)
        wanted = dtype or dtypes.get_default_dtype()
        if where.type == "meta":
            return _finished(fake_tensor(wanted_sizes, wanted), requires_grad)
        made = _op("full", wanted_sizes, value, wanted, device)
        if memory_format is not None:
            made = made.contiguous(memory_format=memory_format)
        return _finished(made, requires_grad)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"A tensor of the given sizes: {name}."
    return function


def _given_sizes(name: str, sizes: tuple, size: Any) -> tuple:
    """The sizes of `f(2, 3)`, `f((2, 3))` or `f(size=(2, 3))`."""
    if not sizes and size is None:
        raise ArgumentTypeError(
            f"{name}()",
            f'{name}() missing 1 required positional arguments: "size"',
            f"give the sizes: {name}(2, 3), or {name}(()) for a single number",
        )
    return as_variadic(sizes or (size,), "size")


def _filled(out: Any, name: str, sizes: tuple, value: int, dtype: dtypes.dtype | None) -> Any:
    """`out` with these sizes, every element the value."""
    if dtype is not None and dtype is not out.dtype:
        raise DtypeError(
            f"{name}({list(sizes)}, dtype={dtype}, out=...)",
            f"dtype {dtype} does not match dtype of out parameter ({out.dtype})",
            "leave dtype out",
        )
    return resize_(out, sizes).fill_(value)


def _check_place(device: Any) -> bool:
    """Whether a tensor is to have no memory (device 'meta'); DeviceError for one that is absent."""
    where = as_device(device)
    if where.type == "meta":
        return True
    require_available(where)
    return False


zeros, ones, empty = _sized("zeros", 0), _sized("ones", 1), _sized("empty", 0)


def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of the given sizes filled with one value."""
    sizes = (size,) if isinstance(size, int) else tuple(size)
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    return _finished(_op("full", sizes, fill_value, dtype, device), requires_grad)


def _made_like(input: Tensor, make: Any, memory_format: Any = None) -> Tensor:
    """What `make(sizes)` gives, laid out in memory as `input` is (or as `memory_format` says)."""
    shape = tuple(input.layout.shape)
    preserved = memory_format is None or memory_format is formats.preserve_format
    if not preserved:
        return ordering.ordered(make(shape), memory_format)
    if input.layout.is_contiguous() or not input.has_elements:
        return make(shape)
    strides = pointwise_layout(shape, [input.layout]).strides
    order = sorted(range(len(shape)), key=lambda dim: strides[dim], reverse=True)
    turned = make(tuple(shape[dim] for dim in order))
    return turned.permute(*(order.index(dim) for dim in range(len(shape)))).detach()


def _like(name: str, value: int) -> Any:
    def function(
        input: Tensor,
        *,
        dtype: dtypes.dtype | None = None,
        device: Any = None,
        requires_grad: bool = False,
        memory_format: Any = None,
    ) -> Tensor:
        kind = value, dtype or input.dtype, device or input.device
        made = _made_like(input, lambda shape: _op("full", shape, *kind), memory_format)
        return _finished(made if input.has_elements else batched_as(made, input), requires_grad)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"A tensor with the shape and dtype of `input`: {name}."
    return function


zeros_like, ones_like = _like("zeros_like", 0), _like("ones_like", 1)
empty_like = _like("empty_like", 0)


def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor with the shape and dtype of `input`, filled with one value."""
    kind = fill_value, dtype or input.dtype, device or input.device
    made = _made_like(input, lambda shape: _op("full", shape, *kind), memory_format)
    return _finished(made if input.has_elements else batched_as(made, input), requires_grad)


def arange(
    start: Any,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """start, start + step, ... up to but without end; `arange(n)` starts at 0."""
    if end is None:
        start, end = 0, start
    if step == 0:
        raise OperationError(
            f"arange({start}, {end}, 0)",
            "step must be nonzero",
            "use a positive or a negative step",
        )
    if (end - start) * (1 if step > 0 else -1) < 0:
        raise OperationError(
            f"arange({start}, {end}, {step})",
            "upper bound and lower bound inconsistent with step sign",
            "turn the step",
        )
    return _finished(_op("range_", start, end, step, dtype, device), requires_grad)


def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """`steps` numbers from start to end, both included, evenly spaced."""
    wanted = dtype or dtypes.get_default_dtype()
    if steps < 1:
        return _finished(_op("full", (max(steps, 0),), 0, wanted, device), requires_grad)
    if steps == 1:
        return _finished(_op("full", (1,), start, wanted, device), requires_grad)
    work: Any = numpy.float64 if wanted is dtypes.float64 else numpy.float32
    gap = work((work(end) - work(start)) / work(steps - 1))
    index = numpy.arange(steps)
    lower = work(start) + gap * index.astype(work)
    upper = work(end) - gap * (steps - 1 - index).astype(work)
    found = numpy.where(index < steps // 2, lower, upper).astype(wanted.numpy)
    return tensor(found, dtype=wanted, requires_grad=requires_grad)


def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Ones on the diagonal, zeros elsewhere."""
    wanted = dtype or dtypes.get_default_dtype()
    row = _op("range_", 0, n, 1, None, device).unsqueeze(1)
    column = _op("range_", 0, n if m is None else m, 1, None, device)
    return _finished((row == column).to(wanted), requires_grad)


def rand_like(
    input: Tensor,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Uniform numbers in [0, 1) with the shape and dtype of `input`."""
    if device is not None and _check_place(device):
        return _finished(fake_tensor(tuple(input.shape), dtype or input.dtype), requires_grad)
    kind = dtype or input.dtype, None, None
    made = _made_like(input, lambda shape: _op("rand", shape, *kind), memory_format)
    return _finished(made, requires_grad)


def randn_like(
    input: Tensor,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Normal numbers with the shape and dtype of `input`."""
    if device is not None and _check_place(device):
        return _finished(fake_tensor(tuple(input.shape), dtype or input.dtype), requires_grad)
    kind = dtype or input.dtype, None, None
    made = _made_like(input, lambda shape: _op("randn", shape, *kind), memory_format)
    return _finished(made, requires_grad)


def _random(name: str) -> Any:
    def function(
        *sizes: Any,
        size: Any = None,
        generator: Any = None,
        out: Any = None,
        dtype: dtypes.dtype | None = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Tensor:
        wanted = _given_sizes(name, sizes, size)
        if out is not None:
            return _filled(out, name, wanted, 0, dtype).copy_(
                _op(name, wanted, out.dtype, None, generator)
            )
        if device is not None and _check_place(device):
            element = dtype or dtypes.get_default_dtype()
            return _finished(fake_tensor(wanted, element), requires_grad)
        return _finished(_op(name, wanted, dtype, device, generator), requires_grad)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = lookup(name).doc
    return function


def randint(
    low: int,
    high: Any = None,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    generator: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Integers uniform in [low, high); `randint(high, size)` starts at 0."""
    if size is None:
        low, high, size = 0, low, high
    if device is not None and _check_place(device):
        element = dtype or dtypes.int64
        return _finished(fake_tensor(tuple(size), element), requires_grad)
    if high <= low:
        raise OperationError(
            f"randint({low}, {high})",
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}",
            "give low < high",
        )
    made = _op("random_integers", low, high, tuple(size), dtype, device, generator)
    return _finished(made, requires_grad)


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Any = None) -> Tensor:
    """Normal numbers with the given means and standard deviations."""
    shape = size
    for value in (mean, std):
        shape = tuple(value.shape) if shape is None and isinstance(value, Tensor) else shape
    return _op("randn", tuple(shape), None, None, generator) * std + mean


def typed_constructor(name: str, wanted: dtypes.dtype) -> Any:
    """torch.FloatTensor and its like: from sizes or from data."""

    def function(*args: Any) -> Tensor:
        if len(args) == 1 and not isinstance(args[0], int):
            return tensor(args[0], dtype=wanted)
        return _op("full", tuple(args) or (0,), 0, wanted, None)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"A {wanted} tensor from sizes, or from data."
    return function


rand, randn = _random("rand"), _random("randn")

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
from minitorch2.layouts import broadcast_shapes
from minitorch2.nested_values import array_of
from minitorch2.ops import ordering
from minitorch2.ops.infer import can_be_read, pointwise_layout
from minitorch2.ops.memory_methods import resize_
from minitorch2.ops.outputs import into
from minitorch2.ops.signature import as_variadic
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor, fake_tensor, wrap


def _op(name: str, *args: Any) -> Any:
    return call(lookup(name), args)


def finished(tensor: Tensor, requires_grad: bool) -> Tensor:
    """The tensor, which requires a gradient if asked."""
    if requires_grad:
        tensor.requires_grad = True
    return tensor


def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor with a copy of `data` (numbers, nested lists, arrays, tensors)."""
    where, dtype = as_device(device), dtypes.as_dtype(dtype)
    if isinstance(data, Tensor):
        fresh = data.detach().clone()
        return finished(fresh if dtype is None else fresh.to(dtype), requires_grad)
    require_available(where)
    for mode in reversed(state.modes):
        constant = getattr(mode, "constant", None)
        if constant is not None:
            return finished(constant(array_of(data, dtype)), requires_grad)
    result = wrap(array_of(data, dtype))
    if where.type == "meta":
        result = fake_tensor(result.layout.shape, result.dtype)
    return finished(result, requires_grad)


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
    if not array.dtype.isnative:
        raise ArgumentValueError(
            f"from_numpy({array.dtype})",
            "given numpy array has byte order different from the native byte order. Conversion "
            "between byte orders is currently not supported.",
            "convert it first: array.astype(array.dtype.newbyteorder('='))",
        )
    return wrap(array)


def _sized(name: str, value: int) -> Any:
    def function(
        *sizes: Any,
        size: Any = None,
        out: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
        memory_format: Any = None,
    ) -> Tensor:
        wanted_sizes, dtype = _given_sizes(name, sizes, size), dtypes.as_dtype(dtype)
        strided_only(name, layout)
        if out is not None:
            return _filled(out, name, wanted_sizes, value, dtype)
        where = as_device(device)
        wanted = dtype or dtypes.get_default_dtype()
        if where.type == "meta":
            return finished(fake_tensor(wanted_sizes, wanted), requires_grad)
        made = _op("full", wanted_sizes, value, wanted, device)
        if memory_format is not None:
            made = made.contiguous(memory_format=memory_format)
        return finished(made, requires_grad)

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
    given = sizes or (size,)
    if type(given[0]) is bool or isinstance(given[0], str):
        raise _not_sizes(name, given[0])
    found = as_variadic(given, "size")
    for each in found:
        if isinstance(each, float):
            raise _not_sizes(name, each)
    return found


def _not_sizes(name: str, value: Any) -> Exception:
    kind = type(value).__name__
    return ArgumentTypeError(
        f"{name}({value!r})",
        f"{name}(): argument 'size' must be tuple of ints, not {kind}",
        f"give the sizes: {name}(2, 3)",
    )


def strided_only(name: str, layout: Any) -> None:
    """OperationError for a layout that keeps some elements only."""
    if layout is not None and layout != formats.strided:
        raise OperationError(
            f"{name}(layout={layout})",
            f"{name} is not implemented for sparse types",
            "leave it out",
        )


def _filled(out: Any, name: str, sizes: tuple, value: Any, dtype: dtypes.dtype | None) -> Any:
    """`out` with these sizes, every element the value."""
    if dtype is not None and dtype is not out.dtype:
        raise DtypeError(
            f"{name}({list(sizes)}, dtype={dtype}, out=...)",
            f"dtype {dtype} does not match dtype of out parameter ({out.dtype})",
            "leave dtype out",
        )
    return resize_(out, sizes).fill_(value)


def check_place(device: Any) -> bool:
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
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of the given sizes filled with one value."""
    sizes, dtype = as_variadic((size,), "size"), dtypes.as_dtype(dtype)
    strided_only("full", layout)
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    if out is not None:
        return _filled(out, "full", sizes, fill_value, dtype)
    return finished(_op("full", sizes, fill_value, dtype, device), requires_grad)


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
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        memory_format: Any = None,
        pin_memory: bool = False,
    ) -> Tensor:
        strided_only(name, layout)
        kind = value, dtypes.as_dtype(dtype) or input.dtype, device or input.device
        made = _made_like(input, lambda shape: _op("full", shape, *kind), memory_format)
        return finished(made if input.has_elements else batched_as(made, input), requires_grad)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"A tensor with the shape and dtype of `input`: {name}."
    return function


zeros_like, ones_like = _like("zeros_like", 0), _like("ones_like", 1)
empty_like = _like("empty_like", 0)


def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor with the shape and dtype of `input`, filled with one value."""
    strided_only("full_like", layout)
    kind = fill_value, dtypes.as_dtype(dtype) or input.dtype, device or input.device
    made = _made_like(input, lambda shape: _op("full", shape, *kind), memory_format)
    return finished(made if input.has_elements else batched_as(made, input), requires_grad)


def _random_like(name: str) -> Any:
    def function(
        input: Tensor,
        *,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
        memory_format: Any = None,
    ) -> Tensor:
        wanted = dtypes.as_dtype(dtype) or input.dtype
        strided_only(f"{name}_like", layout)
        if device is not None and check_place(device):
            return finished(fake_tensor(tuple(input.shape), wanted), requires_grad)
        made = _made_like(input, lambda shape: _op(name, shape, wanted, None, None), memory_format)
        return finished(made, requires_grad)

    function.__name__ = function.__qualname__ = f"{name}_like"
    function.__doc__ = f"{lookup(name).doc} With the shape and dtype of `input`."
    return function


rand_like, randn_like = _random_like("rand"), _random_like("randn")


def _random(name: str) -> Any:
    def function(
        *sizes: Any,
        size: Any = None,
        generator: Any = None,
        out: Any = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Tensor:
        wanted, dtype = _given_sizes(name, sizes, size), dtypes.as_dtype(dtype)
        strided_only(name, layout)
        if out is not None:
            return _filled(out, name, wanted, 0, dtype).copy_(
                _op(name, wanted, out.dtype, None, generator)
            )
        if check_place(device):
            element = dtype or dtypes.get_default_dtype()
            return finished(fake_tensor(wanted, element), requires_grad)
        return finished(_op(name, wanted, dtype, device, generator), requires_grad)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = lookup(name).doc
    return function


def randint(
    low: Any = 0,
    high: Any = None,
    size: Any = None,
    *,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Integers uniform in [low, high); `randint(high, size)` starts at 0."""
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    strided_only("randint", layout)
    dtype = dtypes.as_dtype(dtype) or (dtypes.int64 if out is None else out.dtype)
    if check_place(device):
        return finished(fake_tensor(tuple(size), dtype), requires_grad)
    if high <= low:
        raise OperationError(
            f"randint({low}, {high})",
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}",
            "give low < high",
        )
    for bound, name in ((low, "from"), (high - 1, "to - 1")):
        whole = dtype.category == dtypes.INTEGER and isinstance(bound, int)
        if whole and not dtypes.can_hold(dtype, bound):
            raise OperationError(
                f"randint({low}, {high}, dtype={dtype})", f"{name} is out of bounds for {dtype}"
            )
    sizes = as_variadic((size,), "size")
    made = _op("random_integers", low, high, sizes, dtype, device, generator)
    return into("randint", out, finished(made, requires_grad))


def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Normal numbers with the given means and standard deviations."""
    strided_only("normal", layout)
    if isinstance(std, Tensor):
        negative = can_be_read(std) and bool((std < 0).any())
    else:
        negative = std < 0
    if negative:
        wrong = "all elements of std >= 0.0" if isinstance(std, Tensor) else "std >= 0.0"
        raise OperationError("normal()", f"normal expects {wrong}, but found std {std}")
    given = [value for value in (mean, std) if isinstance(value, Tensor)]
    if size is None:
        size = broadcast_shapes(*(tuple(value.shape) for value in given))
    dtype = dtypes.as_dtype(dtype) or (dtypes.result_type(*given) if given else None)
    if check_place(given[0].device if given and device is None else device):
        return into("normal", out, finished(fake_tensor(tuple(size), dtype), requires_grad))
    drawn = _op("randn", tuple(size), dtype, device, generator)
    return into("normal", out, finished(drawn * std + mean, requires_grad))


rand, randn = _random("rand"), _random("randn")

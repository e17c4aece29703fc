"""Creation rows: tensors from sizes and numbers, constant or random.

In: sizes, a dtype, a device. Out: a new tensor. Random rows take their numbers from explicit
(seed, counter) pairs, so they are as pure as the others; `take_counters` reserves a pair from the
generator, or from whatever a tracing mode puts in its place.

Source: torch's documentation of each function.
"""

import math

import numpy

from minitorch2 import dtypes, random
from minitorch2.dispatch import call, state
from minitorch2.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DtypeError,
    OperationError,
    UnsupportedDtype,
)
from minitorch2.layouts import element_count
from minitorch2.ops.conversions import converted
from minitorch2.ops.infer import (
    can_be_read,
    describe_value,
    held,
    is_number,
    under_batches,
    unsupported,
)
from minitorch2.ops.table import COMPOSITE, CREATION, RANDOM, Meta, defop, lookup


def _op(name, *args):
    return call(lookup(name), args)


def _dtype_of(value, dtype):
    return dtype if dtype is not None else dtypes.dtype_of_number(value)


def _checked(size):
    """The sizes; OperationError for one that is negative."""
    for each in size:
        if type(each) is int and each < 0:
            raise OperationError(
                f"a tensor of sizes {list(size)}",
                f"Trying to create tensor with negative dimension {each}: {list(size)}",
                "give sizes of 0 or more",
            )
    return tuple(size)


def _filled_with(size, fill_value, dtype):
    """The dtype of a tensor filled with a number, which must be one that it holds."""
    element = _dtype_of(fill_value, dtype)
    small = element.itemsize <= 2  # for others it does not matter how many there are
    held(fill_value, element, small and all(type(each) is int and each == 1 for each in size))
    return element


def _infer_full(size, fill_value, dtype, device):
    element = _filled_with(size, fill_value, dtype)
    return Meta(_checked(size), element)


def _full(size, fill_value, dtype, device):
    element = _filled_with(size, fill_value, dtype)
    if type(fill_value) is complex:
        fill_value = held(fill_value, element, single=True)
    with numpy.errstate(all="ignore"):
        filling = converted(numpy.asarray(fill_value), element.numpy)
        return numpy.full(_checked(size), filling, element.numpy)


defop(
    "full(int[] size, Scalar fill_value, *, dtype? dtype=None, device? device=None) -> Tensor",
    CREATION,
    eager=_full,
    method=False,
    infer=_infer_full,
    doc="A tensor filled with one value.",
)


def arange_length(start, end, step):
    """The number of elements of arange."""
    if step == 0 or (end - start) * step < 0:
        raise OperationError(
            f"arange({start}, {end}, {step})",
            "step must be nonzero"
            if step == 0
            else "upper bound and lower bound inconsistent with step sign",
            "count towards the end",
        )
    if isinstance(start, int) and isinstance(step, int) and not isinstance(end, float):
        return max((end - start + step - (1 if step > 0 else -1)) // step, 0)
    return max(math.ceil((end - start) / step), 0)


def _arange_dtype(start, end, step, dtype):
    if dtype is not None:
        return dtype
    floating = any(isinstance(value, float) for value in (start, end, step))
    return dtypes.get_default_dtype() if floating else dtypes.int64


def _range(start, end, step, dtype, device):
    wanted = _arange_dtype(start, end, step, dtype).numpy
    count = arange_length(start, end, step)
    work = numpy.int64 if wanted.kind in "iub" else numpy.float64
    return (
        numpy.asarray(start, work) + numpy.arange(count).astype(work) * numpy.asarray(step, work)
    ).astype(wanted)


defop(
    "range_(Scalar start, Scalar end, Scalar step=1, *, dtype? dtype=None, "
    "device? device=None) -> Tensor",
    CREATION,
    eager=_range,
    method=False,
    function=False,
    infer=lambda start, end, step, dtype, device: Meta(
        (arange_length(start, end, step),), _arange_dtype(start, end, step, dtype)
    ),
    doc="start, start + step, ... up to but without end.",
    torch="torch.arange",
)


def _uniform(seed, counter, size, dtype):
    count = element_count(size)
    return random.uniform_floats(seed, counter, count).reshape(size).astype(dtype.numpy, copy=False)


defop(
    "uniform(Scalar seed, Scalar counter, int[] size, dtype dtype) -> Tensor",
    RANDOM,
    eager=_uniform,
    method=False,
    function=False,
    torch="torch.rand",
    infer=lambda seed, counter, size, dtype: Meta(tuple(size), dtype),
    doc="Numbers in [0, 1) from a Philox seed and counter.",
)


def _words(seed, counter, size):
    count = element_count(size)
    return random.random_words(seed, counter, count).reshape(size).astype(numpy.int64, copy=False)


defop(
    "random_words(Scalar seed, Scalar counter, int[] size) -> Tensor",
    RANDOM,
    eager=_words,
    method=False,
    function=False,
    torch="torch.randint",
    infer=lambda seed, counter, size: Meta(tuple(size), dtypes.int64),
    doc="32-bit words (in int64) from a Philox seed and counter.",
)


def take_counters(count, generator=None):
    """Reserve counters for `count` random elements: (seed, first counter)."""
    if state.tracer is not None:
        return state.tracer.take_counters(count, generator)
    for mode in reversed(state.modes):
        taken = getattr(mode, "take_counters", None)
        if taken is not None:
            return taken(count, generator)
    return (generator or random.default_generator).take(count)


def _float_dtype(dtype):
    return dtype or dtypes.get_default_dtype()


def _complex_draw(draw, size, dtype, device, generator):
    """Complex numbers whose parts are drawn one after the other."""
    parts = draw((*size, 2), dtype.to_real(), device, generator)
    return _op("view_as_complex", parts)


def _rand(size, dtype, device, generator):
    size = _checked(size)
    if dtype is not None and dtype.is_complex:
        return _complex_draw(_rand, size, dtype, device, generator)
    seed, counter = take_counters(element_count(size), generator)
    return _op("uniform", seed, counter, tuple(size), _float_dtype(dtype))


def _randn(size, dtype, device, generator):
    """Box and Muller's transform: two uniform numbers give one normal number."""
    size = _checked(size)
    if dtype is not None and dtype.is_complex:  # variance 1 in all, half of it in each part
        return _complex_draw(_randn, size, dtype, device, generator) * math.sqrt(0.5)
    count = element_count(size)
    seed, counter = take_counters(count * 2 + 4, generator)
    wide = dtypes.float64 if dtype is dtypes.float64 else dtypes.float32
    radius = _op("uniform", seed, counter, tuple(size), wide)
    angle = _op("uniform", seed, counter + (count + 3) // 4, tuple(size), wide)
    normal = ((1 - radius).log() * -2).sqrt() * (angle * (2 * math.pi)).cos()
    wanted = _float_dtype(dtype)
    return normal if normal.dtype is wanted else normal.to(wanted)


def _randint(low, high, size, dtype, device, generator):
    size = _checked(size)
    if isinstance(high - low, int) and high - low > 1 << 31:
        return _wide_randint(low, high, size, generator).to(dtype or dtypes.int64)
    seed, counter = take_counters(element_count(size), generator)
    words = _op("random_words", seed, counter, tuple(size))
    found = words * (high - low)
    return ((found >> 32) + low).to(dtype or dtypes.int64)


def _wide_randint(low, high, size, generator):
    """Integers from a range that 31 bits do not span, from two words each."""
    seed, counter = take_counters(2 * element_count(size), generator)
    words = _op("random_words", seed, counter, (2, *size))
    return _scaled(words >> 1, words % 2 == 0, low, high)


def _scaled(parts, coins, low, high):
    """low + floor(r * (high - low)), r a fraction of 62 bits in two parts.

    Products stay below 2^63: the range is two parts as well. Where 62 bits are too few, a coin says
    which half of the range.
    """
    if high - low > 1 << 62:
        middle = (low + high) // 2
        halves = (_scaled(parts, coins[1:], *each) for each in ((low, middle), (middle, high)))
        return _op("where", coins[0], *halves)
    (upper, lower), (first, second) = parts, divmod(high - low, 1 << 31)
    return upper * first + (upper * second >> 31) + (lower * first >> 31) + low


_TAIL = "*, dtype? dtype=None, device? device=None, any? generator=None) -> Tensor"
defop(
    f"rand(int[...] size, {_TAIL}",
    COMPOSITE,
    decomp=_rand,
    method=False,
    effects="random",
    doc="Numbers uniform in [0, 1).",
)
defop(
    f"randn(int[...] size, {_TAIL}",
    COMPOSITE,
    decomp=_randn,
    method=False,
    effects="random",
    doc="Numbers from the normal distribution with mean 0 and variance 1.",
)
defop(
    f"random_integers(int low, int high, int[] size, {_TAIL}",
    COMPOSITE,
    decomp=_randint,
    method=False,
    function=False,
    effects="random",
    torch="torch.randint",
    doc="Integers uniform in [low, high).",
)


def _dropout(input, p, training):
    if not 0 <= p <= 1:
        raise ArgumentValueError(
            f"dropout(p={p})",
            f"dropout probability has to be between 0 and 1, but got {p}",
            "give the share of elements to drop",
        )
    if not training or p == 0:
        return input
    if p == 1:
        return (input * 0).to(input.dtype)
    if not input.dtype.differentiable:
        raise DtypeError(
            f"dropout() of a tensor of dtype {input.dtype}",
            f"result type Float can't be cast to the desired output type {input.dtype}",
            "convert: x.float()",
        )
    noise = _op("rand", tuple(input.shape), dtypes.float32, None, None)
    return input * (noise >= p) * (1 / (1 - p))  # saves the mask: one byte for each element


defop(
    "dropout(Tensor input, float p=0.5, bool training=True) -> Tensor",
    COMPOSITE,
    decomp=_dropout,
    method=False,
    effects="random",
    torch="torch.nn.functional.dropout",
    doc="Zeros elements with probability p and scales the others by 1 / (1 - p).",
)


def check_probabilities(name, given):
    """An error for a tensor that holds no probabilities; unread where it has no elements yet."""
    if given.dtype.letter != "f":
        kernel = f"bernoulli_tensor_cpu_{'self' if given.dtype.is_complex else 'p'}_"
        wrong = unsupported(kernel, given.dtype)
        raise UnsupportedDtype(f"{name}({describe_value(given)})", wrong, "convert: x.float()")
    seen = under_batches(given)
    if can_be_read(seen) and not bool(((seen >= 0) & (seen <= 1)).all()):
        raise OperationError(
            f"{name}({describe_value(given)})",
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false",
            "give probabilities",
        )


def check_probability(p):
    """OperationError unless a number is a probability."""
    if not 0 <= p <= 1:
        wrong = f"bernoulli_ expects p to be in [0, 1], but got p={p:g}"
        raise OperationError(f"bernoulli(p={p})", wrong, "give a probability")


def _bernoulli(self, p, generator):
    if p is None:
        check_probabilities("bernoulli", self)
    else:
        check_probability(p)
        if self.dtype.is_complex:
            wrong = unsupported("bernoulli_scalar_cpu_", self.dtype)
            raise UnsupportedDtype(f"bernoulli({describe_value(self)}, {p})", wrong)
    drawn = _op("rand", tuple(self.shape), dtypes.float32, None, generator)
    return (drawn < (self if p is None else p)).to(self.dtype)


defop(
    "bernoulli(Tensor self, float? p=None, *, any? generator=None) -> Tensor",
    COMPOSITE,
    effects="random",
    decomp=_bernoulli,
    doc="1 with the probability the element says (or with probability p), else 0.",
)


def _randperm(n, generator, dtype, device):
    seed, counter = take_counters(2 * n, generator)
    words = _op("random_words", seed, counter, (2, n))
    _, order = _op("sort", words[0] * (1 << 31) + (words[1] >> 1), -1, False, True)
    return order if dtype is None else order.to(dtype)


defop(
    "randperm(int n, *, any? generator=None, dtype? dtype=None, device? device=None) -> Tensor",
    COMPOSITE,
    decomp=_randperm,
    method=False,
    effects="random",
    doc="The integers below n in random order.",
)


def number_like(tensor, value, asked, wrong):
    """A number as a 0-d tensor of the dtype it is written into.

    Raises ArgumentTypeError, which says `asked` and `wrong`, for what is none; OperationError for
    one that the dtype cannot hold.
    """
    if not is_number(value):
        raise ArgumentTypeError(asked, wrong, "make a tensor of it first: torch.tensor(value)")
    return call(lookup("full"), ((), value, tensor.dtype, tensor.device))

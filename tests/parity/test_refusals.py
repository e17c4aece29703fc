"""What torch refuses is refused here too: the same class of error, and torch's own words in it."""

import warnings

import numpy
import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import LIBRARIES, builtin  # noqa: E402

CONTAINERS = {
    "Index out of range": lambda t: t.nn.Sequential(t.nn.ReLU()).insert(5, t.nn.ReLU()),
    "module should be of type": lambda t: t.nn.Sequential().insert(0, 3),
    "add operator supports only objects of Sequential": lambda t: t.nn.Sequential() + 3,
    "ModuleList.extend should be called with an iterable": lambda t: t.nn.ModuleList().extend(3),
    "ParameterList.extend should be called with an iterable, but got int": (
        lambda t: t.nn.ParameterList().extend(3)
    ),
    "sequence element #1 has length 1; 2 is required": (
        lambda t: t.nn.ModuleDict().update([("a", t.nn.ReLU()), ("b",)])
    ),
    "sequence element #0 should be Iterable": lambda t: t.nn.ModuleDict().update([3]),
    "update should be called with an iterable of key/value pairs": (
        lambda t: t.nn.ParameterDict().update(3)
    ),
    "cannot be used as a key as it is not a string": (lambda t: t.nn.ParameterDict({3: t.ones(1)})),
    "'ParameterDict' object has no attribute 'q'": lambda t: t.nn.ParameterDict()["q"],
    "ParameterList should not be called": lambda t: t.nn.ParameterList()(3),
    "ParameterDict should not be called": lambda t: t.nn.ParameterDict()(3),
}

MODULES = {
    "takes 1 positional argument but 2 were given": lambda t: t.nn.Module(1),
    "got an unexpected keyword argument 'a'": lambda t: t.nn.Module(a=1),
    "Linear has no attribute `x`": lambda t: t.nn.Linear(1, 1).get_parameter("x"),
    "`training` is not an nn.Parameter": lambda t: t.nn.Linear(1, 1).get_parameter("training"),
    "`weight` is not a buffer": lambda t: t.nn.Linear(1, 1).get_buffer("weight"),
    "Linear has no attribute `y`": lambda t: t.nn.Linear(1, 1).get_buffer("y"),
    "cannot assign 'int' as buffer 'running_mean' (torch.nn.Buffer, torch.Tensor or None": (
        lambda t: setattr(t.nn.BatchNorm1d(2), "running_mean", 3)
    ),
    "Reached a code path in Module.get_extra_state() that should never": (
        lambda t: t.nn.Module().get_extra_state()
    ),
}


def conv(t, *shape, weight=(1, 1, 2, 2), bias=None, **how):
    return t.nn.functional.conv2d(t.ones(shape or (1, 1, 4, 4)), t.ones(weight), bias, **how)


CONVOLUTIONS = {
    "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [4, 4]": (
        lambda t: conv(t, 4, 4)
    ),
    "non-positive stride is not supported": lambda t: conv(t, stride=0),
    "negative padding is not supported": lambda t: conv(t, padding=(1, -1)),
    "dilation should be greater than zero, but got [0, 0]": lambda t: conv(t, dilation=0),
    "expected stride to be a single integer value or a list of 2 values": (
        lambda t: conv(t, stride=(1, 1, 1))
    ),
    "expected bias to be 1-dimensional with 1 elements, but got bias of size [3] instead": (
        lambda t: conv(t, bias=t.ones(3))
    ),
    "expected weight to be at least 1 at dimension 0": lambda t: conv(t, weight=(0, 1, 2, 2)),
    "padding='same' is not supported for strided convolutions": (
        lambda t: conv(t, padding="same", stride=2)
    ),
    "groups must be a positive integer": lambda t: t.nn.Conv2d(4, 4, 3, groups=0),
    "out_channels must be divisible by groups": lambda t: t.nn.Conv2d(4, 3, 3, groups=2),
    "Invalid padding string 'q', should be one of": lambda t: t.nn.Conv2d(1, 1, 1, padding="q"),
    "is not supported for strided": lambda t: t.nn.Conv1d(1, 1, 1, padding="same", stride=2),
    "but got padding_mode='q'": lambda t: t.nn.Conv2d(1, 1, 1, padding_mode="q"),
    'Only "zeros" padding mode is supported for ConvTranspose2d': (
        lambda t: t.nn.ConvTranspose2d(1, 1, 1, padding_mode="circular")
    ),
    "10], but valid sizes range from [7, 7] to [8, 8]": (
        lambda t: t.nn.ConvTranspose2d(1, 1, 3, 2)(t.ones(1, 1, 3, 3), output_size=[10, 10])
    ),
    "for 4D input, output_size must have 2 or 4 elements (got 1)": (
        lambda t: t.nn.ConvTranspose2d(1, 1, 3, 2)(t.ones(1, 1, 3, 3), output_size=[10])
    ),
}


def loss(name, *shapes, **how):
    """A program: the loss of ones of these shapes."""
    return lambda t: getattr(t.nn.functional, name)(*(t.ones(shape) for shape in shapes), **how)


LOSSES = {
    "does not support non-positive values for delta": loss("huber_loss", [2], [2], delta=-1.0),
    "0D or 1D target tensor expected": loss("cosine_embedding_loss", [2, 3], [2, 3], [2, 1]),
    "1D target tensor expects 2D input": loss("cosine_embedding_loss", [3], [3], [3]),
    "All input tensors should have same dimension": (
        loss("margin_ranking_loss", [2, 3], [2, 3], [2])
    ),
    "expected to have the same number of dimensions, but got: anchor 2D, positive 2D, and nega": (
        loss("triplet_margin_loss", [2, 3], [2, 3], [3])
    ),
    "margin must be greater than 0, got -1": loss("triplet_margin_loss", [2], [2], [2], margin=-1),
    "margin must be greater than 0": (
        loss("triplet_margin_with_distance_loss", [2, 3], [2, 3], [2, 3], margin=0)
    ),
    "only p == 1 and p == 2 supported": (
        lambda t: t.nn.functional.multi_margin_loss(t.ones(2, 3), t.tensor([0, 1]), p=3)
    ),
    "inconsistent target size: [2] for input of size: [2, 3]": (
        lambda t: t.nn.functional.multilabel_margin_loss(t.ones(2, 3), t.tensor([0, 1]))
    ),
    "var is of incorrect size": loss("gaussian_nll_loss", [2, 3], [2, 3], [5]),
    "var has negative entry/entries": (
        lambda t: t.nn.functional.gaussian_nll_loss(t.ones(2), t.ones(2), -t.ones(2))
    ),
    "expected target dtype to be Long or Byte, but got": (
        lambda t: t.nn.functional.nll_loss(t.ones(2, 3), t.tensor([0, 1], dtype=t.int32))
    ),
}
NORMS = {
    "running_mean should contain 4 elements not 3": lambda t: t.nn.BatchNorm1d(3)(t.ones(2, 4)),
    "running_mean must be defined in evaluation mode": (
        lambda t: t.nn.functional.batch_norm(t.ones(2, 3), None, None)
    ),
    "weight should contain 3 elements not 2": (
        lambda t: t.nn.functional.batch_norm(t.ones(2, 3), t.ones(3), t.ones(3), t.ones(2))
    ),
    "Expected more than 1 spatial element when training": (
        lambda t: t.nn.InstanceNorm1d(3)(t.ones(2, 3, 1))
    ),
    "to match num_features (3), but got: 4.": (
        lambda t: t.nn.InstanceNorm1d(3, affine=True)(t.ones(2, 4, 5))
    ),
    "Expected 3D or higher dimensionality": (
        lambda t: t.nn.functional.local_response_norm(t.ones(2), 2)
    ),
}


def on(method, *args, shape=(2, 3, 4), **kwargs):
    """A program: a method of ones of this shape."""
    return lambda t: getattr(t.ones(shape), method)(*args, **kwargs)


SHAPES = {
    "shape '[-1, 5]' is invalid for input of size 24": on("view", -1, 5),
    "Provided sizes [3, 3] don't multiply up to the size of dim 2 (4)": on("unflatten", 2, (3, 3)),
    "unflatten: sizes must be non-empty": on("unflatten", 2, ()),
    "The expanded size of the tensor (5) must match the existing size (4) at non-singleton": (
        on("expand", 2, 3, 5)
    ),
    "the number of sizes provided (2) must be greater or equal to the number of dimensions": (
        on("expand", 3, 4)
    ),
    "(-1) isn't allowed in a leading, non-existing dimension 0": on("expand", -1, 2, 3, 4),
    "movedim: repeated dim in `source` ([0, 0])": on("movedim", (0, 0), (1, 2)),
    "source ([0, 1] dims) should contain the same number of dims as destination ([2] dims)": (
        on("movedim", (0, 1), (2,))
    ),
    "narrow(): length must be non-negative": on("narrow", 2, 0, -1),
    "select(): index 5 out of range for tensor of size [2, 3, 4] at dimension 0": (
        on("select", 0, 5)
    ),
    "size is -1 but must be >= 0": on("unfold", 2, -1, 1),
    "expects split_sizes to sum exactly to 4 (input tensor's size at dimension 2), but got": (
        on("split", [1, 2], 2)
    ),
    "split_size can only be 0 if dimension size is 0, but got dimension size of 4": (
        on("split", 0, 2)
    ),
    "split expects split_size be non-negative, but got split_size=-1": on("split", -1),
    "Dimension specified as 0 but tensor has no dimensions": on("unbind", shape=()),
    "Negative strides are not supported at the moment, got strides: [-1]": (
        on("as_strided", (2,), (-1,))
    ),
    "storage offset 0": on("as_strided", (99,), (1,)),
    "Dimension out of range (expected to be in range of [-3, 2], but got 5)": on("size", 5),
    "expected to be in range of [-3, 2], but got -4": on("stride", -4),
    "dim 0 appears multiple times in the list of dims": on("flip", 0, 0),
    "Trying to create tensor with negative dimension": on("repeat", -1, 1, 1),
    "Tensors must have same number of dimensions: got 3 and 2": (
        lambda t: t.cat([t.ones(2, 3, 4), t.ones(3, 4)])
    ),
    "trace: expected a matrix, but got tensor with dim 3": on("trace"),
}


def picked(*index, shape=(3, 4), value=None):
    """A program: ones of this shape indexed with tensors of these lists, or written there."""

    def program(t):
        x = t.ones(shape)
        tensors = tuple(t.tensor(each) if isinstance(each, list) else each for each in index)
        if value is None:
            return x[tensors]
        x[tensors] = t.ones(value)
        return x

    return program


INDICES = {
    "shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]": (
        picked([0, 1], [0, 1, 2])
    ),
    "value tensor of shape [2] cannot be broadcast to indexing result of shape [2, 4]": (
        picked([0, 1], value=[2])
    ),
    "value tensor of shape [5, 4] cannot be broadcast to indexing result of shape [2, 4]": (
        picked([True, False, True], value=[5, 4])
    ),
    "tensors used as indices must be long, int, byte or bool tensors": (
        lambda t: t.ones(3)[t.tensor([0, 1], dtype=t.int8)]
    ),
    "used as indices must be long, int, byte or bool": (
        lambda t: t.ones(3).index_put((t.tensor([0.0]),), t.tensor(1.0))
    ),
    "slice step cannot be zero": picked(slice(0, 2, 0)),
    "step must be greater than zero": picked(slice(0, 2, -1)),
    "index_select(): Index is supposed to be a vector": (
        lambda t: t.ones(3, 4).index_select(0, t.tensor([[0]]))
    ),
    "gather(): Expected dtype int32/int64 for index": (
        lambda t: t.ones(3, 4).gather(1, t.zeros(1, 1))
    ),
    "scatter(): Expected dtype int32/int64 for index": (
        lambda t: t.ones(3, 4).scatter(1, t.zeros(1, 1), 1.0)
    ),
}

NUMBERS = {
    "expected sequence of length 2 at dim 1 (got 1)": lambda t: t.tensor([[1, 2], [3]]),
    "expected sequence of length 1 at dim 2 (got 2)": lambda t: t.tensor([[[1], [2, 3]]]),
    "only one element tensors can be converted": lambda t: t.tensor([t.ones(2), t.ones(2)]),
    "can't convert np.ndarray of type numpy.object_": lambda t: t.tensor(numpy.array([object()])),
    "can't convert np.ndarray of type numpy.str_": lambda t: t.from_numpy(numpy.array(["a"])),
    "device type at start of device string: foo": lambda t: t.ones(2, device="foo"),
    "Invalid device string: 'cpu:x'": lambda t: t.device("cpu:x"),
    "Device index must not be negative": lambda t: t.device("cpu", -2),
    "must not include an index because index was passed": lambda t: t.device("cpu:0", 0),
    "Expected one of": lambda t: t.device("q"),
    "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found 'q'": (
        lambda t: t.div(t.ones(1), 2, rounding_mode="q")
    ),
    "Float did not match Long": lambda t: t.isclose(t.ones(1), t.tensor([1])),
    "equal(): argument 'other' (position 2) must be Tensor, not int": (
        lambda t: t.equal(t.ones(1), 3)
    ),
    "Negation, the `-` operator, on a bool tensor is not supported": lambda t: -t.tensor([True]),
    "Please use torch.sgn instead": lambda t: t.sign(t.tensor(1j)),
    "maximum not implemented for complex tensors": lambda t: t.maximum(t.tensor(1j), t.ones(1)),
    "Boolean value of Tensor with more than one value is ambiguous": on("is_nonzero"),
}
REDUCTIONS = {
    "Expected reduction dim to be specified for input.numel() == 0": on("max", shape=0),
    "Expected reduction dim 0 to have non-zero size": on("amin", 0, shape=(0, 3)),
    "Expected reduction dim 1 to have non-zero size": on("argmax", 1, shape=(3, 0)),
    "bincount only supports 1-d non-negative integral inputs": (
        lambda t: t.bincount(t.tensor([-1]))
    ),
    "weights should be 1-d and have the same length as input": (
        lambda t: t.bincount(t.tensor([1]), weights=t.ones(2))
    ),
    "minlength should be >= 0": lambda t: t.bincount(t.tensor([1]), minlength=-1),
    "side can only be 'left' or 'right' but got q": (
        lambda t: t.searchsorted(t.ones(2), 1.0, side="q")
    ),
    "side and right can't be set to opposites, got side of left while right was True": (
        lambda t: t.searchsorted(t.ones(2), 1.0, side="left", right=True)
    ),
    "cannot sample n_sample > prob_dist.size(-1) samples without replacement": (
        on("multinomial", 5, shape=3)
    ),
    "prob_dist must be 1 or 2 dim": on("multinomial", 1),
    "cannot sample n_sample <= 0 samples": on("multinomial", 0, shape=3),
}


def einsum(equation, *shapes):
    return lambda t: t.einsum(equation, *(t.ones(shape) for shape in shapes))


PRODUCTS = {
    "1D tensors expected, but got 2D and 1D tensors": lambda t: t.ones(1, 3).dot(t.ones(3)),
    "expected tensor [3] and src [2] to have the same number of elements, but got 3 and 2": (
        lambda t: t.dot(t.ones(3), t.ones(2))
    ),
    "dot : expected both vectors to have same dtype, but found Float and Double": (
        lambda t: t.dot(t.ones(3), t.ones(3, dtype=t.float64))
    ),
    "vector + matrix @ vector expected, got 1, 1, 1": lambda t: t.mv(t.ones(3), t.ones(3)),
    "self must be a matrix": lambda t: t.mm(t.ones(3), t.ones(3)),
    "mat2 must be a matrix": lambda t: t.mm(t.ones(3, 3), t.ones(3)),
    "batch1 must be a 3D tensor": lambda t: t.bmm(t.ones(3), t.ones(3)),
    "batch2 must be a 3D tensor": lambda t: t.bmm(t.ones(1, 3, 3), t.ones(3)),
    "subscript i is repeated for operand 0 but the sizes don't match, 3 != 2": (
        einsum("ii", (2, 3))
    ),
    "subscript j has size 2 for operand 1 which does not broadcast with previously seen size 3": (
        einsum("ij,jk", (2, 3), (2, 3))
    ),
    "the number of subscripts in the equation (2) does not match the number of dimensions (1)": (
        einsum("ij", (3,))
    ),
    "If dim is not specified but ord is, the input must be 1D or 2D. Got 3D": (
        lambda t: t.linalg.norm(t.ones(2, 2, 2), "fro")
    ),
}


def data(t):
    return t.utils.data


def loader(**how):
    return lambda t: data(t).DataLoader([1, 2], **how)


DATA = {
    "timeout option should be non-negative": loader(timeout=-1),
    "prefetch_factor option could only be specified in multiprocessing": loader(prefetch_factor=2),
    "persistent_workers option needs num_workers > 0": loader(persistent_workers=True),
    "batch_size attribute should not be set after DataLoader is initialized": (
        lambda t: setattr(loader()(t), "batch_size", 3)
    ),
    "datasets should not be an empty iterable": lambda t: data(t).ConcatDataset([]),
    "absolute value of index should not exceed dataset length": (
        lambda t: data(t).ConcatDataset([[1, 2], [3]])[-4]
    ),
    "each element in list of batch should be of equal size": (
        lambda t: data(t).default_collate([[1], [1, 2]])
    ),
}


def kept(value):
    """A program: a Function whose forward saves this for the backward."""

    def program(t):
        class Keeps(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x, value)
                return x * 2

        return Keeps.apply(t.ones(2, requires_grad=True))

    return program


AUTOGRAD = {
    "save_for_backward can only save variables, but argument 1 is of type int": kept(3),
    "`inputs` argument to `grad()` cannot be empty": (
        lambda t: t.autograd.grad(t.ones(1, requires_grad=True).sum(), [])
    ),
}


def refusal(library, program):
    """What a program raises."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever torch raises
        program(library)
    return caught.value


def agree(words, program):
    """The words are in both texts, and what catches torch's error catches ours."""
    mine, theirs = (refusal(library, program) for library in LIBRARIES)
    assert words.lower() in str(theirs).lower()
    assert words.lower() in str(mine).lower()
    assert isinstance(mine, builtin(theirs))


@pytest.mark.parametrize("words", CONTAINERS)
def test_containers(words):
    agree(words, CONTAINERS[words])


@pytest.mark.parametrize("words", MODULES)
def test_modules(words):
    agree(words, MODULES[words])


@pytest.mark.parametrize("words", CONVOLUTIONS)
def test_convolutions(words):
    agree(words, CONVOLUTIONS[words])


def test_sizes_that_do_not_fit():
    for first, second, words in (
        ((2, 3), (3, 4), "tensor a (3) must match the size of tensor b (4) at non-singleton dim"),
        ((2, 3), (3, 3), "tensor a (2) must match the size of tensor b (3) at non-singleton dim"),
        (
            (5, 1, 2),
            (4, 2, 3),
            "(2) must match the size of tensor b (3) at non-singleton dim",
        ),
    ):
        agree(words, lambda t, a=first, b=second: t.ones(a) + t.ones(b))


@pytest.mark.parametrize("words", LOSSES)
def test_losses(words):
    agree(words, LOSSES[words])


@pytest.mark.parametrize("words", NORMS)
def test_norms(words):
    agree(words, NORMS[words])


@pytest.mark.parametrize("words", SHAPES)
def test_shapes(words):
    agree(words, SHAPES[words])


@pytest.mark.parametrize("words", INDICES)
def test_indices(words):
    agree(words, INDICES[words])


@pytest.mark.parametrize("words", NUMBERS)
def test_numbers(words):
    agree(words, NUMBERS[words])


@pytest.mark.parametrize("words", REDUCTIONS)
def test_reductions(words):
    agree(words, REDUCTIONS[words])


@pytest.mark.parametrize("words", PRODUCTS)
def test_products(words):
    agree(words, PRODUCTS[words])


@pytest.mark.parametrize("words", DATA)
def test_data(words):
    agree(words, DATA[words])


@pytest.mark.parametrize("words", AUTOGRAD)
def test_autograd(words):
    agree(words, AUTOGRAD[words])


def warned(library, program):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = program(library)
    return result.tolist(), [(each.category, str(each.message)[:60]) for each in found]


@pytest.mark.parametrize(
    "program",
    [
        lambda t: t.ones(3, 4)[t.tensor([1, 0, 1], dtype=t.uint8)],
        lambda t: t.ones(3, 4).gather(1, t.tensor([], dtype=t.int64)),
        lambda t: t.tensor([t.ones(1), t.ones(1, 1), 3]),
        lambda t: t.tensor([[t.ones(1)], [t.ones(1)]]),
        lambda t: t.tensor([[], [1]]),
        einsum("ii,i->i", (2, 2), (1,)),
        einsum("...i,...i->...", (2, 1, 3), (4, 1)),
        loss("kl_div", [2], [2]),
        loss("mse_loss", [2], [2], size_average=False),
        loss("mse_loss", [2], [2], reduce=False),
        lambda t: t.nn.MSELoss(size_average=True, reduce=True)(t.ones(2), t.zeros(2)),
        lambda t: t.nn.InstanceNorm1d(3)(t.ones(2, 4, 5)),
        loss("gaussian_nll_loss", [2, 3], [2, 3], [2]),
        lambda t: t.nn.functional.gaussian_nll_loss(t.ones(2, 3), t.zeros(2, 3), 0.5),
        lambda t: t.nn.functional.nll_loss(t.eye(3), t.tensor([0, 2, 2], dtype=t.uint8)),
    ],
)
def test_warnings_and_what_is_taken(program):
    mine, theirs = (warned(library, program) for library in LIBRARIES)
    assert mine == theirs

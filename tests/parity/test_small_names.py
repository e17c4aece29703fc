"""Names that scripts meet beside the operations: formats, whole numbers, assert_close, settings."""

import itertools
import re
from typing import Any

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.judge import compare_tensors  # noqa: E402

X = numpy.random.RandomState(0).uniform(-1, 1, (2, 3, 4, 5))

FORMATS: dict[str, Any] = {
    "contiguous": lambda t, x: x.contiguous(memory_format=t.channels_last),
    "to": lambda t, x: x.to(memory_format=t.channels_last),
    "to and dtype": lambda t, x: x.to(t.float32, memory_format=t.channels_last),
    "clone": lambda t, x: x.clone(memory_format=t.channels_last),
    "function": lambda t, x: t.clone(x.transpose(1, 2), memory_format=t.contiguous_format),
    "preserved": lambda t, x: x.transpose(1, 2).clone(memory_format=t.preserve_format),
    "back": lambda t, x: x.contiguous(memory_format=t.channels_last).contiguous(),
    "transposed": lambda t, x: x.transpose(2, 3).contiguous(memory_format=t.channels_last),
    "3d": lambda t, x: x.unsqueeze(2).contiguous(memory_format=t.channels_last_3d),
    "relu of it": lambda t, x: t.relu(x.contiguous(memory_format=t.channels_last)),
}


@pytest.mark.parametrize("name", FORMATS)
def test_memory_format(name: str) -> None:
    """Values, strides, and what is_contiguous says of each format."""
    mine = FORMATS[name](minitorch2, minitorch2.from_numpy(X.copy()))
    theirs = FORMATS[name](torch, torch.from_numpy(X.copy()))
    assert not compare_tensors(mine, theirs, name)
    for kind in ("contiguous_format", "channels_last", "channels_last_3d"):
        if kind.endswith("3d") == (theirs.ndim == 5) or kind == "contiguous_format":
            wanted = [getattr(t, kind) for t in (minitorch2, torch)]
            assert mine.is_contiguous(memory_format=wanted[0]) == theirs.is_contiguous(
                memory_format=wanted[1]
            )


def test_memory_format_of_modules() -> None:
    """Weights of four dimensions are laid out anew, the others stay."""
    both = []
    for t in (minitorch2, torch):
        layers = t.nn.Sequential(t.nn.Conv2d(3, 4, 3), t.nn.Flatten(), t.nn.Linear(4, 2))
        both.append(layers.to(memory_format=t.channels_last))
    for a, b in zip(both[0].parameters(), both[1].parameters(), strict=True):
        assert a.stride() == b.stride()


def test_memory_format_is_refused() -> None:
    for t in (minitorch2, torch):
        with pytest.raises(RuntimeError):
            t.zeros(2, 3).to(memory_format=t.channels_last)
    assert repr(minitorch2.channels_last) == repr(torch.channels_last)
    assert repr(minitorch2.strided) == repr(torch.strided)
    for t in (minitorch2, torch):
        assert t.ones(2).layout == t.strided and t.ones(2).layout != t.sparse_coo


@pytest.mark.filterwarnings("ignore:Sparse")
def test_layouts_compare_by_kind() -> None:
    """Neither sizes nor strides count; coordinates and compressed rows are kinds of their own."""
    for t in (minitorch2, torch):
        dense = [
            t.ones(2),
            t.ones(2, 3),
            t.ones(2, 3).t(),
            t.ones(4)[1:],
            t.ones(2, 1).expand(2, 5),
        ]
        coordinates = [t.eye(2).to_sparse(), t.eye(3).to_sparse()]
        rows = [t.eye(2).to_sparse_csr(), t.ones(2, 3).to_sparse_csr()]
        for kind, alike in enumerate((dense, coordinates, rows)):
            for other, others in enumerate((dense, coordinates, rows)):
                for one, two in itertools.product(alike, others):
                    assert (one.layout == two.layout) == (kind == other)
                    assert len({one.layout, two.layout}) == (1 if kind == other else 2)


PAIRS = (
    (torch.tensor([1, 2]), torch.tensor([1, 2])),
    (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0 + 1e-6])),
    (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1])),
    (torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 2.5], [3.0, 4.1]])),
    (torch.tensor([1.0]), torch.tensor([1.0], dtype=torch.float64)),
    (torch.tensor([1.0]), torch.tensor([1.0, 1.0])),
    (torch.tensor([float("nan")]), torch.tensor([float("nan")])),
    (torch.tensor([1 + 1j]), torch.tensor([1 + 1.1j])),
    (torch.tensor(3.0), torch.tensor(4.0)),
    (1.0, 1.0 + 1e-9),
    (1.0, 1.1),
    (3, 3),
    ([torch.tensor([1.0]), 2.0], [torch.tensor([1.0]), 2.0]),
    ([torch.tensor([1.0])], [torch.tensor([1.0]), torch.tensor([1.0])]),
    ({"a": torch.tensor([1.0]), "b": 2}, {"a": torch.tensor([1.0]), "b": 3}),
    ({"a": 1}, {"b": 1}),
    (torch.tensor([1.0]), 1.0),
    (torch.tensor([True, False]), torch.tensor([True, True])),
)


def _ours(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return minitorch2.from_numpy(value.numpy())
    if isinstance(value, list):
        return [_ours(each) for each in value]
    return {key: _ours(each) for key, each in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize("pair", PAIRS, ids=repr)
@pytest.mark.parametrize("options", [{}, {"rtol": 0.5, "atol": 0}, {"equal_nan": True},
                                     {"check_dtype": False}], ids=repr)  # fmt: skip
def test_assert_close(pair: tuple, options: dict) -> None:
    """Both accept, or both refuse and count the same mismatches."""
    problems: list[Any] = []
    for t, (a, b) in ((minitorch2, map(_ours, pair)), (torch, pair)):
        try:
            t.testing.assert_close(a, b, **options)
            problems.append(None)
        except (AssertionError, TypeError) as problem:
            problems.append(str(problem))
    assert (problems[0] is None) == (problems[1] is None), problems
    if problems[0] is not None and "Mismatched" in problems[1]:
        counts = [re.findall(r"Mismatched elements: .*", text) for text in problems]
        places = [re.findall(r"at index (\S+)", text) for text in problems]
        assert counts[0] == counts[1] and places[0] == places[1]


def test_assert_close_says_what_it_is_told() -> None:
    with pytest.raises(AssertionError, match="^mine$"):
        minitorch2.testing.assert_close(1, 2, msg="mine")
    with pytest.raises(AssertionError, match="^mine: Scalars"):
        minitorch2.testing.assert_close(1, 2, msg=lambda text: f"mine: {text}")
    with pytest.raises(ValueError):
        minitorch2.testing.assert_close(1, 1, rtol=0.1)


def test_new_and_numpy() -> None:
    """Tensor.new, and numpy's functions of tensors."""
    for t in (minitorch2, torch):
        x = t.ones(2, 3, dtype=t.float64)
        assert tuple(x.new(4, 5).shape) == (4, 5) and x.new(4).dtype == t.float64
        assert x.new([1, 2]).tolist() == [1, 2] and tuple(x.new(x.size()).shape) == (2, 3)
        assert not x.is_xpu and not x.is_sparse


def test_numpy_functions_of_tensors() -> None:
    """numpy's functions take tensors and give tensors."""
    x = minitorch2.ones(2, 3, dtype=minitorch2.float64)
    found = numpy.exp(x)
    assert isinstance(found, minitorch2.Tensor) and abs(found.sum().item() - 6 * numpy.e) < 1e-9
    assert (numpy.ones((2, 3)) > 0.5).all() and numpy.add(x, x).tolist() == (x + x).tolist()


def test_settings() -> None:
    for t in (minitorch2, torch):
        assert t.get_float32_matmul_precision() == "highest"
        t.set_float32_matmul_precision("high")
        assert t.get_float32_matmul_precision() == "high"
        t.set_float32_matmul_precision("highest")
        with pytest.warns(UserWarning, match="low is not one of"):
            t.set_float32_matmul_precision("low")
        assert t.get_float32_matmul_precision() == "highest"
        t.set_default_device("cpu")
        assert str(t.get_default_device()) == "cpu"
        with pytest.raises(AssertionError, match="no"):
            t._assert(False, "no")
        t._assert(True, "yes")
    with pytest.raises(RuntimeError):
        minitorch2.set_default_device("cuda")


IN_A_BLOCK: dict[str, Any] = {
    "zeros": lambda t: t.zeros(2, 3),
    "tensor": lambda t: t.tensor([1.0, 2.0]),
    "arange": lambda t: t.arange(3),
    "rand": lambda t: t.rand(2, dtype=t.float64),
    "randint": lambda t: t.randint(3, (2,)),
    "full on the CPU": lambda t: t.full((2,), 1.5, device="cpu"),
    "Linear": lambda t: t.nn.Linear(2, 3).weight,
    "LSTM": lambda t: t.nn.LSTM(2, 3).weight_hh_l0,
    "BatchNorm2d": lambda t: t.nn.BatchNorm2d(3).running_mean,
    "forward": lambda t: t.nn.TransformerEncoderLayer(4, 2)(t.ones(2, 2, 4)),
}


@pytest.mark.parametrize("name", IN_A_BLOCK)
def test_device_as_a_context(name: str) -> None:
    """`with torch.device("meta"):` is where new tensors are made within the block."""
    for t in (minitorch2, torch):
        with t.device("meta") as entered:
            inside = IN_A_BLOCK[name](t)
            with t.device("cpu"):
                assert str(t.zeros(1).device) == "cpu"
        assert str(inside.device) == ("cpu" if name.endswith("CPU") else "meta")
        assert str(entered) == "meta" and str(t.ones(2).device) == "cpu"


def test_default_device() -> None:
    """It is set for the process's thread, told by get_default_device, and None is the CPU."""
    for t in (minitorch2, torch):
        t.set_default_device("meta")
        try:
            assert str(t.get_default_device()) == "meta" and str(t.empty(2).device) == "meta"
        finally:
            t.set_default_device(None)
        assert str(t.get_default_device()) == "cpu" and str(t.empty(2).device) == "cpu"


def test_meta_module_takes_weights() -> None:
    """A model made without memory gets a state dict's own tensors."""
    for t in (minitorch2, torch):
        with t.device("meta"):
            made = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.BatchNorm1d(3))
        state = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.BatchNorm1d(3)).state_dict()
        made.load_state_dict(state, assign=True)
        assert str(made(t.ones(4, 2)).device) == "cpu"


def test_numpy_without_recording() -> None:
    """Inside no_grad a tensor that requires a gradient shows its memory to numpy."""
    for t in (minitorch2, torch):
        x = t.ones(2, requires_grad=True)
        with pytest.raises(RuntimeError):
            x.numpy()
        with t.no_grad():
            x.numpy()[0] = 5.0
            assert numpy.asarray(x).tolist() == [5.0, 1.0]
        assert x.tolist() == [5.0, 1.0]


ON_META: dict[str, Any] = {
    "zeros": lambda t: t.zeros(2, 3, device="meta"),
    "full": lambda t: t.full((2, 3), 1.5, device="meta"),
    "arange": lambda t: t.arange(3, device="meta"),
    "eye": lambda t: t.eye(3, device="meta"),
    "zeros_like": lambda t: t.zeros_like(t.ones(2, 3), device="meta"),
    "of meta": lambda t: t.ones_like(t.ones(2, 3, device="meta")),
    "of meta, to CPU": lambda t: t.ones_like(t.ones(2, 3, device="meta"), device="cpu"),
}


@pytest.mark.parametrize("name", ON_META)
def test_creation_on_the_meta_device(name):
    """A tensor is made where it is asked for, by each row that makes one."""
    mine, theirs = ON_META[name](minitorch2), ON_META[name](torch)
    assert (mine.device.type, tuple(mine.shape), str(mine.dtype)) == (
        theirs.device.type, tuple(theirs.shape), str(theirs.dtype),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["arange", "full", "zeros", "eye"])
def test_creation_on_an_absent_device(name):
    """A GPU that is not there is refused, and no tensor of the CPU given instead."""
    sizes = ((2,), 1) if name == "full" else (3,)
    with pytest.raises(minitorch2.errors.DeviceError):
        getattr(minitorch2, name)(*sizes, device="cuda")


def test_typed_names_are_told_by_dtype() -> None:
    """isinstance with torch.FloatTensor and its like; conversions by them; eager and compiled."""
    names = ("Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool")
    kinds = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8")
    for t in (minitorch2, torch):
        types = [getattr(t, f"{name}Tensor") for name in names]
        for at, dtype in enumerate((*kinds, "uint8", "bool")):
            x = t.ones(2, dtype=getattr(t, dtype))
            assert [isinstance(x, each) for each in types] == [n == at for n in range(len(types))]
            assert x.type() == f"torch.{names[at]}Tensor" and t.ones(2).type(types[at]).equal(x)
        assert isinstance(t.nn.Parameter(t.ones(2)), t.FloatTensor)
        assert not isinstance([1.0], t.FloatTensor)
    compiled = minitorch2.compile(
        lambda x: (x + minitorch2.FloatTensor(2).fill_(1.0), isinstance(x, minitorch2.LongTensor)),
        fullgraph=True,
    )
    found = compiled(minitorch2.ones(2))
    assert found[0].tolist() == [2.0, 2.0] and found[1] is False

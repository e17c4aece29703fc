"""Floats of eight bits, judged by torch: conversions of every number, files, names, refusals."""

import io
import warnings

import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.both import check  # noqa: E402

EIGHT_BITS = (
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e4m3fnuz",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
)
FLOATS = ("float32", "float64", "float16", "bfloat16")
NUMBERS = [0.0, -0.0, 1.0, -1.0, -2.0, 0.3, 1.4999, 1.5, 1.5001, 2.5, float("nan")]
NUMBERS += [sign * 2.0**k * part for k in range(-18, 17) for part in (1, 1.125) for sign in (1, -1)]
NUMBERS += [448.0, 463.9, 464.0, 464.1, 480.0, 247.9, 248.0, 61439.0, 61440.0, 61441.0, 1e6, -1e6]
NUMBERS += [float("inf"), -float("inf"), 1e-30, -1e-30, 2.0**-127, 2.0**-128, 1.7e38, 3e38]


def listed(tensor):
    """The numbers as texts, which tell -0.0 from 0.0 and call nan equal to nan."""
    return [str(each) for each in tensor.double().tolist()]


@pytest.mark.parametrize("name", EIGHT_BITS)
@pytest.mark.parametrize("source", (*FLOATS, "int64", "int32", "uint8", "bool", "complex64"))
def test_every_way_into_eight_bits_gives_torchs_numbers(source, name):
    """`.to`, a write, tensor() of Python's numbers, and compiled; without a word from numpy."""
    numbers = NUMBERS if source in FLOATS else [0, 1, 2, 3, 5, 100, 255]
    if source in ("int64", "int32"):
        numbers = [*numbers, -1, -2, 448, 449, 500, 70000]
    theirs = torch.tensor(numbers, dtype=getattr(torch, source))
    if source == "complex64":
        warnings.simplefilter("ignore")
    wanted = listed(theirs.to(getattr(torch, name)))
    element = getattr(minitorch2, name)
    mine = minitorch2.tensor(numbers, dtype=getattr(minitorch2, source))
    ways = {
        "to": mine.to(element),
        "copy_": minitorch2.zeros(len(numbers), dtype=element).copy_(mine),
        "compiled": minitorch2.compile(lambda x: x.clone().to(element))(mine),
    }
    for way, made in ways.items():
        assert made.dtype is element and listed(made) == wanted, way


@pytest.mark.parametrize("name", EIGHT_BITS)
def test_numbers_of_python_become_eight_bits(name):
    wanted = listed(torch.tensor(NUMBERS, dtype=getattr(torch, name)))
    assert listed(minitorch2.tensor(NUMBERS, dtype=getattr(minitorch2, name))) == wanted


@pytest.mark.parametrize("name", EIGHT_BITS)
@pytest.mark.parametrize("target", (*FLOATS, "int32", "uint8", "bool", "complex64", *EIGHT_BITS))
def test_every_number_of_eight_bits_is_converted_as_torch_does(target, name):
    def all_numbers(library):
        every = library.arange(256).to(library.uint8).view(getattr(library, name))
        finite = every if target in (*FLOATS, "bool", *EIGHT_BITS) else every[:100]
        made = finite.to(getattr(library, target))
        return [str(each) for each in (made.real if target == "complex64" else made).tolist()]

    assert all_numbers(minitorch2) == all_numbers(torch)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", EIGHT_BITS)
@pytest.mark.parametrize(
    "program",
    [
        lambda t, y: y.t().reshape(-1),
        lambda t, y: y[:, None].expand(5, 3, 7).reshape(15, 7),
        lambda t, y: t.cat([y, y]),
        lambda t, y: t.stack([y, y], 1)[1:],
        lambda t, y: y[t.tensor([0, 2])],
        lambda t, y: y.index_select(0, t.tensor([1])),
        lambda t, y: y.repeat(2, 2),
        lambda t, y: y.diagonal().clone(),
        lambda t, y: y.t().contiguous(),
        lambda t, y: t.where(y == y, y, t.ones_like(y)),
        lambda t, y: t.zeros_like(y),
        lambda t, y: y.float() * 2,
        lambda t, y: (y.double() / 3).to(y.dtype),
    ],
)
def test_tensors_of_eight_bits_are_moved_and_converted(program, name, compiled):
    def run(library):
        x = library.tensor([0.0, -0.0, 500.0, -2.0, 1.5, 0.3, 1e6] * 5).reshape(5, 7)
        y = x.to(getattr(library, name))
        if compiled and library is minitorch2:
            made = minitorch2.compile(lambda y: program(library, y))(y)
        else:
            made = program(library, y)
        return str(made.dtype), tuple(made.shape), made.stride(), listed(made.reshape(-1))

    assert run(minitorch2) == run(torch)


@pytest.mark.parametrize("name", EIGHT_BITS)
@pytest.mark.parametrize(
    "program",
    [
        lambda t, g: t.ones(2, dtype=g).type(),
        lambda t, g: t.ones(2).type(t.ones(2, dtype=g).type()).float(),
        lambda t, g: repr(t.tensor([1.0, 2.0, 0.5]).to(g)),
        lambda t, g: t.tensor(2.0).to(g).item(),
        lambda t, g: (g.is_floating_point, g.is_complex, g.is_signed, g.itemsize),
        lambda t, g: (t.can_cast(g, t.float32), t.can_cast(t.float32, g), t.can_cast(g, t.int8)),
        lambda t, g: (t.finfo(g).max, t.finfo(g).min, t.finfo(g).bits, t.finfo(g).tiny),
        lambda t, g: [str(t.result_type(t.ones(2, dtype=g), each)) for each in (1, 1.5, True)],
        lambda t, g: (t.ones(2, dtype=g) == t.ones(2, dtype=g), t.ones(2, dtype=g).isnan()),
        lambda t, g: t.equal(t.ones(2, dtype=g), t.ones(2, dtype=g)),
        lambda t, g: t.testing.assert_close(t.ones(2, dtype=g), t.ones(2, dtype=g)),
        lambda t, g: (t.zeros(2, dtype=g).float(), t.ones(2, dtype=g).zero_().float()),
        lambda t, g: t.promote_types(g, t.float32),
        lambda t, g: t.promote_types(t.int64, g),
        lambda t, g: [t.promote_types(g, getattr(t, each)) for each in EIGHT_BITS],
        lambda t, g: t.ones(2, dtype=g) + t.ones(2),
        lambda t, g: t.ones(2, dtype=g) + 1,
        lambda t, g: -t.ones(2, dtype=g),
        lambda t, g: t.ones(2, dtype=g) < 1,
        lambda t, g: t.cat([t.ones(2, dtype=g), t.ones(2)]),
        lambda t, g: t.ones(2, dtype=g).sum(),
        lambda t, g: t.ones(2, dtype=g).sort(),
        lambda t, g: t.full((3,), float("inf"), dtype=g).float(),
        lambda t, g: t.full((3,), 1e6, dtype=g).float(),
        lambda t, g: t.ones(3, dtype=g).fill_(-2).float(),
        lambda t, g: t.set_default_dtype(g),
        lambda t, g: g.to_complex(),
    ],
)
def test_names_facts_and_refusals_are_torchs(program, name):
    check(lambda t: program(t, getattr(t, name)))


@pytest.mark.parametrize("name", EIGHT_BITS)
def test_gradients_pass_through_eight_bits(name):
    def slope(library):
        x = library.tensor([0.5, 1.5, 3.0], requires_grad=True)
        (x.to(getattr(library, name)).float() ** 2).sum().backward()
        return str(x.grad.dtype), x.grad.tolist()

    assert slope(minitorch2) == slope(torch)


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("name", EIGHT_BITS)
@pytest.mark.parametrize(
    ("writer", "reader"),
    [(minitorch2, torch), (torch, minitorch2), (minitorch2, minitorch2)],
)
def test_files_of_eight_bits_are_exchanged(writer, reader, name, weights_only):
    buffer = io.BytesIO()
    x = writer.tensor([1.0, 2.0, 0.5, 4.0]).to(getattr(writer, name))
    weight = writer.nn.Parameter(x, requires_grad=False)
    kept = {"whole": x, "part": x[1:3], "weight": weight, "dtype": x.dtype}
    writer.save(kept, buffer)
    buffer.seek(0)
    found = reader.load(buffer, weights_only=weights_only)
    assert found["dtype"] is getattr(reader, name) is found["whole"].dtype
    assert found["whole"].float().tolist() == found["weight"].float().tolist() == [1, 2, 0.5, 4]
    assert found["part"].float().tolist() == [2, 0.5]
    addresses = [found[each].untyped_storage().data_ptr() for each in ("whole", "part")]
    assert addresses[0] == addresses[1]

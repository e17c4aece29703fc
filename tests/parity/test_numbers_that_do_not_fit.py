"""Numbers written into tensors of every dtype, judged by torch: kept, wrapped, or refused in words.

Every dtype meets whole numbers, floats and complex numbers inside and outside its range.
"""

import math

import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.both import alike  # noqa: E402
from tests.parity.test_eight_bits import EIGHT_BITS  # noqa: E402

DTYPES: tuple[str, ...] = (
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
)
DTYPES += ("float64", "complex64", "complex128")
WHOLE = (0, 1, 2, -1, -2, 300, -300, 70000, -70000, 10**10, 2**40, True)
FLOATS: tuple[float, ...] = (
    1.5,
    -1.5,
    -0.5,
    -1.0,
    255.9,
    256.0,
    -255.0,
    300.5,
    65504.0,
    65505.0,
    65519.0,
    7e4,
    -7e4,
)
FLOATS += (1e6, 1e10, 9.3e18, 1e19, 3.39e38, 3.41e38, -1e39, 1e308, math.inf, -math.inf, math.nan)
COMPLEX = (1 + 0j, 1 + 1j, 0j, complex(1e39, 0), complex(0, 1e39), complex(math.inf, 0))

STORED = {
    "full": lambda t, d, v: t.full((1,), v, dtype=d),
    "several": lambda t, d, v: t.full((3,), v, dtype=d),
    "fill_": lambda t, d, v: t.ones(1, dtype=d).fill_(v),
    "filled": lambda t, d, v: t.ones(3, dtype=d).fill_(v),
    "like": lambda t, d, v: t.full_like(t.ones(2), v, dtype=d),
    "new_full": lambda t, d, v: t.ones(1, dtype=d).new_full((1,), v),
    "tensor": lambda t, d, v: t.tensor([v], dtype=d),
}


def _assigned(t, d, v):
    x = t.ones(2, dtype=d)
    x[0] = v
    return x


def _all_assigned(t, d, v):
    x = t.ones(2, dtype=d)
    x[:] = v
    return x


STORED |= {"setitem": _assigned, "all": _all_assigned}
COMPUTED = {
    "masked_fill": lambda t, d, v: t.ones(1, dtype=d).masked_fill(t.tensor([True]), v),
    "masked_fill_": lambda t, d, v: t.ones(2, dtype=d).masked_fill_(t.tensor([True, False]), v),
    "index_fill": lambda t, d, v: t.ones(1, dtype=d).index_fill(0, t.tensor([0]), v),
    "scatter": lambda t, d, v: t.ones(2, dtype=d).scatter(0, t.tensor([0]), v),
}
WAYS = [(name, way, DTYPES + EIGHT_BITS) for name, way in STORED.items()]
WAYS += [(name, way, DTYPES) for name, way in COMPUTED.items()]


def outcome(way, library, dtype, value):
    """What becomes of it, as text; or the refusal."""
    try:
        made = way(library, getattr(library, dtype), value)
    except (RuntimeError, TypeError) as wrong:
        return wrong
    return str(made.dtype), [str(each) for each in made.tolist()]


@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.parametrize(("way", "dtype"), [(w, d) for _, w, every in WAYS for d in every])
def test_a_number_is_held_or_refused_as_torch_does(way, dtype):
    for value in (*WHOLE, *FLOATS, *COMPLEX):
        mine, theirs = (outcome(way, library, dtype, value) for library in (minitorch2, torch))
        refused = isinstance(theirs, Exception)
        agree = alike(mine, theirs) if refused else mine == theirs
        assert agree, f"{value}: {mine!r}, torch {theirs!r}"

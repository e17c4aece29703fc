"""What assert_close says is what torch's says, letter by letter."""

import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402

PAIRS = [
    lambda t: (1, 2),
    lambda t: (1.0, 2.5),
    lambda t: (float("nan"), 1.0),
    lambda t: ([1, 2], [1, 3]),
    lambda t: (t.tensor(1), t.tensor(2)),
    lambda t: (t.tensor(1.0), t.tensor(0.0)),
    lambda t: (t.tensor([1, 2]), t.tensor([1, 3])),
    lambda t: (t.tensor([[1, 2], [3, 4]]), t.tensor([[1, 2], [3, 5]])),
    lambda t: (t.tensor([True]), t.tensor([False])),
    lambda t: (t.tensor([1.0, 2.0]), t.tensor([1.0, 2.5])),
    lambda t: (t.tensor([1.0], dtype=t.float64), t.tensor([1.1], dtype=t.float64)),
    lambda t: (t.tensor([1j]), t.tensor([2j])),
    lambda t: (t.tensor([float("inf"), 1.0]), t.tensor([1.0, 1.0])),
    lambda t: ({"a": t.ones(2)}, {"a": t.zeros(2)}),
]
HOW: list[dict[str, float]] = [{}, {"rtol": 0, "atol": 0}, {"rtol": 0, "atol": 0.1}]


def told(library, call):
    with pytest.raises(AssertionError) as caught:
        call(library)
    return str(caught.value)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("pair", PAIRS)
def test_texts(pair, how):
    mine, theirs = (
        told(library, lambda t: t.testing.assert_close(*pair(t), **how))
        for library in (minitorch2, torch)
    )
    assert mine == theirs


def test_assert_allclose():
    def call(t):
        with pytest.warns(FutureWarning, match="deprecated since 1.12"):
            t.testing.assert_allclose(t.ones(2), t.ones(2, dtype=t.float64))
            t.testing.assert_allclose([1.0], [1.00001])
            t.testing.assert_allclose(t.tensor([float("nan")]), t.tensor([float("nan")]))
            t.testing.assert_allclose(t.ones(1), t.zeros(1))

    assert told(minitorch2, call) == told(torch, call)


def test_sizes_of_what_is_saved():
    def sizes(t):
        x = t.ones(2, 3, requires_grad=True)
        return [
            x.sum(1).grad_fn._saved_self_sym_sizes,
            x.view(6).grad_fn._saved_self_sym_sizes,
            x.expand(4, 2, 3).grad_fn._saved_self_sym_sizes,
            x[0:1].grad_fn._saved_self_sym_sizes,
        ]

    assert sizes(minitorch2) == sizes(torch)


def test_settings_of_a_loader():
    for t in (minitorch2, torch):
        assert t.utils.data.DataLoader([1]).prefetch_factor is None
        assert t.utils.data.DataLoader([1], num_workers=1).prefetch_factor == 2

"""Samplers and loaders: what counts, flags and weights they take and refuse."""

import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import check  # noqa: E402

CALLS = {
    "nothing_in_random_order": lambda d: len(d.RandomSampler([])),
    "a_loader_of_nothing": lambda d: len(d.DataLoader([], shuffle=True)),
    "a_loader_of_nothing_in_order": lambda d: list(d.DataLoader([])),
    "replacement_that_is_no_flag": lambda d: len(d.RandomSampler([1], replacement=1)),
    "half_a_draw": lambda d: len(d.RandomSampler([1], num_samples=1.5)),
    "true_draws": lambda d: len(d.RandomSampler([1], num_samples=True)),
    "more_draws_than_examples": lambda d: len(d.RandomSampler([1], num_samples=5)),
    "fewer_draws_than_none": lambda d: len(d.RandomSampler([1], num_samples=-1)),
    "no_weighted_draws": lambda d: len(d.WeightedRandomSampler([1.0], 0)),
    "true_weighted_draws": lambda d: len(d.WeightedRandomSampler([1.0], True)),
    "weights_without_a_flag": lambda d: len(d.WeightedRandomSampler([1.0], 1, 1)),
    "weights_in_a_table": lambda d: len(d.WeightedRandomSampler([[1.0]], 1)),
    "weights_of_integers": lambda d: list(d.WeightedRandomSampler([0, 1], 3)),
    "last_batch_without_a_flag": lambda d: len(d.BatchSampler([1], 1, 1)),
    "batches_of_none": lambda d: len(d.BatchSampler([1], 0, False)),
    "batches_of_true": lambda d: len(d.BatchSampler([1], True, False)),
}


@pytest.mark.parametrize("name", CALLS)
def test_call(name):
    check(lambda t: CALLS[name](t.utils.data))

"""The minimum cut equals the best of all cuts, on random networks."""

import itertools
import random

from minitorch2.jit.autodiff.min_cut import Network


def capacity(edges, side):
    return sum(room for start, end, room in edges if start not in side and end in side)


def test_no_cut_is_cheaper():
    for seed in range(300):
        choice = random.Random(seed)
        count = choice.randint(2, 7)
        pairs = [(choice.randrange(count), choice.randrange(count)) for _ in range(3 * count)]
        edges = [(a, b, choice.randint(0, 9)) for a, b in pairs if a != b]
        network = Network(count)
        for edge in edges:
            network.edge(*edge)
        side = network.sink_side(0, count - 1)
        assert count - 1 in side and 0 not in side
        inner = range(1, count - 1)
        cuts = (
            {count - 1, *chosen}
            for size in range(count - 1)
            for chosen in itertools.combinations(inner, size)
        )
        assert capacity(edges, side) == min(capacity(edges, cut) for cut in cuts)

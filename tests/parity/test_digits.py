"""torch judges the main job: the digits model, dropout off, gives the same losses step by step."""

import numpy
import pytest
import torch

import minitorch2
from minitorch2.utils.data import DataLoader, TensorDataset
from tests.parity.shared import as_array

datasets = pytest.importorskip("sklearn.datasets")


def network(nn):
    """The tutorial's model, in the words of either library."""

    class DigitNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(64, 128)
            self.norm = nn.LayerNorm(128)
            self.second = nn.Linear(128, 128)
            self.scores = nn.Linear(128, 10)

        def forward(self, x):
            x = self.norm(nn.functional.gelu(self.first(x)))
            x = x + nn.functional.gelu(self.second(x))
            return self.scores(x)

    return DigitNet()


def losses(library, state, batches):
    model = network(library.nn)
    model.load_state_dict({name: library.tensor(value) for name, value in state.items()})
    optimizer = library.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.05)
    schedule = library.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=5e-3, total_steps=60)
    found = []
    for x, y in batches:
        loss = library.nn.functional.cross_entropy(model(library.tensor(x)), library.tensor(y))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        found.append(loss.item())
    return found


def test_twenty_losses():
    pixels, labels = datasets.load_digits(return_X_y=True)
    minitorch2.manual_seed(0)
    state = {name: as_array(value) for name, value in network(minitorch2.nn).state_dict().items()}
    digits = TensorDataset(
        minitorch2.tensor((pixels / 16).astype("float32")), minitorch2.tensor(labels)
    )
    loader = DataLoader(digits, batch_size=64, shuffle=True)
    batches = [(as_array(x), as_array(y)) for (x, y), _ in zip(loader, range(20), strict=False)]
    ours, judge = losses(minitorch2, state, batches), losses(torch, state, batches)
    assert judge[-1] < judge[0] / 2
    numpy.testing.assert_allclose(ours, judge, rtol=1e-5)

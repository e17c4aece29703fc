"""Train a small network to read handwritten digits.

    python tutorials/train_digits.py                  # compiled
    python tutorials/train_digits.py --no-compile     # eager
    mt2 explain tutorials/train_digits.py             # every stage of the compiler

In: the 1,797 digits of scikit-learn, 8 by 8 pixels each. Out: the accuracy on a quarter of them
that the network never saw in training, and a picture of the loss and of some predictions.

This is an ordinary torch script; only the import differs.
"""

import argparse
import pathlib

import matplotlib
from sklearn.datasets import load_digits

import minitorch2 as torch
import minitorch2.nn as nn
import minitorch2.nn.functional as F
from minitorch2.utils.data import DataLoader, TensorDataset, random_split

matplotlib.use("Agg")  # draw into a file; no window is needed

from matplotlib import pyplot as plt  # noqa: E402


class DigitNet(nn.Module):
    """64 pixels in, 10 scores out, through two hidden layers."""

    def __init__(self, width: int = 128, dropout: float = 0.2):
        super().__init__()
        self.first = nn.Linear(64, width)
        self.norm = nn.LayerNorm(width)
        self.second = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        self.scores = nn.Linear(width, 10)

    def forward(self, x):
        x = self.norm(F.gelu(self.first(x)))
        # The second layer adds to what the first has found instead of replacing it.
        x = x + F.gelu(self.second(self.dropout(x)))
        return self.scores(self.dropout(x))


def loss_fn(model, x, y):
    """How surprised the model is by the right answers, on average."""
    return F.cross_entropy(model(x), y)


def load_data(seed: int):
    """The digits as (pixels in [0, 1], label) pairs: three quarters to train, one to test."""
    pixels, labels = load_digits(return_X_y=True)
    digits = TensorDataset(
        torch.tensor(pixels / 16, dtype=torch.float32),
        torch.tensor(labels, dtype=torch.int64),
    )
    return random_split(digits, [0.75, 0.25], torch.Generator().manual_seed(seed))


def endless(loader):
    """Mini-batches, epoch after epoch."""
    while True:
        yield from loader


def train(model, loss_of, data, steps: int, report_every: int):
    """`steps` updates on mini-batches; returns the loss of each."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.05)
    # The learning rate rises to its peak and then falls to almost nothing.
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=5e-3, total_steps=steps)
    batches = endless(DataLoader(data, batch_size=64, shuffle=True, drop_last=True))
    losses = []
    model.train()
    for step in range(1, steps + 1):
        x, y = next(batches)
        loss = loss_of(model, x, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        losses.append(loss.item())
        if step % report_every == 0 or step == steps:
            recent = losses[-report_every:]
            print(f"step {step:4d}  loss {sum(recent) / len(recent):.4f}", flush=True)
    return losses


@torch.no_grad()
def predict(model, data):
    """The digits of a dataset, the right answers, and the model's."""
    x, y = next(iter(DataLoader(data, batch_size=len(data))))
    model.eval()  # no dropout
    return x, y, model(x).argmax(dim=1)


def draw(path: str, losses, x, y, guesses, rows: int = 4, columns: int = 8):
    """A picture: the loss of each step, and some digits with what the model read in them."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    left.semilogy(losses, linewidth=0.8)
    left.set(xlabel="step", ylabel="cross-entropy", title="training loss")
    count = rows * columns
    # [count, 64] -> one picture of rows x columns digits, each 8 x 8 with a border of 2
    digits = torch.zeros(count, 12, 10)
    digits[:, 3:11, 1:9] = x[:count].reshape(count, 8, 8)
    sheet = digits.reshape(rows, columns, 12, 10).permute(0, 2, 1, 3).reshape(rows * 12, -1)
    right.imshow(sheet.numpy(), cmap="gray_r")
    for index in range(count):
        row, column = divmod(index, columns)
        color = "tab:blue" if guesses[index] == y[index] else "red"
        right.text(column * 10 + 4.5, row * 12 + 1, int(guesses[index]), color=color, ha="center")
    right.set_axis_off()
    right.set_title("digits never seen, and what was read")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main():
    here = pathlib.Path(__file__).parent
    parser = argparse.ArgumentParser(description="Train a small network to read digits.")
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--steps", type=int, default=600, help="updates (default: 600)")
    parser.add_argument("--seed", type=int, default=0, help="of weights, split, batches, dropout")
    parser.add_argument("--output", default=str(here / "train_digits.png"), help="the picture")
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    train_data, test_data = load_data(options.seed)
    model = DigitNet()
    loss_of = torch.compile(loss_fn) if options.compile else loss_fn
    losses = train(model, loss_of, train_data, options.steps, report_every=100)

    x, y, guesses = predict(model, test_data)
    accuracy = (guesses == y).float().mean().item()
    print(f"accuracy on {len(test_data)} digits not trained on: {accuracy:.2%}")
    draw(options.output, losses, x, y, guesses)
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()

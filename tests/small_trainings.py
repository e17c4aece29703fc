"""A small network and every optimizer, for tests of whole training steps."""

import minitorch2 as torch
from minitorch2 import nn, optim

OPTIMIZERS = {
    "SGD": lambda p: optim.SGD(p, lr=0.05),
    "SGD with everything": lambda p: optim.SGD(
        p, lr=0.05, momentum=0.9, weight_decay=0.01, nesterov=True
    ),
    "Adam": lambda p: optim.Adam(p, lr=0.01),
    "Adam with amsgrad": lambda p: optim.Adam(p, lr=0.01, amsgrad=True, weight_decay=0.1),
    "AdamW": lambda p: optim.AdamW(p, lr=0.01),
    "NAdam": lambda p: optim.NAdam(p, lr=0.01),
    "RAdam": lambda p: optim.RAdam(p, lr=0.01),
    "Adamax": lambda p: optim.Adamax(p, lr=0.01),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.05),
    "Adadelta": lambda p: optim.Adadelta(p, lr=1.0),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.005, momentum=0.5, centered=True),
    "Rprop": lambda p: optim.Rprop(p, lr=0.01),
    "ASGD": lambda p: optim.ASGD(p, lr=0.05),
    "Adafactor": lambda p: optim.Adafactor(p, lr=0.05),
    "Muon": lambda p: optim.Muon([each for each in p if each.dim() == 2], lr=0.05),
}


class Net(nn.Module):
    """Two layers of which the second uses the first one's weight, and one that is frozen."""

    def __init__(self):
        super().__init__()
        self.first, self.frozen = nn.Linear(6, 9), nn.Linear(9, 9)
        self.bias = nn.Parameter(torch.zeros(6))
        self.frozen.requires_grad_(False)

    def forward(self, x):
        hidden = torch.tanh(self.first(x))
        hidden = hidden + self.frozen(hidden)
        return hidden @ self.first.weight + self.bias


def made(optimizer):
    torch.manual_seed(0)
    net = Net().double()
    found = OPTIMIZERS[optimizer]([p for p in net.parameters() if p.requires_grad])
    return net, found, torch.randn(8, 6, dtype=torch.float64)


def outcome(net, losses):
    return [
        *losses,
        *(value for p in net.parameters() for value in p.detach().reshape(-1).tolist()),
    ]

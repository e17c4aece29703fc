"""The smallest script that goes the whole way from relu to its kernel and back."""

import minitorch2 as torch


@torch.compile
def positive(x):
    return torch.relu(x)


x = torch.tensor([-1.0, 2.0, 3.0], requires_grad=True)
y = positive(x)
y.sum().backward()
print("relu:", y.tolist(), "gradient:", x.grad.tolist())

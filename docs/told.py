"""What the compiler tells its user: five recompilations too many, five graph breaks.

`python docs/told.py NAME` runs one of the programs below and prints what it was told;
`python docs/generate.py` writes all of them to docs/told.md.
"""

import sys
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import minitorch2 as torch

ones = torch.ones


def fixed_sizes(x):
    return (x * 2).relu()


def columns(x):
    return x.softmax(0)


def repeat(x, times):
    for _ in range(times):
        x = x * 0.9 + 1
    return x


def activate(x, activation):
    return activation(x) + 1


def ensemble(x, weights):
    return sum(map(x.matmul, weights))


RECOMPILED: dict[Callable, tuple[str, Callable, dict[str, Any]]] = {
    fixed_sizes: (
        "Batches of every size, and `dynamic=False`",
        lambda i: (ones(i + 2, 4),), {"dynamic": False},
    ),
    columns: (
        "Sizes that vary, of tensors that are not contiguous",
        lambda i: (ones(i + 2, 4).t(),), {},
    ),
    repeat: ("A number that decides how often something is done", lambda i: (ones(3), i), {}),
    activate: (
        "A function that is made anew for each call",
        lambda i: (ones(3), eval("lambda x: x.tanh()")), {},
    ),
    ensemble: (
        "A list that grows",
        lambda i: (ones(2, 4), [ones(4, 4)] * (i + 1)), {},
    ),
}  # fmt: skip


def clipped(x):
    norm = x.norm().item()
    return x / norm if norm > 1 else x


def flipped(x):
    if x.sum() > 0:
        return -x
    return x


def logged(x):
    y = x.exp()
    print("largest:", y.max())
    return y.log()


def seeded(x):
    return x + zlib.crc32(b"a name") % 7


def helper(x):
    return x * int(x.argmax())


def nested(x):
    return helper(x + 1) - 1


BROKEN: dict[Callable, str] = {
    clipped: "A number of a tensor in Python's hands",
    flipped: "A condition on the numbers of a tensor",
    logged: "Printing",
    seeded: "A native function of which capture does not know what it does",
    nested: "A break in a function that is called",
}


def story(function: Callable) -> str:
    """The warning of a function that was compiled too often."""
    _, arguments, options = RECOMPILED[function]
    compiled = torch.compile(function, backend="eager", **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(torch.compiler.config.recompile_limit + 1):
            compiled(*arguments(i))
    return "\n".join(str(one.message) for one in caught)


def breaks(function: Callable) -> str:
    """The graph breaks of a function."""
    return "\n".join(torch.compiler.explain(function)(ones(3)).break_reasons)


def told(name: str) -> str:
    """What a program's user reads."""
    tell = {each.__name__: story for each in RECOMPILED} | {
        each.__name__: breaks for each in BROKEN
    }
    return tell[name](globals()[name])


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in globals():
        print(told(sys.argv[1]))
    else:
        names = [each.__name__ for each in (*RECOMPILED, *BROKEN)]
        print("python docs/told.py", "|".join(names))

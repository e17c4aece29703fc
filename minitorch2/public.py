"""The package's public functions by name, as they are when they are called.

In: a name. Out: what `minitorch2.name` is now. Users' code replaces public functions, most often
those that draw random numbers; what torch calls by such a name is called so here too.

    torch.randperm = mine        # a shuffling DataLoader takes its orders from it

Source: torch's own Python files call `torch.randperm`, `torch.multinomial`, ... by attribute.
"""

import sys
from typing import Any

PACKAGE = __name__.rpartition(".")[0]


def public(name: str) -> Any:
    """The function under a public name, at this moment; the package itself for ''."""
    package = sys.modules[PACKAGE]
    return getattr(package, name) if name else package

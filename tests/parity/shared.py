"""What parity tests share: values of either library as numpy arrays."""

from typing import Any

import numpy


def as_array(value: Any) -> Any:
    """A tensor of either library (or None) as an array of its own."""
    return None if value is None else numpy.array(value.detach().numpy())

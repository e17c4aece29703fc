"""Random indices for the indexing tests: what may stand in brackets, by hypothesis."""

from typing import Any

import numpy
from hypothesis import strategies as st


@st.composite
def indexed(draw: Any, advanced: bool = True, negative_steps: bool = False) -> tuple:
    """A shape and an index for it: integers, slices, None, ..., arrays of integers or bools."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=0, max_size=4)))
    parts: list[Any] = []
    at, arrays = 0, draw(st.sampled_from([(1,), (2,), (2, 1), (3,)]))
    ellipsis = draw(st.booleans())
    while at < len(shape):
        size = shape[at]
        kinds = ["slice", "none", "stop"]  # beside arrays numpy takes an integer for an array
        kinds += ["array", "mask"] if advanced else ["int"]
        kind = draw(st.sampled_from(kinds))
        if kind == "stop":
            break
        if kind == "none":
            parts.append(None)
            if len(parts) > 6:
                break
            continue
        if kind == "int":
            parts.append(draw(st.integers(-size, size - 1)))
        elif kind == "slice":
            bound = st.none() | st.integers(-size - 1, size + 1)
            step = draw(st.none() | st.integers(1, 3))
            parts.append(slice(draw(bound), draw(bound), step))
        elif kind == "array":
            values = st.integers(-size, size - 1)
            count = int(numpy.prod(arrays))
            found = draw(st.lists(values, min_size=count, max_size=count))
            parts.append(numpy.array(found, numpy.int64).reshape(arrays))
        else:
            found = draw(st.lists(st.booleans(), min_size=size, max_size=size))
            count = int(numpy.prod(arrays))
            if sum(found) not in (1, count) or len(arrays) > 1:
                continue
            parts.append(numpy.array(found))
        at += 1
    if ellipsis:
        ends = sum(isinstance(part, numpy.ndarray) for part in parts) > 1  # no ... between arrays
        parts.insert(len(parts) if ends else draw(st.integers(0, len(parts))), Ellipsis)
    if len(parts) == 1 and draw(st.booleans()):
        return shape, parts[0]
    return shape, tuple(parts)

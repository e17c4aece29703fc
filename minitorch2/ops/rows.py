"""Imports every file of rows, in order, so that the table is complete.

Example: `from minitorch2.ops import rows` before `all_ops()` in a script of its own.
"""

from minitorch2.ops import (
    arithmetic,
    composites,
    convolution,
    creation,
    differentiation,
    elementwise,
    gathers,
    losses,
    movement,
    neural,
    products,
    rearrangement,
    reductions,
    selection,
    shapes,
    views,
    writes,
)

ROW_FILES = (
    arithmetic,
    elementwise,
    reductions,
    views,
    products,
    convolution,
    gathers,
    movement,
    writes,
    creation,
    differentiation,
    composites,
    shapes,
    selection,
    neural,
    losses,
    rearrangement,
)

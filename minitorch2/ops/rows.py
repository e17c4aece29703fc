"""Imports every file of rows, in order, so that the table is complete.

Example: `from minitorch2.ops import rows` before `all_ops()` in a script of its own.
"""

from minitorch2.ops import (
    arithmetic,
    composites,
    creation,
    elementwise,
    movement,
    neural,
    products,
    reductions,
    views,
)

ROW_FILES = (
    arithmetic,
    elementwise,
    reductions,
    views,
    products,
    movement,
    creation,
    composites,
    neural,
)

"""torch._higher_order_ops: the names under which torch keeps its control flow.

    >>> from minitorch2 import tensor
    >>> map(lambda x: x * 2, tensor([1.0, 2.0]))
    tensor([2., 4.])

Source: torch/_higher_order_ops/__init__.py.
"""

from minitorch2.control_flow import associative_scan, cond, map, scan, while_loop

__all__ = ["associative_scan", "cond", "map", "scan", "while_loop"]

"""swap_tensors: two tensors exchange everything but their identity.

In: two tensors. Out: nothing; each name then means what the other meant, attributes included.

Source: torch.utils.swap_tensors.
"""

from minitorch2.errors import OperationError
from minitorch2.tensors import Tensor

_FIELDS = (
    "storage", "layout", "dtype", "_array", "_requires_grad", "_grad", "_node", "_output", "_view",
    "_hooks", "_retains_grad",
)  # fmt: skip


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchange two tensors: memory, history, class and attributes.

    OperationError where a graph hangs on one of them: the nodes hold the tensors themselves.
    """
    for tensor in (t1, t2):
        if tensor._node is not None:
            raise OperationError(
                "swap_tensors",
                "a tensor with a history cannot be exchanged: its graph would be another's",
                "exchange leaves, or detach() first",
            )
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    first, second = dict(t1.__dict__), dict(t2.__dict__)
    for name in _FIELDS:
        one, other = getattr(t1, name), getattr(t2, name)
        setattr(t1, name, other)
        setattr(t2, name, one)
    for tensor, attributes in ((t1, second), (t2, first)):
        tensor.__dict__.clear()
        tensor.__dict__.update(attributes)
        tensor.key = None

"""torch.distributed.nn: communication that gradients flow through, in a world of one process.

In: a tensor. Out: what every process would get: the tensor, or a tuple of the one tensor.

    >>> from minitorch2 import distributed, ones
    >>> distributed.init_process_group("gloo", rank=0, world_size=1)
    >>> all_gather(ones(2))
    (tensor([1., 1.]),)
    >>> distributed.destroy_process_group()

Source: torch.distributed.nn.functional.
"""

from typing import Any

from minitorch2.distributed import ReduceOp, get_rank


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """The sum, mean, largest over all processes: the tensor."""
    get_rank(group)
    return tensor.clone()


def all_gather(tensor: Any, group: Any = None) -> tuple[Any, ...]:
    """The tensors of all processes."""
    get_rank(group)
    return (tensor.clone(),)


def broadcast(tensor: Any, src: int, group: Any = None) -> Any:
    """The tensor of process `src`."""
    get_rank(group)
    return tensor.clone()


def reduce(tensor: Any, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """The sum over all processes, for process `dst`."""
    get_rank(group)
    return tensor.clone()


def gather(tensor: Any, dst: int = 0, group: Any = None) -> tuple[Any, ...]:
    """The tensors of all processes, for process `dst`."""
    return all_gather(tensor, group)


def scatter(tensors: Any, src: int = 0, group: Any = None) -> Any:
    """The tensor of the list of process `src` that is meant for this one."""
    get_rank(group)
    return tensors[0].clone()


def reduce_scatter(output: Any, input_list: Any, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """The sum over all processes of the tensor meant for this one."""
    get_rank(group)
    return input_list[0].clone()

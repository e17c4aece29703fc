"""torch.distributed for one process: a group of world size 1.

In: the calls of a script written for many processes. Out: what they give where there is one: its
own tensors. A world of more processes raises DeviceError; each process would need messages from the
others, which minitorch2 does not send.

Files, in reading order:

nn  communication that gradients flow through

    >>> init_process_group("gloo", rank=0, world_size=1)
    >>> get_rank(), get_world_size()
    (0, 1)
    >>> destroy_process_group()

Source: torch.distributed.
"""

import enum
import os
from typing import Any

from minitorch2.dispatch import call
from minitorch2.errors import DeviceError, OperationError
from minitorch2.ops.table import lookup


class RedOpType(enum.Enum):
    """How a reduction over processes combines their tensors; of one tensor each gives itself."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7


class ReduceOp:
    """The ways to combine tensors by name: `ReduceOp.SUM`."""

    RedOpType = RedOpType
    SUM, AVG, PRODUCT, MIN = RedOpType.SUM, RedOpType.AVG, RedOpType.PRODUCT, RedOpType.MIN
    MAX, BAND, BOR, BXOR = RedOpType.MAX, RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR


class ProcessGroup:
    """The group of this one process."""

    def size(self) -> int:
        """How many processes it has."""
        return 1

    def rank(self) -> int:
        """The place of this process in it."""
        return 0


class Work:
    """A communication with `async_op=True`: done already."""

    def wait(self, timeout: Any = None) -> bool:
        """True."""
        return True

    def is_completed(self) -> bool:
        """True."""
        return True


class _Groups:
    """`group.WORLD`, the group of all processes, while there is one."""

    WORLD: ProcessGroup | None = None


group = _Groups()
GroupMember = group
_backend: list[str] = []


def is_available() -> bool:
    """Whether these names can be used: yes, in one process."""
    return True


def is_initialized() -> bool:
    """Whether init_process_group was called."""
    return bool(_backend)


def is_nccl_available() -> bool:
    """Whether processes can talk over NCCL: no."""
    return False


def is_mpi_available() -> bool:
    """Whether processes can talk over MPI: no."""
    return False


def is_gloo_available() -> bool:
    """Whether "gloo" may be asked for: yes, for one process."""
    return True


def is_ucc_available() -> bool:
    """Whether processes can talk over UCC: no."""
    return False


def is_backend_available(backend: str) -> bool:
    """Whether a way to talk may be asked for: "gloo", for one process."""
    return backend.lower() == "gloo"


def is_torchelastic_launched() -> bool:
    """Whether torchrun started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: Any = None,
    world_size: int = -1,
    rank: int = -1,
    **options: Any,
) -> None:
    """Begin a group of this process; DeviceError where it is to have more.

    Without `world_size` the environment's WORLD_SIZE counts, as torchrun sets it.
    """
    if is_initialized():
        raise OperationError(
            "init_process_group()",
            "trying to initialize the default process group twice!",
            "call destroy_process_group() first",
        )
    size = int(os.environ.get("WORLD_SIZE", 1)) if world_size == -1 else world_size
    place = int(os.environ.get("RANK", 0)) if rank == -1 else rank
    if size != 1 or place != 0:
        raise DeviceError(
            f"init_process_group(world_size={size}, rank={place})",
            "minitorch2 works in one process: world size 1, rank 0",
            "start the script once, without torchrun's --nproc-per-node",
        )
    _backend.append((backend or "gloo").lower())
    group.WORLD = ProcessGroup()


def destroy_process_group(group: Any = None) -> None:
    """End the group."""
    _require("destroy_process_group")
    _backend.clear()
    globals()["group"].WORLD = None


def _require(name: str) -> None:
    if not is_initialized():
        raise OperationError(
            f"distributed.{name}()",
            "Default process group has not been initialized, please make sure to call "
            "init_process_group.",
            "call torch.distributed.init_process_group first",
        )


def get_backend(group: Any = None) -> str:
    """The name given to init_process_group."""
    _require("get_backend")
    return _backend[-1]


def get_rank(group: Any = None) -> int:
    """0: the one process."""
    _require("get_rank")
    return 0


def get_world_size(group: Any = None) -> int:
    """1."""
    _require("get_world_size")
    return 1


def new_group(ranks: Any = None, *args: Any, **options: Any) -> ProcessGroup:
    """Another group of this process."""
    _require("new_group")
    return ProcessGroup()


def _done(name: str, async_op: bool) -> Work | None:
    _require(name)
    return Work() if async_op else None


def _filled(target: Any, source: Any) -> None:
    if target is not source:
        call(lookup("copy_"), (target, source, False))


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    """Wait for nobody."""
    return _done("barrier", async_op)


def all_reduce(
    tensor: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """The tensor stays: its sum, mean, largest over one process."""
    return _done("all_reduce", async_op)


def reduce(
    tensor: Any, dst: int = 0, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """The tensor stays."""
    return _done("reduce", async_op)


def broadcast(tensor: Any, src: int = 0, group: Any = None, async_op: bool = False) -> Work | None:
    """The tensor stays."""
    return _done("broadcast", async_op)


def all_gather(
    tensor_list: list, tensor: Any, group: Any = None, async_op: bool = False
) -> Work | None:
    """The one tensor of the list becomes this one."""
    _require("all_gather")
    _filled(tensor_list[0], tensor)
    return _done("all_gather", async_op)


def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False
) -> Work | None:
    """The output becomes the input."""
    _require("all_gather_into_tensor")
    _filled(output_tensor, input_tensor.reshape(tuple(output_tensor.shape)))
    return _done("all_gather_into_tensor", async_op)


def gather(
    tensor: Any, gather_list: Any = None, dst: int = 0, group: Any = None, async_op: bool = False
) -> Work | None:
    """The one tensor of the list becomes this one."""
    _require("gather")
    if gather_list:
        _filled(gather_list[0], tensor)
    return _done("gather", async_op)


def scatter(
    tensor: Any, scatter_list: Any = None, src: int = 0, group: Any = None, async_op: bool = False
) -> Work | None:
    """The tensor becomes the one of the list."""
    _require("scatter")
    if scatter_list:
        _filled(tensor, scatter_list[0])
    return _done("scatter", async_op)


def reduce_scatter(
    output: Any, input_list: list, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """The output becomes the one tensor of the list."""
    _require("reduce_scatter")
    _filled(output, input_list[0])
    return _done("reduce_scatter", async_op)


def reduce_scatter_tensor(
    output: Any, input: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """The output becomes the input."""
    _require("reduce_scatter_tensor")
    _filled(output, input.reshape(tuple(output.shape)))
    return _done("reduce_scatter_tensor", async_op)


def all_to_all(
    output_tensor_list: list, input_tensor_list: list, group: Any = None, async_op: bool = False
) -> Work | None:
    """The one output becomes the one input."""
    _require("all_to_all")
    _filled(output_tensor_list[0], input_tensor_list[0])
    return _done("all_to_all", async_op)


def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """The output becomes the input."""
    _require("all_to_all_single")
    _filled(output, input)
    return _done("all_to_all_single", async_op)


def monitored_barrier(group: Any = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """Wait for nobody."""
    _require("monitored_barrier")


def get_process_group_ranks(group: Any = None) -> list[int]:
    """[0]: the one process."""
    _require("get_process_group_ranks")
    return [0]


def get_global_rank(group: Any, group_rank: int) -> int:
    """The place of a group's process among all: 0."""
    _require("get_global_rank")
    return 0


def all_gather_object(object_list: list, obj: Any, group: Any = None) -> None:
    """The one object of the list becomes this one."""
    _require("all_gather_object")
    object_list[0] = obj


def gather_object(obj: Any, object_gather_list: Any = None, *args: Any, **options: Any) -> None:
    """The one object of the list becomes this one."""
    _require("gather_object")
    if object_gather_list:
        object_gather_list[0] = obj


def broadcast_object_list(object_list: list, *args: Any, **options: Any) -> None:
    """The list stays."""
    _require("broadcast_object_list")


def _nobody(name: str) -> Any:
    def function(tensor: Any, *args: Any, **options: Any) -> Any:
        raise DeviceError(
            f"distributed.{name}()", "there is no other process to talk to", "leave the call out"
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name} another process's tensor: DeviceError, as there is none."
    return function


send, recv, isend, irecv = map(_nobody, ("send", "recv", "isend", "irecv"))

"""Modules around a module that torch would run on several devices: here there is one.

In: a module. Out: a module that calls it, with its parameters under `module.` as torch names them,
so that state_dicts fit.

Source: torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel, torch.nn.SyncBatchNorm.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from minitorch2 import distributed as processes
from minitorch2.errors import ArgumentValueError, OperationError
from minitorch2.nn.batch_normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d, _BatchNorm
from minitorch2.nn.module import Module
from minitorch2.ops.table import lookup

_cat = lookup("cat").public


class DataParallel(Module):
    """Calls `module` on whole batches, as torch does where there is no GPU."""

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ):
        super().__init__()
        self.module, self.dim = module, dim
        self.device_ids: list = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module gives."""
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Any = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: Any = None,
) -> Any:
    """One call of `module` on whole batches."""
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*given, **(module_kwargs or {}))


def scatter(inputs: Any, target_gpus: Any, dim: int = 0) -> list[Any]:
    """The inputs once for each device named: with the one there is, in a list of one."""
    devices = list(target_gpus)
    if len(devices) != 1:
        raise OperationError(
            f"scatter(target_gpus={devices})",
            "there is one device to scatter to",
            "name one device, or leave scatter out",
        )
    return [inputs]


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """The outputs of all devices as one: those of the one there is."""
    found = list(outputs)
    if len(found) != 1:
        return _cat(found, dim)
    return found[0]


class DistributedDataParallel(Module):
    """Calls `module`; gradients are averaged over the one process, so they stay as they are.

    Raises OperationError before torch.distributed.init_process_group, and for a module without
    parameters that require gradients.
    """

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, **options: Any
    ):
        super().__init__()
        processes.get_rank()
        if not any(parameter.requires_grad for parameter in module.parameters()):
            raise OperationError(
                "DistributedDataParallel(module)",
                "DistributedDataParallel is not needed when a module doesn't have any parameter "
                "that requires a gradient.",
                "use the module itself",
            )
        self.module, self.device_ids = module, device_ids
        self.require_backward_grad_sync = True

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module gives."""
        return self.module(*inputs, **kwargs)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within the block gradients are not averaged over processes: there is one."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before


class SyncBatchNorm(_BatchNorm):
    """Batch normalization over all processes' batches: over this one's."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ):
        super().__init__(
            num_features,
            eps,
            momentum,
            affine,
            track_running_stats,
            device,
            dtype,
            bias=bias,
        )
        self.process_group = process_group

    def _check(self, input: Any) -> None:
        if input.ndim < 2:
            raise ArgumentValueError(
                f"SyncBatchNorm of an input of {input.ndim} dimensions",
                f"expected at least 2D input (got {input.ndim}D input)",
                "give [N, C, *]",
            )

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """The module with its BatchNorm layers replaced; they keep their parameters and buffers."""
        made = module
        if isinstance(module, (BatchNorm1d, BatchNorm2d, BatchNorm3d)):
            made = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
            )
            made._parameters.update(module._parameters)
            made._buffers.update(module._buffers)
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made

"""torch._C: the few names of torch's C++ module that scripts use.

Example: `with torch._C.DisableTorchFunctionSubclass(): ...`.
Source: torch.overrides' documentation names them.
"""

import contextlib
import enum
import sys
import types
from typing import Any

from minitorch2.autograd.contexts import Refusing
from minitorch2.autograd.graph import AccumulateGrad, SavedTensor
from minitorch2.autograd.saving import (
    UndefinedGrad,
    saved_tensor_of,
    saved_tensors_hooks_is_enabled,
    set_versions,
)
from minitorch2.autograd.saving import current_graph_task_id as _current_graph_task_id
from minitorch2.autograd.saving import current_node as _current_autograd_node
from minitorch2.autograd.saving import will_engine_execute_node as _will_engine_execute_node
from minitorch2.errors import LinearAlgebraError as _LinAlgError
from minitorch2.overrides import DisableTorchFunction, DisableTorchFunctionSubclass
from minitorch2.overrides import disabled_torch_function_impl as _disabled_torch_function_impl
from minitorch2.tensors import Tensor

_functions = types.SimpleNamespace(
    AccumulateGrad=AccumulateGrad, UndefinedGrad=UndefinedGrad, DelayedError=Refusing
)
_autograd = types.SimpleNamespace(
    SavedTensor=SavedTensor,
    _make_saved_tensor=saved_tensor_of,
    _saved_tensors_hooks_is_enabled=saved_tensors_hooks_is_enabled,
    _unsafe_set_version_counter=set_versions,
)


_KEYS = (
    "Undefined CPU CUDA XPU Meta BackendSelect Python Functionalize ADInplaceOrView Autograd "
    "AutogradCPU AutogradCUDA AutogradXPU AutocastCPU AutocastCUDA AutocastXPU "
    "CompositeImplicitAutograd CompositeExplicitAutograd"
)
DispatchKey = enum.Enum("DispatchKey", _KEYS)  # type: ignore[misc]


class DispatchKeySet:
    """Layers of torch's dispatcher by name; there is one door here, so a set is only a set."""

    def __init__(self, *keys: DispatchKey):
        self.keys = frozenset(keys)

    def __or__(self, other: "DispatchKeySet") -> "DispatchKeySet":
        return DispatchKeySet(*self.keys, *other.keys)

    def has(self, key: DispatchKey) -> bool:
        """Whether a layer is in the set."""
        return key in self.keys


class _ExcludeDispatchKeyGuard(contextlib.nullcontext):
    """Within the block torch leaves out layers; here nothing changes."""


_TensorMeta = type(Tensor)


def _get_tracing_state() -> None:
    """None: torch.jit.trace runs the program as it is."""


def _get_default_device() -> str:
    """Where new tensors are made."""
    return str(sys.modules["minitorch2"].get_default_device())


def _get_accelerator() -> Any:
    """The device that torch.accelerator would use: the CPU."""
    return sys.modules["minitorch2"].device("cpu")


def _log_api_usage_once(event: str) -> None:
    """Nothing is logged."""


def __getattr__(name: str) -> Any:
    return getattr(sys.modules["minitorch2"], name)


__all__ = [
    "_current_autograd_node",
    "_current_graph_task_id",
    "_will_engine_execute_node",
    "DispatchKey",
    "DispatchKeySet",
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "_LinAlgError",
    "_disabled_torch_function_impl",
    "_log_api_usage_once",
]

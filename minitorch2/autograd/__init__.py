"""Reverse-mode differentiation: a graph of vjps recorded while operations run.

Files, in reading order:

graph       nodes, edges and saved tensors
op_nodes    the nodes of op rows
views       histories of views and of writes through them
record      runs an operation and records its vjp
anomaly     detect_anomaly: a backward that fails names the line of its forward
hooks       what users have run on gradients meanwhile
leaves      what arrives at a leaf
engine      walks the graph backwards
saving      what users do with saved tensors and nodes
mutation    writes into saved tensors that do not spoil the backward
modes       no_grad, enable_grad, inference_mode
tangents    forward mode: operations pass tangents on
contexts    what the forward and the backward of a user's Function share
function_tangents  tangents of a user's Function, by its jvp
function    autograd.Function, for derivatives written by the user
forward_ad  dual tensors
gradcheck   compares vjps and tangents with finite differences
public      backward, grad and the names of torch.autograd
functional  vjp, jvp, Jacobians of functions of tuples; stands above minitorch2.func
profiler    the older place of torch.profiler; so does it
"""

from minitorch2.autograd import graph, saving
from minitorch2.autograd.anomaly import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_detect_anomaly,
)
from minitorch2.autograd.function import Function
from minitorch2.autograd.gradcheck import gradcheck, gradgradcheck
from minitorch2.autograd.graph import SavedTensor, saved_tensors_hooks
from minitorch2.autograd.modes import (
    enable_grad,
    inference_mode,
    is_multithreading_enabled,
    is_view_replay_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from minitorch2.autograd.modes import force_original_view_tracking as _force_original_view_tracking
from minitorch2.autograd.mutation import allow_mutation_on_saved_tensors
from minitorch2.autograd.public import Variable, backward, grad
from minitorch2.autograd.saving import preserve_versions as _unsafe_preserve_version_counter

# torch.autograd.graph has these, too; here they stand above the file of that name.
for _name in (
    "GradientEdge",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
):
    setattr(graph, _name, getattr(saving, _name))
setattr(graph, "allow_mutation_on_saved_tensors", allow_mutation_on_saved_tensors)  # noqa: B010

__all__ = [
    "SavedTensor",
    "_force_original_view_tracking",
    "_unsafe_preserve_version_counter",
    "is_multithreading_enabled",
    "is_view_replay_enabled",
    "set_multithreading_enabled",
    "detect_anomaly",
    "graph",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "set_detect_anomaly",
    "Variable",
    "Function",
    "backward",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "no_grad",
    "saved_tensors_hooks",
    "set_grad_enabled",
]

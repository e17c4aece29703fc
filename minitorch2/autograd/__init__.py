"""Reverse-mode differentiation: a graph of vjps recorded while operations run.

Files, in reading order:

graph       nodes, edges and saved tensors
views       histories of views and of writes through them
record      runs an operation and records its vjp
engine      walks the graph backwards
modes       no_grad, enable_grad, inference_mode
function    autograd.Function, for derivatives written by the user
gradcheck   compares vjps with finite differences
public      backward, grad and the names of torch.autograd
"""

from minitorch2.autograd.function import Function
from minitorch2.autograd.gradcheck import gradcheck, gradgradcheck
from minitorch2.autograd.graph import saved_tensors_hooks
from minitorch2.autograd.modes import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)
from minitorch2.autograd.public import Variable, backward, grad

__all__ = [
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

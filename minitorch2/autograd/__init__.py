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

"""What arrives at a leaf: its gradient in `.grad`, laid out as the leaf is.

In: a leaf and a gradient. Out: the gradient kept, or added to the one that is there.

Source: PyTorch's AccumulateGrad.
"""

from minitorch2.autograd.graph import fit_gradient, spec_of
from minitorch2.autograd.hooks import accumulated
from minitorch2.dispatch import call, state
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


def _laid_out_as(leaf: Tensor, gradient: Tensor, copy: bool) -> Tensor:
    """The gradient with the leaf's strides: itself if it has them and needs no copy."""
    strides, shape = leaf.layout.strides, leaf.layout.shape
    if gradient.layout.strides == strides and not copy and gradient.layout.is_dense():
        return gradient
    if leaf.layout.is_contiguous() or not leaf.layout.is_dense():
        unlike = 0 in shape and gradient.layout.strides != strides  # nothing is always in order
        if copy or unlike or not gradient.layout.is_contiguous():
            return call(lookup("contiguous_copy"), (gradient,))
        return gradient
    order = sorted(range(len(shape)), key=lambda dim: strides[dim], reverse=True)
    moved = call(lookup("contiguous_copy"), (call(lookup("permute"), (gradient, tuple(order))),))
    back = tuple(order.index(dim) for dim in range(len(order)))
    return call(lookup("permute"), (moved, back))


def _detached(gradient: Tensor) -> Tensor:
    """The gradient as a tensor without history, on the same memory."""
    if state.direct and type(gradient) is Tensor:
        storage, layout, element = gradient.storage, gradient.layout, gradient.dtype
        return Tensor(storage, layout, element, gradient._array)
    return call(lookup("detach"), (gradient,))


def zero_gradient(leaf: Tensor) -> None:
    """Let the gradient be zero, in place, without the history it may have."""
    gradient = leaf.grad
    if gradient is None:
        return
    if gradient.grad_fn is not None:
        gradient.detach_()
    elif gradient.requires_grad:
        gradient.requires_grad = False
    gradient.zero_()


def _accumulate_sparse(leaf: Tensor, gradient: Tensor) -> None:
    """Add where one of both is sparse: the sum is sparse if both are."""
    old = leaf._grad
    if old is None:
        leaf._grad = gradient if state.grad_enabled else gradient.detach()
    elif state.grad_enabled or old.is_sparse and not gradient.is_sparse:
        leaf._grad = accumulated(old, gradient)
    else:
        old.add_(gradient)


def accumulate_into(leaf: Tensor, gradient: Tensor, taken: set[int]) -> None:
    """Add to `leaf.grad`, in place when nothing is recorded (so that aliases of it see it).

    A first gradient is kept as it is, unless its memory is somebody else's (in `taken`): later
    gradients are added into it. It has its leaf's strides, where those leave no gaps.
    """
    spec, wanted = spec_of(leaf), leaf.__dict__.get("_grad_dtype", leaf.dtype)
    old = leaf._grad
    if gradient.is_sparse or old is not None and old.is_sparse:
        _accumulate_sparse(leaf, gradient)
        return
    gradient = fit_gradient(gradient, spec._replace(dtype=wanted or gradient.dtype))
    if old is None:
        owned = gradient if state.grad_enabled else _detached(gradient)
        shared = id(owned.storage) in taken or owned.storage is leaf.storage
        owned = _laid_out_as(leaf, owned, shared)
        taken.add(id(owned.storage))
        leaf._grad = owned
    elif state.grad_enabled:
        leaf._grad = accumulated(old, gradient)
    else:
        call(lookup("copy_"), (old, accumulated(old, gradient), False))

"""Hooks: what users have run on gradients while the engine walks the graph.

In: a walk, a node or a leaf, its gradients. Out: the gradients as the hooks leave them. In order:
the hooks of a tensor, the keeping of retain_grad and of grad(), the hooks before a node, the node,
the hooks behind it; at a leaf the same around the addition to `.grad`.

    x.register_hook(lambda grad: grad * 2)

Source: torch's "Backward hooks execution".
"""

from collections.abc import Callable
from typing import Any

from minitorch2.autograd.graph import Node, zeros_like_spec
from minitorch2.dispatch import call
from minitorch2.errors import AutogradError
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


def accumulated(old: Any, new: Any) -> Any:
    """The sum of two gradients, either of which may be None."""
    if old is None or new is None:
        return new if old is None else old
    if old.is_sparse or new.is_sparse:
        return new + old if old.is_sparse and not new.is_sparse else old + new
    return call(lookup("add"), (old, new, 1))


def hooked(run: Any, node: Node, grads: list[Any]) -> list[Any]:
    """Run the hooks of a node's outputs; keep the gradients that were asked for."""
    hooks = node.hooks
    for index in node.order():
        grad = grads[index]
        if (grad is None and node.stands_for_many) or index in node.inner:
            continue
        if hooks is not None:
            for hook in list(hooks.tensor.get(index, {}).values()):
                if grad is not None:
                    run.taken.add(id(grad.storage))  # the hook may keep it
                grad = _of_hook(hook, grad)
            grads[index] = grad
            retained = hooks.retained.get(index)
            tensor = retained() if retained is not None else None
            if tensor is not None and grad is not None:
                tensor._grad = accumulated(tensor._grad, grad)
        if (id(node), index) in run.wanted_keys:
            run.captured[id(node), index] = grad
    return grads


def _of_hook(hook: Callable, grad: Any) -> Any:
    """The gradient after a tensor's hook has seen, and perhaps replaced, it."""
    changed = hook(grad)
    if changed is None:
        return grad
    name = getattr(hook, "__name__", type(hook).__name__)
    if not isinstance(changed, Tensor):
        raise TypeError(f"expected Variable, but hook returned {type(changed).__name__!r}")
    if grad is not None and changed.dtype is not grad.dtype:
        raise AutogradError(
            f"hook {name!r}",
            f"hook {name!r} has changed the type of value (was {grad.dtype} got {changed.dtype})",
            "return a gradient of the dtype that came in",
        )
    if grad is not None and tuple(changed.shape) != tuple(grad.shape):
        raise AutogradError(
            f"hook {name!r}",
            f"hook {name!r} has changed the size of value (was {list(grad.shape)} got "
            f"{list(changed.shape)})",
            "return a gradient of the shape that came in",
        )
    return changed


def _of_node_hook(result: Any, before: tuple) -> tuple:
    """The gradients after a node's hook has seen, and perhaps replaced, them."""
    if result is None:
        return before
    if not isinstance(result, tuple):
        raise TypeError(f"expected tuple, but hook returned {type(result).__name__!r}")
    if len(result) != len(before):
        raise AutogradError(
            "a hook of a node",
            f"the hook has returned an incorrect number of values (got {len(result)}, but expected "
            f"{len(before)})",
        )
    return result


def apply_with_hooks(node: Node, grads: list[Any]) -> tuple:
    """Run one node, with its own hooks around."""
    if node.hooks is None:
        return _applied(node, tuple(grads))
    given = tuple(grads)
    for hook in list(node.hooks.pre.values()):
        given = _of_node_hook(hook(given), given)
    found = _applied(node, given)
    for hook in list(node.hooks.post.values()):
        found = _of_node_hook(hook(found, given), found)
    return found


def _applied(node: Node, grads: tuple) -> tuple:
    if not node.runs_on_nothing and all(grad is None for grad in grads):
        return (None,) * len(node.edges)
    if len(grads) > 1 and node.fills_missing:
        grads = tuple(
            zeros_like_spec(spec) if grad is None and spec.dtype.differentiable else grad
            for grad, spec in zip(grads, node.outputs, strict=True)
        )
    return node.apply(grads)


def before_leaf(run: Any, leaf: Tensor, gradient: Any, accumulate: bool) -> Any:
    """A leaf's gradient after the hooks that come before its accumulation."""
    hooks = leaf._hooks
    if hooks is None:
        return gradient
    for hook in list(hooks.grad.values()):
        if gradient is not None:
            run.taken.add(id(gradient.storage))
        gradient = _of_hook(hook, gradient)
    if accumulate:
        for hook in list(hooks.before.values()):
            (gradient,) = _of_node_hook(hook((gradient,)), (gradient,))
    return gradient


def after_leaf(leaf: Tensor, gradient: Tensor) -> None:
    """Run the hooks that follow a leaf's accumulation."""
    hooks = leaf._hooks
    if hooks is None:
        return
    for hook in list(hooks.after.values()):
        if hook(leaf) is not None:
            raise AutogradError("register_post_accumulate_grad_hook", "hooks should return None.")
    for hook in list(hooks.behind.values()):
        hook((), (gradient,))

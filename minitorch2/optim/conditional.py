"""A step that tensors decide about: made, then taken back where it was not to be.

In: an optimizer and a 0-d bool tensor. Out: parameters and state as after `step()`, or as before it
if the tensor is true; nothing asks for the value.

    if not step_unless(optimizer, overflow) and not bool(overflow):
        optimizer.step()

For captured programs: in a graph "as before" is a choice between two values, and costs no copy.
What Python does in a step cannot be taken back, so steps of other classes, hooks and closures are
for their caller to decide.

Source: the `found_inf` of torch.optim's fused steps.
"""

from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.ops.table import lookup
from minitorch2.optim.optimizer import EVERY_POST, EVERY_PRE, Optimizer, made_with
from minitorch2.tensors import Tensor

_where = lookup("where").public


def step_unless(optimizer: Any, skipped: Any) -> bool:
    """`optimizer.step()`; parameters and state keep their values if `skipped` is true.

    False, with nothing done, if the step may change what is no tensor.
    """
    if not _changes_only_tensors(optimizer):
        return False
    with no_grad():
        parameters = [
            (parameter, group)
            for group in optimizer.param_groups
            for parameter in group["params"]
            if parameter.grad is not None
        ]
        known = [v for parameter, _ in parameters for v in optimizer.state[parameter].values()]
        if not all(isinstance(value, Tensor) for value in known):
            return False  # a count or a None out of a loaded state
        fresh = [
            (parameter, made_with(optimizer.resting_state, parameter, group))
            for parameter, group in parameters
            if not optimizer.state[parameter]
        ]
        if any(state is None for _, state in fresh):
            return False
        for parameter, state in fresh:
            optimizer.state[parameter].update(state)
        changed = [parameter for parameter, _ in parameters]
        for parameter, _ in parameters:
            changed.extend(optimizer.state[parameter].values())
        before = [(each, each.clone()) for each in changed]
    optimizer.step()
    with no_grad():
        for tensor, value in before:
            tensor.copy_(_where(skipped, value, tensor))
    return True


def _changes_only_tensors(optimizer: Any) -> bool:
    """Whether the step is one of this package, with no Python of others around it."""
    kind = type(optimizer)
    if not kind.__module__.startswith("minitorch2.optim.") or kind.step is not Optimizer.step:
        return False
    if "step" in optimizer.__dict__ or optimizer.defaults.get("differentiable"):
        return False
    own = [*optimizer._step_pre_hooks.values(), *optimizer._step_post_hooks.values()]
    hooks = [*own, *EVERY_PRE.values(), *EVERY_POST.values()]
    return all(getattr(hook, "may_run_for_nothing", False) for hook in hooks)

"""Optimizer: groups of parameters with settings, a state for each parameter, and one step.

In: parameters (or groups of them) that have gradients. Out: after `step()`, parameters that are
changed in place.

    optimizer = SGD(model.parameters(), lr=0.1)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

A subclass defines `init_state` and `update`, which are plain tensor operations without branches on
values: step counts are tensors, so a compiled training step need not be compiled again for each.

Source: torch.optim.Optimizer.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from minitorch2.autograd.graph import RemovableHandle
from minitorch2.autograd.modes import enable_grad, no_grad
from minitorch2.creation import zeros
from minitorch2.dispatch import is_compiling
from minitorch2.dtypes import float32, float64
from minitorch2.errors import ArgumentTypeError, ArgumentValueError
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor

_view_as_real, _view_as_complex = (lookup(f"view_as_{kind}").public for kind in ("real", "complex"))


class Optimizer:
    """Base class. Settings of a group that are missing come from `defaults`."""

    def __init__(self, params: Any, defaults: dict[str, Any]):
        if isinstance(params, Tensor):
            raise ArgumentTypeError(
                f"{type(self).__name__}(Tensor, ...)",
                "params argument given to the optimizer should be an iterable of Tensors or "
                "dicts, but got torch.Tensor",
                "pass a list: [tensor]",
            )
        self.defaults = defaults
        self.state: dict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._step_pre_hooks: dict[int, Callable] = {}
        self._step_post_hooks: dict[int, Callable] = {}
        groups = list(params)
        if not groups:
            raise ArgumentValueError(
                f"{type(self).__name__}([])",
                "optimizer got an empty parameter list",
                "check that the parameters are registered: list(model.parameters())",
            )
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Train more parameters: `{"params": [...], "lr": 0.01, ...}`."""
        if not isinstance(param_group, dict):
            raise ArgumentTypeError(
                "add_param_group", f"param_group must be a dict, but got {type(param_group)}"
            )
        group = dict(param_group)
        given = group["params"]
        group["params"], names = _listed(given)
        if names is not None:
            group["param_names"] = names
        for parameter in group["params"]:
            _check_parameter(parameter)
        for name, value in self.defaults.items():
            group.setdefault(name, value)
        known = {id(p) for other in self.param_groups for p in other["params"]}
        if known & {id(p) for p in group["params"]}:
            raise ArgumentValueError(
                "add_param_group",
                "some parameters appear in more than one parameter group",
                "leave out of the new group what an earlier one holds",
            )
        self.param_groups.append(group)

    # ---- one step ----------------------------------------------------------------------------

    def init_state(self, parameter: Any, group: dict[str, Any]) -> dict[str, Any]:
        """The state of a parameter before its first update; to be overridden."""
        return {}

    def update(
        self, parameter: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Change one parameter (and its state) in place; to be overridden."""
        raise NotImplementedError(f"{type(self).__name__} must define update or step")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; returns what `closure()` returned."""
        for hook in list(self._step_pre_hooks.values()):
            hook(self, (closure,), {})
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        self._update_one(parameter, group)
        for hook in list(self._step_post_hooks.values()):
            hook(self, (closure,), {})
        return loss

    def _update_one(self, parameter: Any, group: dict[str, Any]) -> None:
        state = self.state[parameter]
        is_complex = parameter.dtype.is_complex
        if not state:
            made = self.init_state(_parts(parameter), group)
            state.update(_joined(made, {}, parameter) if is_complex else made)
        grad = -parameter.grad if group.get("maximize") else parameter.grad
        if is_complex:
            self._update_parts(parameter, grad, state, group)
        else:
            self.update(parameter, grad, state, group)

    def _update_parts(self, parameter: Any, grad: Any, state: dict, group: dict) -> None:
        """Update a complex parameter as the real numbers it is made of, its state too."""
        parts = {name: _parts(value) for name, value in state.items()}
        seen = dict(parts)
        self.update(_parts(parameter), _parts(grad), parts, group)
        state.update(_joined(parts, seen, parameter))

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients (or set them to zero)."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none:
                    parameter.grad = None
                elif parameter.grad is not None:
                    with no_grad():
                        parameter.grad = parameter.grad.detach().zero_()

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step."""
        return RemovableHandle(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return RemovableHandle(self._step_post_hooks, hook)

    # ---- saving and loading ------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """State and groups, with parameters replaced by their numbers in order."""
        numbers = {id(p): n for n, p in enumerate(_all_parameters(self.param_groups))}
        groups = [
            {**group, "params": [numbers[id(p)] for p in group["params"]]}
            for group in self.param_groups
        ]
        state = {numbers.get(id(p), p): value for p, value in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what state_dict returned; the groups must have the same sizes."""
        saved = state_dict["param_groups"]
        ours = [len(group["params"]) for group in self.param_groups]
        theirs = [len(group["params"]) for group in saved]
        if ours != theirs:
            raise ArgumentValueError(
                f"{type(self).__name__}.load_state_dict(...)",
                f"loaded state dict has groups of {theirs} parameters, the optimizer of {ours}",
                "make the optimizer from the same parameters as when it was saved",
            )
        numbers = [number for group in saved for number in group["params"]]
        by_number = dict(zip(numbers, _all_parameters(self.param_groups), strict=True))
        self.state = defaultdict(dict)
        for number, values in state_dict["state"].items():
            parameter = by_number.get(number)
            key = number if parameter is None else parameter
            self.state[key] = {name: _fitted(name, v, parameter) for name, v in values.items()}
        self.param_groups = [
            {**new, "params": old["params"]}
            for old, new in zip(self.param_groups, saved, strict=True)
        ]

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for number, group in enumerate(self.param_groups):
            text += f"\nParameter Group {number}\n"
            text += "".join(
                f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params"
            )
        return text + ")"


def _parts(value: Any) -> Any:
    """A complex tensor as pairs of real numbers, on the same memory; anything else as it is."""
    is_complex = isinstance(value, Tensor) and value.dtype.is_complex
    return _view_as_real(value) if is_complex else value


def _joined(parts: dict[str, Any], seen: dict[str, Any], parameter: Any) -> dict[str, Any]:
    """What is new among the parts of a state, pairs like the parameter's as complex numbers."""
    found = {}
    for name, value in parts.items():
        if value is not seen.get(name):
            whole = isinstance(value, Tensor) and value.shape == (*parameter.shape, 2)
            found[name] = _view_as_complex(value.contiguous()) if whole else value
    return found


def _listed(given: Any) -> tuple[list[Any], list[str] | None]:
    """The parameters of a group as a list, and their names if they came with names."""
    if isinstance(given, Tensor):
        return [given], None
    if isinstance(given, set):
        raise ArgumentTypeError(
            "add_param_group",
            "optimizer parameters need to be organized in ordered collections, but "
            "the ordering of tensors in sets will change between runs",
            "pass a list",
        )
    listed = list(given)
    if listed and isinstance(listed[0], tuple):
        return [parameter for _, parameter in listed], [name for name, _ in listed]
    return listed, None


def _check_parameter(parameter: Any) -> None:
    if not isinstance(parameter, Tensor):
        raise ArgumentTypeError(
            "add_param_group", f"optimizer can only optimize Tensors, but got {type(parameter)}"
        )
    if not parameter.is_leaf:
        raise ArgumentValueError(
            "add_param_group",
            "can't optimize a non-leaf Tensor",
            "make it a leaf: x.detach().requires_grad_(), and compute from that",
        )


def _all_parameters(groups: Iterable[dict[str, Any]]) -> list[Any]:
    return [parameter for group in groups for parameter in group["params"]]


def _fitted(name: str, value: Any, parameter: Any) -> Any:
    """A loaded state value: floating tensors (but for the step count) in the parameter's dtype."""
    if not isinstance(value, Tensor):
        return value
    copied: Any = value.detach().clone()
    if name == "step" or parameter is None or not parameter.dtype.is_floating_point:
        return copied
    return copied.to(parameter.dtype) if value.dtype.is_floating_point else copied


# ---- what the updates share ------------------------------------------------------------------


def require(name: str, value: Any, holds: bool) -> None:
    """ArgumentValueError unless a setting is in its range."""
    if not holds:
        raise ArgumentValueError(
            f"an optimizer with {name}={value}",
            f"Invalid {name} value: {value}",
            "see the range in torch.optim's documentation",
        )


def new_step() -> Any:
    """The count of updates of a parameter: a 0-d tensor, as compiled code wants it."""
    return zeros((), dtype=float32)


def count_step(state: dict[str, Any]) -> Any:
    """Count one update; the new count in double precision, for exact powers of it."""
    step = state["step"]
    step += 1
    return step.to(float64)


def counted(state: dict[str, Any]) -> Any:
    """Count one update; the new count, a number where that is no news to a compiled program.

    Captured code must not look at it (it would be compiled for that count alone): there it is a
    0-d tensor in double precision.
    """
    if is_compiling():
        return count_step(state)
    step = state["step"]
    step += 1
    return step.item()


def square_root(value: Any) -> Any:
    """The square root of a number or of a tensor."""
    return math.sqrt(value) if isinstance(value, float) else value.sqrt()


def zeros_like_parameter(parameter: Any) -> Any:
    """Zeros of a parameter's shape and dtype, for its state."""
    return zeros(tuple(parameter.shape), dtype=parameter.dtype, device=parameter.device)


def decayed(grad: Any, parameter: Any, weight_decay: float) -> Any:
    """The gradient with that of the L2 penalty added."""
    return grad if weight_decay == 0 else grad.add(parameter, alpha=weight_decay)

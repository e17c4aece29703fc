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

import copy
import functools
import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from minitorch2.autograd.graph import RemovableHandle
from minitorch2.autograd.leaves import zero_gradient
from minitorch2.autograd.modes import enable_grad, no_grad
from minitorch2.creation import zeros
from minitorch2.dispatch import is_compiling
from minitorch2.dtypes import float32, float64
from minitorch2.errors import ArgumentTypeError, ArgumentValueError, OperationError
from minitorch2.ops.table import lookup
from minitorch2.optim.given import check_defaults, check_parameter, listed, refuse_sparse
from minitorch2.tensors import Tensor

_view_as_real, _view_as_complex = (lookup(f"view_as_{kind}").public for kind in ("real", "complex"))


EVERY_PRE: dict[int, Callable] = {}  # hooks on every optimizer's step
EVERY_POST: dict[int, Callable] = {}
HOOKS = (
    "_step_pre_hooks",
    "_step_post_hooks",
    "_state_dict_pre_hooks",
    "_state_dict_post_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


class _Required:
    """The default of a setting that each group has to give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def register_optimizer_step_pre_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` before each step of every optimizer."""
    return RemovableHandle(EVERY_PRE, hook)


def register_optimizer_step_post_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` after each step of every optimizer."""
    return RemovableHandle(EVERY_POST, hook)


def with_hooks(step: Callable) -> Callable:
    """A `step` with the hooks around it."""

    @functools.wraps(step)
    def hooked(self: Any, *args: Any, **kwargs: Any) -> Any:
        """What `step` returns; hooks before it may replace its arguments by (args, kwargs)."""
        own = vars(self)  # one that wraps another has none: its constructor was not called
        for hook in [*EVERY_PRE.values(), *own.get("_step_pre_hooks", {}).values()]:
            changed = hook(self, args, kwargs)
            if changed is None:
                continue
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise OperationError(
                    "a hook before step",
                    f"must return None or a tuple of (new_args, new_kwargs), but got {changed}.",
                )
            args, kwargs = changed
        found = step(self, *args, **kwargs)
        for hook in [*own.get("_step_post_hooks", {}).values(), *EVERY_POST.values()]:
            hook(self, args, kwargs)
        return found

    hooked.hooked = True  # type: ignore[attr-defined]
    return hooked


class Optimizer:
    """Base class. Settings of a group that are missing come from `defaults`."""

    _step_pre_hooks: dict[int, Callable]
    _step_post_hooks: dict[int, Callable]
    _state_dict_pre_hooks: dict[int, Callable]
    _state_dict_post_hooks: dict[int, Callable]
    _load_state_dict_pre_hooks: dict[int, Callable]
    _load_state_dict_post_hooks: dict[int, Callable]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        step = cls.__dict__.get("step")
        if step is not None and not hasattr(step, "hooked"):
            cls.step = with_hooks(step)  # type: ignore[method-assign]

    takes_sparse = False  # whether `update` knows of sparse gradients

    def __init__(self, params: Any, defaults: dict[str, Any]):
        if isinstance(params, Tensor):
            raise ArgumentTypeError(
                f"{type(self).__name__}(Tensor, ...)",
                "params argument given to the optimizer should be an iterable of Tensors or "
                "dicts, but got torch.Tensor",
                "pass a list: [tensor]",
            )
        check_defaults(type(self).__name__, defaults)
        self.defaults = defaults
        self.state: dict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._make_hooks()
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

    def _make_hooks(self) -> None:
        for name in HOOKS:
            self.__dict__.setdefault(name, {})

    def __getstate__(self) -> dict[str, Any]:
        names = "defaults", "state", "param_groups"
        kept = {key: value for key, value in self.__dict__.items() if key not in HOOKS}
        return {**{name: kept[name] for name in names}, **kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_hooks()

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Train more parameters: `{"params": [...], "lr": 0.01, ...}`."""
        if not isinstance(param_group, dict):
            raise ArgumentTypeError(
                "add_param_group", f"param_group must be a dict, but got {type(param_group)}"
            )
        group = dict(param_group)
        group["params"], names = listed(group["params"])
        if names is not None:
            group["param_names"] = names
        if self.param_groups and ("param_names" in self.param_groups[0]) != (names is not None):
            raise ArgumentValueError(
                "add_param_group",
                "all optimizer param groups should be with/without names. cannot add param group "
                + ("with" if names is not None else "without")
                + " names to the optimizer",
            )
        for parameter in group["params"]:
            check_parameter(parameter, bool(self.defaults.get("differentiable")))
        for name, value in self.defaults.items():
            if value is required and name not in group:
                raise ArgumentValueError(
                    "add_param_group",
                    "parameter group didn't specify a value of required optimization parameter "
                    f"{name}",
                )
            group.setdefault(name, value)
        own = {id(p) for p in group["params"]}
        if len(own) != len(group["params"]):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this "
                "will cause an error",
                stacklevel=3,
            )
        if own & {id(p) for other in self.param_groups for p in other["params"]}:
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

    def resting_state(self, parameter: Any, group: dict[str, Any]) -> dict[str, Any] | None:
        """A state whose next update is the same as a first one; None if only no state is."""
        return self.init_state(parameter, group)

    def update(
        self, parameter: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Change one parameter (and its state) in place; to be overridden."""
        raise NotImplementedError(f"{type(self).__name__} must define update or step")

    @with_hooks
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; returns what `closure()` returned."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        if self.defaults.get("differentiable"):
            self._update_all()
        else:
            with no_grad():
                self._update_all()
        return loss

    def _update_all(self) -> None:
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._update_one(parameter, group)

    def _update_one(self, parameter: Any, group: dict[str, Any]) -> None:
        state = self.state[parameter]
        if not state:
            state.update(made_with(self.init_state, parameter, group))
        if parameter.grad.is_sparse and not self.takes_sparse:
            refuse_sparse(self)
        grad = -parameter.grad if group.get("maximize") else parameter.grad
        update = self._update_parts if parameter.dtype.is_complex else self.update
        update(parameter, grad, state, group)

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
                else:
                    zero_gradient(parameter)

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step; it may return other arguments."""
        return RemovableHandle(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return RemovableHandle(self._step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> Any:
        """Call `hook(optimizer)` before the state is collected."""
        return _added(self._state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> Any:
        """Call `hook(optimizer, state_dict)`; what it returns replaces the state dict."""
        return _added(self._state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> Any:
        """Call `hook(optimizer, state_dict)`; what it returns is loaded in its place."""
        return _added(self._load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> Any:
        """Call `hook(optimizer)` after a state was loaded."""
        return _added(self._load_state_dict_post_hooks, hook, prepend)

    # ---- saving and loading ------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """State and groups, with parameters replaced by their numbers in order."""
        for hook in list(self._state_dict_pre_hooks.values()):
            hook(self)
        numbers = {id(p): n for n, p in enumerate(_all_parameters(self.param_groups))}
        groups: list[dict[str, Any]] = []
        for group in self.param_groups:
            settings = {name: value for name, value in group.items() if name != "params"}
            groups.append({**settings, "params": [numbers[id(p)] for p in group["params"]]})
        state = {numbers.get(id(p), p): value for p, value in self.state.items()}
        found = {"state": state, "param_groups": groups}
        for hook in list(self._state_dict_post_hooks.values()):
            changed = hook(self, found)
            found = found if changed is None else changed
        return found

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what state_dict returned; the groups must have the same sizes."""
        state_dict = dict(state_dict)
        for hook in list(self._load_state_dict_pre_hooks.values()):
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved = copy.deepcopy(state_dict["param_groups"])
        self._check_sizes(saved)
        numbers = [number for group in saved for number in group["params"]]
        by_number = dict(zip(numbers, _all_parameters(self.param_groups), strict=True))
        self.state = defaultdict(dict)
        for number, values in state_dict["state"].items():
            parameter = by_number.get(number)
            key = number if parameter is None else parameter
            if isinstance(values, dict):
                values = {name: _fitted(name, v, parameter) for name, v in values.items()}
            self.state[key] = values
        for old, new in zip(self.param_groups, saved, strict=True):
            if "param_names" in old:
                new.setdefault("param_names", old["param_names"])
            new["params"] = old["params"]
        self.param_groups = saved
        for hook in list(self._load_state_dict_post_hooks.values()):
            hook(self)

    def _check_sizes(self, saved: list[dict[str, Any]]) -> None:
        ours = [len(group["params"]) for group in self.param_groups]
        theirs = [len(group["params"]) for group in saved]
        if ours == theirs:
            return
        wrong = "loaded state dict has a different number of parameter groups"
        if len(ours) == len(theirs):
            wrong = (
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        raise ArgumentValueError(
            f"{type(self).__name__}.load_state_dict(...)",
            f"{wrong}: groups of {theirs} parameters, the optimizer has {ours}",
            "make the optimizer from the same parameters as when it was saved",
        )

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for number, group in enumerate(self.param_groups):
            text += f"\nParameter Group {number}\n"
            text += "".join(
                f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params"
            )
        return text + ")"


def made_with(make: Callable, parameter: Any, group: dict[str, Any]) -> Any:
    """The state that `make` makes for a parameter, a complex one as the real numbers in it."""
    made = make(_parts(parameter), group)
    return _joined(made, {}, parameter) if made and parameter.dtype.is_complex else made


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


def _added(hooks: dict[int, Callable], hook: Callable, prepend: bool) -> RemovableHandle:
    """Register a hook, last or first."""
    others = dict(hooks)
    handle = RemovableHandle(hooks, hook)
    for key, other in others.items() if prepend else ():
        del hooks[key]
        hooks[key] = other
    return handle


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


def require(name: str, value: Any, holds: Any, wrong: str = "") -> None:
    """ArgumentValueError unless a setting is in its range; `wrong` says it in other words."""
    if isinstance(value, Tensor) and value.numel() != 1:
        raise ArgumentValueError(f"an optimizer with {name}=Tensor", "Tensor lr must be 1-element")
    if not holds:
        kind = "" if name == "learning rate" or name.startswith(("beta param", "eta")) else " value"
        raise ArgumentValueError(
            f"an optimizer with {name}={value}",
            wrong or f"Invalid {name}{kind}: {value}",
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


def rounded_beside(rate: Any, value: Any) -> Any:
    """What was computed from a count, as it is beside a rate: a number is rounded to the dtype of
    a rate that is a tensor, and so must a count be that is a tensor of double precision."""
    both = isinstance(rate, Tensor) and isinstance(value, Tensor)
    return value.to(rate.dtype) if both else value


def square_root(value: Any) -> Any:
    """The square root of a number or of a tensor."""
    return math.sqrt(value) if isinstance(value, float) else value.sqrt()


def zeros_like_parameter(parameter: Any) -> Any:
    """Zeros of a parameter's shape and dtype, for its state."""
    return zeros(tuple(parameter.shape), dtype=parameter.dtype, device=parameter.device)


def decayed(grad: Any, parameter: Any, weight_decay: float) -> Any:
    """The gradient with that of the L2 penalty added."""
    return grad if weight_decay == 0 else grad.add(parameter, alpha=weight_decay)

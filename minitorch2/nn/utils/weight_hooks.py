"""The older weight_norm and spectral_norm: hooks that compute the weight before each forward.

In: a module and the name of its weight. Out: the module with `weight_g` and `weight_v`, or with
`weight_orig`, `weight_u` and `weight_v`. New programs use nn.utils.parametrizations.

Source: torch.nn.utils.weight_norm and spectral_norm.
"""

import warnings
from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.errors import ArgumentValueError, ModuleError
from minitorch2.nn import functional as F
from minitorch2.nn.module import Module
from minitorch2.nn.parameter import Parameter
from minitorch2.nn.utils.parametrizations import _TRANSPOSED, norm_except_dim


class WeightNorm:
    """The hook of weight_norm."""

    def __init__(self, name: str, dim: int | None):
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Any:
        """The weight: g * v / |v|."""
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return v * (g / norm_except_dim(v, 2, self.dim))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Length and direction of a weight as the parameters `<name>_g` and `<name>_v`."""
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    if any(each.name == name for each in _hooks_of(module, WeightNorm)):
        raise ModuleError(
            f"weight_norm(module, {name!r})",
            f"Cannot register two weight_norm hooks on the same parameter {name}",
        )
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    del module._parameters[name]
    module.register_parameter(name + "_g", Parameter(norm_except_dim(weight, 2, hook.dim).detach()))
    module.register_parameter(name + "_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight one parameter again."""
    hook = _taken(module, WeightNorm, name, "weight_norm")
    weight = hook.compute_weight(module)
    delattr(module, name)
    del module._parameters[name + "_g"], module._parameters[name + "_v"]
    setattr(module, name, Parameter(weight.detach()))
    return module


class SpectralNorm:
    """The hook of spectral_norm."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float):
        if n_power_iterations <= 0:
            raise ArgumentValueError(
                f"spectral_norm(n_power_iterations={n_power_iterations})",
                "Expected n_power_iterations to be positive",
            )
        self.name, self.n_power_iterations = name, n_power_iterations
        self.dim, self.eps = dim, eps

    def matrix_of(self, weight: Any) -> Any:
        """The weight with `dim` first, the rest flat."""
        rest = [dim for dim in range(weight.ndim) if dim != self.dim]
        return weight.permute(self.dim, *rest).reshape(weight.shape[self.dim], -1)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Any:
        """The original divided by its largest singular value."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.matrix_of(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(matrix.mv(v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()
        return weight / u.dot(matrix.mv(v))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """A weight divided by its largest singular value before each forward."""
    if any(each.name == name for each in _hooks_of(module, SpectralNorm)):
        raise ModuleError(
            f"spectral_norm(module, {name!r})",
            f"Cannot register two spectral_norm hooks on the same parameter {name}",
        )
    if dim is None:
        dim = 1 if isinstance(module, _TRANSPOSED) else 0
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ArgumentValueError(
            f"spectral_norm(module, {name!r})",
            f"`SpectralNorm` cannot be applied as parameter `{name}` is None",
        )
    with no_grad():
        matrix = hook.matrix_of(weight)
        u = F.normalize(weight.new_empty(matrix.shape[0]).normal_(0, 1), dim=0, eps=eps)
        v = F.normalize(weight.new_empty(matrix.shape[1]).normal_(0, 1), dim=0, eps=eps)
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight, as it is now, an ordinary parameter again."""
    hook = _taken(module, SpectralNorm, name, "spectral_norm")
    with no_grad():
        weight = hook.compute_weight(module, False)
    delattr(module, name)
    del module._buffers[name + "_u"], module._buffers[name + "_v"]
    del module._parameters[name + "_orig"]
    module.register_parameter(name, Parameter(weight.detach()))
    return module


def _hooks_of(module: Module, kind: type) -> list[Any]:
    found = [hook.function for hook in module._forward_pre_hooks.values()]
    return [each for each in found if isinstance(each, kind)]


def _taken(module: Any, kind: type, name: str, what: str) -> Any:
    """The hook of a name, taken out of the module."""
    for key, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook.function, kind) and hook.function.name == name:  # type: ignore
            del module._forward_pre_hooks[key]
            return hook.function
    raise ArgumentValueError(
        f"remove_{what}(module, {name!r})", f"{what} of '{name}' not found in {module}"
    )

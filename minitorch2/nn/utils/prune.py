"""Pruning: masks that set parts of a parameter to zero.

In: a module and the name of its parameter. Out: the module with `<name>_orig` (the parameter) and
`<name>_mask` (a buffer); before each forward, `<name>` is their product. Pruning again prunes what
is left. `remove` makes it permanent.

    >>> import minitorch2 as torch
    >>> layer = torch.nn.Linear(4, 1)
    >>> _ = l1_unstructured(layer, "weight", amount=3)
    >>> int((layer.weight != 0).sum()), is_pruned(layer)
    (1, True)

Source: torch.nn.utils.prune.
"""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.creation import ones_like, rand, rand_like, zeros_like
from minitorch2.errors import ArgumentTypeError, ArgumentValueError
from minitorch2.nn.utils.convert_parameters import parameters_to_vector
from minitorch2.ops.table import lookup

_topk = lookup("topk").public


class BasePruningMethod(ABC):
    """A way to prune: subclasses set PRUNING_TYPE and define `compute_mask(t, default_mask)`."""

    PRUNING_TYPE = "unstructured"
    _tensor_name: str

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """A mask of the shape of `t`, zero wherever `default_mask` is."""

    def apply_mask(self, module: Any) -> Any:
        """The original times the mask."""
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(original.dtype) * original

    @classmethod
    def apply(
        cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any
    ) -> Any:
        """Prune a parameter, on top of what was pruned before; returns the method."""
        key, old = _pruning_of(module, name)
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        original = getattr(module, name)
        if importance_scores is not None and tuple(importance_scores.shape) != tuple(
            original.shape
        ):
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}"
            )
        scores = original if importance_scores is None else importance_scores
        if old is not None:
            del module._forward_pre_hooks[key]
            container = PruningContainer(old) if not isinstance(old, PruningContainer) else old
            container.add_pruning_method(method)
            method = container
            default = getattr(module, name + "_mask")
        else:
            module.register_parameter(name + "_orig", module._parameters[name])
            del module._parameters[name]
            default = ones_like(original)
        try:
            with no_grad():
                mask = method.compute_mask(scores, default)
            if name + "_mask" in module._buffers:
                module._buffers[name + "_mask"] = mask
            else:
                module.register_buffer(name + "_mask", mask)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if old is None:
                restored = module._parameters.pop(name + "_orig")
                module._buffers.pop(name + "_mask", None)
                module.__dict__.pop(name, None)
                module.register_parameter(name, restored)
            raise
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """A pruned copy of a tensor."""
        scores = t if importance_scores is None else importance_scores
        default = ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default)

    def remove(self, module: Any) -> None:
        """Make the pruned tensor the parameter; the mask and the original are gone."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters[name + "_orig"]
        original.data = weight.detach()
        del module._parameters[name + "_orig"], module._buffers[name + "_mask"]
        setattr(module, name, original)


def _pruning_of(module: Any, name: str) -> tuple[Any, Any]:
    """The key and the method of the hook that prunes a tensor."""
    for key, hook in module._forward_pre_hooks.items():
        function = hook.function
        if isinstance(function, BasePruningMethod) and function._tensor_name == name:
            return key, function
    return None, None


class PruningContainer(BasePruningMethod):
    """Several methods one after the other, each on what the ones before have left."""

    def __init__(self, *args: BasePruningMethod):
        self._methods: list[BasePruningMethod] = list(args)
        if args:
            self._tensor_name = args[0]._tensor_name

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Add one more; it must prune the same tensor."""
        if self._tensor_name != method._tensor_name:
            raise ArgumentValueError(
                "add_pruning_method",
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer. Found '{method._tensor_name}'",
            )
        self._methods.append(method)

    def __len__(self) -> int:
        return len(self._methods)

    def __iter__(self) -> Any:
        return iter(self._methods)

    def __getitem__(self, index: int) -> BasePruningMethod:
        return self._methods[index]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The default mask combined with the last method's mask of what is left."""
        method = self._methods[-1]
        mask = default_mask.to(t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            part: Any = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim % t.ndim  # type: ignore[attr-defined]
            rest = tuple(each for each in range(t.ndim) if each != dim)
            keep = mask.sum(rest) != 0
            part = (slice(None),) * dim + (keep,)
        elif method.PRUNING_TYPE == "global":
            part = (slice(None),) * t.ndim
        else:
            raise ArgumentValueError(
                type(method).__name__, f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}"
            )
        mask[part] = method.compute_mask(t[part], mask[part]).to(mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing, but adds the mask."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        return default_mask


class RandomUnstructured(BasePruningMethod):
    """Prunes elements at random: `amount` of them, or that fraction."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any):
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        count = _count(self.amount, t.numel())
        mask = default_mask.clone()
        if count:
            drawn = rand_like(t).view(-1)
            mask.view(-1)[_topk(drawn, count)[1]] = 0
        return mask


class L1Unstructured(BasePruningMethod):
    """Prunes the elements of least size: `amount` of them, or that fraction."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any):
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        count = _count(self.amount, t.numel())
        mask = default_mask.clone()
        if count:
            least = _topk(t.abs().reshape(-1), count, largest=False)[1]
            mask.view(-1)[least] = 0
        return mask


class RandomStructured(BasePruningMethod):
    """Prunes whole slices along a dimension, at random."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1):
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        _check_structured(t, self.dim)
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        drawn = rand(size)
        return _without(t, default_mask, _topk(drawn, size - count)[1], self.dim, count)


class LnStructured(BasePruningMethod):
    """Prunes the slices along a dimension that have the least n-norm."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, n: Any, dim: int = -1):
        _check_amount(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        _check_structured(t, self.dim)
        count = _count(self.amount, t.shape[self.dim])
        rest = tuple(each for each in range(t.ndim) if each != self.dim % t.ndim)
        norms = t.norm(self.n, rest)
        kept = _topk(norms, t.shape[self.dim] - count)[1]
        return _without(t, default_mask, kept, self.dim, count)


class CustomFromMask(BasePruningMethod):
    """Prunes by a given mask."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any):
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        return default_mask * self.mask.to(default_mask.dtype)


def _without(t: Any, default_mask: Any, kept: Any, dim: int, count: int) -> Any:
    if count == 0:
        return default_mask
    mask = zeros_like(t)
    mask[(slice(None),) * (dim % t.ndim) + (kept,)] = 1
    return mask * default_mask.to(mask.dtype)


def _check_structured(t: Any, dim: int) -> None:
    if t.ndim <= 1:
        raise ArgumentValueError(
            "structured pruning",
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of "
            f"shape {list(t.shape)} with {t.ndim} dims",
        )
    if not -t.ndim <= dim < t.ndim:
        raise IndexError(f"Invalid index {dim} for tensor of size {list(t.shape)}")


def _check_amount(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise ArgumentTypeError(f"amount={amount!r}", "Invalid type for amount: must be a number.")
    if isinstance(amount, numbers.Integral):
        if amount < 0:
            raise ArgumentValueError(
                f"amount={amount}", "amount should be a non-negative integer or a float in [0, 1]"
            )
    elif not 0.0 <= float(amount) <= 1.0:
        raise ArgumentValueError(
            f"amount={amount}", "amount should be a non-negative integer or a float in [0, 1]"
        )


def _count(amount: Any, size: int) -> int:
    """How many of `size` things are pruned."""
    if isinstance(amount, numbers.Integral):
        if int(amount) > size:
            raise ArgumentValueError(
                f"amount={amount}",
                f"amount should be smaller than the number of parameters to prune={size}",
            )
        return int(amount)
    return round(amount * size)


def identity(module: Any, name: str) -> Any:
    """Add a mask of ones."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prune elements at random: `amount` of them, or that fraction."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:
    """Prune the elements of least size (or least score)."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prune whole slices along a dimension, at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None
) -> Any:
    """Prune the slices along a dimension that have the least n-norm."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prune by a given mask."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Any, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict | None = None,
    **kwargs: Any,
) -> None:
    """Prune (module, name) pairs together, as one vector of all their elements."""
    if not isinstance(parameters, Iterable):
        raise ArgumentTypeError(
            "global_unstructured", "global_unstructured(): parameters is not an Iterable"
        )
    pairs = list(parameters)
    given = importance_scores or {}
    if not isinstance(given, dict):
        raise ArgumentTypeError(
            "global_unstructured", "global_unstructured(): importance_scores must be of type dict"
        )
    scores = parameters_to_vector(
        [given.get((module, name), getattr(module, name)) for module, name in pairs]
    )
    default = parameters_to_vector(
        [
            getattr(module, name + "_mask", ones_like(getattr(module, name)))
            for module, name in pairs
        ]
    )
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise ArgumentTypeError(
            f"global_unstructured({pruning_method.__name__})",
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method of '
            f"type {method.PRUNING_TYPE}",
        )
    with no_grad():
        final = container.compute_mask(scores, default)
    start = 0
    for module, name in pairs:
        tensor = getattr(module, name)
        count = tensor.numel()
        custom_from_mask(module, name, final[start : start + count].view_as(tensor))
        start += count


def remove(module: Any, name: str) -> Any:
    """Make the pruning of a parameter permanent; ArgumentValueError when it is not pruned."""
    key, method = _pruning_of(module, name)
    if method is None:
        raise ArgumentValueError(
            f"remove(module, {name!r})",
            f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed",
        )
    method.remove(module)
    del module._forward_pre_hooks[key]
    return module


def is_pruned(module: Any) -> bool:
    """Whether a module or one below it is pruned."""
    return any(
        isinstance(hook.function, BasePruningMethod)
        for each in module.modules()
        for hook in each._forward_pre_hooks.values()
    )

"""Lazy layers: the first input tells their sizes.

In: the sizes that are known. Out: a layer whose parameters are uninitialized until it is first
called, and which is then the ordinary layer.

    >>> from minitorch2 import ones
    >>> layer = LazyLinear(3)
    >>> _ = layer(ones(2, 5))
    >>> layer
    Linear(in_features=5, out_features=3, bias=True)

Source: torch.nn.modules.lazy.
"""

import inspect
from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.creation import empty
from minitorch2.dtypes import int64
from minitorch2.errors import ModuleError
from minitorch2.nn import batch_normalization as norms
from minitorch2.nn import convolution as convolutions
from minitorch2.nn.linear import Linear
from minitorch2.nn.module import Module
from minitorch2.nn.parameter import (
    UninitializedBuffer,
    UninitializedParameter,
    is_lazy,
)


class LazyModuleMixin(Module):
    """Base of lazy layers: before the first forward, `initialize_parameters(*inputs)` is called.

    A subclass names the class it turns into as `cls_to_become`.
    """

    cls_to_become: Any = None

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._watch()

    def _watch(self) -> None:
        """Initialize the parameters before the first forward."""
        self._initialize_hook = self.register_forward_pre_hook(_initialize, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes, from the inputs; to be overridden."""
        raise ModuleError(
            f"{type(self).__name__}.initialize_parameters()",
            "initialize_parameters is not implemented",
            "define it in the lazy module",
        )

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer still has no shape."""
        tensors = (*self._parameters.values(), *self._buffers.values())
        return any(is_lazy(each) for each in tensors)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        for name, mine in (*self._parameters.items(), *self._buffers.items()):
            loaded = state_dict.get(prefix + name)
            if is_lazy(mine) and loaded is not None and not is_lazy(loaded):
                with no_grad():
                    mine.materialize(loaded.shape)
        super()._load_from_state_dict(state_dict, prefix, *rest)


def _initialize(module: Any, args: tuple, kwargs: dict) -> None:
    module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise ModuleError(
            f"module {module._get_name()} has not been fully initialized",
            "some parameters have no shape after initialize_parameters",
            "materialize all of them there",
        )
    module._initialize_hook.remove()
    del module._initialize_hook
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear whose in_features come from the first input."""

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None):
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, once they have shapes."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        """Shapes by the input's last dimension."""
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()


class _LazyConvolution(LazyModuleMixin):
    """What lazy convolutions share: channels come from the input."""

    transposed_shape = False

    def _become_lazy(self, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.out_channels = out_channels
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, once they have shapes."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Any, *args: Any) -> None:
        """Shapes by the input's channels."""
        if not self.has_uninitialized_params():
            return
        dims = len(self.kernel_size)
        if input.ndim not in (dims + 1, dims + 2):
            raise ModuleError(
                f"{type(self).__name__} on an input of shape {list(input.shape)}",
                f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input, but got input "
                f"of size: {input.shape}",
            )
        with no_grad():
            self.in_channels = input.shape[-dims - 1]
            first, second = self.out_channels, self.in_channels // self.groups
            if self.transposed_shape:
                first, second = self.in_channels, self.out_channels // self.groups
            self.weight.materialize((first, second, *self.kernel_size))
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
            self.reset_parameters()


def _without_first(base: Any) -> inspect.Signature:
    """The base's settings without its first, which the input tells."""
    own, first, *rest = inspect.signature(base.__init__).parameters.values()
    return inspect.Signature([own, *rest])


def _lazy_convolution(name: str, base: Any, transposed: bool) -> Any:
    """LazyConv1d and its kind: the base's settings without in_channels."""
    signature = _without_first(base)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        del given["self"]
        out_channels, bias, groups = (given.pop(n) for n in ("out_channels", "bias", "groups"))
        where = given.pop("device"), given.pop("dtype")
        base.__init__(self, 0, 0, bias=False, **given)
        self.groups = groups
        LazyModuleMixin._watch(self)
        _LazyConvolution._become_lazy(self, out_channels, bias, *where)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    fields = {
        "__init__": __init__,
        "__doc__": f"A {base.__name__} whose in_channels come from the first input.",
        "__module__": __name__,
        "cls_to_become": base,
        "transposed_shape": transposed,
    }
    return type(name, (_LazyConvolution, base), fields)


LazyConv1d = _lazy_convolution("LazyConv1d", convolutions.Conv1d, False)
LazyConv2d = _lazy_convolution("LazyConv2d", convolutions.Conv2d, False)
LazyConv3d = _lazy_convolution("LazyConv3d", convolutions.Conv3d, False)
LazyConvTranspose1d = _lazy_convolution("LazyConvTranspose1d", convolutions.ConvTranspose1d, True)
LazyConvTranspose2d = _lazy_convolution("LazyConvTranspose2d", convolutions.ConvTranspose2d, True)
LazyConvTranspose3d = _lazy_convolution("LazyConvTranspose3d", convolutions.ConvTranspose3d, True)


class _LazyNorm(LazyModuleMixin):
    """What lazy normalizations share: channels come from the input."""

    def reset_parameters(self) -> None:
        """Weight one, bias zero, once they have shapes."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Any) -> None:
        """Shapes by the input's channels."""
        if not self.has_uninitialized_params():
            return
        with no_grad():
            self.num_features = input.shape[1]
            for each in (*self._parameters.values(), *self._buffers.values()):
                if is_lazy(each):
                    each.materialize((self.num_features,))
            self.reset_parameters()


def _lazy_norm(name: str, base: Any) -> Any:
    """LazyBatchNorm1d and its kind: the base's settings without num_features."""

    def __init__(
        self: Any,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        base.__init__(self, 0, eps, momentum, False, False)
        self.affine, self.track_running_stats = affine, track_running_stats
        LazyModuleMixin._watch(self)
        where = {"device": device, "dtype": dtype}
        if affine:
            self.weight = UninitializedParameter(**where)
            if bias:
                self.bias = UninitializedParameter(**where)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**where)
            self.running_var = UninitializedBuffer(**where)
            self.num_batches_tracked = empty((), dtype=int64).zero_()

    fields = {
        "__init__": __init__,
        "__doc__": f"A {base.__name__} whose num_features come from the first input.",
        "__module__": __name__,
        "cls_to_become": base,
    }
    return type(name, (_LazyNorm, base), fields)


LazyBatchNorm1d = _lazy_norm("LazyBatchNorm1d", norms.BatchNorm1d)
LazyBatchNorm2d = _lazy_norm("LazyBatchNorm2d", norms.BatchNorm2d)
LazyBatchNorm3d = _lazy_norm("LazyBatchNorm3d", norms.BatchNorm3d)
LazyInstanceNorm1d = _lazy_norm("LazyInstanceNorm1d", norms.InstanceNorm1d)
LazyInstanceNorm2d = _lazy_norm("LazyInstanceNorm2d", norms.InstanceNorm2d)
LazyInstanceNorm3d = _lazy_norm("LazyInstanceNorm3d", norms.InstanceNorm3d)

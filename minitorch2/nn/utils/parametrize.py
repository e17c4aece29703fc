"""Parametrizations: a parameter becomes what modules make of another one.

In: a module, the name of its parameter, and a module that maps a tensor to the one to be used. Out:
the module, whose attribute is computed at each access; the parameter itself moved to
`module.parametrizations.<name>.original`.

    >>> import minitorch2 as torch
    >>> class Positive(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x.exp()
    >>> layer = torch.nn.Linear(2, 1)
    >>> _ = register_parametrization(layer, "weight", Positive())
    >>> bool((layer.weight > 0).all()), is_parametrized(layer)
    (True, True)

The module gets a class of its own, with a property for each such name. A parametrization with a
`right_inverse` can be assigned to. Within `cached()`, each is computed once.

Source: torch.nn.utils.parametrize.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from minitorch2.autograd.modes import no_grad
from minitorch2.errors import ArgumentValueError, ModuleError
from minitorch2.nn.containers import ModuleDict, ModuleList
from minitorch2.nn.module import Module
from minitorch2.nn.parameter import Parameter
from minitorch2.tensors import Tensor

_cache_depth = 0
_cache: dict[tuple[int, str], Any] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Within the block, every parametrized tensor is computed once, when it is first needed."""
    global _cache_depth
    _cache_depth += 1
    try:
        yield
    finally:
        _cache_depth -= 1
        if not _cache_depth:
            _cache.clear()


def _put(module: Any, name: str, tensor: Tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _share(original: Tensor, value: Tensor) -> None:
    """Let a tensor hold another's memory from now on."""
    original.data = value.detach()


def _inverse(module: Any) -> Callable | None:
    return getattr(module, "right_inverse", None)


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and what they start from: `original`, or `original0` ...

    Calling it gives the tensor.
    """

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False):
        if not modules:
            raise ArgumentValueError(
                "ParametrizationList([])", "ParametrizationList requires one or more modules."
            )
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = tuple(original.shape), original.dtype
        with no_grad():
            found: Any = original
            for module in reversed(list(self)):
                inverse = _inverse(module)
                if inverse is not None:
                    try:
                        found = inverse(found)
                    except NotImplementedError:
                        pass
        if not isinstance(found, (Tensor, tuple, list)):
            raise ArgumentValueError(
                "register_parametrization",
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(found).__name__}",
            )
        self.is_tensor = isinstance(found, Tensor)
        self.ntensors = 1 if isinstance(found, Tensor) else len(found)
        if isinstance(found, Tensor):
            if found.dtype is not original.dtype:
                raise ArgumentValueError(
                    "register_parametrization",
                    "When `right_inverse` outputs one tensor, it may not change the dtype: "
                    f"{original.dtype} became {found.dtype}",
                )
            if found is not original:
                _share(original, found)
            _put(self, "original", original)
        else:
            for index, each in enumerate(found):
                if not isinstance(each, Tensor):
                    raise ArgumentValueError(
                        "register_parametrization",
                        "When `right_inverse` outputs a Sequence of tensors it may contain only "
                        f"tensors, got {type(each).__name__}",
                    )
                if original.requires_grad or isinstance(original, Parameter):
                    each = Parameter(each.detach(), original.requires_grad)
                _put(self, f"original{index}", each)
        if not unsafe:
            self._check(shape, dtype)

    def _check(self, shape: tuple, dtype: Any) -> None:
        made = self()
        if not isinstance(made, Tensor):
            raise ArgumentValueError(
                "register_parametrization",
                f"A parametrization must return a tensor. Got {type(made).__name__}.",
            )
        if made.dtype is not dtype:
            raise ArgumentValueError(
                "register_parametrization",
                "Registering a parametrization may not change the dtype of the tensor, unless "
                f"`unsafe` flag is enabled: {dtype} became {made.dtype}",
            )
        if tuple(made.shape) != shape:
            raise ArgumentValueError(
                "register_parametrization",
                "Registering a parametrization may not change the shape of the tensor, unless "
                f"`unsafe` flag is enabled: {shape} became {tuple(made.shape)}",
            )

    def originals(self) -> list[Tensor]:
        """The tensors that the first parametrization gets."""
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{index}") for index in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Assign: change the originals so that the parametrizations give this value."""
        with no_grad():
            found: Any = value
            for module in reversed(list(self)):
                inverse = _inverse(module)
                if inverse is None:
                    raise ModuleError(
                        f"an assignment to a tensor parametrized by {type(module).__name__}",
                        f"parametrization {type(module).__name__} does not implement "
                        "right_inverse.",
                        "give it one, or remove the parametrization first",
                    )
                found = inverse(found)
            parts = [found] if self.is_tensor else list(found)
            if len(parts) != self.ntensors:
                raise ArgumentValueError(
                    "an assignment to a parametrized tensor",
                    f"'right_inverse' must return a sequence of {self.ntensors} tensors, got "
                    f"{len(parts)}",
                )
            for original, each in zip(self.originals(), parts, strict=True):
                _share(original, each)

    def forward(self) -> Any:
        modules = list(self)
        found = modules[0](*self.originals())
        for module in modules[1:]:
            found = module(found)
        return found


def _own_class(module: Any) -> None:
    """Give the module a class of its own, which can take properties."""
    base = type(module)

    def refuse(self: Any) -> Any:
        raise ModuleError(
            "pickling a parametrized module",
            "Serialization of parametrized modules is only supported through state_dict()",
        )

    def reduce(self: Any, protocol: Any) -> Any:
        return refuse(self)

    own = {"__getstate__": refuse, "__reduce_ex__": reduce, "__deepcopy__": _deep_copy}
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), own)


def _deep_copy(self: Any, memo: dict) -> Any:
    """A copy with a class of its own: the properties are the same, the state another."""
    from_copy = self.__class__.__new__(self.__class__)
    memo[id(self)] = from_copy
    from_copy.__dict__.update(copy.deepcopy(dict(self.__dict__), memo))
    own = type(self)
    from_copy.__class__ = type(own.__name__, own.__bases__, dict(vars(own)))
    return from_copy


def _property(module: Any, name: str) -> None:
    def get(self: Any) -> Any:
        if not _cache_depth:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def put(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, put))


def register_parametrization(
    module: Any, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Any:
    """Compute a parameter or buffer by a module from now on; several follow one another.

    `unsafe` lets it change the dtype or shape. ArgumentValueError when there is no such tensor.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        held = module.parametrizations[tensor_name]
        if not unsafe:
            _check_next(module, tensor_name, parametrization)
        inverse = _inverse(parametrization)
        if inverse is not None:
            module.parametrizations[tensor_name].right_inverse(
                inverse(getattr(module, tensor_name))
            )
        held.append(parametrization)
        held.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        made = ParametrizationList([parametrization], original, unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _own_class(module)
            module.parametrizations = ModuleDict()
        _property(module, tensor_name)
        module.parametrizations[tensor_name] = made
    else:
        raise ArgumentValueError(
            f"register_parametrization(module, {tensor_name!r}, ...)",
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'",
        )
    return module


def _check_next(module: Any, name: str, parametrization: Module) -> None:
    before = getattr(module, name)
    after = parametrization(before)
    if not isinstance(after, Tensor):
        raise ArgumentValueError(
            "register_parametrization",
            f"A parametrization must return a tensor. Got {type(after).__name__}.",
        )
    if after.dtype is not before.dtype or tuple(after.shape) != tuple(before.shape):
        raise ArgumentValueError(
            "register_parametrization",
            "Registering a parametrization may not change the dtype or the shape of the tensor, "
            f"unless the `unsafe` flag is enabled: {before.dtype} {list(before.shape)} became "
            f"{after.dtype} {list(after.shape)}",
        )


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrizations, of this tensor if it is named."""
    held = getattr(module, "parametrizations", None)
    if not isinstance(held, ModuleDict):
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make the tensor an ordinary parameter again, with its computed value or its original one."""
    if not is_parametrized(module, tensor_name):
        raise ArgumentValueError(
            f"remove_parametrizations(module, {tensor_name!r})",
            f"Module {module} does not have a parametrization on {tensor_name}",
        )
    held = module.parametrizations[tensor_name]
    originals = held.originals()
    original = originals[0]
    if leave_parametrized:
        with no_grad():
            value = getattr(module, tensor_name)
        if held.is_tensor:
            _share(original, value)
        else:
            needs = any(each.requires_grad for each in originals)
            original = Parameter(value.detach(), needs)
    elif not held.is_tensor:
        raise ArgumentValueError(
            f"remove_parametrizations(module, {tensor_name!r}, leave_parametrized=False)",
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors.",
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _put(module, tensor_name, original)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Any) -> type:
    """The module's class as it was before its first parametrization."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)

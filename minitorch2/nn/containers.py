"""Modules made of modules: in a row, in a list, in a dict; and lists and dicts of parameters.

In: modules (or parameters). Out: a module that registers them all, so that they are found by
`parameters()` and `state_dict()`, which plain Python lists and dicts are not.

    >>> from minitorch2 import nn
    >>> nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )

Source: torch.nn's containers.
"""

import itertools
import operator
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from minitorch2.errors import ArgumentTypeError, ArgumentValueError, ModuleError
from minitorch2.nn.module import Module
from minitorch2.nn.parameter import Parameter
from minitorch2.tensors import Tensor


def _position(index: Any, count: int) -> int:
    at = operator.index(index)
    if not -count <= at < count:
        raise IndexError(f"index {at} is out of range")
    return at % count


class Container(Module):
    """A module with the given modules; any Module can do that."""

    def __init__(self, *args: Any, **kwargs: Any):
        warnings.warn(
            "`nn.Container` is deprecated. All of its functionality is now implemented in "
            "`nn.Module`. Subclass that instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(*args)
        for name, module in kwargs.items():
            self.add_module(name, module)


class Sequential(Module):
    """Calls its modules one after the other, each on the output of the one before."""

    def __init__(self, *args: Any):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for index, module in enumerate(args):
                self.add_module(str(index), module)

    def forward(self, input: Any) -> Any:
        for module in self:
            input = module(input)
        return input

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return list(self._modules.values())[_position(index, len(self))]

    def __setitem__(self, index: Any, module: Module) -> None:
        self.add_module(list(self._modules)[_position(index, len(self))], module)

    def __delitem__(self, index: Any) -> None:
        names = list(self._modules)
        chosen = names[index] if isinstance(index, slice) else [names[_position(index, len(self))]]
        kept = [module for name, module in self._modules.items() if name not in chosen]
        self._modules.clear()
        self.extend(kept)

    def __add__(self, other: "Sequential") -> "Sequential":
        _check_sequential(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: "Sequential") -> "Sequential":
        _check_sequential(other)
        return self.extend(other)

    def __mul__(self, times: int) -> "Sequential":
        self._check_times(times)
        return Sequential(*list(self) * times)

    __rmul__ = __mul__

    def __imul__(self, times: int) -> "Sequential":
        self._check_times(times)
        return self.extend(list(self) * (times - 1))

    def _check_times(self, times: Any) -> None:
        if not isinstance(times, int):
            raise TypeError(
                f"unsupported operand type(s) for *: {type(self)} and {type(times)}: a number of "
                "repetitions is expected"
            )
        if times <= 0:
            raise ArgumentValueError(
                f"Sequential * {times}",
                f"Non-positive multiplication factor {times} for {type(self)}",
            )

    def append(self, module: Module) -> "Sequential":
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> "Sequential":
        """Put a module before the one at `index`, which lies within -n..n."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}, not {type(module)}")
        modules = list(self)
        if not -len(modules) <= index <= len(modules):
            raise IndexError(f"Index out of range: {index}")
        modules.insert(index, module)
        self._modules.clear()
        return self.extend(modules)

    def extend(self, modules: Iterable[Module]) -> "Sequential":
        """Add modules at the end."""
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, index: int) -> Module:
        """Take a module out."""
        module = self[index]
        del self[index]
        return module


def _check_sequential(other: Any) -> None:
    if not isinstance(other, Sequential):
        raise ArgumentValueError(
            f"Sequential + {type(other).__name__}",
            f"add operator supports only objects of Sequential class, but {type(other)} is given.",
            "put it into a Sequential first",
        )


def _check_iterable(called: str, values: Any) -> None:
    if not isinstance(values, Iterable):
        kind = type(values).__name__
        raise ArgumentTypeError(
            f"{called}({kind})", f"{called} should be called with an iterable, but got {kind}"
        )


def _pairs(owner: str, given: Any) -> Iterator[tuple[Any, Any]]:
    """(name, value) of a dict, of a module that is one, or of a list of pairs."""
    if not isinstance(given, Iterable):
        kind = type(given).__name__
        raise ArgumentTypeError(
            f"{owner}.update({kind})",
            f"{owner}.update should be called with an iterable of key/value pairs, but got {kind}",
        )
    if isinstance(given, (Mapping, ModuleDict, ParameterDict)):
        yield from given.items()
        return
    for index, pair in enumerate(given):
        element = f"{owner} update sequence element #{index}"
        if not isinstance(pair, Iterable):
            kind = type(pair).__name__
            raise ArgumentTypeError(f"{owner}.update", f"{element} should be Iterable; is {kind}")
        found = tuple(pair)
        if len(found) != 2:
            raise ArgumentValueError(
                f"{owner}.update", f"{element} has length {len(found)}; 2 is required"
            )
        yield found[0], found[1]


class ModuleList(Module):
    """A list of modules."""

    def __init__(self, modules: Iterable[Module] | None = None):
        super().__init__()
        self.extend(modules or ())

    def __repr__(self) -> str:
        """Equal neighbours are shown once: `(0-2): 3 x Linear(...)`."""
        runs = [(text, len(list(run))) for text, run in itertools.groupby(map(repr, self))]
        lines, start = [], 0
        for text, count in runs:
            end = start + count - 1
            name = f"({start}): " if count == 1 else f"({start}-{end}): {count} x "
            lines.append("\n  " + name + text.replace("\n", "\n  "))
            start += count
        return f"{self._get_name()}({''.join(lines)}\n)" if lines else f"{self._get_name()}()"

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return list(self._modules.values())[_position(index, len(self))]

    def __setitem__(self, index: Any, module: Module) -> None:
        self._modules[str(_position(index, len(self)))] = module

    def __delitem__(self, index: Any) -> None:
        modules = list(self)
        del modules[index]
        self._modules.clear()
        self.extend(modules)

    def __iadd__(self, modules: Iterable[Module]) -> "ModuleList":
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> "ModuleList":
        return ModuleList([*self, *other])

    def append(self, module: Module) -> "ModuleList":
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> None:
        """Put a module before the one at `index`."""
        modules = list(self)
        modules.insert(index, module)
        self._modules.clear()
        self.extend(modules)

    def extend(self, modules: Iterable[Module]) -> "ModuleList":
        """Add modules at the end."""
        _check_iterable("ModuleList.extend", modules)
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, index: int = -1) -> Module:
        """Take a module out."""
        module = self[index]
        del self[index]
        return module


class ModuleDict(Module):
    """A dict of modules, in the order they came."""

    def __init__(self, modules: Any = None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take all modules out."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Take a module out."""
        return self._modules.pop(key)

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def items(self) -> Any:
        """Names and modules."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules from a dict or from (name, module) pairs."""
        for name, module in _pairs("ModuleDict", modules):
            self[name] = module


def _as_parameter(value: Any) -> Any:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


class ParameterList(Module):
    """A list of parameters; plain tensors are made parameters."""

    def __init__(self, values: Iterable[Any] | None = None):
        super().__init__()
        self._size = 0
        self.extend(values or ())

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter(self[index] for index in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)([self[at] for at in range(*index.indices(len(self)))])
        return getattr(self, str(_position(index, len(self))))

    def __setitem__(self, index: Any, value: Any) -> None:
        setattr(self, str(_position(index, len(self))), _as_parameter(value))

    def __iadd__(self, values: Iterable[Any]) -> "ParameterList":
        return self.extend(values)

    def append(self, value: Any) -> "ParameterList":
        """Add a parameter at the end."""
        setattr(self, str(self._size), _as_parameter(value))
        self._size += 1
        return self

    def extend(self, values: Iterable[Any]) -> "ParameterList":
        """Add parameters at the end."""
        if isinstance(values, Tensor):
            raise ArgumentTypeError(
                "ParameterList.extend(Tensor)",
                "ParameterList.extend should be called with an iterable, but got a Tensor",
                "use append for one tensor",
            )
        _check_iterable("ParameterList.extend", values)
        for value in list(values):
            self.append(value)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise ModuleError("ParameterList(...)", "ParameterList should not be called.")

    def extra_repr(self) -> str:
        return _described(enumerate(self), lambda value: value.dtype)


class ParameterDict(Module):
    """A dict of parameters; plain tensors are made parameters."""

    def __init__(self, parameters: Any = None):
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise ArgumentTypeError(
                f"ParameterDict[{key!r}]",
                "Index given to ParameterDict cannot be used as a key as it is not a string "
                f"(type is '{type(key).__name__}')",
                "name the parameters by strings",
            )
        setattr(self, key, _as_parameter(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __or__(self, other: "ParameterDict") -> "ParameterDict":
        found = self.copy()
        found.update(other)
        return found

    def __ror__(self, other: "ParameterDict") -> "ParameterDict":
        found = ParameterDict(OrderedDict(other.items()))
        found.update(self)
        return found

    def __ior__(self, other: "ParameterDict") -> "ParameterDict":
        self.update(other)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise ModuleError("ParameterDict(...)", "ParameterDict should not be called.")

    def copy(self) -> "ParameterDict":
        """Another dict with the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def clear(self) -> None:
        """Take all parameters out."""
        for key in list(self._keys):
            del self[key]

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The parameter of a name, which becomes `default` where there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def popitem(self) -> tuple[str, Any]:
        """Take the last name and parameter out."""
        key = next(reversed(self), None)
        if key is None:
            raise KeyError("popitem(): the ParameterDict is empty")
        return key, self.pop(key)

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> "ParameterDict":
        """Another dict in which each name has `default`."""
        return ParameterDict(OrderedDict((key, default) for key in keys))

    def keys(self) -> Any:
        """The names."""
        return self._keys.keys()

    def values(self) -> Any:
        """The parameters."""
        return [self[key] for key in self._keys]

    def items(self) -> Any:
        """Names and parameters."""
        return [(key, self[key]) for key in self._keys]

    def get(self, key: str, default: Any = None) -> Any:
        """The parameter of a name, or `default`."""
        return self[key] if key in self else default

    def pop(self, key: str) -> Any:
        """Take a parameter out."""
        value = self[key]
        del self[key]
        return value

    def update(self, parameters: Any) -> None:
        """Add parameters from a dict (by name, unless it is ordered) or from pairs."""
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            parameters = sorted(parameters.items())
        for name, value in _pairs("ParametersDict", parameters):
            self[name] = value

    def extra_repr(self) -> str:
        return _described(self.items(), lambda value: value.type())


def _described(pairs: Iterable[tuple[Any, Any]], named: Callable) -> str:
    """One line for each entry, as torch prints them; `named` gives the type of a tensor."""
    lines = []
    for name, value in pairs:
        if isinstance(value, Tensor):
            kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
            sizes = "x".join(str(size) for size in value.shape)
            lines.append(f"  ({name}): {kind} containing: [{named(value)} of size {sizes}]")
        else:
            lines.append(f"  ({name}): Object of type: {type(value).__name__}")
    return "\n".join(lines)

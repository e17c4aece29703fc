"""State dicts of modules: collecting every parameter and buffer, and putting values back.

In: a module (and, to load, a dict from dotted names to tensors). Out: such a dict, or the names
that did not fit. Loading checks everything before it complains, so that one error names it all.

Source: torch.nn.Module.state_dict and load_state_dict.
"""

import difflib
import warnings
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

from minitorch2.__future__ import conversion
from minitorch2.autograd.modes import no_grad
from minitorch2.dispatch import is_compiling
from minitorch2.errors import ArgumentTypeError, ModuleError
from minitorch2.nn.parameter import Parameter
from minitorch2.swapping import swap_tensors
from minitorch2.tensors import Tensor

EXTRA = "_extra_state"


class IncompatibleKeys(NamedTuple):
    """What a state dict lacked, and what it had that the module does not."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


def positional(args: tuple, destination: Any, prefix: str, keep_vars: bool) -> tuple:
    """The arguments of `state_dict` in order, from those given by position and those by name.

    Warns, as torch does, that giving them by position will end.
    """
    warnings.warn(
        "Positional args are being deprecated, use kwargs instead. Refer to "
        "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict "
        "for details.",
        FutureWarning,
        stacklevel=3,
    )
    return (*args[:3], *(destination, prefix, keep_vars)[len(args) :])


def state_dict(module: Any, destination: Any, prefix: str, keep_vars: bool) -> Any:
    """Collect the state of a module and everything below it."""
    if destination is None:
        destination = OrderedDict()
        if not is_compiling():  # a compiled program has no need of versions
            destination._metadata = OrderedDict()
    local_metadata = {"version": module._version}
    if not is_compiling() and hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = local_metadata
    for hook in list(module._state_dict_pre_hooks.values()):
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(
                destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
            )
    for hook in list(module._state_dict_hooks.values()):
        changed = hook(module, destination, prefix, local_metadata)
        if changed is not None:
            destination = changed
    return destination


def own_parts(module: Any) -> dict[str, Any]:
    """The module's own parameters and persistent buffers by name."""
    parts = {name: part for name, part in module._parameters.items() if part is not None}
    for name, buffer in module._buffers.items():
        if buffer is not None and name not in module._non_persistent_buffers_set:
            parts[name] = buffer
    return parts


def save_own(module: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
    """Put the module's own parts into `destination`."""
    for name, part in own_parts(module).items():
        destination[prefix + name] = part if keep_vars else part.detach()
    if module._has_extra_state():
        destination[prefix + EXTRA] = module.get_extra_state()


def load_own(
    module: Any,
    given: Any,
    prefix: str,
    metadata: dict[str, Any],
    strict: bool,
    missing: list[str],
    unexpected: list[str],
    problems: list[str],
) -> None:
    """Load the module's own parts from `given`; what does not fit is appended to the lists."""
    for hook in list(module._load_state_dict_pre_hooks.values()):
        hook(module, given, prefix, metadata, strict, missing, unexpected, problems)
    assign = metadata.get("assign_to_params_buffers", False)
    parts = own_parts(module)
    for name, part in parts.items():
        if prefix + name not in given:
            if strict:
                missing.append(prefix + name)
            continue
        value = given[prefix + name]
        if not isinstance(value, Tensor):
            problems.append(
                f"{prefix + name}: expected a torch.Tensor, received {type(value).__name__}"
            )
        elif tuple(value.shape) != tuple(part.shape):
            problems.append(
                f"size mismatch for {prefix + name}: copying a param with shape {value.shape} "
                f"from checkpoint, the shape in current model is {part.shape}."
            )
        elif conversion.swap:
            with no_grad():
                loaded = part.module_load(value, assign)
            if name in module._parameters:
                loaded = Parameter(loaded, requires_grad=part.requires_grad)
            swap_tensors(part, loaded)
        elif assign:
            _assign(module, name, part, value)
        else:
            _warn_meta(prefix + name, part, value)
            with no_grad():
                part.copy_(value)
    if module._has_extra_state():
        if prefix + EXTRA in given:
            module.set_extra_state(given[prefix + EXTRA])
        else:
            missing.append(prefix + EXTRA)
    known = set(parts) | {EXTRA if module._has_extra_state() else ""}
    for key in given:
        if key.startswith(prefix):
            name = key[len(prefix) :]
            first, dot, _ = name.partition(".")
            child = module._modules.get(first) if dot else None
            if strict and name not in known and child is None:
                unexpected.append(key)


def _warn_meta(key: str, part: Any, value: Any) -> None:
    """A tensor without memory has no place for the values."""
    if part.device.type == "meta" and value.device.type != "meta":
        warnings.warn(
            f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter "
            "in the current model, which is a no-op. (Did you mean to pass `assign=True` to assign "
            "items in the state dictionary to their corresponding key in the module instead of "
            "copying them in place?)",
            UserWarning,
            stacklevel=2,
        )


def _assign(module: Any, name: str, part: Any, value: Any) -> None:
    """Put the given tensor itself into the module."""
    if name in module._parameters:
        if not isinstance(value, Parameter):
            value = Parameter(value, requires_grad=part.requires_grad)
        module._parameters[name] = value
    else:
        module._buffers[name] = value


def load_state_dict(module: Any, given: Any, strict: bool, assign: bool) -> IncompatibleKeys:
    """Load a state dict into a module and everything below it."""
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(
            f"{type(module).__name__}.load_state_dict({type(given).__name__})",
            f"expected state_dict to be dict-like, got {type(given)}",
            "pass what state_dict() or torch.load() returned",
        )
    missing: list[str] = []
    unexpected: list[str] = []
    problems: list[str] = []
    versions = getattr(given, "_metadata", None) or {}

    def load(part: Any, values: Any, prefix: str) -> None:
        metadata = dict(versions.get(prefix[:-1], {}))
        if assign:
            metadata["assign_to_params_buffers"] = True
        part._load_from_state_dict(values, prefix, metadata, True, missing, unexpected, problems)
        for name, child in part._modules.items():
            if child is not None:
                inner = f"{prefix}{name}."
                load(child, {k: v for k, v in values.items() if k.startswith(inner)}, inner)
        keys = IncompatibleKeys(missing, unexpected)
        for hook in list(part._load_state_dict_post_hooks.values()):
            hook(part, keys)

    load(module, OrderedDict(given), "")
    if strict:
        if unexpected:
            problems.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}.")
        if missing:
            problems.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}.")
    if problems:
        raise ModuleError(
            f"{type(module).__name__}.load_state_dict(...)",
            f"Error(s) in loading state_dict for {type(module).__name__}:\n\t"
            + "\n\t".join(problems),
            _advice(missing, unexpected),
        )
    return IncompatibleKeys(missing, unexpected)


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _advice(missing: list[str], unexpected: list[str]) -> str:
    """Names that look like misspellings or a lost prefix, else the general way out."""
    for name in missing:
        for other in unexpected:
            if other.endswith("." + name) or name.endswith("." + other):
                return f'rename the keys: "{other}" looks like "{name}" under another prefix'
        near = difflib.get_close_matches(name, unexpected, 1, 0.8)
        if near:
            return f'rename the keys: "{near[0]}" looks like "{name}"'
    if missing or unexpected:
        return "build the module as it was when saved, or pass strict=False to load what fits"
    return "build the module with the sizes it had when it was saved"

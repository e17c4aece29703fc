"""torch.func: modules as functions of their parameters.

In: a module and tensors by name. Out: what the module gives with them in the place of its own.

    >>> from minitorch2 import nn, ones
    >>> net = nn.Linear(2, 1)
    >>> functional_call(net, {"weight": ones(1, 2), "bias": ones(1)}, ones(2))
    tensor([3.])

Source: torch.func.functional_call.
"""

from collections.abc import Mapping
from typing import Any

from minitorch2.errors import ArgumentValueError, OperationError
from minitorch2.ops.table import lookup

_ABSENT = object()  # in the place of an attribute that the module does not have


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call the module with other parameters and buffers; its own are back afterwards.

    With `tie_weights`, a value given for one name of a shared tensor stands for its other names
    too; ArgumentValueError where two of them are given different values. A name that the module
    does not have is an attribute of it during the call; with `strict`, OperationError.
    """
    given: dict[str, Any] = {}
    several = isinstance(parameter_and_buffer_dicts, (tuple, list))
    for each in parameter_and_buffer_dicts if several else [parameter_and_buffer_dicts]:
        given.update(each)
    own = dict(module.named_parameters(remove_duplicate=False))
    own |= dict(module.named_buffers(remove_duplicate=False))
    if tie_weights:
        given = _tied(own, given)
    missing, unknown = [n for n in own if n not in given], [n for n in given if n not in own]
    if strict and (missing or unknown):
        wrong = f"Error(s) in reparametrizing for {type(module).__name__}:"
        for what, names in (("Unexpected", unknown), ("Missing", missing)):
            if names:
                wrong += f"\n\t{what} key(s): {', '.join(map(repr, names))}."
        fix = "give every parameter and buffer, and no others"
        raise OperationError("functional_call(strict=True)", wrong, fix)
    replaced = []
    try:
        for name, value in given.items():
            table, key = _place(module, name)
            replaced.append((table, key, table.get(key, _ABSENT)))
            table[key] = value
        positional = () if args is None else args if isinstance(args, tuple) else (args,)
        return module(*positional, **(kwargs or {}))
    finally:
        for table, key, value in reversed(replaced):
            if value is _ABSENT:
                del table[key]
            else:
                table[key] = value


def _tied(own: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The values given, each under all names of the tensor whose place it takes."""
    found = dict(given)
    names: dict[int, list[str]] = {}
    for name, tensor in own.items():
        names.setdefault(id(tensor), []).append(name)
    for group in names.values():
        values = [given[name] for name in group if name in given]
        if any(value is not values[0] for value in values):
            raise ArgumentValueError(
                "functional_call(tie_weights=True)",
                f"functional_call got multiple values for keys {sorted(group)}, which are tied",
                "give one of them, or pass tie_weights=False",
            )
        found |= {name: values[0] for name in group if values}
    return found


def _place(module: Any, name: str) -> tuple[dict[str, Any], str]:
    """The table of a submodule in which a parameter or buffer stands, or its attributes."""
    path, _, key = name.rpartition(".")
    owner = module.get_submodule(path)
    for table in (owner._parameters, owner._buffers):
        if key in table:
            return table, key
    return owner.__dict__, key


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and buffers of equal modules, stacked: each [number of modules, ...].

    For `vmap` over `functional_call`: an ensemble as one module. Raises OperationError unless all
    are of one class and one mode.
    """
    modules = list(models)
    if not modules:
        raise OperationError("stack_module_state([])", "Expected at least one model, got 0")
    if any(module.training != modules[0].training for module in modules):
        raise OperationError(
            "stack_module_state(models)",
            "Expected all models to have the same training/eval mode",
            "call .train() or .eval() on all of them",
        )
    if any(type(module) is not type(modules[0]) for module in modules):
        raise OperationError(
            "stack_module_state(models)", "Expected all models to be of the same class"
        )
    parameters = [dict(module.named_parameters()) for module in modules]
    buffers = [dict(module.named_buffers()) for module in modules]
    return _stacked(parameters), _stacked(buffers)


def _stacked(tables: list[dict[str, Any]]) -> dict[str, Any]:
    found = {}
    for name in tables[0]:
        column = [table[name] for table in tables]
        wanted = {tensor.requires_grad for tensor in column}
        if len(wanted) > 1:
            raise OperationError(
                "stack_module_state(models)",
                f"Expected {name} to have the same .requires_grad in all models",
            )
        stacked = lookup("stack").public([tensor.detach() for tensor in column], 0)
        found[name] = stacked.requires_grad_() if wanted.pop() else stacked
    return found

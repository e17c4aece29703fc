"""What users give an optimizer, and what is refused of it.

In: parameters, settings, gradients. Out: the parameters in a list, or an error that says what is
wrong with them.

Source: torch.optim.Optimizer.
"""

from typing import Any, NoReturn

from minitorch2.errors import ArgumentTypeError, ArgumentValueError, OperationError
from minitorch2.tensors import Tensor


def listed(given: Any) -> tuple[list[Any], list[str] | None]:
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
    named = [isinstance(each, tuple) for each in listed]
    if any(named) and not all(named):
        raise ArgumentValueError(
            "add_param_group",
            "all optimizer params should be with/without names. Some param names are missing",
        )
    if any(named):
        return [parameter for _, parameter in listed], [name for name, _ in listed]
    return listed, None


def check_defaults(name: str, defaults: dict[str, Any]) -> None:
    """What torch asks of settings that most optimizers share."""
    rate = defaults.get("lr")
    if isinstance(rate, Tensor) and rate.numel() != 1:
        raise ArgumentValueError(f"{name}(lr=Tensor)", "Tensor lr must be 1-element")
    if defaults.get("fused") and defaults.get("foreach"):
        raise OperationError(
            f"{name}(fused=True)", "`fused` and `foreach` cannot be `True` together."
        )
    if defaults.get("fused") and defaults.get("differentiable"):
        raise OperationError(f"{name}(fused=True)", "`fused` does not support `differentiable`")


def check_parameter(parameter: Any, differentiable: bool) -> None:
    """ArgumentTypeError for what is no tensor, ArgumentValueError for one that cannot be a leaf."""
    if not isinstance(parameter, Tensor):
        raise ArgumentTypeError(
            "add_param_group", f"optimizer can only optimize Tensors, but got {type(parameter)}"
        )
    if not (differentiable or parameter.is_leaf or parameter._retains_grad):
        raise ArgumentValueError(
            "add_param_group",
            "can't optimize a non-leaf Tensor",
            "make it a leaf: x.detach().requires_grad_(), and compute from that",
        )


def refuse_sparse(optimizer: Any) -> NoReturn:
    """OperationError for a sparse gradient, of an optimizer whose formula moves every element."""
    name = type(optimizer).__name__
    raise OperationError(
        f"{name}.step()",
        f"{name} does not support sparse gradients",
        "please consider SparseAdam instead, or SGD or Adagrad",
    )

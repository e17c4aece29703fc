"""functional_call under its older name: torch.nn.utils.stateless.

In: a module, parameters and buffers by name, arguments. Out: what the module gives with them.

    from minitorch2.nn.utils.stateless import functional_call
    functional_call(net, {"weight": torch.ones(1, 2)}, (x,))

Source: torch.nn.utils.stateless; torch.func.functional_call took its place.
"""

import warnings
from collections.abc import Mapping
from typing import Any

from minitorch2.func import modules


def functional_call(
    module: Any,
    parameters_and_buffers: Mapping[str, Any],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """torch.func.functional_call, with a FutureWarning."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be "
        "removed in a future version of PyTorch. Please use `torch.func.functional_call` instead "
        "which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return modules.functional_call(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )


__all__ = ["functional_call"]

"""torch.__future__: how modules are converted, as later versions may do it by default.

In: a switch. Out: nothing; `Module.to`, `.float()` and their like, and `load_state_dict`, then
exchange the parameters with converted ones (`swap`), or make new Parameters (`overwrite`), instead
of giving the old ones other memory.

Example: `set_swap_module_params_on_conversion(True)`.
Source: torch.__future__.
"""


class _Conversion:
    """The switches of the process."""

    swap = False
    overwrite = False


conversion = _Conversion()


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Whether conversions exchange parameters by torch.utils.swap_tensors."""
    conversion.swap = value


def get_swap_module_params_on_conversion() -> bool:
    """Whether conversions exchange parameters."""
    return conversion.swap


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Whether conversions make new Parameters."""
    conversion.overwrite = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether conversions make new Parameters."""
    return conversion.overwrite

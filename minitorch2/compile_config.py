"""torch._dynamo.config: settings of the compiler, as attributes of one module.

In: names and values. Out: what `compile_settings` holds. Settings of torch that mean nothing here
are kept, so that scripts that write them run; a name that torch does not know is an error.

    torch._dynamo.config.recompile_limit = 16
    with torch._dynamo.config.patch(automatic_dynamic_shapes=False): ...

Source: torch/_dynamo/config.py's documentation.
"""

import contextlib
import copy
import difflib
import types
from collections.abc import Iterator
from typing import Any

from minitorch2.compile_settings import limits

# Names of torch -> fields of `limits`.
FIELDS = {
    "recompile_limit": "recompilations",
    "cache_size_limit": "recompilations",
    "fail_on_recompile_limit_hit": "fail_at_the_limit",
    "fail_on_cache_limit_hit": "fail_at_the_limit",
    "error_on_recompile": "fail_on_recompile",
    "automatic_dynamic_shapes": "automatic_dynamic",
}
# What torch has beside, with the value that tells what happens here anyway.
KEPT = {
    "suppress_errors": True,  # a call that capture fails on runs as Python
    "verbose": False,
    "assume_static_by_default": True,
    "accumulated_recompile_limit": 256,
    "accumulated_cache_size_limit": 256,
    "capture_scalar_outputs": False,
    "capture_dynamic_output_shape_ops": False,
    "capture_func_transforms": True,
    "specialize_int": False,
    "specialize_float": False,
    "allow_rnn": True,
    "inline_inbuilt_nn_modules": True,
    "guard_nn_modules": True,
    "optimize_ddp": True,
    "dynamic_shapes": True,
    "force_parameter_static_shapes": True,
    "force_nn_module_property_static_shapes": True,
    "allow_unspec_int_on_nn_module": True,
    "numpy_default_float": "float64",
    "trace_numpy": True,
    "raise_on_ctx_manager_usage": True,
    "raise_on_unsafe_aot_autograd": False,
    "reorderable_logging_functions": set(),
    "ignore_logger_methods": set(),
    "traceable_tensor_subclasses": set(),
    "error_on_nested_fx_trace": True,
    "error_on_nested_jit_trace": True,
    "compiled_autograd": False,
    "cprofile": False,
    "log_compilation_metrics": True,
    "dead_code_elimination": True,
    "replay_record_enabled": False,
    "debug_dir_root": "",
    "repro_after": None,
    "repro_level": 2,
    "repro_forward_only": False,
    "repro_tolerance": 1e-3,
    "minimum_call_count": 1,
    "skip_nnmodule_hook_guards": False,
    "report_guard_failures": True,
    "enable_cpp_guard_manager": True,
    "caching_precompile": False,
    "use_lazy_graph_module": True,
}


class Config(types.ModuleType):
    """The settings."""

    def __init__(self, name: str):
        super().__init__(name, __doc__)
        self.__dict__["_kept"] = copy.deepcopy(KEPT)

    def __getattr__(self, name: str) -> Any:
        if name in FIELDS:
            return getattr(limits, FIELDS[name])
        kept = self.__dict__["_kept"]
        if name in kept:
            return kept[name]
        raise AttributeError(f"torch._dynamo.config.{name} does not exist{_nearest(name)}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in FIELDS:
            setattr(limits, FIELDS[name], value)
        elif name in self.__dict__["_kept"]:
            self.__dict__["_kept"][name] = value
        elif name.startswith("__"):
            super().__setattr__(name, value)
        else:
            raise AttributeError(f"torch._dynamo.config.{name} does not exist{_nearest(name)}")

    def __dir__(self) -> list[str]:
        return sorted([*FIELDS, *self.__dict__["_kept"], "patch", "get_config_copy", "load_config"])

    @contextlib.contextmanager
    def patch(self, name: Any = None, value: Any = None, /, **changes: Any) -> Iterator[None]:
        """These settings inside a `with` block, or a function that is decorated with it.

        Given as a name and a value, as a dict, or as keywords.
        """
        if isinstance(name, str):
            changes[name] = value
        elif name is not None:
            changes.update(name)
        before = {each: getattr(self, each) for each in changes}
        try:
            for each, new in changes.items():
                setattr(self, each, new)
            yield
        finally:
            for each, old in before.items():
                setattr(self, each, old)

    def get_config_copy(self) -> dict[str, Any]:
        """All settings as a dict."""
        return {name: copy.copy(getattr(self, name)) for name in (*FIELDS, *self._kept)}

    def load_config(self, saved: dict[str, Any]) -> None:
        """Settings from such a dict."""
        for name, value in saved.items():
            setattr(self, name, value)


def _nearest(name: str) -> str:
    near = difflib.get_close_matches(name, [*FIELDS, *KEPT], 1)
    return f"; did you mean {near[0]}?" if near else ""


config = Config("minitorch2._dynamo.config")

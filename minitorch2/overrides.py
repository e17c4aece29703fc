"""torch.overrides: other classes take part in every public function, and modes see every call.

In: a call of a public function or Tensor method in which an argument's class has its own
`__torch_function__`, or while a TorchFunctionMode is entered. Out: what that method returns.

    class Logged(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            print(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

# Note [Overrides cost nothing until used]
Asking every argument of every call whether it wants to take over would slow down all programs for
the sake of few. So nothing asks, until the first subclass of Tensor is defined, a mode is entered,
or a symbolic trace begins: then the code of each public function is exchanged for a few
instructions that hand the arguments to its Door. The function objects stay the same, so references
that others hold, in defaults or dictionaries, take part too. When the last mode or trace ends, the
code comes back; a subclass keeps it.

Source: torch.overrides; NumPy's NEP 18, which it follows.
"""

import functools
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from minitorch2 import forks
from minitorch2.errors import ArgumentTypeError
from minitorch2.tensors import PLAIN, Tensor

NAMESPACES = (
    "minitorch2",
    "minitorch2.nn.functional",
    "minitorch2.linalg",
    "minitorch2.fft",
    "minitorch2.special",
)
# Functions that nobody takes over: they ask about classes and objects, or set up the process.
IGNORED = frozenset(
    """as_subclass is_tensor is_storage manual_seed seed initial_seed get_rng_state set_rng_state
    save load compile set_default_dtype get_default_dtype set_num_threads get_num_threads
    is_grad_enabled set_grad_enabled is_inference_mode_enabled can_cast promote_types
    broadcast_shapes set_printoptions get_autocast_dtype get_autocast_cpu_dtype set_default_device
    is_autocast_enabled is_autocast_cpu_enabled from_numpy vmap typename
    use_deterministic_algorithms set_history set_default_tensor_type set_float32_matmul_precision
    get_float32_matmul_precision""".split()
)
PROPERTIES = ("T", "mT", "H", "mH", "real", "imag", "data", "grad")  # those that give tensors
# Operators and the methods as which torch shows them.
OPERATORS = {
    "__truediv__": "div", "__itruediv__": "div_", "__ifloordiv__": "floor_divide_",
    "__mod__": "remainder", "__imod__": "remainder_", "__rand__": "bitwise_and",
    "__ror__": "bitwise_or", "__rxor__": "bitwise_xor", "__pos__": "positive",
    **{f"__{n}__": n for n in "add sub mul pow matmul ne lt le gt ge neg abs".split()},
    **{f"__r{n}__": n for n in ("add", "mul")},
    **{f"__i{n}__": f"{n}_" for n in ("add", "sub", "mul", "pow")},
}  # fmt: skip
IGNORED_SPECIAL = frozenset(
    """__init__ __new__ __init_subclass__ __torch_function__ __class_getitem__ __hash__ __repr__
    __getattr__ __setattr__ __getattribute__ __reduce_ex__ __reduce__ __deepcopy__ __format__
    __setstate__ __dir__""".split()
)


class Local(threading.local):
    """What a thread has entered."""

    def __init__(self) -> None:
        self.modes: tuple[Any, ...] = ()
        self.disabled = False  # __torch_function__ of subclasses
        self.off = False  # that, and the modes


local = Local()


def disabled_torch_function_impl(
    cls: type, func: Callable, types: Any, args: tuple = (), kwargs: Any = None
) -> Any:
    """The `__torch_function__` of classes that take no part, such as Parameter."""
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


class _Switch:
    """Sets a flag of the thread inside the block."""

    flag = ""

    def __enter__(self) -> None:
        self.before = getattr(local, self.flag)
        setattr(local, self.flag, True)

    def __exit__(self, *exc: object) -> None:
        setattr(local, self.flag, self.before)


class DisableTorchFunctionSubclass(_Switch):
    """Inside the block, no subclass's `__torch_function__` is called; modes still are."""

    flag = "disabled"


class DisableTorchFunction(_Switch):
    """Inside the block, neither subclasses nor modes are called."""

    flag = "off"


# ---- who takes over ------------------------------------------------------------------------------


def overrider(value: Any) -> Any:
    """A value's own `__torch_function__`, or None when it takes no part."""
    kind = type(value)
    if kind in PLAIN:
        return None
    found = getattr(kind, "__torch_function__", None)
    if found is None or getattr(found, "__func__", found) is disabled_torch_function_impl:
        return None
    return found


def relevant(values: Iterable[Any]) -> list[Any]:
    """The values that take part, one for each class, subclasses before their bases."""
    found: list[Any] = []
    for value in values:
        inner = value if type(value) in (tuple, list) else (value,)
        for item in inner:
            if overrider(item) is None or any(type(item) is type(other) for other in found):
                continue
            place = len(found)
            for index, other in enumerate(found):
                if isinstance(item, type(other)):
                    place = index
                    break
            found.insert(place, item)
    return found


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the arguments takes part, or a mode is entered."""
    return bool(not local.off and local.modes) or (
        not local.disabled and not local.off and bool(relevant(relevant_args))
    )


def handle_torch_function(
    public_api: Callable, relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Ask the innermost mode, then the arguments, until one does not return NotImplemented."""
    asked = [] if local.disabled else relevant(relevant_args)
    kinds = tuple(type(value) for value in asked)
    if local.modes and not local.off:
        before = local.modes
        local.modes = before[:-1]
        try:
            found = before[-1].__torch_function__(public_api, kinds, args, kwargs)
        finally:
            local.modes = before
        if found is not NotImplemented:
            return found
    for value in asked:
        found = value.__torch_function__(public_api, kinds, args, kwargs)
        if found is not NotImplemented:
            return found
    name = resolve_name(public_api) or getattr(public_api, "__name__", repr(public_api))
    raise ArgumentTypeError(
        f"{name}()",
        f"no implementation found for '{name}' on types that implement __torch_function__: "
        f"{[kind.__name__ for kind in kinds]}",
        "handle the function in __torch_function__, or call super().__torch_function__",
    )


class TorchFunctionMode:
    """Within `with mode:`, every public function is handed to the mode's `__torch_function__`.

    While it runs, the mode itself is off.
    """

    def __torch_function__(
        self, func: Callable, types: tuple, args: tuple = (), kwargs: Any = None
    ) -> Any:
        raise NotImplementedError(f"{type(self).__name__} must define __torch_function__")

    def __enter__(self) -> "TorchFunctionMode":
        activate()
        local.modes = (*local.modes, self)
        return self

    def __exit__(self, *exc: object) -> None:
        local.modes = local.modes[:-1]
        deactivate()


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that only passes calls on."""

    def __torch_function__(
        self, func: Callable, types: tuple, args: tuple = (), kwargs: Any = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


# ---- doors: see Note [Overrides cost nothing until used] -----------------------------------------


SIMPLE: set[type] = {int, float, bool, str, type(None), slice}  # and Tensor and its own classes


class Door:
    """Stands before a public function: asks who takes over, else calls the function's own code."""

    __slots__ = ("public", "code", "original", "shown")

    def __init__(self, public: types.FunctionType):
        self.public, self.code = public, public.__code__
        methods = vars(Tensor)  # what __torch_function__ sees of an operator is its method
        operator = methods.get(public.__name__) is public
        self.shown = methods.get(OPERATORS.get(public.__name__, ""), public) if operator else public
        self.original = types.FunctionType(
            public.__code__,
            public.__globals__,
            public.__name__,
            public.__defaults__,
            public.__closure__,
        )
        self.original.__kwdefaults__ = public.__kwdefaults__

    def __call__(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        if not local.modes:
            for value in args:
                if type(value) not in SIMPLE:
                    break
            else:
                if not kwargs:  # the usual call: nobody can take part
                    return self.original(*args)
        if not local.off and (local.modes or not local.disabled):
            values = (*args, *kwargs.values())
            if local.modes or relevant(values):
                return handle_torch_function(self.shown, values, *args, **kwargs)
        return self.original(*args, **kwargs)

    def open(self) -> None:
        """Put the door before the function."""
        self.public.__code__ = _through(self, self.code)
        self.public.__wrapped__ = self.original  # type: ignore[attr-defined]  # its signature

    def close(self) -> None:
        """Give the function its own code back."""
        self.public.__code__ = self.code
        self.public.__dict__.pop("__wrapped__", None)


def _through(door: Door, code: types.CodeType) -> types.CodeType:
    """`def name(*args, **kwargs): return door(args, kwargs)`, with the free variables of `code`.

    Python only lets code take the place of code with as many free variables.
    """
    template = _template(len(code.co_freevars))
    return template.replace(
        co_consts=tuple(door if value == "door" else value for value in template.co_consts),
        co_freevars=code.co_freevars,
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_filename=code.co_filename,
        co_firstlineno=code.co_firstlineno,
    )


@functools.lru_cache
def _template(free: int) -> types.CodeType:
    """The code of a door with so many free variables, from Python's own compiler: it fetches them,
    though it has no use for them, and who looks at the frame finds them in place."""
    names = [f"free{index}" for index in range(free)]
    text = "def scope():\n" + "".join(f"    {name} = 0\n" for name in names)
    text += "    def template(*door_args, **door_kwargs):\n"
    text += "".join(f"        nonlocal {name}\n" for name in names)
    text += "        return 'door'(door_args, door_kwargs)\n"
    with warnings.catch_warnings():  # Python points out that a text cannot be called
        warnings.simplefilter("ignore", SyntaxWarning)
        code = compile(text, __file__, "exec")
    for _ in ("scope", "template"):
        code = next(value for value in code.co_consts if isinstance(value, types.CodeType))
    return code


_lock = forks.lock()
_doors: list[Door] = []
_users = 0


def activate() -> None:
    """Put the doors before all public functions, unless they are there."""
    global _users
    with _lock:
        _users += 1
        if _users > 1:
            return
        SIMPLE.update(PLAIN)
        _doors[:] = [Door(function) for function in overridable()]
        for door in _doors:
            door.open()


def deactivate() -> None:
    """Undo one `activate`."""
    global _users
    with _lock:
        _users -= 1
        if _users == 0:
            for door in _doors:
                door.close()


def overridable() -> list[types.FunctionType]:
    """The public functions and Tensor methods that can be taken over."""
    found: dict[int, types.FunctionType] = {}
    for space in [vars(sys.modules[name]) for name in NAMESPACES if name in sys.modules]:
        for name, value in space.items():
            if name[0] != "_" and name not in IGNORED and _is_ours(value):
                found[id(value)] = value
    for name, value in vars(Tensor).items():
        method: Any = value.fget if isinstance(value, property) and name in PROPERTIES else value
        if name not in IGNORED_SPECIAL | IGNORED and _is_ours(method):
            found[id(method)] = method
    return list(found.values())


def _is_ours(value: Any) -> bool:
    if not isinstance(value, types.FunctionType):
        return False
    module = value.__module__ or ""
    if module.startswith(("minitorch2.overrides", "minitorch2.func.", "minitorch2.autograd")):
        return False
    return module == "minitorch2" or module.startswith("minitorch2.")


# ---- questions -----------------------------------------------------------------------------------


def resolve_name(f: Any) -> str | None:
    """The name of a public function as torch writes it: 'torch.add', 'torch.Tensor.add'."""
    name = getattr(f, "__name__", None)
    if name is None:
        return None
    if vars(Tensor).get(name) is f:
        return f"torch.Tensor.{name}"
    for space in NAMESPACES:
        module = sys.modules.get(space)
        if module is not None and vars(module).get(name) is f:
            return f"torch{space.removeprefix('minitorch2')}.{name}"
    return None


def is_tensor_like(inp: Any) -> bool:
    """Whether a value is a tensor, or takes part in torch's functions as one."""
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Callable) -> bool:
    """Whether a function is a method of Tensor."""
    return vars(Tensor).get(getattr(func, "__name__", "")) is func


def get_overridable_functions() -> dict[Any, list[Callable]]:
    """The functions that can be taken over, by the namespace they stand in."""
    table: dict[Any, list[Callable]] = {}
    for function in overridable():
        name = resolve_name(function)
        if name is not None:
            space = name.rpartition(".")[0].replace("torch", "minitorch2", 1)
            key = Tensor if space.endswith(".Tensor") else sys.modules[space]
            table.setdefault(key, []).append(function)
    return table


def get_ignored_functions() -> set[Callable]:
    """The public functions that cannot be taken over."""
    module = vars(sys.modules["minitorch2"])
    return {module[name] for name in IGNORED if name in module}


def wrap_torch_function(dispatcher: Callable) -> Callable:
    """Make a function of your own one that arguments can take over.

    `dispatcher(*args, **kwargs)` returns the arguments that may.
    """

    def decorate(function: Callable) -> Callable:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            asked = dispatcher(*args, **kwargs)
            if has_torch_function(asked):
                return handle_torch_function(wrapped, asked, *args, **kwargs)
            return function(*args, **kwargs)

        wrapped.__name__, wrapped.__doc__ = function.__name__, function.__doc__
        return wrapped

    return decorate

"""minitorch2.compile: a function or module in, one that runs as fused kernels out.

In: a Python callable and options. Out: a callable with the same results, side effects and errors.
Nothing happens until it is called; then each stage runs once for each set of guards:

    bytecode -> captured graph -> functional -> joint -> optimized -> forward, backward -> kernels

    >>> import minitorch2 as torch
    >>> double = torch.compile(lambda x: x + x, backend="interpreter")
    >>> double(torch.tensor([1.0, 2.0]))
    tensor([2., 4.])

A place that capture cannot follow is a graph break: Python does that one operation, capture goes on
behind it, and `fullgraph=True` raises instead, with the reason, a hint and the user's line.

Source: torch.compile's documentation.
"""

from __future__ import annotations

import copy
import difflib
import functools
import itertools
import os
import sys
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minitorch2 import forks, random
from minitorch2.artifacts import emit, listening, wants
from minitorch2.autograd.modes import enable_grad
from minitorch2.compile_settings import limits, settings
from minitorch2.errors import ArgumentTypeError, ArgumentValueError, Mt2Error
from minitorch2.garbage import rarely_collected
from minitorch2.jit.autodiff.runtime import CompiledProgram, GraphFailed
from minitorch2.jit.cache import CodeCache
from minitorch2.jit.capture.program import CapturedProgram
from minitorch2.jit.ir.graph import Graph
from minitorch2.jit.ir.interpreter import interpret, may_run_again, run_captured
from minitorch2.jit.passes.options import NUMERICS, PassOptions
from minitorch2.kernels import programs
from minitorch2.nn.module import Module
from minitorch2.phases import phase
from minitorch2.tensors import Tensor

if TYPE_CHECKING:
    from minitorch2.jit.autodiff.pipeline import Executor
    from minitorch2.kernels.backend import KernelOptions
    from minitorch2.kernels.meter import Tallies

Runnable = Callable[[list[Any]], list[Any]]
NEWEST_PYTHON = (3, 13)


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """What `options={...}` may say.

    disable_passes  names of passes to leave out
    numerics        'default', 'eager' (eager's bits) or 'fast' (see jit/passes/options.py)
    activation_memory_budget  the fraction of the activations that the backward may keep, 0 to 1
    fuse            whether kernels are fused
    executor        what runs the kernels: 'numba', 'python' or 'loops'
    """

    disable_passes: tuple[str, ...] = ()
    numerics: str = "default"
    activation_memory_budget: float = 1.0
    fuse: bool = True
    executor: str = "numba"

    @property
    def chains(self) -> bool:
        """Whether products of batches run as chains: the kernels do, what is saved relies on it."""
        return self.fuse and self.numerics != "eager" and "chain" not in self.disable_passes

    def passes(self, run: bool = True) -> PassOptions:
        """The part that concerns the passes."""
        budget, chains = self.activation_memory_budget, run and self.chains
        return PassOptions(self.numerics, self.disable_passes, budget, run, chains)

    def kernels(self) -> KernelOptions:
        """The part that concerns the kernels."""
        from minitorch2.kernels.backend import KernelOptions

        exact, in_place = self.numerics == "eager", "reinplace" not in self.disable_passes
        return KernelOptions(self.fuse, self.executor, exact, in_place, self.chains)


MODES = (None, "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


def options_from(options: dict[str, Any] | None, mode: str | None) -> CompileOptions:
    """CompileOptions from what the user wrote; ArgumentValueError for a name that is not there."""
    if mode not in MODES:
        raise ArgumentValueError(
            f"compile(mode={mode!r})", "no such mode", f"use one of {', '.join(map(str, MODES))}"
        )
    known = CompileOptions.__dataclass_fields__
    for name in options or {}:
        if name not in known:
            raise ArgumentValueError(
                f"compile(options={{{name!r}: ...}})",
                f"unexpected optimization option {name!r}",
                f"use one of {', '.join(known)}",
            )
    given = dict(options or {})
    if "disable_passes" in given:
        given["disable_passes"] = tuple(given["disable_passes"])
    chosen = CompileOptions(**given)
    asked = f"compile(options={options})"
    if chosen.numerics not in NUMERICS:
        near = difflib.get_close_matches(str(chosen.numerics), NUMERICS, 1)
        raise ArgumentValueError(
            asked,
            f"no such numerics: {chosen.numerics!r}",
            f"use one of {', '.join(NUMERICS)}" + (f"; nearest is {near[0]!r}" if near else ""),
        )
    if not 0 <= chosen.activation_memory_budget <= 1:
        wrong = f"no such memory budget: {chosen.activation_memory_budget}"
        raise ArgumentValueError(asked, wrong, "give a number from 0 to 1")
    return chosen


def _interpreted(graph: Graph, unit: str) -> Runnable:
    return functools.partial(interpret, graph)


def _run_captured(program: CapturedProgram, options: CompileOptions) -> Runnable:
    """Backend 'eager': the captured graph, op by op, recorded by eager autograd."""
    return _by_op(program.graph)


def _by_op(graph: Graph) -> Runnable:
    """The graph run op by op under autograd; its nodes know the grad mode they were called in."""
    again, generator = may_run_again(graph), random.default_generator

    def run(inputs: list[Any]) -> list[Any]:
        drawn = generator.counter
        try:
            with enable_grad():
                return run_captured(graph, inputs)
        except Mt2Error as error:
            if not again:
                raise
            generator.give_back(drawn, 4 * (generator.counter - drawn))
            raise GraphFailed(str(error)) from error

    return run


# Note [Late stages]
# A program that is found on disk needs none of the stages after capture, and they take longer to
# import than it takes to load. So they are imported where a program is built.


def _staged(executor: Callable[[CompileOptions], Executor], with_passes: bool) -> Callable:
    """A backend that goes through functionalization and the joint graph."""

    def backend(program: CapturedProgram, options: CompileOptions) -> Runnable:
        return LateCompiled(program, executor(options), options.passes(with_passes))

    return backend


def _numba(program: CapturedProgram, options: CompileOptions) -> Runnable:
    """The backend 'numba': machine code is kept on disk, and so is all that leads to it."""
    kept = repr(options) if options.executor == "numba" else None
    return LateCompiled(program, _kernels(options), options.passes(), kept)


def _kernels(options: CompileOptions) -> Executor:
    def executor(graph: Graph, unit: str) -> Runnable:
        with phase("imports"):  # see Note [Late stages]
            from minitorch2.kernels.backend import compile_graph

        return compile_graph(graph, options.kernels(), unit)

    return executor


def _record_part(compiled: Any) -> dict[str, Any]:
    from minitorch2.kernels.program_parts import part_record  # see Note [Late stages]

    return part_record(compiled)


# Name -> loader. A loader returns a function (captured program, options) -> callable over a list.
backends: dict[str, Callable[[], Callable[[CapturedProgram, CompileOptions], Runnable]]] = {
    "eager": lambda: _run_captured,
    "aot_eager": lambda: _staged(lambda options: _interpreted, False),
    "interpreter": lambda: _staged(lambda options: _interpreted, True),
    "numba": lambda: _numba,
}
ALIASES = {"inductor": "numba"}  # torch's default backend, so that scripts that name it run


class LateCompiled:
    """A captured graph that is compiled at its first call, when its inputs are there.

    Only then is it known which of them require gradients; guards keep that so afterwards. A graph
    that a later stage refuses runs op by op, with one warning that says why. `kept`: the options
    as text, for a program that is looked for on disk first and kept there.
    """

    def __init__(
        self, program: CapturedProgram, executor: Executor, passes: PassOptions,
        kept: str | None = None,
    ) -> None:  # fmt: skip
        self.program, self.executor, self.passes, self.kept = program, executor, passes, kept
        self.run: Runnable | None = None
        self.lock = forks.lock()

    def __call__(self, inputs: list[Any]) -> list[Any]:
        run = self.run
        if run is None:
            with self.lock:
                run = self.run = self.run or self._compile(inputs)
                flat = run.flat() if isinstance(run, CompiledProgram) else run
                self.program.rebind(flat)  # the next call comes by here no more
        return run(inputs)

    @rarely_collected()
    @phase("between stages")
    def _compile(self, inputs: list[Any]) -> Runnable:
        graph, unit = self.program.graph, self.program.unit
        flags = [getattr(value, "requires_grad", False) for value in inputs]
        if wants("runtime.inputs"):
            emit("runtime.inputs", unit, graph, inputs=copied(inputs), flags=flags)

        def build(graph: Graph) -> CompiledProgram:
            with phase("imports"):  # see Note [Late stages]
                from minitorch2.jit.autodiff.pipeline import compile_captured

            return compile_captured(graph, flags, self.executor, unit, self.passes)

        try:
            if self.kept is None:
                return build(graph)
            return programs.program_for(graph, flags, self.kept, build, _record_part,
                                        lambda part: self.executor(part, unit))  # fmt: skip
        except Mt2Error as refusal:  # what the function itself refuses, capture would have seen
            emit("autodiff.refused", unit, str(refusal))
            warnings.warn(f"{unit} runs op by op: {refusal}", stacklevel=3)
            return _by_op(graph)


def copied(inputs: list[Any]) -> list[Any]:
    """The inputs of a call as they are now, for somebody who looks at them later."""
    return [each.detach().clone() if isinstance(each, Tensor) else each for each in inputs]


_unit_counts: dict[str, itertools.count[int]] = {}


def unit_name(function: Any) -> str:
    """The stable name of a compiled function: `script.py:function#0`."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    if code is None:
        code = getattr(getattr(type(function), "forward", None), "__code__", None)
    file = os.path.basename(code.co_filename) if code is not None else "python"
    name = name.replace("<locals>.", "").replace("<lambda>", "lambda")
    stem = f"{file}:{name}"
    return f"{stem}#{next(_unit_counts.setdefault(stem, itertools.count()))}"


class CompiledFunction:
    """What `compile` returns for a function; call it like the function.

    `original` is the function; `cache` holds what was compiled for it.
    """

    def __init__(self, function: Callable, fullgraph: bool, dynamic: bool | None,
                 backend: Any, options: CompileOptions):  # fmt: skip
        self.original = function
        self.settings = (fullgraph, dynamic, backend, options)
        unit = unit_name(function)
        self.cache = CodeCache(
            function, unit, lambda program: backend(program, options), fullgraph, dynamic
        )
        functools.update_wrapper(self, function, updated=())  # a module's own names are not ours
        _compiled[next(_numbers)] = self
        if listening():  # somebody will ask for its totals, perhaps after it went out of scope
            _kept.append(self)

    def totals(self) -> dict[str, Any]:
        """What was compiled for this function so far, in numbers.

        Counts of captured graphs, their nodes, kernels, calls of compiled code, graph breaks,
        recompilations, and the bytes saved for the backward in one call (known sizes only).
        """
        found = {"graphs": 0, "nodes": 0, "kernels": 0, "calls": 0, "saved_bytes": 0}
        for captured, program in self._programs():
            found["graphs"] += 1
            found["nodes"] += len(captured.graph.nodes)
            if program is not None:
                found["calls"] += program.calls
                found["saved_bytes"] += program.saved_bytes()
                for _, part in program.halves():
                    found["kernels"] += getattr(part, "kernel_count", 0)
        found["breaks"] = len(self.cache.breaks)
        found["recompiles"] = len(self.cache.recompiles)
        return found

    def tallies(self) -> Tallies:
        """The launches of all kernels that were compiled while "runtime.launches" was wanted."""
        from minitorch2.kernels.meter import Tallies  # see Note [Late stages]

        rows = []
        for number, (_, program) in enumerate(self._programs(), 1):
            if program is None:
                continue
            for half, part in program.halves():
                meter = getattr(part, "meter", None)
                names = [half] if program.partition is not None else []
                names += [f"of compilation {number}"] if len(self.cache.recompiles) else []
                rows += [(" ".join(names), tally) for tally in meter.tallies] if meter else []
        return Tallies(tuple(rows))

    def _programs(self) -> Iterator[tuple[CapturedProgram, CompiledProgram | None]]:
        """What was captured, in order, and what it was compiled to (unless it runs op by op)."""
        for entry in self.cache.all_entries():
            if entry.program is not None:
                program = getattr(entry.compiled, "run", None)
                yield entry.program, program if isinstance(program, CompiledProgram) else None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if limits.stances_taken and settings.stance == "force_eager":
            return self.original(*args, **kwargs)
        if kwargs:
            return self.cache(*args, **kwargs)
        for entry in self.cache.entries.get(len(args), ()):  # what the cache does, a call less
            if entry.check(*args):
                break
        else:
            return self.cache(*args)
        try:
            return entry.run(*args)
        except GraphFailed:
            pass  # see CodeCache
        return self.original(*args)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<compiled {self.cache.unit}>"


_numbers = itertools.count()
_compiled: weakref.WeakValueDictionary[int, CompiledFunction] = weakref.WeakValueDictionary()
_kept: list[CompiledFunction] = []


def emit_totals() -> None:
    """Emit `runtime.launches` and `runtime.totals` for each compiled function that is alive."""
    for function in list(_compiled.values()):
        tallies = function.tallies()
        if tallies.rows:
            emit("runtime.launches", function.cache.unit, tallies, kernels=tallies.facts())
        totals = function.totals()
        text = "\n".join(f"{name.replace('_', ' ')}: {count}" for name, count in totals.items())
        emit("runtime.totals", function.cache.unit, text, **totals)


class OptimizedModule(Module):
    """A module whose calls are compiled; everything else is the original module's."""

    _orig_mod: Module

    def __init__(self, module: Module, compiled: CompiledFunction):
        super().__init__()
        self._orig_mod = module
        object.__setattr__(self, "_compiled", compiled)
        object.__setattr__(self, "training", module.training)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._compiled(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The compiled call."""
        return self._compiled(*args, **kwargs)

    def __deepcopy__(self, memo: dict) -> OptimizedModule:
        """A copy of the module, compiled under the same settings when it is called."""
        module = copy.deepcopy(self._orig_mod, memo)
        settings = self.__dict__["_compiled"].settings
        memo[id(self)] = made = OptimizedModule(module, CompiledFunction(module, *settings))
        return made

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._modules["_orig_mod"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("_orig_mod", "training") or "_orig_mod" not in self.__dict__["_modules"]:
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "numba",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """Compile a function or module; without one, a decorator.

    `fullgraph`: raise GraphBreakError instead of running a call as Python. `dynamic`: True makes
    sizes symbolic from the start, False never, None once they change. `backend`: 'numba',
    'interpreter', 'aot_eager', 'eager', one that was registered or installed, or a function of a
    torch.fx graph and example inputs (see custom_backends). `options`: see CompileOptions; a user's
    backend gets its own. `disable`: return the callable unchanged.
    """
    found, chosen = _backend(backend, options, mode)
    if model is None:
        return functools.partial(
            compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode,
            options=options, disable=disable,
        )  # fmt: skip
    if not callable(model):
        raise ArgumentTypeError(
            "compile()",
            f"a function or a module is expected, not {type(model).__name__}",
            "pass the function itself, not the result of calling it",
        )
    if disable or not python_is_known():
        return model
    if isinstance(model, CompiledFunction | OptimizedModule):
        return model
    if isinstance(model, Module):
        return OptimizedModule(model, CompiledFunction(model, fullgraph, dynamic, found, chosen))
    return CompiledFunction(model, fullgraph, dynamic, found, chosen)


def _backend(
    backend: Any, options: dict[str, Any] | None, mode: str | None
) -> tuple[Callable[[CapturedProgram, CompileOptions], Runnable], CompileOptions]:
    """The backend and its options; those of a user's own backend are its own business."""
    loader = None if callable(backend) else backends.get(ALIASES.get(backend, backend))
    if loader is not None:
        return loader(), options_from(options, mode)
    from minitorch2 import custom_backends
    from minitorch2.jit.user_backends import custom  # it brings torch.fx along

    if not callable(backend) and not custom_backends.is_known(backend):
        known = sorted({*backends, *ALIASES, *custom_backends.list_backends(None)})
        raise custom_backends.unknown_backend(backend, known)
    function = custom_backends.lookup_backend(backend)
    return custom(function, options, mode), CompileOptions()


_warned = False


def python_is_known() -> bool:
    """Whether capture knows this Python's bytecode; if not, one warning and eager runs."""
    global _warned
    if sys.version_info[:2] <= NEWEST_PYTHON:
        return True
    if not _warned:
        _warned = True
        version = ".".join(map(str, sys.version_info[:2]))
        warnings.warn(
            f"minitorch2.compile does not know the bytecode of Python {version} yet and runs "
            "functions eagerly; use Python 3.11, 3.12 or 3.13 to compile them",
            stacklevel=3,
        )
    return False

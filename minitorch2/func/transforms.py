"""grad, grad_and_value, vjp, jvp, linearize: derivatives as functions.

In: a function of tensors (or nestings of them). Out: a function of the same arguments that returns
the derivative.

    >>> import minitorch2 as torch
    >>> torch.func.grad(torch.func.grad(lambda x: x ** 3))(torch.tensor(2.0))
    tensor(12.)

Source: torch.func's documentation; for `linearize`, "a jvp is a vjp of the vjp": Townsend 2017, "A
new trick for calculating Jacobian vector products".
"""

import functools
from collections.abc import Callable
from typing import Any

from minitorch2.autograd.forward_ad import dual_of, tangent_in
from minitorch2.autograd.modes import enable_grad
from minitorch2.autograd.tangents import Duals
from minitorch2.batching.batched import op
from minitorch2.errors import OperationError
from minitorch2.func.levels import Level, or_zeros, pull
from minitorch2.tensors import Tensor
from minitorch2.trees import TreeSpec, tree_flatten, tree_map, tree_unflatten


def picked(args: tuple, argnums: Any, asked: str) -> tuple[Any, tuple[int, ...]]:
    """The arguments that `argnums` names, and their positions."""
    several = isinstance(argnums, tuple)
    numbers = argnums if several else (argnums,)
    for number in numbers:
        if not isinstance(number, int) or not -len(args) <= number < len(args):
            raise OperationError(
                asked, f"Got argnums={argnums}, but only {len(args)} positional inputs"
            )
    positions = tuple(number % len(args) for number in numbers)
    if len(set(positions)) < len(positions):
        raise OperationError(asked, f"argnums elements must be unique but got {argnums}")
    return tuple(args[p] for p in positions) if several else args[positions[0]], positions


def split_aux(name: str, found: Any) -> tuple:
    """(output, aux) of a function that returns both; OperationError where it does not."""
    if not isinstance(found, tuple) or len(found) != 2:
        raise OperationError(
            name, "output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return found


def flat_tensors(name: str, found: Any) -> tuple[list[Tensor], TreeSpec]:
    """The tensors in an output and their nesting; OperationError for anything else in it."""
    outputs, spec = tree_flatten(found)
    for value in outputs:
        if not isinstance(value, Tensor):
            raise OperationError(
                name,
                f"{name}(f)(*args): Expected f(*args) to return only tensors, got {type(value)}",
            )
    return outputs, spec


class Called:
    """A function called with what `made` makes of the tensors that `argnums` names: its outputs."""

    def __init__(
        self,
        name: str,
        func: Callable,
        args: tuple,
        kwargs: dict,
        argnums: Any,
        has_aux: bool,
        made: Callable[[list], list],
    ):
        primals, positions = picked(args, argnums, name)
        leaves, self.spec = tree_flatten(primals)
        self.inputs = made(leaves)
        fresh = tree_unflatten(self.inputs, self.spec)
        values = list(args)
        rows = fresh if isinstance(argnums, tuple) else (fresh,)
        for position, value in zip(positions, rows, strict=True):
            values[position] = value
        found = func(*values, **kwargs)
        self.aux: Any = None
        if has_aux:
            found, self.aux = split_aux(name, found)
        self.outputs, self.output_spec = flat_tensors(name, found)


class Tracked(Called):
    """A function called with tracked arguments: its outputs and the tracked leaves."""

    def __init__(
        self, name: str, func: Callable, args: tuple, kwargs: dict, argnums: Any, has_aux: bool
    ):
        self.level = Level()

        def tracked(leaves: list) -> list:
            return [self.level.track(leaf, name) for leaf in leaves]

        with enable_grad():
            super().__init__(name, func, args, kwargs, argnums, has_aux, tracked)

    def beyond(self, extra: list[Any]) -> bool:
        """Whether derivatives must have a history: of outer tracked tensors, or of `extra`."""
        return any(self.level.reaches_beyond(t) for t in self.outputs) or any(
            t.requires_grad for t in extra if isinstance(t, Tensor)
        )

    def settled(self, values: list[Any], spec: TreeSpec) -> Any:
        """Values as the caller gets them, nested."""
        return tree_unflatten([self.level.settled(value) for value in values], spec)

    def finished(self, *results: Any) -> Any:
        """What the caller gets: the results, and the settled aux when there is one."""
        return (*results, tree_map(self.level.settled, self.aux))


def grad_and_value(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    """A function that returns (gradient, value) of a function with a scalar result.

    `argnums`: an int or a tuple of them. With `has_aux`, `func` returns (output, aux) and the
    result is (gradient, (value, aux)).
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        """(gradient, value) at these arguments; OperationError unless the value is 0-d."""
        run = Tracked("grad_and_value", func, args, kwargs, argnums, has_aux)
        if not run.output_spec.is_leaf():
            raise OperationError(
                "grad_and_value(f)(*args)",
                "expected f(*args) to return a tensor, got "
                f"{getattr(run.output_spec.kind, '__name__', 'a nesting')}",
                "return one scalar tensor; pass the rest as aux with has_aux=True",
            )
        (output,) = run.outputs
        if output.ndim != 0:
            raise OperationError(
                "grad_and_value(f)(*args)",
                f"expected f(*args) to return a scalar tensor, got tensor with {output.ndim} dims",
                "reduce it: .sum() or .mean(); or use jacrev",
            )
        create = run.beyond([])
        one = op("full", (), 1, output.dtype, output.device)
        found = pull([output], [one], run.inputs, create, create)
        gradient = run.settled(or_zeros(found, run.inputs), run.spec)
        value = run.level.settled(output)
        aux = tree_map(run.level.settled, run.aux)
        run.level.close()
        return gradient, (value, aux) if has_aux else value

    return wrapper


def grad(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    """A function that returns the gradient of a function with a scalar result.

    `argnums`: an int or a tuple of them. With `has_aux`, `func` returns (output, aux) and the
    result is (gradient, aux).
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapper


def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """(output, pullback[, aux]): the pullback gives each primal's gradient from the output's.

    The pullback takes what is nested like the output and returns a tuple, one for each primal; it
    may be called often, and inside other transforms.
    """
    run = Tracked("vjp", func, primals, {}, tuple(range(len(primals))), has_aux)

    def pullback(cotangents: Any, retain_graph: bool = True, create_graph: Any = None) -> Any:
        starts, spec = tree_flatten(cotangents)
        _check_same("vjp", "cotangents", spec, run.output_spec, starts, run.outputs)
        with run.level.opened():
            create = run.beyond(starts) if create_graph is None else create_graph
            found = pull(run.outputs, starts, run.inputs, True, create)
            return run.settled(or_zeros(found, run.inputs), run.spec)

    output = run.settled(run.outputs, run.output_spec)
    result = run.finished(output, pullback) if has_aux else (output, pullback)
    run.level.close()
    return result


def _check_same(
    name: str, what: str, spec: TreeSpec, wanted: TreeSpec, values: list, likes: list
) -> None:
    if spec.num_leaves != wanted.num_leaves or (spec != wanted and not spec.is_leaf()):
        raise OperationError(
            f"{name}: the {what}",
            f"Expected them to have the same structure as the function's: {wanted.num_leaves} "
            f"tensors, got {spec.num_leaves}",
        )
    for value, like in zip(values, likes, strict=True):
        if not isinstance(value, Tensor) or tuple(value.shape) != tuple(like.shape):
            shape = list(value.shape) if isinstance(value, Tensor) else type(value).__name__
            raise OperationError(
                f"{name}: the {what}",
                f"a tensor of shape {list(like.shape)} is expected, got {shape}",
            )


class Pushed(Called):
    """A function called with dual arguments: its outputs and their tangents (None: no tangent)."""

    def __init__(
        self,
        name: str,
        func: Callable,
        args: tuple,
        kwargs: dict,
        argnums: Any,
        tangents: list[Any],
        has_aux: bool,
    ):
        with Duals() as level:

            def dual(leaves: list) -> list:
                pairs = zip(leaves, tangents, strict=True)
                return [dual_of(level, leaf, tangent, name) for leaf, tangent in pairs]

            super().__init__(name, func, args, kwargs, argnums, has_aux, dual)
            self.tangents = [tangent_in(level, output) for output in self.outputs]

    def filled(self) -> list[Tensor]:
        """The tangents, zeros in the place of None."""
        return or_zeros(self.tangents, self.outputs)


class Pushforward:
    """The linear map of a tracked call: from tangents of the inputs to those of the outputs.

    The pullback is linear in the gradient it starts from; the gradient of the pullback with respect
    to that start is the pushforward.
    """

    def __init__(self, run: Tracked):
        self.run = run
        with run.level.opened(), enable_grad():
            self.starts = [run.level.start(output) for output in run.outputs]
            self.rows = pull(run.outputs, self.starts, run.inputs, True, True)

    def __call__(self, tangents: list[Any]) -> list[Tensor]:
        """The outputs' tangents."""
        run = self.run
        used = [(r, t) for r, t in zip(self.rows, tangents, strict=True) if r is not None]
        with run.level.opened():
            create = run.beyond(tangents)
            rows, pushed = [pair[0] for pair in used], [pair[1] for pair in used]
            found = pull(rows, pushed, self.starts, True, create)
            return [run.level.settled(t) for t in or_zeros(found, self.starts)]


def jvp(
    func: Callable, primals: tuple, tangents: tuple, *, strict: bool = False, has_aux: bool = False
) -> tuple:
    """(output, the output's tangent[, aux]) for tangents of the primals.

    Tangents go through the function with its values, operation by operation; an autograd.Function
    computes them by its own `jvp`. With `strict`, an output that does not depend on the primals
    raises OperationError.
    """
    given = _checked_tangents(primals, tangents)
    run = Pushed("jvp", func, primals, {}, tuple(range(len(primals))), given, has_aux)
    if strict and None in run.tangents:
        raise OperationError(
            "jvp(f, primals, tangents, strict=True)",
            "The output of f is independent of the inputs. This is not allowed with strict=True",
        )
    output = tree_unflatten(run.outputs, run.output_spec)
    pushed = tree_unflatten(run.filled(), run.output_spec)
    return (output, pushed, run.aux) if has_aux else (output, pushed)


def _checked_tangents(primals: Any, tangents: Any) -> list[Tensor]:
    """The tensors among the tangents; OperationError unless they are nested as the primals are."""
    asked = "jvp(f, primals, tangents)"
    flat = []
    for name, value in (("primals", primals), ("tangents", tangents)):
        if not isinstance(value, tuple):
            wrong = f"Expected {name} to be a tuple. E.g. it should be valid to call f(*primals)."
            raise OperationError(asked, wrong, f"write ({name[:-1]},)")
        leaves, spec = tree_flatten(value)
        flat.append((name, leaves, spec))
    (_, _, outer), (_, given, inner) = flat
    if outer != inner:
        raise OperationError(
            asked,
            "Expected primals and tangents to have the same python structure. For example, if "
            "primals is a tuple of 3 tensors, tangents also must be. Got primals with structure "
            f"{outer} and tangents with structure {inner}",
        )
    for name, leaves, _ in flat:
        if not leaves:
            raise OperationError(asked, f"Expected {name} to contain at least one Tensor.")
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                wrong = f"Expected {name} to only contain Tensors, got {type(leaf)}"
                raise OperationError(asked, wrong)
    return given


def linearize(func: Callable, *primals: Any) -> tuple[Any, Callable]:
    """(output, pushforward): the function's linear map at the primals, to be applied often.

    The map is the gradient of the function's pullback, so an autograd.Function needs a backward
    that can be differentiated, and no jvp.
    """
    run = Tracked("linearize", func, primals, {}, tuple(range(len(primals))), False)
    push = Pushforward(run)

    def pushforward(*tangents: Any) -> Any:
        given, spec = tree_flatten(tangents)
        _check_same("linearize", "tangents", spec, run.spec, given, run.inputs)
        return tree_unflatten(push(given), run.output_spec)

    output = run.settled(run.outputs, run.output_spec)
    run.level.close()
    return output, pushforward

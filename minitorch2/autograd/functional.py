"""torch.autograd.functional: products with Jacobians and Hessians, and these themselves.

In: a function of one tensor or of several, and its inputs. Out: tensors, in tuples where the inputs
or outputs are tuples.

    >>> import minitorch2 as torch
    >>> torch.autograd.functional.jacobian(lambda x: x ** 2, torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])

With `create_graph` results can be differentiated further, with respect to inputs that require a
gradient. With `strict`, an output that does not depend on an input is an error instead of a zero.

Source: torch.autograd.functional's documentation.
"""

from collections.abc import Callable
from typing import Any

from minitorch2.autograd.modes import enable_grad
from minitorch2.batching.batched import op
from minitorch2.errors import ArgumentTypeError, OperationError
from minitorch2.func.jacobians import basis
from minitorch2.func.levels import Level, or_zeros, pull
from minitorch2.func.vmap import vmap
from minitorch2.tensors import Tensor


def _tuple(value: Any, what: str, name: str) -> tuple[tuple, bool]:
    """The value as a tuple, and whether it was one."""
    many = isinstance(value, tuple)
    found = value if many else (value,)
    for index, each in enumerate(found):
        if not isinstance(each, Tensor):
            raise ArgumentTypeError(
                f"{name}: {what}",
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the "
                f"value at index {index} has type {type(each)}",
            )
    return found, many


class _Run:
    """A function called with tracked inputs."""

    def __init__(self, name: str, func: Callable, inputs: Any, create_graph: bool, strict: bool):
        self.name, self.create, self.strict = name, create_graph, strict
        given, self.many_inputs = _tuple(inputs, "inputs", name)
        self.level = Level()
        with enable_grad():
            self.inputs = [self.level.track(each, name) for each in given]
            found = func(*self.inputs)
        self.outputs, self.many_outputs = _tuple(
            found, "outputs of the user-provided function", name
        )
        for index, output in enumerate(self.outputs):
            if strict and not output.requires_grad:
                raise OperationError(
                    name,
                    f"Output {index} of the user-provided function does not require gradient. The "
                    "outputs must be computed in a differentiable manner from the input when "
                    "running in strict mode",
                )

    def vector(self, v: Any, likes: list[Tensor], what: str) -> list[Tensor]:
        """`v` with the shapes of `likes`; 1 for a single element when it is not given."""
        if v is None:
            if len(likes) != 1 or likes[0].numel() != 1:
                raise OperationError(
                    self.name,
                    f"The vector v can only be None if {what} a single Tensor with a single "
                    "element",
                    "pass v, with the shapes of what it is multiplied with",
                )
            return [op("full", tuple(likes[0].layout.shape), 1, likes[0].dtype, likes[0].device)]
        given, _ = _tuple(v, "v", self.name)
        if len(given) != len(likes):
            raise OperationError(
                self.name, f"v is a tuple of invalid length: should be {len(likes)} but got "
                f"{len(given)}",
            )  # fmt: skip
        for index, (each, like) in enumerate(zip(given, likes, strict=True)):
            if tuple(each.shape) != tuple(like.shape):
                raise OperationError(
                    self.name,
                    f"Entry {index} in v has invalid size: should be {like.shape} but got "
                    f"{each.shape}",
                )
        return list(given)

    def gradients(self, outputs: Any, starts: list[Tensor], create: bool) -> list[Tensor]:
        """The gradient of each input; with `strict`, OperationError where there is none."""
        found = pull(list(outputs), starts, self.inputs, True, create)
        for index, gradient in enumerate(found):
            if gradient is None and self.strict:
                raise OperationError(
                    self.name,
                    f"The output of the user-provided function is independent of input {index}. "
                    "This is not allowed in strict mode",
                )
        return or_zeros(found, self.inputs)

    def checked(self, values: list[Tensor], what: str) -> list[Tensor]:
        """In strict mode with `create_graph`, results must depend on the inputs."""
        if self.strict and self.create:
            for index, value in enumerate(values):
                if not value.requires_grad:
                    raise OperationError(
                        self.name,
                        f"The {what} of the user-provided function is independent of input "
                        f"{index}. This is not allowed in strict mode when create_graph=True",
                    )
        return values

    def result(self, values: Any, many: bool) -> Any:
        """Values as the caller gets them."""
        settle = self.level.settled if self.create else _detached
        found = tuple(settle(value) for value in values)
        return found if many else found[0]


def _detached(value: Tensor) -> Tensor:
    return op("detach", value) if value.requires_grad else value


def vjp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple:
    """(outputs, v times the Jacobian): `v` has the shapes of the outputs."""
    run = _Run("vjp", func, inputs, create_graph, strict)
    starts = run.vector(v, list(run.outputs), "the user-provided function returns")
    found = run.gradients(run.outputs, starts, create_graph)
    run.checked(found, "vjp")
    result = run.result(run.outputs, run.many_outputs), run.result(found, run.many_inputs)
    run.level.close()
    return result


def jvp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple:
    """(outputs, the Jacobian times v): `v` has the shapes of the inputs."""
    run = _Run("jvp", func, inputs, create_graph, strict)
    tangents = run.vector(v, run.inputs, "the input to the user-provided function is")
    starts = [run.level.start(output) for output in run.outputs]
    rows = run.gradients(run.outputs, starts, True)
    found = or_zeros(pull(rows, tangents, starts, True, create_graph), starts)
    run.checked(found, "jvp")
    result = run.result(run.outputs, run.many_outputs), run.result(found, run.many_outputs)
    run.level.close()
    return result


def jacobian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian: for each output and each input a tensor of shape output.shape + input.shape.

    `vectorize` computes all its rows in one batch instead of one after the other. `strategy`
    'forward-mode' (with `vectorize`) goes by columns.
    """
    _check_strategy("jacobian", strategy, create_graph, strict, vectorize)
    run = _Run("jacobian", func, inputs, create_graph, strict)
    table = _columns(run) if strategy == "forward-mode" else _rows(run, vectorize)
    rows = []
    for blocks in table:
        run.checked(blocks, "jacobian")
        rows.append(run.result(blocks, run.many_inputs))
    run.level.close()
    return tuple(rows) if run.many_outputs else rows[0]


def _check_strategy(
    name: str, strategy: str, create_graph: bool, strict: bool, vectorize: bool
) -> None:
    if strategy not in ("forward-mode", "reverse-mode"):
        raise OperationError(
            f"{name}(strategy={strategy!r})", 'Expected "forward-mode" or "reverse-mode"'
        )
    if strict and vectorize:
        raise OperationError(
            f"{name}(strict=True, vectorize=True)", "they are not supported together"
        )
    if strategy == "forward-mode" and (create_graph or not vectorize):
        raise OperationError(
            f"{name}(strategy='forward-mode')",
            "it needs vectorize=True and create_graph=False",
            "use reverse-mode",
        )


def _rows(run: _Run, vectorize: bool) -> list[list[Tensor]]:
    """For each output a block for each input, a gradient for each element of the output."""
    table = []
    for output in run.outputs:
        units = basis([output])[0]

        def row(start: Tensor, output: Tensor = output) -> tuple:
            return tuple(run.gradients([output], [start], run.create))

        if units.shape[0] == 0:
            columns = [op("full", (0, *x.layout.shape), 0, x.dtype, x.device) for x in run.inputs]
        elif vectorize:
            columns = list(vmap(row)(units))
        else:
            found = [row(unit) for unit in op("unbind", units, 0)]
            columns = [op("stack", tuple(parts), 0) for parts in zip(*found, strict=True)]
        table.append(
            [
                op("reshape", column, (*output.layout.shape, *x.layout.shape))
                for column, x in zip(columns, run.inputs, strict=True)
            ]
        )
    return table


def _columns(run: _Run) -> list[list[Tensor]]:
    """The same blocks, from a tangent for each element of the inputs."""
    starts = [run.level.start(output) for output in run.outputs]
    rows = or_zeros(pull(list(run.outputs), starts, run.inputs, True, True), run.inputs)

    def column(*tangents: Tensor) -> tuple:
        return tuple(or_zeros(pull(rows, list(tangents), starts, True, False), starts))

    table = []
    counts = tuple(x.numel() for x in run.inputs)
    for found, output in zip(vmap(column)(*basis(run.inputs)), run.outputs, strict=True):
        turned = op("permute", found, (*range(1, found.ndim), 0))
        parts = op("split", turned, counts, turned.ndim - 1)
        pairs = zip(parts, run.inputs, strict=True)
        table.append([op("reshape", p, (*output.layout.shape, *x.layout.shape)) for p, x in pairs])
    return table


def _scalar(name: str, run: _Run) -> Tensor:
    if run.many_outputs or run.outputs[0].numel() != 1:
        raise OperationError(
            name,
            f"The Tensor returned by the function given to {name} should contain a single element",
            "reduce it: .sum()",
        )
    return run.outputs[0]


def _one(output: Tensor) -> Tensor:
    return op("full", tuple(output.layout.shape), 1, output.dtype, output.device)


def hessian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a scalar function: for each two inputs both their shapes."""
    many = isinstance(inputs, tuple)

    def gradient(*given: Tensor) -> Any:
        run = _Run("hessian", func, given, True, strict)
        output = _scalar("hessian", run)
        found = run.checked(run.gradients([output], [_one(output)], True), "jacobian")
        result = run.result(found, True)
        run.level.close()
        return result if many else result[0]

    return jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)


def vhp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple:
    """(output, v times the Hessian) of a scalar function: `v` has the shapes of the inputs."""
    return _hessian_product("vhp", func, inputs, v, create_graph, strict)


def hvp(
    func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple:
    """(output, the Hessian times v) of a scalar function: as `vhp`, for a Hessian is symmetric."""
    return _hessian_product("hvp", func, inputs, v, create_graph, strict)


def _hessian_product(
    name: str, func: Callable, inputs: Any, v: Any, create_graph: bool, strict: bool
) -> tuple:
    """The gradient, in the inputs, of v times the gradient."""
    run = _Run(name, func, inputs, create_graph, strict)
    output = _scalar(name, run)
    vector = run.vector(v, run.inputs, "the input to the user-provided function is")
    first = run.gradients([output], [_one(output)], True)
    for index, gradient in enumerate(first):
        if strict and not gradient.requires_grad:
            raise OperationError(
                name,
                f"The jacobian of the user-provided function is independent of input {index}. "
                "This is not allowed in strict mode",
            )
    found = run.checked(run.gradients(first, vector, create_graph), name)
    result = run.result(run.outputs, run.many_outputs), run.result(found, run.many_inputs)
    run.level.close()
    return result

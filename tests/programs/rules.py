"""What a line of a random program may be, by kind.

A rule looks at the variables there are and returns the text of a line, or None where nothing fits.
It need not be right: a line that eager refuses is thrown away (or kept as the program's last, so
that refusals are compared too). `exact` rules keep small numbers exact, so comparisons, floors and
indices may be computed from them; the results of the others only flow on.
"""

from collections.abc import Callable
from random import Random
from typing import Any, Protocol

FLOATS = ("float32", "float64", "float16", "bfloat16")
DTYPES = ("float32", "float64", "int64", "int32", "uint8", "int8", "bool", "float16", "bfloat16")
NUMBERS = ("0", "1", "2", "-1", "3", "0.5", "2.0", "-0.5", "0.25", "True", "-2", "1.0", "-0.0")


class Scope(Protocol):
    """What a rule sees: variables by name, a source of chance, and ways to pick."""

    random: Random

    def pick(self, fits: Callable[[Any], bool] = ..., exact: bool = False) -> str: ...

    def tensor(self, name: str) -> Any: ...

    def fresh(self) -> str: ...


class NothingFits(Exception):
    """No variable fits; another rule is tried."""


def is_float(x: Any) -> bool:
    """A tensor of floats."""
    return x.is_floating_point()


def is_index(x: Any) -> bool:
    """A tensor of int64."""
    return str(x.dtype).endswith("int64")


def has_dims(x: Any) -> bool:
    """At least one dimension."""
    return x.dim() > 0


def _dim(scope: Scope, x: Any) -> int:
    return scope.random.randrange(-x.dim(), x.dim()) if x.dim() else 0


def _operand(scope: Scope, exact: bool = False) -> str:
    chance = scope.random.random()
    if chance < 0.3:
        return scope.random.choice(NUMBERS)
    if chance < 0.36:
        name = scope.pick(has_dims)
        return f"{name}.shape[{_dim(scope, scope.tensor(name))}]"
    return scope.pick(exact=exact)


def _size(scope: Scope, x: Any, dim: int, name: str) -> str:
    return f"{name}.shape[{dim}]" if scope.random.random() < 0.6 else str(x.shape[dim])


def arithmetic(scope: Scope) -> str:
    """+ - * of tensors and numbers."""
    a, b = scope.pick(), _operand(scope)
    if scope.random.random() < 0.2:
        a, b = b, a
    return f"{scope.fresh()} = {a} {scope.random.choice('++-*')} {b}"


def exact_functions(scope: Scope) -> str:
    """Functions that round nothing but may jump."""
    a = scope.pick(exact=True)
    op = scope.random.choice(
        ["torch.floor({})", "torch.sign({})", "torch.round({})", "{}.abs()", "torch.relu({})",
         "-{}", "torch.trunc({})", "{}.clamp(-1, 1)", "{}.clamp(min=0)", "torch.ceil({})",
         "{}.clone()", "{}.contiguous()", "torch.square({})", "torch.isnan({})",
         "torch.logical_not({})", "torch.nn.functional.leaky_relu({}, 0.5)", "~{}",
         "torch.nn.functional.hardtanh({})"]
    )  # fmt: skip
    return f"{scope.fresh()} = {op.format(a)}"


def division(scope: Scope) -> str:
    """Divisions with every rounding, and remainders."""
    a, b = scope.pick(exact=True), _operand(scope, exact=True)
    op = scope.random.choice(
        ["{} / {}", "{} // {}", "{} % {}", "torch.div({}, {}, rounding_mode='trunc')",
         "torch.fmod({}, {})", "torch.remainder({}, {})", "{} ** {}"]
    )  # fmt: skip
    if op == "{} ** {}":
        b = scope.random.choice(["2", "3", "1", "0", "0.5", "-1", "2.0", b])
    return f"{scope.fresh()} = {op.format(a, b)}"


def comparison(scope: Scope) -> str:
    """Comparisons, logic, bits, minima."""
    a, b = scope.pick(exact=True), _operand(scope, exact=True)
    op = scope.random.choice(
        ["{} < {}", "{} >= {}", "{} == {}", "{} != {}", "torch.logical_and({}, {})",
         "torch.maximum({}, {})", "torch.minimum({}, {})", "{} & {}", "{} | {}", "{} ^ {}",
         "torch.logical_xor({}, {})", "{}.clamp(max={})", "torch.where({0} > {1}, {0}, {1})",
         "{} << {}", "{} >> {}"]
    )  # fmt: skip
    return f"{scope.fresh()} = {op.format(a, b)}"


def selection(scope: Scope) -> str:
    """where and masked_fill."""
    mask = scope.pick(lambda t: str(t.dtype).endswith("bool"))
    a, b = scope.pick(), _operand(scope)
    op = scope.random.choice(
        ["torch.where({0}, {1}, {2})", "{1}.masked_fill({0}, 2)", "torch.where({0}, 0.5, {1})"]
    )
    return f"{scope.fresh()} = {op.format(mask, a, b)}"


def cast(scope: Scope) -> str:
    """Another dtype."""
    dtype = scope.random.choice(DTYPES)
    name = scope.pick(exact=dtype not in FLOATS)
    if dtype == "uint8":  # what a negative float becomes is nobody's promise
        name = f"{name}.abs()"
    return f"{scope.fresh()} = {name}.to(torch.{dtype})"


def smooth(scope: Scope) -> str:
    """Transcendental functions."""
    a = scope.pick(is_float)
    op = scope.random.choice(
        ["torch.tanh({})", "torch.sigmoid({})", "torch.sin({})", "torch.cos({})", "torch.erf({})",
         "torch.nn.functional.gelu({})", "torch.nn.functional.silu({})", "torch.exp({} * 0.25)",
         "torch.nn.functional.softplus({})", "torch.log1p({}.abs())", "torch.atan({})",
         "torch.nn.functional.elu({})", "torch.expm1({} * 0.25)", "torch.sqrt({}.abs() + 1)",
         "torch.rsqrt({}.abs() + 1)", "torch.log({}.abs() + 1)",
         "torch.nn.functional.gelu({}, approximate='tanh')"]
    )  # fmt: skip
    return f"{scope.fresh()} = {op.format(a)}"


def reduction(scope: Scope) -> str:
    """Sums, maxima and their relatives."""
    exact = scope.random.random() < 0.5
    a = scope.pick(exact=exact)
    x = scope.tensor(a)
    how = ["", f"{_dim(scope, x)}", f"{_dim(scope, x)}, keepdim=True"]
    if x.dim() > 1:
        dims = scope.random.sample(range(x.dim()), 2)
        how += [f"({dims[0]}, {dims[1]})", f"({dims[0]}, {dims[1] - x.dim()}), keepdim=True"]
    op = scope.random.choice(
        ["sum", "sum", "amax", "amin", "mean", "prod", "any", "all"] if exact else ["sum", "mean"]
    )
    dims_text = scope.random.choice(how)
    if op in ("prod", "any", "all") and dims_text.startswith("("):
        dims_text = ""
    return f"{scope.fresh()} = {a}.{op}({dims_text})"


def statistics(scope: Scope) -> str:
    """Reductions made of others, and softmax."""
    a = scope.pick(is_float)
    d = _dim(scope, scope.tensor(a))
    op = scope.random.choice(
        ["torch.softmax({}, {})", "torch.log_softmax({}, {})", "torch.logsumexp({}, {})",
         "{}.var({}, unbiased=False)", "torch.cumsum({}, {})", "({0} * {0} + 1).sum({1}).sqrt()",
         "torch.nn.functional.normalize({}, dim={})", "{}.std({}, correction=0)"]
    )  # fmt: skip
    return f"{scope.fresh()} = {op.format(a, d)}"


def places(scope: Scope) -> str:
    """Where the largest is; sorted order; running sums."""
    a = scope.pick(exact=True)
    x = scope.tensor(a)
    d = _dim(scope, x)
    op = scope.random.choice(
        ["{}.argmax({})", "{}.argmin({}, keepdim=True)", "{}.max({}).values", "{}.min({})[0]",
         "{}.max({}).indices", "torch.sort({}, dim={}, stable=True)[0]", "torch.cumsum({}, {})",
         "torch.argsort({}, dim={}, stable=True)", "torch.topk({}, 1, dim={})[0]"]
    )  # fmt: skip
    return f"{scope.fresh()} = {op.format(a, d)}"


def view(scope: Scope) -> str:
    """Views, by method."""
    a = scope.pick(has_dims)
    x = scope.tensor(a)
    d, e = _dim(scope, x), _dim(scope, x)
    order = ", ".join(map(str, scope.random.sample(range(x.dim()), x.dim())))
    size = _size(scope, x, 0, a)
    op = scope.random.choice(
        [f"{a}.transpose({d}, {e})", f"{a}.permute({order})", f"{a}.unsqueeze({d})",
         f"{a}.squeeze()", f"{a}.flatten()", f"{a}.reshape({size}, -1)", f"{a}.view(-1)",
         f"{a}.view({size}, -1)", f"{a}.squeeze({d})", f"{a}.expand(2, *{a}.shape)",
         f"{a}.unsqueeze(-1).expand(*{a}.shape, 3)", f"{a}.detach()", f"{a}.reshape(-1)",
         f"{a}.narrow({d}, 0, 1)", f"{a}.select({d}, 0)", f"{a}.movedim({d}, {e})",
         f"{a}.reshape(-1, {x.shape[-1]})", f"{a}.diagonal()", f"{a}.view_as({a})",
         f"{a}.unbind({d})[0]", f"{a}.chunk(2, {d})[-1]", f"{a}.split(1, {d})[0]", f"{a}.mT",
         f"{a}.view({a}.shape)"]
    )  # fmt: skip
    return f"{scope.fresh()} = {op}"


def _subscript(scope: Scope, x: Any) -> str:
    """Slices, integers, ellipsis and new axes."""
    parts = []
    for size in x.shape[: scope.random.randint(1, max(1, x.dim()))]:
        parts.append(
            scope.random.choice(
                ["0", "-1", ":", "1:", ":-1", "::2", ":1", "1:3", "-2:", f":{size}"]
            )
        )
    if scope.random.random() < 0.2:
        parts.insert(scope.random.randint(0, len(parts)), "None")
    if scope.random.random() < 0.2:
        parts = ["...", *parts[-1:]]
    return ", ".join(parts)


def indexing(scope: Scope) -> str:
    """x[...] with slices, integers, masks and index tensors."""
    a = scope.pick(has_dims)
    x = scope.tensor(a)
    if scope.random.random() < 0.3:
        index = scope.pick(is_index)
        return f"{scope.fresh()} = {a}[{index} % {a}.shape[0]]"
    return f"{scope.fresh()} = {a}[{_subscript(scope, x)}]"


def _value(scope: Scope) -> str:
    return scope.random.choice([scope.random.choice(NUMBERS), scope.pick()])


def setitem(scope: Scope) -> str:
    """x[...] = value, x[mask] = value, x[index] = value."""
    a = scope.pick(has_dims)
    x = scope.tensor(a)
    chance = scope.random.random()
    if chance < 0.2:
        mask = scope.pick(lambda t: str(t.dtype).endswith("bool") and t.dim() == x.dim())
        return f"{a}[{mask}] = {scope.random.choice(NUMBERS)}"
    if chance < 0.3:
        index = scope.pick(is_index)
        return f"{a}[{index} % {a}.shape[0]] = {scope.random.choice(NUMBERS)}"
    if chance < 0.6:
        return f"{a}[{_subscript(scope, x)}] {scope.random.choice('+-*')}= {_value(scope)}"
    return f"{a}[{_subscript(scope, x)}] = {_value(scope)}"


def in_place(scope: Scope) -> str:
    """Methods that write."""
    a = scope.pick()
    op = scope.random.choice(
        ["{}.add_({})", "{}.mul_({})", "{}.sub_({}, alpha=2)", "{}.copy_({})", "{}.zero_()",
         "{}.fill_(2)", "{} += {}", "{} *= {}", "{}.clamp_(-2, 2)", "{}.relu_()", "{}.neg_()",
         "{}.transpose(0, -1).add_({})", "{}.view(-1).mul_({})", "{}.detach().add_({})",
         "{}.masked_fill_({} > 0, 1)", "{}[0].add_({})", "{}.square_()"]
    )  # fmt: skip
    jumps = any(word in op for word in ("clamp", "relu", "masked", "square"))
    if jumps:
        a = scope.pick(exact=True)
    return op.format(a, a if "masked" in op else _value(scope))


def gather(scope: Scope) -> str:
    """Gathers, scatters, lookups."""
    a = scope.pick(has_dims)
    x = scope.tensor(a)
    d = _dim(scope, x)
    index = scope.pick(lambda t: is_index(t) and t.dim() == x.dim())
    safe = f"({index} % {_size(scope, x, d, a)})"
    flat = scope.pick(is_index) + ".reshape(-1)"
    op = scope.random.choice(
        ["{a}.gather({d}, {safe})", "torch.gather({a}, {d}, {safe})",
         "{a}.scatter_add({d}, {safe}, torch.ones_like({a}))",
         "{a}.scatter({d}, {safe}, 1)", "{a}.index_select({d}, {flat} % {a}.shape[{d}])",
         "{a}.index_add({d}, torch.zeros(1, dtype=torch.int64), {a}.narrow({d}, 0, 1))",
         "torch.nn.functional.embedding({flat} % {a}.shape[0], {a})", "{a}.gather({d}, {index})",
         "{a}.flip({d})", "torch.tril({a})", "torch.triu({a}, 1)",
         "torch.nn.functional.one_hot({flat} % 4, 4)"]
    )  # fmt: skip
    return f"{scope.fresh()} = {op.format(a=a, d=d, safe=safe, flat=flat, index=index)}"


def joining(scope: Scope) -> str:
    """cat and stack."""
    a = scope.pick(has_dims)
    x = scope.tensor(a)
    b = scope.pick(lambda t: t.dim() == x.dim() and t.shape[1:] == x.shape[1:])
    op = scope.random.choice(
        ["torch.cat([{0}, {1}], 0)", "torch.stack([{0}, {0}], {2})", "torch.cat([{0}, {0}], {2})",
         "{0}.repeat(2, {1}.shape[0])"]
    )  # fmt: skip
    return f"{scope.fresh()} = {op.format(a, b, _dim(scope, x))}"


def product(scope: Scope) -> str:
    """Matrix products of any rank."""
    a = scope.pick(lambda t: is_float(t) and t.dim() > 0)
    x = scope.tensor(a)
    b = scope.pick(lambda t: t.dtype == x.dtype and t.dim() > 0)
    y = scope.tensor(b)
    forms = [f"{a} @ {b}", f"{a} @ {b}.transpose(0, -1)", f"{a} @ {a}.mT", f"{a}.mT @ {b}"]
    if y.dim() > 1:
        forms += [f"{a} @ {b}.mT", f"torch.nn.functional.linear({a}, {b})"]
    return f"{scope.fresh()} = {scope.random.choice(forms)}"


def network(scope: Scope) -> str:
    """Normalization and losses."""
    a = scope.pick(lambda t: is_float(t) and t.dim() > 1)
    x = scope.tensor(a)
    op = scope.random.choice(
        ["torch.nn.functional.layer_norm({a}, ({n},))", "torch.nn.functional.rms_norm({a}, ({n},))",
         "torch.nn.functional.cross_entropy({a}.reshape(-1, {n}), "
         "torch.arange({a}.reshape(-1, {n}).shape[0]) % {n})",
         "torch.nn.functional.mse_loss({a}, {a}.detach() + 1)",
         "torch.nn.functional.cross_entropy({a}[0].reshape(-1, {n}), "
         "torch.softmax({a}[0].reshape(-1, {n}), -1), reduction='sum')"]
    )  # fmt: skip
    return f"{scope.fresh()} = {op.format(a=a, n=x.shape[-1])}"


def chance(scope: Scope) -> str:
    """Random numbers."""
    a = scope.pick(is_float)
    op = scope.random.choice(
        ["torch.nn.functional.dropout({}, 0.5)", "{0} + torch.rand_like({0})", "torch.rand(3)",
         "torch.bernoulli(torch.sigmoid({}))", "torch.randn(2, 3)", "{0} * torch.rand({0}.shape)"]
    )  # fmt: skip
    return f"{scope.fresh()} = {op.format(a)}"


def creation(scope: Scope) -> str:
    """Constants."""
    a = scope.pick(has_dims)
    size = _size(scope, scope.tensor(a), 0, a)
    op = scope.random.choice(
        ["torch.zeros({n}, 3)", "torch.ones({n})", "torch.arange({n})", "torch.zeros_like({a})",
         "torch.full(({n},), 2)", "torch.tensor([1, 2, 3])", "torch.tensor(0.5)",
         "torch.arange({n}, dtype=torch.float32)", "{a}.new_zeros({n})", "torch.ones_like({a})",
         "torch.full_like({a}, 3)", "torch.eye(3)", "torch.tensor(2)", "torch.zeros(0, 3)",
         "torch.linspace(0, 1, 5)", "torch.empty({n}).fill_(1)"]
    )  # fmt: skip
    return f"{scope.fresh()} = {op.format(a=a, n=size)}"


def python(scope: Scope) -> str:
    """Plain Python around tensors: sizes, loops, branches on sizes."""
    a = scope.pick(has_dims)
    new = scope.fresh()
    op = scope.random.choice(
        ["{n} = {a} * ({a}.shape[0] + 1)", "{n} = {a} / {a}.numel()",
         "{n} = {a} if {a}.shape[0] > 3 else {a} * 2", "{n} = {a} * 1\nfor i in range(3):\n"
         "    {n} = {n} + i * {a}", "{n} = sum([{a}, {a} * 2])", "{n} = {a}.sum() * len({a}.shape)",
         "{n} = [row * 2 for row in {a}.unbind(0)][0]", "{n} = {a}.shape[0] * {a}.dim() + {a}",
         "{n} = {a}\n{n} += 1", "{n}, _ = {a}, 0", "{n} = torch.zeros({a}.shape[0] // 2 + 1)",
         "{n} = {a}.requires_grad * 1 + {a}", "{n} = (lambda q: q + {a})({a})",
         "{n} = {a}.stride()[0] + {a}", "{n} = {a}.is_contiguous() + {a}"]
    )  # fmt: skip
    return op.format(a=a, n=new)


Rule = Callable[[Scope], str]
RULES: tuple[tuple[Rule, int, bool], ...] = (  # rule, weight, whether its results stay exact
    (arithmetic, 8, True), (exact_functions, 5, True), (division, 2, True), (comparison, 4, True),
    (selection, 3, True), (cast, 3, True), (smooth, 5, False), (reduction, 5, False),
    (statistics, 3, False), (places, 2, True), (view, 10, True), (indexing, 5, True),
    (setitem, 6, True), (in_place, 6, True), (gather, 4, True), (joining, 2, True),
    (product, 3, False), (network, 2, False), (chance, 2, True), (creation, 3, True),
    (python, 3, True),
)  # fmt: skip

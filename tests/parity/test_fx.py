"""torch.fx beside torch's: the same graphs, the same code, the same transformations."""

import copy
import math
import operator
import pickle

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch.fx.passes.shape_prop")

import minitorch2  # noqa: E402
import minitorch2.fx.passes.shape_prop  # noqa: E402
from tests.parity.both import check, numbers  # noqa: E402


def net(t, seed=0):
    """A ResNet block, a head, and attributes of all kinds."""

    class Block(t.nn.Module):
        def __init__(self, channels):
            super().__init__()
            self.conv1 = t.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
            self.bn1 = t.nn.BatchNorm2d(channels)
            self.relu = t.nn.ReLU(inplace=True)
            self.conv2 = t.nn.Conv2d(channels, channels, 3, padding=1)
            self.bn2 = t.nn.BatchNorm2d(channels)

        def forward(self, x):
            out = self.relu(self.bn1(self.conv1(x)))
            out = self.bn2(self.conv2(out))
            out += x
            return self.relu(out)

    class Net(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = t.nn.Sequential(t.nn.Conv2d(3, 4, 3, stride=2), t.nn.BatchNorm2d(4))
            self.layers = t.nn.Sequential(Block(4), Block(4))
            self.scale = t.nn.Parameter(t.ones(4))
            self.register_buffer("shift", t.zeros(4))
            self.fc = t.nn.Linear(4, 3)

        def forward(self, x):
            x = self.layers(self.stem(x))
            x = t.flatten(t.nn.functional.adaptive_avg_pool2d(x, 1), 1)
            return self.fc(x * self.scale + self.shift)

    model = Net()
    with t.no_grad():
        for index, value in enumerate(model.state_dict().values()):
            if value.is_floating_point():
                value.copy_(numbers(t, *value.shape, seed=seed + index, low=0.1))
    return model.eval()


def encoder(t):
    """A transformer block written out."""

    class Encoder(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = t.nn.LayerNorm(8), t.nn.LayerNorm(8)
            self.qkv, self.out = t.nn.Linear(8, 24), t.nn.Linear(8, 8)
            self.mlp = t.nn.Sequential(t.nn.Linear(8, 16), t.nn.GELU(), t.nn.Linear(16, 8))

        def forward(self, x, mask=None, *, heads: int = 2):
            b, n, c = x.shape
            q, k, v = self.qkv(self.norm1(x)).chunk(3, dim=-1)
            q = q.view(b, n, heads, c // heads).transpose(1, 2)
            k = k.view(b, n, heads, c // heads).transpose(1, 2)
            v = v.view(b, n, heads, c // heads).transpose(1, 2)
            scores = (q @ k.transpose(-2, -1)) / math.sqrt(4)
            mixed = t.softmax(scores, dim=-1) @ v
            x = x + self.out(mixed.transpose(1, 2).reshape(b, n, c))
            return x + self.mlp(self.norm2(x))

    model = Encoder()
    with t.no_grad():
        for index, value in enumerate(model.parameters()):
            value.copy_(numbers(t, *value.shape, seed=index))
    return model


FUNCTIONS = {
    "operators": lambda t: (
        lambda x, y: (
            (x + y - 1) * x / y // 2 % 3**x,
            -x,
            ~y,
            x @ y,
            x == y,
            x < 1,
            2 - x,
            1 / x,
            x & y | x ^ y,
        )
    ),
    "methods": lambda t: lambda x: x.view(x.size(0), -1).sum(dim=1, keepdim=True).relu_().T.mT,
    "functions": lambda t: lambda x: t.cat([t.relu(x), t.sigmoid(x)], dim=1).clamp(min=0.5),
    "indexing": lambda t: (
        lambda x: (x[0], x[:, 1:3], x[..., None], x[x > 0], x[[0, 1]], x[-1, ::2])
    ),
    "shape": lambda t: lambda x: x.reshape(x.shape[0], x.shape[1] * 2).expand(*x.shape[:1], 3),
    "unpack": lambda t: lambda x: (lambda a, b: a + b)(*[x, x]),
    "keywords": lambda t: lambda x, *, k=3, **rest: t.topk(x, k, dim=-1)[0],
    "stars": lambda t: lambda x, *args, **kwargs: x + args[0] * kwargs["scale"],
    "defaults": lambda t: lambda x, n=2, p=(1, 2.5), s="text", f=float("inf"): x * n + p[1] + f,
    "dtypes": lambda t: lambda x: x.to(t.float64).to(dtype=t.int32) + t.ones(2, dtype=t.bool),
    "dicts": lambda t: lambda d: {"a": d["x"] + d["y"], "b": [d["x"], (d["y"],)]},
    "creation": lambda t: lambda x: x + t.arange(3) * 2,
    "abs": lambda t: lambda x: x.abs() + x.max(dim=0).values,
    "unpacked": lambda t: unpacking,
    "nothing": lambda t: lambda x: None,
    "identity": lambda t: lambda x: x,
    "names": lambda t: lambda input, self_, lambda_1, len_: input + self_ + lambda_1 + len_,
    "dead": lambda t: lambda x: (x + 1, x * 2)[0],
    "getitem_slices": lambda t: lambda x: x[x.shape[0] - 1 :],
    "nested": lambda t: lambda x: t.stack([t.relu(t.relu(t.relu(x))), x]),
}


def unpacking(x):
    a, b = x.split(2)
    (c, d), e = a.chunk(2), b
    return c + d, e


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_the_same_code_and_graph(name):
    check(lambda t: t.fx.symbolic_trace(FUNCTIONS[name](t)).code)
    check(lambda t: str(t.fx.symbolic_trace(FUNCTIONS[name](t)).graph))


@pytest.mark.parametrize("make", [net, encoder], ids=["resnet", "transformer"])
def test_modules_have_the_same_code_and_results(make):
    shape = (2, 3, 9, 9) if make is net else (2, 5, 8)

    def program(t):
        model = make(t)
        traced = t.fx.symbolic_trace(model)
        traced.graph.lint()
        again = t.fx.symbolic_trace(traced)
        x = numbers(t, *shape)
        out = traced(x)
        assert t.allclose(out, model(x)) and t.allclose(out, again(x))
        assert again.code == traced.code
        names = [name for name, _ in traced.named_parameters()]
        return (
            traced.code,
            str(traced.graph),
            out,
            names,
            sorted(traced.state_dict()),
            str(traced).split("# To see")[0].rstrip(),
        )

    check(program, tolerance=1e-4)


def test_copies_and_pickles_run():
    model = minitorch2.fx.symbolic_trace(net(minitorch2))
    x = numbers(minitorch2, 2, 3, 9, 9)
    expected = model(x)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), copy.copy(model)):
        assert other.code == model.code and other is not model
        assert minitorch2.equal(other(x), expected)
        other.graph.lint()
    changed = copy.deepcopy(model)
    first = next(n for n in changed.graph.nodes if n.target == "layers.0.relu")
    first.replace_all_uses_with(first.args[0])
    changed.graph.erase_node(first)
    changed.recompile()
    assert changed.code != model.code
    loaded = copy.deepcopy(changed)
    assert minitorch2.equal(loaded(x), changed(x))
    with pytest.raises(RuntimeError, match="users"):
        model.graph.erase_node(next(iter(model.graph.nodes)))


def fuse(t, model):
    """torch's tutorial: a convolution and the batch normalization behind it become one."""
    model = copy.deepcopy(model)
    traced = t.fx.symbolic_trace(model)
    modules = dict(traced.named_modules())
    for node in traced.graph.nodes:
        if node.op != "call_module" or type(modules[node.target]) is not t.nn.BatchNorm2d:
            continue
        before = node.args[0]
        if before.op != "call_module" or type(modules[before.target]) is not t.nn.Conv2d:
            continue
        if len(before.users) > 1:
            continue
        conv, bn = modules[before.target], modules[node.target]
        factor = bn.weight / t.sqrt(bn.running_var + bn.eps)
        bias = conv.bias if conv.bias is not None else t.zeros_like(bn.running_mean)
        fused = copy.deepcopy(conv)
        fused.weight = t.nn.Parameter(conv.weight * factor.reshape(-1, 1, 1, 1))
        fused.bias = t.nn.Parameter((bias - bn.running_mean) * factor + bn.bias)
        parent, _, name = before.target.rpartition(".")
        setattr(modules[parent], name, fused)
        modules[before.target] = fused
        node.replace_all_uses_with(before)
        traced.graph.erase_node(node)
    traced.recompile()
    traced.delete_all_unused_submodules()
    return traced


def test_convolutions_fuse_with_normalizations():
    def program(t):
        model = net(t)
        fused = fuse(t, model)
        x = numbers(t, 2, 3, 9, 9)
        assert t.allclose(fused(x), model(x), rtol=1e-3)
        return fused.code, fused(x).detach(), [name for name, _ in fused.named_modules()]

    check(program, tolerance=1e-3)


def profile(t):
    """torch's tutorial: an interpreter that notes what every node did."""
    seen = []

    class Profiler(t.fx.Interpreter):
        def run(self, *args):
            result = super().run(*args)
            seen.append("done")
            return result

        def run_node(self, node):
            result = super().run_node(node)
            seen.append((node.name, node.op, list(getattr(result, "shape", ()))))
            return result

    traced = t.fx.symbolic_trace(net(t))
    profiler = Profiler(traced)
    out = profiler.run(numbers(t, 2, 3, 9, 9))
    return seen, out, len(profiler.env)


def replace_op(t):
    """torch's tutorial: every add becomes a mul, and a call becomes another one."""
    traced = t.fx.symbolic_trace(lambda x, y: t.relu(t.add(x, y)) + t.add(x, 1))
    for node in traced.graph.nodes:
        if node.op == "call_function" and node.target == t.add:
            node.target = t.mul
        if node.target is t.relu:
            with traced.graph.inserting_after(node):
                new = traced.graph.call_function(t.neg, (node.args[0],))
                node.replace_all_uses_with(new)
            traced.graph.erase_node(node)
    traced.graph.lint()
    traced.recompile()
    return traced.code, traced(numbers(t, 3), numbers(t, 3, seed=1))


def proxies(t):
    """torch's tutorial: decompositions written with proxies on the new graph."""
    traced = t.fx.symbolic_trace(lambda x: t.nn.functional.relu(x) * 2)
    new, values = t.fx.Graph(), {}
    tracer = t.fx.proxy.GraphAppendingTracer(new)
    for node in traced.graph.nodes:
        if node.op == "call_function" and node.target is t.nn.functional.relu:
            args = [t.fx.Proxy(values[a.name], tracer) for a in node.args]
            made = (args[0] > 0) * args[0]
            values[node.name] = made.node
        else:
            values[node.name] = new.node_copy(node, lambda n: values[n.name])
    module = t.fx.GraphModule(traced, new)
    return module.code, module(numbers(t, 4))


def leaves(t):
    """A tracer with other leaves, and one that follows into torch's modules."""

    class Inner(t.nn.Module):
        def forward(self, x):
            return x.cos()

    class Outer(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.seq = Inner(), t.nn.Sequential(t.nn.ReLU(), t.nn.Tanh())

        def forward(self, x):
            return self.seq(self.inner(x))

    class All(t.fx.Tracer):
        def is_leaf_module(self, m, name):
            return True

    class Own(t.fx.Tracer):
        def is_leaf_module(self, m, name):
            return isinstance(m, (Inner, t.nn.Tanh, t.nn.ReLU))

    model = Outer()
    graphs = [All().trace(model), Own().trace(model), t.fx.Tracer().trace(model)]
    modules = [t.fx.GraphModule(model, graph) for graph in graphs]
    return [str(g) for g in graphs], [m(numbers(t, 3)) for m in modules]


def patterns(t):
    traced = t.fx.symbolic_trace(lambda x, w1, w2: t.stack([
        t.sum(t.stack([w1, w2])), t.max(t.sum(t.stack([w1, w2]))).add(1.0), x.sum()
    ]))  # fmt: skip
    found = t.fx.replace_pattern(
        traced, lambda a, b: t.sum(t.stack([a, b])), lambda a, b: t.stack([a, b * 2]).mean()
    )
    return len(found), traced(*[numbers(t, 3, seed=k) for k in range(3)]), len(traced.graph.nodes)


def pattern_attributes(t):
    """The pattern names a submodule; what is used outside a place is no match."""
    traced = t.fx.symbolic_trace(lambda x: (lambda y: t.relu(y) + y)(t.neg(x)))
    none = t.fx.replace_pattern(traced, lambda x: t.relu(t.neg(x)), lambda x: t.sigmoid(x))
    one = t.fx.replace_pattern(traced, lambda a: t.relu(a) + a, lambda a: a * 3)
    return len(none), len(one), traced.code, traced(numbers(t, 2))


def transformer(t):
    class Swap(t.fx.Transformer):
        def call_function(self, target, args, kwargs):
            if target == t.sigmoid:
                return t.tanh(*args, **kwargs)
            return super().call_function(target, args, kwargs)

        def call_method(self, target, args, kwargs):
            if target == "neg":
                return args[0]
            return super().call_method(target, args, kwargs)

    traced = t.fx.symbolic_trace(lambda x, y=2.0: t.sigmoid(x.neg()) * y)
    made = Swap(traced).transform()
    return made.code, made(numbers(t, 3))


def shapes(t):
    traced = t.fx.symbolic_trace(net(t))
    t.fx.passes.shape_prop.ShapeProp(traced).propagate(numbers(t, 2, 3, 9, 9))
    return [
        (n.name, list(n.meta["tensor_meta"].shape), str(n.meta["tensor_meta"].dtype),
         list(n.meta["tensor_meta"].stride), n.meta["tensor_meta"].requires_grad)
        for n in traced.graph.nodes
    ]  # fmt: skip


def by_hand(t):
    """A graph made node by node; insertion points; dead code; lint."""
    graph = t.fx.Graph()
    x = graph.placeholder("x")
    y = graph.placeholder("y", default_value=1.5)
    weight = graph.get_attr("weight")
    lin = graph.call_module("lin", (x,))
    dead = graph.call_function(t.sin, (x,))
    product = graph.call_function(operator.mul, (lin, weight))
    result = graph.call_method("add", (product, y), {"alpha": 2})
    out = graph.output((result, {"sum": result}))
    with graph.inserting_before(result):
        extra = graph.call_function(t.cos, (product,))
    result.args = (extra, *result.args[1:])
    with graph.inserting_after(x):
        first = graph.call_method("neg", (x,))
        second = graph.call_method("abs", (first,))
    lin.replace_input_with(x, second)
    model = t.nn.Linear(3, 3)
    with t.no_grad():
        for index, p in enumerate(model.parameters()):
            p.copy_(numbers(t, *p.shape, seed=index))
    before = [n.name for n in graph.nodes], len(graph.nodes), [u.name for u in product.users]
    gone = graph.eliminate_dead_code(), dead.name in [n.name for n in graph.nodes]
    module = t.fx.GraphModule({"lin": model, "weight": t.ones(3)}, graph)
    module.graph.lint()
    return (
        before, gone, module.code, module(numbers(t, 2, 3)), [str(n) for n in out.all_input_nodes],
        [n.name for n in reversed(graph.nodes)], graph.output_node().name, first.next.name,
        [n.name for n in graph.find_nodes(op="call_function", target=t.cos)],
    )  # fmt: skip


def use_before_definition(t):
    graph = t.fx.Graph()
    x = graph.placeholder("x")
    a = graph.call_method("neg", (x,))
    b = graph.call_method("abs", (a,))
    graph.output(b)
    a.append(x)
    graph.lint()


def missing_argument(t):
    return t.fx.Interpreter(t.fx.symbolic_trace(lambda x, y: x + y)).run(numbers(t, 2))


def concrete(t):
    def f(x, flag, n=2):
        return x * n if flag else x + n

    traced = t.fx.symbolic_trace(f, concrete_args={"flag": True})
    return traced(numbers(t, 3), True)


PROGRAMS = {
    "profile": profile,
    "replace_op": replace_op,
    "proxies": proxies,
    "leaves": leaves,
    "patterns": patterns,
    "pattern_attributes": pattern_attributes,
    "transformer": transformer,
    "shapes": shapes,
    "by_hand": by_hand,
    "use_before_definition": use_before_definition,
    "missing_argument": missing_argument,
    "concrete": concrete,
    "if": lambda t: t.fx.symbolic_trace(lambda x: x if x.sum() > 0 else -x),
    "for": lambda t: t.fx.symbolic_trace(lambda x: sum(y for y in x)),
    "len": lambda t: t.fx.symbolic_trace(lambda x: len(x)),
    "int": lambda t: t.fx.symbolic_trace(lambda x: int(x)),
    "range": lambda t: t.fx.symbolic_trace(lambda x: list(range(x))),
    "setitem": lambda t: t.fx.symbolic_trace(lambda x: exec("x[0] = 1", {"x": x})),
    "star": lambda t: t.fx.symbolic_trace(lambda x: t.cat([*x])),
    "wrap_inside": lambda t: t.fx.wrap("len"),
    "wrap_number": lambda t: t.fx.wrap(3),
    "bad_opcode": lambda t: t.fx.Graph().create_node("call", "x"),
    "bad_target": lambda t: t.fx.Graph().create_node("call_function", "relu"),
    "foreign_node": lambda t: _foreign(t),
    "missing_attribute": lambda t: t.fx.GraphModule({}, _calls(t)),
    "list_write": lambda t: t.fx.symbolic_trace(lambda x: t.cat([x, x])).graph.find_nodes(
        op="call_function", target=t.cat
    )[0].args[0].append(1),
    "math": lambda t: t.fx.symbolic_trace(lambda x: math.sqrt(x.size(0)) + x)(numbers(t, 4)),
    "parameters": lambda t: [
        n for n, _ in t.fx.symbolic_trace(encoder(t)).named_parameters()
    ],
}  # fmt: skip


def _foreign(t):
    graph = t.fx.Graph()
    graph.output(t.fx.Graph().placeholder("x"))
    graph.lint()


def _calls(t):
    graph = t.fx.Graph()
    graph.output(graph.call_module("nowhere", (graph.placeholder("x"),)))
    return graph


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    check(PROGRAMS[name], tolerance=1e-4)


def plain(x):
    if x.sum() > 0:
        return x
    return -x


minitorch2.fx.wrap("plain")
torch.fx.wrap("plain")


def test_wrapped_functions_are_recorded():
    for t in (minitorch2, torch):
        traced = t.fx.symbolic_trace(lambda x: plain(x) + 1)
        assert [n.op for n in traced.graph.nodes].count("call_function") == 2
        assert traced(t.ones(2)).tolist() == [2, 2]
        again = t.fx.symbolic_trace(traced)
        assert [n.name for n in again.graph.nodes] == [n.name for n in traced.graph.nodes]
    assert plain(minitorch2.ones(1)).item() == 1  # nothing stays patched
    space = {"fx": minitorch2.fx}
    exec("fx.wrap('len')\ndef f(x):\n    return x * len(x)", space)
    traced = minitorch2.fx.symbolic_trace(space["f"])
    assert traced(minitorch2.ones(3)).tolist() == [3, 3, 3]
    assert minitorch2.relu(minitorch2.ones(1)).item() == 1


def test_tables_print(capsys):
    minitorch2.fx.symbolic_trace(lambda x: minitorch2.relu(x) + 1).graph.print_tabular()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["opcode", "name", "target", "args", "kwargs"]
    assert lines[3].split() == ["call_function", "relu", "torch.relu", "(%x,)", "{}"]


def test_a_failing_node_is_named():
    traced = minitorch2.fx.symbolic_trace(lambda x: x @ x)
    with pytest.raises(RuntimeError) as caught:
        minitorch2.fx.Interpreter(traced).run(minitorch2.ones(2, 3))
    assert "While executing %matmul" in caught.value.__notes__[0]

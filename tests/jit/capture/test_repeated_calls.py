"""Three calls in a row, eager and captured: results and the state left behind are the same."""

import functools
import types
import weakref

import pytest

import minitorch2 as torch
from minitorch2 import nn
from tests.jit.capture.capturing import compiled


def tensor(*values, **options):
    return torch.tensor([float(value) for value in values], **options)


def lists_and_dicts():
    items, table = [tensor(1), tensor(2)], {}
    table["a"] = items

    def fn(x):
        items[0] = x
        table["b"] = items
        table["a"].append(items[0] + 1)
        items.pop(1)
        items.insert(0, 5)
        return items[-1], table["b"] is items

    return fn, (tensor(3),), lambda: (items, table)


def objects():
    class Thing:
        pass

    thing = Thing()
    thing.x, thing.me, thing.items = 1, thing, []

    def fn(x):
        thing.x += 1
        thing.me.items.append(thing.x)
        thing.child = Thing()
        thing.child.up, thing.child.value = thing, x * thing.x
        del thing.x
        thing.x = len(thing.items)
        return thing.child.value, thing.child.up is thing

    return fn, (tensor(3),), lambda: (thing.x, thing.items, thing.child.value)


def sets_and_odd_keys():
    numbers, table = {1, 2}, {}

    def fn(x):
        numbers.add(3)
        numbers.discard(1)
        table[x.shape] = 1
        table.setdefault("k", []).append(2)
        table.update(z=3)
        return sorted(numbers), table.pop("z"), x.sum()

    return fn, (tensor(3),), lambda: (numbers, table)


def views_and_clones():
    def fn(x):
        view = x.view(2, 2)
        turned = view.t()
        turned[0] = 9
        row = view[1]
        row.mul_(2)
        copy = x.clone()
        copy.zero_()
        return view, turned, row, x, copy

    x = tensor(1, 2, 3, 4)
    return fn, (x,), lambda: x


def gradients():
    def fn(x):
        with torch.no_grad():
            x.add_(1)
        y = x * 2
        z = y.detach()
        flags = y.requires_grad, z.requires_grad, y.is_leaf, x.is_leaf
        y = y.clone()
        y.mul_(3)
        return y, z, flags

    x = tensor(1, 2, requires_grad=True)
    return fn, (x,), lambda: x


def module_tables():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    seen = []

    def fn(x):
        for name, parameter in net.named_parameters():
            seen.append((name, parameter.shape))
        total = sum(parameter.sum() for parameter in net.parameters()) + net(x).sum()
        kinds = [type(module).__name__ for module in net.modules()]
        return total, kinds, len(net), net[0].in_features, len(net.state_dict())

    return fn, (tensor(1, 2),), lambda: seen


def class_attributes():
    class Counter:
        count = 0

    def fn(x):
        Counter.count += 1
        return x + Counter.count

    return fn, (tensor(1),), lambda: Counter.count


def shared_results():
    def fn(x):
        first = [x]
        second = first
        second.append(x + 1)
        both = (first, second)
        table = {"p": first, "q": [first, second]}
        return both, table, both[0] is table["p"]

    return fn, (tensor(1),), lambda: None


def plain_namespaces():
    config = types.SimpleNamespace(rate=0.5, mode="a")

    def fn(x):
        config.mode = "b" if config.mode == "a" else "a"
        return x * config.rate, config.mode

    return fn, (tensor(1),), lambda: config


def counters_in_closures():
    def outer():
        n = 0

        def bump():
            nonlocal n
            n += 1
            return n

        return bump

    bump = outer()
    return (lambda x: x * bump() + bump()), (tensor(1),), bump


def arguments_with_generated_names():
    def fn(v0, out, made0):
        out.append(v0)
        v0 += 1
        out[0] = out[0] * 2
        return out, [made0, v0 * 2]

    x = tensor(1, 2)
    return fn, (x, [], 3), lambda: x


def objects_with_generated_names():
    names = ("v0", "v1", "v2", "out", "made0", "made1", "made0_", "COMPILED", "FUNCTION", "call")
    classes = [type(name, (), {"kind": name}) for name in names]
    kept = []

    def fn(x):
        made = [cls() for cls in classes]
        for thing in made:
            thing.x = x * len(made)
        kept.append(made)
        return [cls.kind for cls in classes]

    return fn, (tensor(1),), lambda: [(type(one).__name__, one.x) for row in kept for one in row]


def partials():
    def fn(x, *args, k=1, **named):
        return x + sum(args) + k, sorted(named.items()), len(args)

    return functools.partial(fn, tensor(1), 2, z=3), (4,), lambda: None


def grad_and_own_attributes():
    parameter = nn.Parameter(tensor(1, 2))

    def fn(x):
        parameter.grad = None
        parameter.tag = "t"
        return x * parameter, parameter.grad, parameter.tag

    return fn, (tensor(1, 2),), lambda: (parameter.grad, parameter.tag)


def lists_changed_while_read():
    items = [3, 1, 2]

    def fn(x, items):
        for item in list(items):
            if item == 1:
                items.remove(item)
                items.append(10)
        items.extend(value * 2 for value in items[:1])
        del items[0]
        items += [4]
        items[0:1] = [7, 1]
        return items, x * len(items)

    return fn, (tensor(1), items), lambda: items


def nested_dicts():
    table = {"a": 1, "b": {"c": [1]}}

    def fn(x, table):
        table["b"]["c"].append(len(table))
        table["b"]["n"] = table.get("n", 0) + 1
        table["n"] = table["b"]["n"]
        for key in list(table):
            if key == "a":
                del table[key]
        table["a"] = 5
        return x + table["n"], list(table.items())[0][0], {**table}["a"]

    return fn, (tensor(1), table), lambda: table


def buffers():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(tensor(2))
            self.register_buffer("b", tensor(0))
            self.named = nn.ModuleDict({"a": nn.Identity()})
            self.layers = nn.ModuleList([nn.ReLU(), nn.Tanh()])

        def forward(self, x):
            self.b = self.b + 1
            self.b.add_(1)
            for layer in self.layers:
                x = layer(x)
            for _, layer in self.named.items():
                x = layer(x)
            return self.named["a"](x) * self.w, [name for name, _ in self.named_buffers()]

    net = Net()
    return net, (tensor(1),), lambda: net.b


PROGRAMS = [
    lists_and_dicts, objects, sets_and_odd_keys, views_and_clones, gradients, module_tables,
    class_attributes, shared_results, plain_namespaces, counters_in_closures,
    arguments_with_generated_names, objects_with_generated_names, partials,
    grad_and_own_attributes, lists_changed_while_read, nested_dicts, buffers,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_three_calls(program):
    fn, args, state = program()
    expected = [repr(fn(*args)) for _ in range(3)] + [repr(state())]
    fn, args, state = program()
    run = compiled(fn)
    got = [repr(run(*args)) for _ in range(3)] + [repr(state())]
    assert got == expected


def test_tensors_made_from_known_data_are_new_in_each_call():
    def fn():
        steps = torch.linspace(0, 1, 3)
        steps += 1
        return steps, torch.LongTensor([1, 2])

    run = compiled(fn)
    for _ in range(2):
        steps, numbers = run()
        assert steps.tolist() == [1, 1.5, 2] and numbers.tolist() == [1, 2]
        steps.zero_()
        numbers.zero_()


def test_strides_of_sizes_that_are_1():
    run = compiled(lambda x: x.stride()[0] + x * 0, dynamic=True)
    for shape, strides in (((1, 3), (3, 1)), ((1, 3), (1, 1)), ((1, 4), (4, 1)), ((1, 4), (7, 1))):
        x = torch.zeros(8).as_strided(shape, strides)
        assert run(x).tolist() == [[float(strides[0])] * shape[1]]


class Referred:
    pass


KEPT = Referred(), Referred()


@pytest.mark.parametrize("pair", [[weakref.ref(each) for each in KEPT],
                                  [torch.Generator(), torch.Generator()]])  # fmt: skip
def test_who_was_another_may_be_the_same(pair):
    run = torch.compile(lambda x, a, b: (x + 1, a is b), backend="eager")
    left, right = pair
    found = [
        run(torch.ones(1), *given)[1] for given in ((left, right), (left, left), (left, right))
    ]
    assert found == [False, True, False]


def test_a_hook_by_name_is_refused_as_one_by_place():
    def fn(x):
        try:
            x.register_hook(hook=len)
        except RuntimeError as error:
            return type(error), str(error).partition("\n")[0]

    assert torch.compile(fn, backend="eager")(torch.ones(2)) == fn(torch.ones(2))

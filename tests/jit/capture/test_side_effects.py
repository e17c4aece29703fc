"""State that captured code changes: nothing during capture, all of it in order afterwards."""

import minitorch2 as torch
from minitorch2 import nn
from tests.jit.capture.capturing import compiled, ones

COUNT = 0
X = ones(2)


def test_containers_and_closures_outside():
    log, table, total = [], {"n": 0}, 0

    def fn(x):
        nonlocal total
        log.append("a")
        table["n"] += 1
        table["last"] = x * 2
        total += 3
        log.append(len(log))
        return x + total

    run = compiled(fn)
    assert [run(X).tolist()[0], run(X).tolist()[0]] == [4.0, 7.0]
    assert log == ["a", 1, "a", 3] and total == 6
    assert table["n"] == 2 and table["last"].tolist() == [2, 2]


def test_globals():
    globals()["COUNT"] = 0

    def fn(x):
        global COUNT
        COUNT = COUNT + 1
        return x + COUNT

    run = compiled(fn)
    assert [run(X).tolist()[0] for _ in range(3)] == [2, 3, 4]
    assert COUNT == 3


def test_attributes_of_objects_and_modules():
    class Box:
        def __init__(self):
            self.value, self.seen = 1, []

        @property
        def twice(self):
            return self.value * 2

        @twice.setter
        def twice(self, new):
            self.value = new // 2

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("steps", torch.zeros(1))
            self.last = None
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            self.steps += 1
            self.last = x * 2
            return x + self.steps

    box, net = Box(), Net()

    def fn(x):
        box.twice = box.twice + 4
        box.seen.append(x + 1)
        box.fresh = {"x": [x]}
        del box.fresh["x"]
        return net(x) + box.value

    run = compiled(fn)
    assert run(X).tolist() == [1 + 1 + 3] * 2
    assert run(X).tolist() == [1 + 2 + 5] * 2
    assert box.value == 5 and len(box.seen) == 2 and box.fresh == {}
    assert net.calls == 2 and net.steps.item() == 2 and net.last.tolist() == [2, 2]


def test_tensors_are_written_in_place():
    def fn(x, y):
        x.add_(1)
        y[0] = x.sum()
        x.mul_(y)
        return x

    run = compiled(fn)
    x, y = ones(2), ones(2)
    assert run(x, y) is x
    assert x.tolist() == [8, 2] and y.tolist() == [4, 1]


def test_results_that_are_inputs_and_views_of_inputs():
    def fn(x, items):
        view = x[1:]
        view.mul_(5)
        items.append(view)
        return x, items, view

    run = compiled(fn)
    x, items = ones(3), []
    first, second, view = run(x, items)
    assert first is x and second is items and items[0] is view
    assert x.tolist() == [1, 5, 5]
    view.zero_()
    assert x.tolist() == [1, 0, 0]


def test_objects_made_inside_are_whole():
    class Node:
        def __init__(self, value, parent=None):
            self.value, self.parent, self.children = value, parent, []

        def add(self, value):
            child = Node(value, self)
            self.children.append(child)
            return child

    def fn(x):
        root = Node(x)
        child = root.add(x * 2)
        child.add(x * 3).value += 1
        return root

    root = compiled(fn)(X)
    child = root.children[0]
    assert type(root) is Node and child.parent is root
    assert child.children[0].value.tolist() == [4, 4] and child.children[0].parent is child


def test_functions_made_inside_leave_with_their_variables():
    def fn(x):
        count = 0

        def bump(by=2, *, extra=1):
            nonlocal count
            count += by + extra
            return x * count

        bump()
        return bump

    bump = compiled(fn)(X)
    assert bump().tolist() == [6, 6]
    assert bump(1).tolist() == [8, 8]


def test_nothing_happens_when_capture_breaks():
    log = []

    def fn(x):
        log.append("before")
        x.add_(1)
        if x.sum() > 3:
            log.append("big")
        return x

    run = compiled(fn, fullgraph=False)
    x = ones(2)
    assert run(x).tolist() == [2, 2] and log == ["before", "big"]
    assert run.breaks[0].row.code == "tensor-branch"


def test_grad_mode_left_changed():
    def fn(x):
        y = x * 2
        torch.set_grad_enabled(False)
        return y, x * 3

    run = compiled(fn)
    x = ones(2, requires_grad=True)
    try:
        y, z = run(x)
        assert y.requires_grad and not z.requires_grad and not torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)


def test_random_numbers_are_those_of_eager():
    def fn(x):
        return nn.functional.dropout(x, 0.5) + torch.rand(2), torch.randn(3)

    run = compiled(fn)
    torch.manual_seed(3)
    expected = [fn(X), fn(X)]
    torch.manual_seed(3)
    got = [run(X), run(X)]
    for (a, b), (c, d) in zip(expected, got, strict=True):
        assert a.tolist() == c.tolist() and b.tolist() == d.tolist()


def test_backward_inside_sets_and_adds_to_grad():
    weight, bias = nn.Parameter(ones(2)), nn.Parameter(ones(2))
    unused = nn.Parameter(ones(2))

    def fn(x):
        loss = (x * weight + bias + bias).sum()
        loss.backward()
        return loss.detach(), weight.grad * 2

    run = compiled(fn)
    for count in (1, 2, 3):
        assert run(X)[1].tolist() == [2 * count] * 2
        assert weight.grad.tolist() == [count] * 2 and bias.grad.tolist() == [2 * count] * 2
        assert unused.grad is None and weight.grad is not bias.grad

"""Conditions and numbers that depend on what is inside a tensor."""

import pytest

import minitorch2 as torch
from minitorch2.errors import GraphBreakError
from tests.jit.capture.capturing import compiled
from tests.jit.resume.both import both, codes, is_captured, ones


def if_else(x):
    y = x * 2
    if y.sum() > 0:
        z = y + 1
    else:
        z = y - 1
    return z * y


def elif_chain(x):
    if x.sum() < 0:
        return "negative"
    elif x.max() > 10:
        x = x + 1
    elif not x.min():
        x = x - 1
    else:
        x = x * 3
    return x


def boolean_operators(x):
    a = x.sum() > 0 and x.max() or x.min()
    b = not x.sum()
    c = x.mean() if x.sum() else 1
    return a, b, c, x[0] < 2 < x[1] + 5, bool(x.any()), x.sum() > 1 or 1 / 0


def asserts(x):
    assert x.sum() > 0, "positive"
    y = x * 2
    assert (y < 0).any(), f"none below zero: {y.min().item()}"
    return y


def numbers(x):
    n = int(x.sum())
    f = float(x.mean()) + x.max().item()
    rows = x.tolist()
    array = (x * 2).numpy()
    return x * n + f, rows, array.sum(), len(rows), range(n)[x.argmax()]


def as_index(x):
    values = ["a", "b", "c", "d"]
    i = x.sum().to(torch.int64)
    return values[i], values[x.argmax() :], x[i - 1 :]


def shapes_from_data(x):
    where = x.nonzero()
    chosen = torch.masked_select(x, x > 0)
    return (chosen * 2).sum() + where.shape[0], x[x > 0] + 1


def ternaries(x):
    return [x + 1 if (x * i).sum() > 4 else x - 1 for i in range(3)]


def while_below(x):
    count = 0
    while x.sum() < 100 and count < 9:
        x = x * 2
        count += 1
    else:
        x = x + 1
    return x, count


def matches(x):
    match x.sum().item():
        case 3.0:
            return x + 1
        case _:
            return x - 1


PROGRAMS = [
    if_else, elif_chain, boolean_operators, asserts, numbers, as_index, shapes_from_data, ternaries,
    while_below, matches,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("sign", [1, -1, 0])
def test_as_python(program, sign):
    cache = both(program, lambda: (torch.tensor([1.0, 2.0, 0.5]) * sign,))
    assert cache.breaks and is_captured(cache)


def test_both_sides_of_a_branch_are_graphs_of_their_own():
    cache = compiled(if_else, fullgraph=False)
    for sign in (1, -1, 1, -1):
        x = torch.ones(3) * sign
        assert cache(x).tolist() == if_else(x).tolist()
    graphs = [entry.program.graph for entry in cache.all_entries()]
    # 3.13 compares and asks for the truth in one instruction, which Python runs
    assert [len(graph.nodes) for graph in graphs] in ([3, 2, 2], [2, 2, 2])
    assert codes(cache) == ["tensor-branch"]
    assert not cache.recompiles


def test_fullgraph_raises_with_the_text_of_the_break():
    with pytest.raises(GraphBreakError, match="tensor-branch") as caught:
        compiled(if_else)(*ones())
    text = str(caught.value)
    assert "if y.sum() > 0:" in text and "^^^^" in text and "torch.where" in text

"""`x[i]` for an integer tensor i is a view, in compiled code too."""

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, OPTIONS, forget, picture


def read(x, i, w):
    return x[i] * 2


def written(x, i, w):
    part = x[i]
    part += 5
    return x * 1


def written_later(x, i, w):
    part = x[i]
    y = w * 2
    part.mul_(3)
    return y + x


def written_through_a_view(x, i, w):
    x[i].view(-1)[0] = 9
    return x * 1


def base_written(x, i, w):
    part = x[:, i]
    x += 1
    return part * 1


def base_written_but_not_read(x, i, w):
    part = x[i] * 2
    x += 1
    return part


def leaves(x, i, w):
    return x[i], x[:, i], x[..., i, None], x[0, i], x[i, 1:]


def leaves_twice(x, i, w):
    part = x[i]
    return part, [part], x


def of_an_intermediate(x, i, w):
    y = x * 2
    return y[i], y


def intermediate_before(x, i, w):
    y = x * 2
    return y, y[i]


def of_an_intermediate_alone(x, i, w):
    return (x * 2)[i]


def another_view_leaves(x, i, w):
    return x[i].reshape(1, 2)


def chained(x, i, w):
    part = x[i][i]
    part += 1
    return x * 1


def kept_in_a_list(x, i, w):
    parts = [x[i], x[i]]
    parts[0].zero_()
    return parts[1] + 1, x.sum()


def in_a_callee(x, i, w):
    def last(t):
        t[i] += 1
        part = t[i]
        part -= 3
        return part

    return last(x) * 1


def in_a_loop(x, i, w):
    for k in range(3):
        part = x[i + k - 1]
        part += k
    return x * 1


def without_gradients(x, i, w):
    with torch.no_grad():
        part = w[i]
    return part, w[i]


def two_indices(x, i, w):
    x[i, i - 1].add_(1)
    return x[i, i - 1], x * 1


def gathered(x, i, w):
    part = x[i[None]]
    part += 5
    return x * 1, part


def out_of_range(x, i, w):
    return x[i + 7]


def assigned(x, i, w):
    x[i] = 7
    x[i, 0] += 1
    x[i] *= 2
    return x * 1


def added_up(x, i, w):
    part = x[i]
    other = x[i]
    x[i] += 3
    return part + 1, other, x


def added_in_a_loop(x, i, w):
    for k in range(2):
        x[i, k] += k + 1
    return x, x[i]


def put_elsewhere(x, i, w):
    part = x[i]
    part += 2
    x[0] = part
    return x * 1


def read_before_it_is_put_back(x, i, w):
    part = x[i]
    part += 2
    y = x * 1
    x[i] = part
    return y, x


FUNCTIONS = [read, written, written_later, written_through_a_view, base_written,
             base_written_but_not_read, leaves, leaves_twice, of_an_intermediate,
             intermediate_before, of_an_intermediate_alone, another_view_leaves, chained,
             kept_in_a_list, in_a_callee, in_a_loop, without_gradients, two_indices, gathered,
             out_of_range, assigned, added_up, added_in_a_loop, put_elsewhere,
             read_before_it_is_put_back]  # fmt: skip
WHOLE = (read, base_written_but_not_read, leaves, leaves_twice, of_an_intermediate_alone, gathered,
         intermediate_before, assigned, added_in_a_loop)  # fmt: skip
RAISING = (out_of_range, without_gradients)


def done(fn, place, writes):
    """What comes of a call, and of a write into each of its results."""
    x = torch.arange(6.0).reshape(3, 2)
    w = torch.ones(3, 2, requires_grad=True)
    try:
        found = fn(x, torch.tensor(place), w)
    except IndexError as error:
        return type(error), str(error).partition(": ")[2].splitlines()[0]
    parts = found if isinstance(found, tuple) else (found,)
    forget()
    seen = [picture(found, {}), picture(x, {})]
    with torch.no_grad():
        for part in parts:
            if isinstance(part, torch.Tensor) and part.ndim and writes:
                part += 100
                seen.append([picture(one, {}) for one in (*parts, x, w)])
    return seen


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("fn", FUNCTIONS)
def test_as_python_does_it(fn, backend):
    run = torch.compile(fn, backend=backend, options=OPTIONS.get(backend))
    writes = fn not in RAISING
    for place in (1, 0, 2, 1):
        assert done(run, place, writes) == done(fn, place, writes)
    if fn not in RAISING:
        assert bool(run.cache.breaks) == (fn not in WHOLE), run.cache.breaks
    assert fn is in_a_loop or not run.cache.recompiles


def test_gradients_of_a_picked_view():
    def fn(w, i):
        return w[i] * w, w[i]

    run = torch.compile(fn, backend="interpreter")
    grads = []
    for f in (run, fn):
        w = torch.arange(4.0).reshape(2, 2).requires_grad_()
        product, part = f(w, torch.tensor(1))
        (product.sum() + 3 * part.sum()).backward()
        grads.append(w.grad.tolist())
    assert grads[0] == grads[1]


def test_the_whole_graph_is_refused_with_the_reason():
    with pytest.raises(torch._dynamo.exc.Unsupported if hasattr(torch, "_dynamo") else Exception,
                       match="a view at a place that a tensor tells"):  # fmt: skip
        torch.compile(written, backend="eager", fullgraph=True)(
            torch.ones(3, 2), torch.tensor(1), torch.ones(1)
        )

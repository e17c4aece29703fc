"""A bool is no size and no dimension: what torch refuses is refused, in eager and compiled code."""

import pytest

import minitorch2

torch = pytest.importorskip("torch")

CALLS = """
t.ones(2,3).sum(True)
t.ones(2,3).sum((True,))
t.ones(2,3).sum(dim=False)
t.full((True,),1.)
t.zeros((True,2))
t.zeros(True,2)
t.ones(True)
t.cat([t.ones(2,3)]*2, True)
t.stack([t.ones(2,3)]*2, True)
t.ones(2,3).unsqueeze(True)
t.ones(2,1).squeeze(True)
t.ones(1,3).view(True,3)
t.ones(1,3).view((True,3))
t.ones(1,3).reshape((True,3))
t.ones(1,3).reshape(True,3)
t.ones(2,3).transpose(False,True)
t.ones(2,3).permute(True,False)
t.ones(2,3).permute((True,False))
t.ones(2,3).size(True)
t.ones(2,3).select(True,False)
t.ones(2,3).narrow(True,False,True)
t.ones(1,3).expand(True,3)
t.ones(1,3).repeat(True,True)
t.ones(2,3).softmax(True)
t.softmax(t.ones(2,3), True)
t.ones(2,3).argmax(True)
t.ones(2,3).max(True)
t.ones(2,3).mean(True)
t.ones(2,3).cumsum(True)
t.eye(True)
t.ones(2,3).flip(True)
t.ones(2,3).flip((True,))
t.ones(2,3).roll(True,True)
t.ones(2,3).chunk(True)[0]
t.ones(2,3).topk(True)[0]
t.ones(2,3).sort(True)[0]
t.ones(2,3).index_select(True, t.tensor([0]))
t.ones(2,3).gather(True, t.tensor([[0]]))
t.ones(2,3).unbind(True)[0]
t.ones(2,3).flatten(False,True)
t.ones(2,3).diagonal(True)
t.ones(2,3).tril(True)
t.ones(2,3).norm(2,True)
t.ones(2,3).var(True)
t.ones(2,3).std((True,))
t.ones(2,3).logsumexp(True)
t.ones(2,3).new_zeros(True)
t.ones(2,3).new_zeros((True,))
t.ones(2,3).any(True)
t.ones(2,3).unflatten(True,(True,3))
t.ones(2,3).movedim(True,False)
t.ones(2,3).prod(True)
t.ones(2,3).amax(True)
t.ones(2,3).amax((True,))
t.ones(2,3).tile(True)
t.ones(2,3).tile((True,))
t.nn.functional.conv1d(t.ones(1,1,4),t.ones(1,1,2),stride=True).sum()
t.linspace(0,1,True)
t.nn.functional.glu(t.ones(2,4), True)
t.nn.functional.layer_norm(t.ones(2,1),(True,))
t.nn.functional.max_pool1d(t.ones(1,1,4), True)
t.nn.functional.one_hot(t.tensor([0]), True)
t.nn.functional.log_softmax(t.ones(2,3), dim=True)
t.nn.functional.softmax(t.ones(2,3), dim=True)
t.zeros((2, True))
t.ones(6, 1).view(6, True)
t.ones(2, 3).permute(0, True)
t.ones(2, 3).sum((0, True))
t.ones(1, 3).expand(2, True, 3)
t.ones(3).repeat(2, True)
t.ones(2, 3).var(False)
t.ones(2, 3).std(True)
t.var(t.eye(3), False)
t.arange(True)
t.rand(True)
t.empty((True,))
t.randint(3, (True,))
t.unsqueeze(t.ones(2), dim=True)
t.ones(2, 3).sum(dim=True)
t.ones(2, 3).stride(True)
t.ones(2, 3).sort(0, True)[0]
t.ones(2, 3).sum(0, True)
t.ones(2, 3).max(0, True)[0]
t.zeros(2, False)
""".split("\n")[1:-1]


def answer(call, t, compiled=False):
    """The result as plain data, or the kind of error."""
    run = eval(f"lambda: {call}", {"t": t})
    if compiled:
        run = t.compile(run, backend="interpreter")
    try:
        found = run()
    except (TypeError, RuntimeError) as error:
        return TypeError if isinstance(error, TypeError) else RuntimeError
    parts = found if isinstance(found, tuple) else (found,)
    return [part.tolist() if hasattr(part, "tolist") else part for part in parts]


@pytest.mark.parametrize("call", CALLS)
def test_as_torch_does_it(call):
    wanted = answer(call, torch)
    assert answer(call, minitorch2) == wanted
    assert answer(call, minitorch2, compiled=True) == wanted

"""Writes into inputs: only memory that is written must be seen by one input alone."""

import pytest

import minitorch2 as torch


@pytest.mark.pure
def test_inputs_that_share_memory_are_fine_while_they_are_only_read():
    def step(parameter, x, y):
        with torch.no_grad():
            parameter.sub_((x * y).sum())
        return parameter * 2

    compiled = torch.compile(step, backend="interpreter", fullgraph=True)
    whole = torch.arange(6.0)
    one, other = torch.ones(3), torch.ones(3)
    want = step(one, whole[:-1], whole[1:])
    got = compiled(other, whole[:-1], whole[1:])
    assert got.tolist() == want.tolist() and one.tolist() == other.tolist()


@pytest.mark.pure
def test_a_written_input_that_another_sees_runs_as_python():
    def step(x, y):
        x.add_(1)
        return x * y

    compiled = torch.compile(step, backend="interpreter")
    assert compiled(torch.ones(2), torch.ones(2)).tolist() == [2.0, 2.0]
    whole = torch.ones(3)
    assert compiled(whole[:2], whole[1:]).tolist() == [4.0, 2.0]
    assert whole.tolist() == [2.0, 2.0, 1.0]
    assert [stopped.row.code for stopped in compiled.cache.breaks] == ["aliased-inputs"]

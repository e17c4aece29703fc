"""torch._logging.set_logs: artifacts of compilation on standard error."""

import logging

import pytest

import minitorch2 as torch
from minitorch2 import _logging, artifacts
from minitorch2.cli.stages import STAGES


@pytest.fixture(autouse=True)
def _no_logs_afterwards():
    yield
    torch._logging.set_logs()


def test_the_named_artifacts_are_printed(capsys):
    def program(x):
        y = torch.relu(x)
        print(end="")
        return y + 1

    torch._logging.set_logs(graph_breaks=True, output_code=True, dynamo=logging.DEBUG)
    torch.compile(program)(torch.ones(3))
    seen = capsys.readouterr().err
    assert "[output_code] " in seen and "def kernel_0(" in seen
    torch._logging.set_logs(graph_code=True)
    torch.compile(lambda x: x * 2)(torch.ones(3))
    seen = capsys.readouterr().err
    assert "[graph_code] " in seen and "mul(" in seen and "[output_code]" not in seen


def test_without_names_nothing_is_printed(capsys):
    torch._logging.set_logs(guards=True)
    torch._logging.set_logs()
    torch.compile(lambda x: x + 3)(torch.ones(3))
    assert capsys.readouterr().err == "" and not artifacts.listening()


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="unknown log 'graph_brakes'"):
        torch._logging.set_logs(graph_brakes=True)


def test_every_stage_named_is_one():
    known = {stage.name for stage in STAGES}
    assert {stage for stages in _logging.STAGES.values() for stage in stages} <= known

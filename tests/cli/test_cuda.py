"""`mt2 explain --device cuda`: the kernels for a GPU, shown on a machine that has none."""

import json

import pytest

from minitorch2.kernels.runtime import cuda
from tests.cli.commands import mt2

SCRIPT = """\
import torch


@torch.compile(options={"executor": "python"})
def weights(x):
    return torch.softmax(x * 0.5, -1)


x = torch.ones(2, 64, requires_grad=True)
weights(x).sum().backward()
"""


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cuda")
    (folder / "train.py").write_text(SCRIPT)
    file = folder / "events.json"
    result = mt2("explain", "--device", "cuda", "--stage", "cuda", "--json", file,
                 folder / "train.py")  # fmt: skip
    assert result.returncode == 0, result.stderr
    return json.loads(file.read_text())["events"]


def test_both_halves_are_shown_at_every_stage(events):
    stages = [event["stage"] for event in events]
    assert stages == ["cuda.schedule", "cuda.source", "cuda.ptx"] * 2
    assert [event["facts"]["graph"].rpartition("_")[2] for event in events[::3]] == [
        "forward", "backward",
    ]  # fmt: skip


def test_the_schedule_and_the_source_name_the_user_s_line(events):
    schedule, source = events[0], events[1]
    assert "in 16 threads, i1e in 4 vector {  # train.py:6" in schedule["text"]
    assert "load_4(" in source["text"] and "warp_sum(" in source["text"]
    assert "train.py:6" in str(source["facts"]["lines"])


def test_ptx_or_how_to_get_it(events):
    text = events[2]["text"]
    if cuda.available():
        assert "ld.global.v4.f32" in text and "kernel_0 on sm_90: " in text
    else:
        assert text.endswith(cuda.INSTALL)

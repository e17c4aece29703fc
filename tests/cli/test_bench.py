"""mt2 bench: every workload compiles and runs, and the table says how near the limits it comes."""

import numpy
import pytest
from click.testing import CliRunner

import minitorch2
from minitorch2.cli import bench
from minitorch2.cli.bench_workloads import WORKLOADS
from minitorch2.cli.main import main
from minitorch2.config import config
from minitorch2.kernels.runtime import roofline
from minitorch2.kernels.runtime.buffers import empty
from minitorch2.kernels.runtime.roofline import Limits, nontemporal_triad, plain_triad

pytestmark = pytest.mark.numba


def test_names_are_different_and_kinds_are_many():
    names = [each.name for each in WORKLOADS]
    assert len(set(names)) == len(names) >= 60
    for word in ("f64", "bf16", "f16", "i64", "bool", "transposed", "strided", "777", "100000"):
        assert any(word in name for name in names), word


@pytest.mark.parametrize("workload", WORKLOADS[::7], ids=lambda each: each.name)
def test_compiled_is_eager(workload):
    function, arguments = workload.make()
    minitorch2.manual_seed(0)
    wanted = function(*arguments)
    minitorch2.manual_seed(0)
    found = minitorch2.compile(function)(*arguments)
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for ours, theirs in pairs:
        numpy.testing.assert_allclose(
            ours.array.astype("f8"), theirs.array.astype("f8"), rtol=2e-2, atol=1e-3
        )


def test_the_table(monkeypatch):
    monkeypatch.setattr(bench, "measured", lambda: Limits(10.0, 20.0, 100.0))
    monkeypatch.setattr(config, "threads", 1)
    result = CliRunner().invoke(main, ["bench", "--seconds", "0.01", "any bool", "cumsum"])
    assert result.exit_code == 0, result.output
    limits, head, *rows = result.output.splitlines()
    assert "non-temporal 20.0 GB/s" in limits and "of bandwidth" in head
    by_name = {row.split("  ")[0].strip(): row.split() for row in rows}
    assert by_name["any bool 2000x1000"][-3].endswith("%") and "MB" in rows[-1] + rows[0]
    assert by_name["cumsum f32 2000x1000"][-1] == "-"  # numpy does a part of it


def test_the_list():
    result = CliRunner().invoke(main, ["bench", "--list", "softmax"])
    assert result.exit_code == 0 and result.output.count("softmax") >= 8


@pytest.mark.parametrize("triad", [plain_triad, nontemporal_triad])
def test_triads_compute_a_triad(triad):
    launch = triad()
    if launch is None:
        pytest.skip("launches are not native here")
    a, b, y = (empty((1600,), numpy.dtype("f4")) for _ in range(3))
    a[:], b[:], y[:] = numpy.arange(1600), 2.0, 0.0
    launch(1600, (a, b, y), (), (), 100.0)
    numpy.testing.assert_array_equal(y, a + numpy.float32(3.0) * b)


def test_limits_are_measured():
    limits = roofline.measured(elements=1 << 16, rounds=2, side=64)
    assert limits.plain > 0 and limits.flops > 0
    assert limits.bandwidth == max(limits.plain, limits.nontemporal)


@pytest.mark.parametrize("words", [["nosuch"], ["softmax", "nosuch"], ["--list", "nosuch"]])
def test_a_word_in_no_name_is_an_error_that_says_what_there_is(words):
    result = CliRunner().invoke(main, ["bench", *words])
    assert result.exit_code == 2
    assert "no workload has 'nosuch' in its name" in result.output
    for kind in ("softmax", "max and argmax", "conv 3x3", "mt2 bench --list"):
        assert kind in " ".join(result.output.split())

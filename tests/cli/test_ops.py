"""`mt2 ops`: every row of the table, and one row in full."""

import pytest
from click.testing import CliRunner

from minitorch2.cli.main import main
from minitorch2.cli.ops import MEANINGS, compared
from minitorch2.ops.table import KINDS, all_ops

pytestmark = pytest.mark.pure


def run(*arguments: str, code: int = 0, width: int = 100) -> str:
    done = CliRunner().invoke(main, ["ops", *arguments], env={"COLUMNS": str(width)})
    assert done.exit_code == code
    return done.output


@pytest.mark.parametrize("width", [80, 100])
def test_every_op_is_listed(width):
    text = run(width=width)
    for op in all_ops():
        assert f"  {op.name}(" in text
    assert max(map(len, text.splitlines())) <= width


def test_one_kind():
    text = run("--kind", "view")
    assert "VIEW (" in text and "POINTWISE" not in text and "transpose(" in text


def test_one_row():
    text = run("tanh")
    table, short_way = text.split("\n\n", 1)
    assert "def tanh(self):\n" in short_way and "return result" in short_way
    assert "short way" not in run("gelu")
    rows = dict(line.split(None, 1) for line in table.splitlines())
    assert rows["signature"] == "tanh(Operand self) -> Tensor"
    assert rows["saves"] == "result"
    assert rows["vjp"].startswith("minitorch2/ops/")
    assert run("torch.tanh") == text


def test_a_name_that_is_not_there():
    assert "nearest: " in run("tnah", code=1)


def test_every_kind_has_a_meaning():
    assert set(MEANINGS) == set(KINDS)


def test_coverage_lists_what_was_compared():
    """Every row that is listed is in the table, and the totals are those of the list."""
    found = compared()
    assert set(found) <= {op.name for op in all_ops()}
    assert len(found) > 300
    text = run("--coverage")
    assert "torch.add  pointwise, gradient, kernels" in text
    total = sum(int(count) for _, count, _ in found.values())
    assert f"{len(found)} rows, {total} comparisons with torch, no mismatch" in text


def test_the_coverage_of_one_row():
    text = run("--coverage", "torch.relu")
    dtypes, count, what = compared()["relu"]
    assert text.splitlines()[0].startswith("torch.relu  pointwise")
    assert f"1 row, {count} comparisons with torch" in text and dtypes in text
    assert "nearest: " in run("--coverage", "rleu", code=1)

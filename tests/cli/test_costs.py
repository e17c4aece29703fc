"""Numbers in columns: short, aligned, and nothing where nothing is known."""

import pytest

from minitorch2.cli.costs import short, write_costs, write_launches
from minitorch2.cli.render import Page

LAUNCHES = [
    {"part": "forward", "name": "matmul_0", "lines": ["a.py:3"], "launches": 3,
     "bytes_read": 4000, "bytes_written": 2000, "flops": 3_000_000, "ms": 1.5, "first_ms": 1.25,
     "gb_per_s": 0.016},
    {"part": "forward", "name": "eager_0", "lines": ["a.py:4", "a.py:5"], "launches": 3,
     "ms": 0.25, "first_ms": 0.125, "gb_per_s": None},
]  # fmt: skip
COSTS = [
    {"name": "kernel_0", "lines": ["a.py:3"], "bytes_read": 4096, "bytes_written": 0, "flops": 512},
    {"name": "kernel_1", "lines": ["a.py:3"], "bytes_read": "4*s0", "bytes_written": "8*s0",
     "flops": "s0"},
    {"name": "eager_0", "lines": []},
]  # fmt: skip


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (999_499, "999 kB"), (999_500, "1 MB"),
     (1_234_567, "1.23 MB"), (5 * 10**12, "5 TB"), ("4*s0", "4*s0"), (None, "-")],
)  # fmt: skip
def test_short(number, text):
    assert short(number, "B") == text


def test_tables(tmp_path, golden):
    path = tmp_path / "page.txt"
    with path.open("w", encoding="utf-8") as file:
        page = Page(file, 100)
        write_costs(page, COSTS)
        page.blank()
        write_launches(page, LAUNCHES)
    golden(path.read_text(encoding="utf-8"))

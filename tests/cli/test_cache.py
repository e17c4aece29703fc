"""`mt2 cache`: shows and clears the folder of compiled kernels, and nothing else in it."""

import pytest
from click.testing import CliRunner

from minitorch2.cli import doctor
from minitorch2.cli.cache import size_text
from minitorch2.cli.main import main
from minitorch2.kernels.runtime import cache as disk

pytestmark = pytest.mark.pure


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("MT2_CACHE_DIR", str(tmp_path))
    return disk.folder()


def test_an_empty_cache(folder):
    done = CliRunner().invoke(main, ["cache"], env={"COLUMNS": "200"})
    assert done.exit_code == 0
    assert "(not there yet)" in done.output and "kernels   0" in done.output


def test_show_and_clear(folder):
    for number in range(3):
        disk.store(f"{number:064x}", b"code", "source")
    disk.store_program(f"{9:064x}", {"parts": []})
    (folder / "notes.txt").write_text("mine")
    shown = CliRunner().invoke(main, ["cache"]).output
    assert "kernels   3" in shown and "programs  1" in shown
    [check] = doctor._cache()
    assert check.found.startswith(f"{folder}: 3 kernels, 1 programs, ")
    done = CliRunner().invoke(main, ["cache", "clear"])
    assert done.exit_code == 0 and done.output.startswith("3 kernels removed from ")
    assert ", 1 programs (" in done.output
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    assert "kernels   0" in CliRunner().invoke(main, ["cache"]).output


def test_sizes():
    texts = [size_text(size) for size in (0, 1023, 1024, 5 << 20, 3 << 30)]
    assert texts == ["0 bytes", "1023 bytes", "1.0 KiB", "5.0 MiB", "3.0 GiB"]

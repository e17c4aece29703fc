"""What every test gets: its own kernel cache, golden files, and parity only where torch is.

- `MT2_CACHE_DIR` points to a folder made for this run (shared among xdist workers), so a test
  neither reads what an earlier run compiled nor leaves anything behind.
- `golden(text)` compares text with `tests/golden/<test module>/<test name>.<ext>`;
  `pytest --update-golden` writes the files, and the diff of a change is then its effect.
- Tests marked `torch` (all of tests/parity/ is) are left out where torch is missing, and the
  summary says how to add them; under `MT2_REQUIRE_TORCH=1` a missing torch is an error.
"""

import difflib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

GOLDEN = Path(__file__).parent / "golden"
HAVE_TORCH = importlib.util.find_spec("torch") is not None
ADD_PARITY = "parity with torch left out; to add it: pip install -e '.[parity]'"

# No deadline, because a first call compiles; the same examples on every run of CI.
hypothesis.settings.register_profile(
    "house", deadline=None, derandomize=os.environ.get("CI") == "true"
)
hypothesis.settings.load_profile("house")

collect_ignore = [] if HAVE_TORCH else ["parity"]


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is one of xdist's workers."""
    return hasattr(config, "workerinput")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("MT2_REQUIRE_TORCH") == "1" and not HAVE_TORCH:
        raise pytest.UsageError("MT2_REQUIRE_TORCH=1, but torch is not installed")
    if is_worker(config):
        return
    folder = tempfile.mkdtemp(prefix="mt2-tests-")
    os.environ["MT2_CACHE_DIR"] = folder
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # xdist's workers must agree on the names, and no two processes agree on an address.
    unstable = [item.nodeid for item in items if re.search(r"\bat 0x[0-9a-f]+", item.nodeid)]
    if unstable:
        raise pytest.UsageError(f"a test's name holds an address, give it ids=: {unstable[0]}")
    parity = [item for item in items if "parity" in item.path.parts]
    for item in parity:
        item.add_marker(pytest.mark.torch)
    if HAVE_TORCH:
        return
    left_out = [item for item in items if item.get_closest_marker("torch")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not HAVE_TORCH:
        terminalreporter.write_line(ADD_PARITY)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Compare text with the golden file of this test: `golden(text, ext="txt", per_python=False)`.

    A test with several files names each with `part`; `per_python` keeps one file for each Python
    version, for text that bytecode shows through. `text` may be a function of what the file holds.
    """

    def check(
        text: str | Callable[[str], str], ext: str = "txt", part: str = "", per_python: bool = False
    ) -> None:
        name = re.sub(r"[^\w.-]+", "-", request.node.name).strip("-")
        if part:
            name += f".{part}"
        if per_python:
            name += f".py{sys.version_info.major}{sys.version_info.minor}"
        path = GOLDEN / request.path.stem / f"{name}.{ext}"
        if callable(text):
            text = text(path.read_text(encoding="utf-8") if path.exists() else "")
        text = text.rstrip("\n") + "\n"
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        shown = path.relative_to(GOLDEN.parent.parent).as_posix()
        if not path.exists():
            pytest.fail(f"{shown} is missing; look at what `pytest --update-golden` writes")
        expected = path.read_text(encoding="utf-8")
        if text != expected:
            diff = difflib.unified_diff(
                expected.splitlines(), text.splitlines(), shown, "this run", lineterm=""
            )
            pytest.fail("\n".join(diff) + "\nif this is meant: pytest --update-golden")

    return check

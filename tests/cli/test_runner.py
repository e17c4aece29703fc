"""Scripts run as python runs them: main module, arguments, tracebacks, exit codes, signals."""

import os
import signal
import subprocess
import sys

import pytest

from tests.cli.commands import COMMAND, environment, mt2, python, started

pytestmark = pytest.mark.pure
LOOKS = """\
import sys, helper, pickle, inspect
from dataclasses import dataclass

@dataclass
class Point:
    x: int

def function(): pass

print(__name__, __file__, __package__, __spec__, sys.argv, sys.path[0])
print(pickle.loads(pickle.dumps(Point(3))), sys.modules["__main__"].Point is Point)
print(inspect.getsource(function), helper.VALUE, __builtins__)
"""
RAISES = """\
def inner(x):
    return x + 1

try:
    inner(None)
except TypeError as error:
    raise ValueError("größe") from error
"""


@pytest.fixture
def write(tmp_path):
    def write(text, name="script.py"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_script_cannot_tell_the_difference(write, tmp_path):
    write("VALUE = 7", "helper.py")
    write(LOOKS)
    arguments = ("script.py", "--steps", "3", "--help", "--", "-x")
    ours = mt2("run", "--no-as-torch", *arguments, folder=tmp_path)
    theirs = python(*arguments, folder=tmp_path)
    assert ours.stderr == theirs.stderr == ""
    assert ours.stdout == theirs.stdout
    assert "--help" in ours.stdout


@pytest.mark.parametrize(
    "text",
    [
        RAISES,
        "def broken(:\n    pass\n",
        "import nowhere_to_be_found",
        "raise ExceptionGroup('two', [ValueError(1), TypeError(2)])",
        "import sys\nsys.excepthook = lambda *a: print(a[0], file=sys.stderr)\n1/0",
    ],
    ids=["chained", "syntax", "import", "group", "hook"],
)
def test_tracebacks_are_unchanged(write, text):
    path = write(text)
    ours, theirs = mt2("run", path), python(path)
    assert ours.stderr == theirs.stderr
    assert ours.returncode == theirs.returncode == 1


@pytest.mark.parametrize("ending", ["sys.exit(3)", "sys.exit()", "sys.exit('why')", "exit(0)"])
def test_exit_codes_are_the_script_s(write, ending):
    path = write(f"import sys\nprint('before')\n{ending}")
    ours, theirs = mt2("run", path), python(path)
    assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout)
    assert ours.stderr == theirs.stderr


def test_import_torch_gives_minitorch2(write):
    path = write("import torch, minitorch2\nprint(torch is minitorch2, torch.ones(2).sum().item())")
    assert mt2("run", path).stdout == "True 2.0\n"


@pytest.mark.parametrize("command", ["run", "explain"])
def test_interrupting_is_clean(write, command):
    path = write("import time\nprint('ready', flush=True)\nwhile True:\n    time.sleep(0.01)\n")
    process = started(command, path)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in output + errors
    assert "interrupted at script.py:" in output + errors


def test_a_script_that_writes_into_a_closed_pipe_ends_quietly(write):
    process = started("run", write("while True: print('y' * 1000)"))
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=60) == 141
    assert process.stderr.read() == ""
    process.stderr.close()


def test_a_child_process_prints_no_report(write):
    text = "import os, sys\npid = os.fork()\nif pid == 0: sys.exit(4)\n"
    path = write(text + "print('child', os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))")
    done = mt2("explain", path)
    assert done.returncode == 0
    assert done.stdout.startswith("child 4\n")
    assert done.stdout.count("Nothing was compiled") == 1


PRINTS = "import sys, helper\nprint(__name__, sys.argv, helper.VALUE)\nsys.exit(3)\n"


def test_standard_input_is_a_script(write, tmp_path):
    """As for `python -`."""
    write("VALUE = 7", "helper.py")
    done = [
        subprocess.run([*command, "-", "--steps"], input=PRINTS, capture_output=True, text=True,
                       cwd=tmp_path, env=environment(), check=False)
        for command in ([*COMMAND, "run"], [sys.executable])
    ]  # fmt: skip
    assert done[0].stdout == done[1].stdout != "" and done[0].returncode == done[1].returncode == 3


COMPILED = "import torch\n@torch.compile\ndef f(x):\n    return x * 2\nprint(f(torch.ones(2)))\n"


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="no /dev/fd here")
@pytest.mark.parametrize(
    "command, says",
    [("run", "tensor([2., 2.])"), ("explain --stage capture.graph", "mul(%x, 2)"),
     ("times", "compiling"), ("bisect", "nothing is wrong")],
)  # fmt: skip
def test_a_pipe_is_a_script(command, says):
    """Such as `<(...)` of a shell: it can be read only once."""
    reader, writer = os.pipe()
    os.write(writer, COMPILED.encode())
    os.close(writer)
    done = subprocess.run(
        [*COMMAND, *command.split(), f"/dev/fd/{reader}"], capture_output=True, text=True,
        pass_fds=[reader], env=environment(), check=False,
    )  # fmt: skip
    os.close(reader)
    assert done.returncode == 0 and says in done.stdout, done.stderr

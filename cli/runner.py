"""Runs a script as `python script.py` would, inside this process.

In: the script's path (- for standard input) and its arguments. Out: an Outcome: the exit code, and
how it ended. The script is `__main__`, `sys.argv` and `sys.path[0]` are its own, and `import torch`
gives it minitorch2 when asked to. An exception is shown as Python shows it, without any frame of
ours.

    outcome = run_script("train.py", ("--steps", "3"))
    sys.exit(outcome.code)

Source: CPython's runpy and Lib/pdb.py run scripts the same way.
"""

import builtins
import contextlib
import importlib.machinery
import importlib.util
import linecache
import os
import select
import sys
import traceback
import types
from dataclasses import dataclass, replace

from minitorch2.compat import install_as_torch

INTERRUPTED = 128 + 2  # as a shell reports a process ended by SIGINT
STDIN = "<stdin>"
BROKEN_PIPE = 128 + 13  # by SIGPIPE


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a script ended: 'finished', 'exited', 'raised', 'interrupted' or 'pipe closed'.

    `in_child`: it ended in a process that the script forked. `said`: what was raised, in one line,
    with the script's own line.
    """

    code: int
    ending: str
    detail: str = ""
    in_child: bool = False
    said: str = ""


def run_script(script: str, arguments: tuple[str, ...], as_torch: bool = True) -> Outcome:
    """Run a script to its end, whatever the end is."""
    if as_torch:
        install_as_torch()
    process = os.getpid()
    path = STDIN if script == "-" else os.path.abspath(script)
    outcome = _run(path, [script, *arguments])
    return replace(outcome, in_child=os.getpid() != process)


def _run(path: str, argv: list[str]) -> Outcome:
    module = _become_main(path, argv)
    try:
        code = compile(_text_of(path), path, "exec", dont_inherit=True)
        exec(code, module.__dict__)
        return Outcome(0, "finished")
    except SystemExit as leaving:
        return _left(leaving)
    except KeyboardInterrupt as signal:
        return Outcome(INTERRUPTED, "interrupted", _place(signal, path))
    except BaseException as error:
        if isinstance(error, BrokenPipeError) and _reader_is_gone():
            return Outcome(BROKEN_PIPE, "pipe closed")
        _show(error, path)
        return Outcome(1, "raised", type(error).__name__, said=_said(error, path))


def read_script(path: str) -> bytes:
    """The script as it stands in a file, in a pipe or, for '-', in standard input."""
    if path in (STDIN, "-"):
        return sys.stdin.buffer.read()
    with open(path, "rb") as file:
        return file.read()


def _text_of(path: str) -> bytes:
    """The script; what can be read only once is kept where tracebacks look for lines."""
    text = read_script(path)
    if not os.path.isfile(path):
        with contextlib.suppress(SyntaxError, UnicodeDecodeError):  # told by compile()
            lines = importlib.util.decode_source(text).splitlines(keepends=True)
            linecache.cache[path] = (len(text), None, lines, path)
    return text


def _become_main(path: str, argv: list[str]) -> types.ModuleType:
    """Make this process look like `python script.py`.

    It stays so after the script's end: threads and atexit handlers of the script still run.
    """
    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    module.__dict__.update(__cached__=None, __builtins__=builtins)
    sys.modules["__main__"] = module
    sys.argv[:] = argv
    if not sys.flags.safe_path:
        sys.path[:1] = [os.path.dirname(os.path.realpath(path))]
    return module


def _left(leaving: SystemExit) -> Outcome:
    """What `sys.exit(...)` means as an exit code: text goes to stderr and counts as 1."""
    if leaving.code is None or isinstance(leaving.code, int):
        code = leaving.code or 0
        return Outcome(code, "exited" if code else "finished", str(code))
    print(leaving.code, file=sys.stderr)
    return Outcome(1, "exited", "1")


def _own_frames_off(error: BaseException, path: str) -> types.TracebackType | None:
    """The traceback from the script's first frame on; None for an error before it ran."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != path:
        trace = trace.tb_next
    return trace


def _show(error: BaseException, path: str) -> None:
    sys.stdout.flush()
    trace = _own_frames_off(error, path)
    sys.excepthook(type(error), error.with_traceback(trace), trace)
    sys.stderr.flush()


def _said(error: BaseException, path: str) -> str:
    """The error's last line, as Python prints it, and where in the script that was."""
    text = traceback.format_exception_only(error)[-1].strip().partition("\n")[0]
    place = _place(error, path)
    if isinstance(error, SyntaxError) and error.filename:
        place = f"{os.path.basename(error.filename)}:{error.lineno}"
    return f"{text} ({place})" if place else text


def _place(error: BaseException, path: str) -> str:
    """The script's own innermost line, such as 'train.py:41'."""
    trace, line = _own_frames_off(error, path), 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"{os.path.basename(path)}:{line}" if line else ""


def _reader_is_gone() -> bool:
    """Whether standard output is a pipe that nobody reads any more."""
    try:
        sys.stdout.flush()
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        return any(event & select.POLLERR for _, event in poll.poll(0))
    except BrokenPipeError:
        return True
    except (OSError, ValueError, AttributeError):  # no file, closed, or no poll on this system
        return False


def silence_output() -> None:
    """Point standard output to nowhere: its reader is gone, and Python flushes it at exit."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)

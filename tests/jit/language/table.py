"""What capture makes of each language program: a table, kept in files, that a test compares.

    python -m tests.jit.language.table [AREA ...]      prints it, of containers or classes, say
    python -m pytest tests/jit/language/test_table.py --update-golden      writes the files anew

A line tells of one program, called twice: operations captured, graphs, compilations after the
first, how often the rest of a call ran as Python, the breaks by their codes, and the program. A
line that begins with versions is for those Pythons, every other one for all. In: a module of
programs. Out: its lines; or its file, with what this Python makes of the programs written into it.
"""

import importlib
import subprocess
import sys
from pathlib import Path

from minitorch2.artifacts import subscribe
from minitorch2.cli.counting import Counts
from tests.house import ROOT
from tests.jit.language.judging import Programs, compiled_calls

HEAD = "ops graphs again python breaks  program"
VERSIONS = ("3.11", "3.12", "3.13")
THIS = f"{sys.version_info.major}.{sys.version_info.minor}"
Told = dict[str, str]  # program -> what is told of it
Kept = dict[str, dict[str, str]]  # program -> version -> what is told of it


def areas() -> list[str]:
    """The names of the modules that hold programs."""
    files = sorted(Path(__file__).parent.glob("test_*.py"))
    return [file.stem.removeprefix("test_") for file in files if "Programs()" in file.read_text()]


def counted(area: str) -> Told:
    """What is told of each program of a module."""
    module = importlib.import_module(f"tests.jit.language.test_{area}")
    told = {}
    for programs in [each for each in vars(module).values() if isinstance(each, Programs)]:
        for name, (program, options) in programs.known.items():
            counts = Counts(name)
            with subscribe(counts):
                compiled_calls(program, options.get("calls", 2), "aot_eager")
            told[name] = line_of(counts)
    return told


def line_of(counts: Counts) -> str:
    """Five words of a program."""
    breaks = ",".join(f"{code}*{n}" if n > 1 else code for code, n in sorted(counts.breaks.items()))
    numbers = counts.ops, counts.graphs, counts.recompiles, sum(counts.fallbacks.values())
    return " ".join([*map(str, numbers), breaks or "-"])


def counted_apart(area: str) -> Told:
    """The same by another process, in which no test has changed what the programs work on."""
    command = [sys.executable, "-W", "ignore", "-m", __name__, area]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {name: kept[THIS] for name, kept in parsed(done.stdout).items()}


def merged(text: str, told: Told, version: str = THIS) -> str:
    """The text of a file, after what one Python makes of the programs is written into it.

    What the oldest Python tells is for all of them, unless a newer one has told otherwise.
    """
    kept, names = parsed(text), list(told)
    for name in set(kept).difference(told):
        if version == VERSIONS[0] and for_all(kept[name]):
            kept[name].clear()  # the program is no more
        kept[name].pop(version, None)
    for place, name in enumerate(names):
        if name not in kept:
            kept = _after(kept, names[place - 1] if place else None, name)
        alike = for_all(kept[name]) or set(kept[name].values()) <= {told[name]}
        one = version == VERSIONS[0] and alike
        kept[name] |= dict.fromkeys(VERSIONS if one else (version,), told[name])
    return "\n".join([HEAD, *written(kept)])


def for_all(lines: dict[str, str]) -> bool:
    """Whether all Pythons make the same of a program."""
    return len(lines) == len(VERSIONS) and len(set(lines.values())) == 1


def _after(kept: Kept, before: str | None, name: str) -> Kept:
    """A new program stands behind the one that stands before it in its module."""
    items = list(kept.items())
    place = list(kept).index(before) + 1 if before is not None else 0
    return dict([*items[:place], (name, {}), *items[place:]])


def parsed(text: str) -> Kept:
    """The programs of a file."""
    kept: Kept = {}
    for line in text.splitlines()[1:]:
        first, _, rest = line.partition(" ")
        versions = first.split("+") if "." in first else list(VERSIONS)
        *words, name = (rest if "." in first else line).split(" ", 5)
        kept.setdefault(name, {}).update(dict.fromkeys(versions, " ".join(words)))
    return kept


def written(kept: Kept) -> list[str]:
    """The lines of a file."""
    lines = []
    for name, told in kept.items():
        if for_all(told):
            lines.append(f"{told[VERSIONS[0]]} {name}")
            continue
        for each in dict.fromkeys(told[version] for version in sorted(told)):
            versions = "+".join(version for version in sorted(told) if told[version] == each)
            lines.append(f"{versions} {each} {name}")
    return lines


def main() -> None:
    """Print the tables of the areas that the command line names, or of all."""
    print(HEAD)
    for area in sys.argv[1:] or areas():
        for name, told in counted(area).items():
            print(f"{told} {name}")


if __name__ == "__main__":
    main()

"""`mt2 cache`: where compiled kernels are kept, how many there are, and how to be rid of them.

In: the cache folder. Out: its path, entries and size; `mt2 cache clear` empties it.

    mt2 cache
    mt2 cache clear

Source: minitorch2.kernels.runtime.cache describes the folder; `pip cache` is the model.
"""

import sys
from dataclasses import dataclass

import click

from minitorch2.cli.render import Page
from minitorch2.kernels.runtime import cache as disk

KINDS = ("kernels", "programs")


@dataclass(frozen=True, slots=True)
class Entry:
    """One compiled kernel, or one program made of kernels: its key, and the bytes of its files."""

    key: str
    size: int
    kind: str = "kernels"


@click.group(
    invoke_without_command=True, short_help="Show the folder of compiled kernels, or empty it."
)
@click.pass_context
def cache(context: click.Context) -> None:
    """Show the folder of compiled kernels; `mt2 cache clear` empties it."""
    if context.invoked_subcommand is not None:
        return
    found = entries()
    page = Page(sys.stdout)
    rows = [
        ("folder", str(disk.folder()) + ("" if disk.folder().is_dir() else " (not there yet)")),
        *((kind, str(count)) for kind, count in counts(found).items()),
        ("size", size_text(sum(entry.size for entry in found))),
        ("at most", f"{size_text(int(disk.most_bytes()))} (MT2_CACHE_MB); what is used goes last"),
    ]
    page.table(rows, ("bold", ""))
    page.blank()
    page.write("Each kernel is <key>.o (machine code) beside <key>.py (its source).", "dim", 2)
    page.write("Each program is <key>.json: all that leads from a graph to kernels.", "dim", 2)
    page.write("Another folder: MT2_CACHE_DIR=FOLDER. Empty it: mt2 cache clear", "dim", 2)


@cache.command()
def clear() -> None:
    """Remove every kernel and program; they are compiled again when they are needed."""
    found = entries()
    for entry in found:
        disk.forget(entry.key)
    left = entries()
    gone = [entry for entry in found if entry not in left]
    removed = size_text(sum(entry.size for entry in gone))
    kernels, programs = counts(gone).values()
    click.echo(f"{kernels} kernels removed from {disk.folder()}, {programs} programs ({removed})")
    if left:
        click.echo(f"{len(left)} could not be removed: is the folder yours to write?", err=True)
        sys.exit(1)


def entries() -> list[Entry]:
    """The kernels and programs in the cache folder; none where it is missing or closed."""
    folder = disk.folder()
    found = []
    try:
        for code in sorted(folder.glob("*.o")):
            beside = code.with_suffix(".py")
            files = [code, beside] if beside.exists() else [code]
            found.append(Entry(code.stem, sum(file.stat().st_size for file in files)))
        for record in sorted(folder.glob("*.json")):
            found.append(Entry(record.stem, record.stat().st_size, "programs"))
    except OSError:
        return found
    return found


def counts(found: list[Entry]) -> dict[str, int]:
    """How many entries there are of each kind."""
    return {kind: sum(entry.kind == kind for entry in found) for kind in KINDS}


def counted(found: list[Entry]) -> str:
    """The same in words: '3 kernels, 1 programs'."""
    return ", ".join(f"{count} {kind}" for kind, count in counts(found).items())


def size_text(size: int) -> str:
    """A number of bytes, for people.

    >>> size_text(2048)
    '2.0 KiB'
    """
    amount = float(size)
    for unit in ("bytes", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"

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


@dataclass(frozen=True, slots=True)
class Entry:
    """One compiled kernel: its key, and the bytes of its code and its source."""

    key: str
    size: int


@click.group(invoke_without_command=True)
@click.pass_context
def cache(context: click.Context) -> None:
    """Show the folder of compiled kernels; `mt2 cache clear` empties it."""
    if context.invoked_subcommand is not None:
        return
    found = entries()
    page = Page(sys.stdout)
    rows = [
        ("folder", str(disk.folder()) + ("" if disk.folder().is_dir() else " (not there yet)")),
        ("kernels", str(len(found))),
        ("size", size_text(sum(entry.size for entry in found))),
    ]
    page.table(rows, ("bold", ""))
    page.blank()
    page.write("Each kernel is <key>.o (machine code) beside <key>.py (its source).", "dim", 2)
    page.write("Another folder: MT2_CACHE_DIR=FOLDER. Empty it: mt2 cache clear", "dim", 2)


@cache.command()
def clear() -> None:
    """Remove every compiled kernel; they are compiled again when they are needed."""
    found = entries()
    for entry in found:
        disk.forget(entry.key)
    left = len(entries())
    removed = [entry.size for entry in found]
    click.echo(
        f"{len(found) - left} kernels removed from {disk.folder()} ({size_text(sum(removed))})"
    )
    if left:
        click.echo(f"{left} could not be removed: is the folder yours to write?", err=True)
        sys.exit(1)


def entries() -> list[Entry]:
    """The kernels in the cache folder, by key; none where the folder is missing or closed."""
    folder = disk.folder()
    found = []
    try:
        for code in sorted(folder.glob("*.o")):
            beside = code.with_suffix(".py")
            files = [code, beside] if beside.exists() else [code]
            found.append(Entry(code.stem, sum(file.stat().st_size for file in files)))
    except OSError:
        return found
    return found


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

"""What was compiled, on disk: kernels and whole programs, found by what went into them.

In: a key (hex) and, to store, object code with its source. Out: the object code, or None. An
entry is `<key>.o` (a magic line, the SHA-256 of the rest, the code) beside `<key>.py`, the kernel
as text to read or to debug. A program's entry is `<key>.json`, with the checksum in its first line.
Files are written whole or not at all (temporary name, then rename), so any number of processes may
share a folder. What is damaged is rebuilt; a folder that cannot be written costs one warning and no
more. A folder that holds more than `most_bytes` loses what was not used for longest: an entry's
time is that of its last use, to the day.

Example: `store(key, data, source)`, later and in another process `load(key) == data`.

Source: https://specifications.freedesktop.org/basedir-spec/latest/
"""

import hashlib
import json
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

MAGIC = b"minitorch2 object 1\n"
DAY = 24 * 3600.0
LOOK_AFTER = 16 << 20  # bytes that this process writes between two looks at the whole folder
LEFT = 0.75  # of the most, after old entries were removed
_warned: set[str] = set()


class CacheWarning(UserWarning):
    """The kernel cache cannot be used; kernels are compiled again in each process."""


def folder() -> Path:
    """The cache folder: MT2_CACHE_DIR, else `minitorch2` in the user's cache folder."""
    named = os.environ.get("MT2_CACHE_DIR")
    if named:
        return Path(named).expanduser() / "kernels"
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "minitorch2" / "kernels"


def load(key: str) -> bytes | None:
    """The object code stored under `key`; None when absent or damaged."""
    place = folder() / f"{key}.o"
    try:
        stored = place.read_bytes()
    except OSError:
        return None
    _note_use(place)
    head = len(MAGIC)
    checksum, data = stored[head : head + 32], stored[head + 32 :]
    if stored[:head] != MAGIC or hashlib.sha256(data).digest() != checksum:
        return None
    return data


def store(key: str, data: bytes, source: str) -> None:
    """Keep object code and its source under `key`; warn once when the folder refuses."""
    place = folder()
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_private(place)
        _write(place, f"{key}.py", source.encode())
        _write(place, f"{key}.o", MAGIC + hashlib.sha256(data).digest() + data)
        _bounds.written(place, len(data) + len(source))
    except OSError as problem:
        _warn(place, problem)


def load_program(key: str) -> Any:
    """The record stored under `key`; None when absent, damaged, or another user's to write.

    A record holds Python source that will run, so the folder must be ours or root's alone.
    """
    place = folder()
    try:
        if not _is_trusted(place):
            return None
        head, _, data = (place / f"{key}.json").read_bytes().partition(b"\n")
    except OSError:
        return None
    _note_use(place / f"{key}.json")
    if head != _program_head(data):
        return None
    return json.loads(data)


def store_program(key: str, record: Any) -> None:
    """Keep a record of plain data under `key`; warn once when the folder refuses."""
    place, data = folder(), json.dumps(record, separators=(",", ":")).encode()
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_private(place)
        _write(place, f"{key}.json", _program_head(data) + b"\n" + data)
        _bounds.written(place, len(data))
    except OSError as problem:
        _warn(place, problem)


def _program_head(data: bytes) -> bytes:
    return b"minitorch2 program 1 " + hashlib.sha256(data).hexdigest().encode()


def _is_trusted(place: Path) -> bool:
    if os.name != "posix":
        return True
    status = place.stat()
    return status.st_uid in (os.getuid(), 0) and not status.st_mode & 0o022


def most_bytes() -> float:
    """How much the folder may hold: MT2_CACHE_MB, else a gigabyte."""
    try:
        return float(os.environ.get("MT2_CACHE_MB") or 1024) * 2**20
    except ValueError:
        return 2.0**30


def _note_use(place: Path) -> None:
    """Set an entry's time to now, unless that was done today."""
    try:
        if time.time() - place.stat().st_mtime > DAY:
            os.utime(place)
    except OSError:
        pass  # another process has removed it, or the folder is read-only


class _Bounds:
    """When this process looks at the whole folder: at its first entry, then every LOOK_AFTER."""

    def __init__(self) -> None:
        self.left = 0

    def written(self, place: Path, size: int) -> None:
        """Note that so many bytes were written; remove old entries when it is time to look."""
        self.left -= size
        if self.left < 0:
            self.left = LOOK_AFTER
            evict(place, most_bytes())


_bounds = _Bounds()


def evict(place: Path, most: float) -> None:
    """Remove what was not used for longest, if the folder holds more than `most` bytes."""
    found: dict[str, list[os.stat_result]] = {}
    with os.scandir(place) as files:
        for file in files:
            try:
                found.setdefault(file.name.partition(".")[0], []).append(file.stat())
            except OSError:
                continue  # another process has removed it
    found.pop("", None)  # files that are being written
    total = sum(status.st_size for each in found.values() for status in each)
    if total <= most:
        return
    by_use = sorted(found, key=lambda key: max(status.st_mtime for status in found[key]))
    for key in by_use:
        forget(key)
        total -= sum(status.st_size for status in found[key])
        if total <= LEFT * most:
            return


def forget(key: str) -> None:
    """Remove an entry, as far as the folder allows."""
    for suffix in (".o", ".py", ".json"):
        try:
            (folder() / f"{key}{suffix}").unlink(missing_ok=True)
        except OSError:
            return


def _check_private(place: Path) -> None:
    """Machine code is run from here: nobody else may be able to write it."""
    if os.name != "posix":
        return
    status = place.stat()
    if status.st_uid != os.getuid():
        raise PermissionError(f"{place} belongs to another user")
    if status.st_mode & 0o022:
        place.chmod(0o700)


def _write(place: Path, name: str, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=place, prefix=f".{name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, place / name)
    except BaseException:
        os.unlink(temporary)
        raise


def _warn(place: Path, problem: OSError) -> None:
    if str(place) in _warned:
        return
    _warned.add(str(place))
    warnings.warn(
        f"the kernel cache {place} cannot be written ({problem.strerror or problem}); kernels "
        "are compiled again in each process. Set MT2_CACHE_DIR to a folder of your own.",
        CacheWarning,
        stacklevel=2,
    )

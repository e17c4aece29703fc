"""The disk cache survives damage, refusal and company, and keeps frontends apart."""

import errno
import os
import stat
import subprocess
import time

import numpy as np
import pytest

from minitorch2.kernels.runtime import cache, compile, pool
from minitorch2.kernels.runtime.signature import KernelSignature
from tests.kernels.runtime.processes import PRELUDE, command, environment, run

pytestmark = pytest.mark.numba
SOURCE = "def halve(lo, hi, x, y, status):\n    for i in range(lo, hi):\n"
SOURCE += "        y[i] = x[i] * f32(0.5)  # somewhere.py:3\n"
SIGNATURE = KernelSignature(("f32", "f32"))


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """An empty cache folder, and a function that compiles as a new process would."""
    monkeypatch.setenv("MT2_CACHE_DIR", str(tmp_path))

    def compiled() -> str:
        monkeypatch.setattr(compile, "_kernels", {})
        kernel = compile.compile_kernel(SOURCE, SIGNATURE)
        x, y = np.ones(100, np.float32), np.zeros(100, np.float32)
        kernel.launch(100, (x, y))
        assert (y == 0.5).all()
        return kernel.key

    return compiled


def test_an_entry_is_private_and_readable(fresh):
    key = fresh()
    names = sorted(os.listdir(cache.folder()))
    assert names == [f"{key}.o", f"{key}.py"]
    assert stat.S_IMODE(cache.folder().stat().st_mode) == 0o700
    text = (cache.folder() / f"{key}.py").read_text()
    assert "somewhere.py:3" in text
    namespace: dict = {}
    exec(text, namespace)
    x, y = np.ones(3, np.float32), np.zeros(3, np.float32)
    namespace["halve"](np.uint64(0), np.uint64(3), x, y, np.zeros(2, np.int64))
    assert (y == 0.5).all()


DAMAGES = {
    "empty": lambda data: b"",
    "truncated": lambda data: data[:-100],
    "head only": lambda data: data[:10],
    "flipped bit": lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
    "other file": lambda data: b"#!/bin/sh\n" * 50,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_rebuilt(fresh, damage):
    path = cache.folder() / f"{fresh()}.o"
    good = path.read_bytes()
    path.write_bytes(DAMAGES[damage](good))
    fresh()
    assert path.read_bytes() == good


def test_sound_code_that_will_not_load_is_rebuilt(fresh):
    key = fresh()
    cache.store(key, b"\x7fELF, but of another machine", "")
    fresh()
    data = cache.load(key)
    assert data is not None and b"another machine" not in data


def test_another_cpu_has_another_key(fresh, monkeypatch):
    key = fresh()
    monkeypatch.setattr(compile, "cpu", lambda: ("other", "+none"))
    compile.environment.cache_clear()
    try:
        assert compile.kernel_key(SOURCE, SIGNATURE) != key
    finally:
        compile.environment.cache_clear()


def test_a_folder_that_refuses_costs_one_warning(fresh, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MT2_CACHE_DIR", str(tmp_path / "file"))
    with pytest.warns(cache.CacheWarning, match="Set MT2_CACHE_DIR") as caught:
        fresh()
        fresh()
    assert len(caught) == 1


def test_a_full_disk_costs_one_warning_and_leaves_nothing(fresh, monkeypatch, tmp_path):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(cache.CacheWarning, match="No space left"):
        fresh()
    assert os.listdir(cache.folder()) == []


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_costs_one_warning(fresh, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.warns(cache.CacheWarning):
        fresh()
    tmp_path.chmod(0o700)


def test_a_folder_others_may_write_is_closed_to_them(fresh):
    cache.folder().mkdir(parents=True)
    cache.folder().chmod(0o777)
    fresh()
    assert stat.S_IMODE(cache.folder().stat().st_mode) == 0o700


def filled(tmp_path, monkeypatch, ages):
    """A folder with an entry of about 1000 bytes for each age in days, and its keys."""
    monkeypatch.setenv("MT2_CACHE_DIR", str(tmp_path))
    keys = []
    for number, age in enumerate(ages):
        key = f"{number:064x}"
        if number % 2:
            cache.store_program(key, {"text": "x" * 800})
        else:
            cache.store(key, b"x" * 500, "y" * 300)
        for file in cache.folder().glob(f"{key}.*"):
            os.utime(file, (time.time() - age * cache.DAY,) * 2)
        keys.append(key)
    return keys


def test_what_was_not_used_for_longest_goes_first(tmp_path, monkeypatch):
    keys = filled(tmp_path, monkeypatch, [3, 9, 1, 7, 5, 2, 8, 4])
    cache.evict(cache.folder(), 6000)
    left = {file.name.split(".")[0] for file in cache.folder().iterdir()}
    ages = dict(zip(keys, [3, 9, 1, 7, 5, 2, 8, 4], strict=True))
    assert 0 < len(left) < len(keys)
    gone = set(keys) - left
    assert max(ages[key] for key in left) < min(ages[key] for key in gone)
    assert sum(f.stat().st_size for f in cache.folder().iterdir()) <= 0.75 * 6000
    for key in left:
        assert cache.load(key) is not None or cache.load_program(key) is not None


def test_a_folder_within_its_bound_is_left_alone(tmp_path, monkeypatch):
    keys = filled(tmp_path, monkeypatch, [100, 200, 300])
    cache.evict(cache.folder(), 10_000)
    assert {file.name.split(".")[0] for file in cache.folder().iterdir()} == set(keys)


def test_use_makes_an_entry_new(tmp_path, monkeypatch):
    keys = filled(tmp_path, monkeypatch, [50, 60, 40, 30])
    assert cache.load(keys[0]) is not None and cache.load_program(keys[1]) is not None
    cache.evict(cache.folder(), 3000)
    left = {file.name.split(".")[0] for file in cache.folder().iterdir()}
    assert left == set(keys[:2])


def test_storing_looks_at_the_bound(tmp_path, monkeypatch):
    keys = filled(tmp_path, monkeypatch, [5, 4, 3])
    monkeypatch.setenv("MT2_CACHE_MB", "0.002")
    monkeypatch.setattr(cache, "_bounds", cache._Bounds())
    cache.store("f" * 64, b"x" * 500, "y" * 300)
    left = {file.name.split(".")[0] for file in cache.folder().iterdir()}
    assert "f" * 64 in left and keys[0] not in left
    monkeypatch.setenv("MT2_CACHE_MB", "many")
    assert cache.most_bytes() == 2**30


def test_entries_that_others_remove_meanwhile_cost_nothing(tmp_path, monkeypatch):
    keys = filled(tmp_path, monkeypatch, [5, 4, 3, 2])
    forget = cache.forget

    def slower(key):
        forget(key)
        forget(keys[1])
        forget(key)

    monkeypatch.setattr(cache, "forget", slower)
    cache.evict(cache.folder(), 1500)
    assert [file.name.split(".")[0] for file in cache.folder().iterdir()] in ([], [keys[3]])


def test_numba_is_imported_only_when_it_compiles(tmp_path, monkeypatch):
    script = "import sys; check(); print('numba' in sys.modules)"
    assert run(script, tmp_path) == "False\n"  # cold, by the translator
    assert run(script, tmp_path) == "False\n"  # warm
    monkeypatch.setenv("MT2_KERNEL_FRONTEND", "numba")
    assert run(script, tmp_path) == "True\n"
    assert run(script, tmp_path) == "False\n"
    monkeypatch.setenv("MT2_KERNEL_FRONTEND", "direct")
    assert run(script, tmp_path) == "False\n"
    texts = [path.read_text() for path in (tmp_path / "kernels").glob("*.py")]
    assert sum("def twice" in text for text in texts) == 2


def test_processes_share_a_folder(tmp_path):
    script = "for i in range(4):\n    SOURCE = SOURCE.replace('x[i] +', 'f32(1.0) * x[i] +')\n"
    script += "    check()\nprint('done')\n"
    running = [
        subprocess.Popen(
            command(script), env=environment(tmp_path), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )
        for _ in range(3)
    ]  # fmt: skip
    for process in running:
        out, err = process.communicate(timeout=120)
        assert (out, err) == ("done\n", "")
    names = os.listdir(tmp_path / "kernels")
    kinds = [name.rpartition(".")[2] for name in names if not name.startswith(".")]
    assert len(kinds) == len(names) and kinds.count("o") == kinds.count("py")
    assert len(kinds) == 8 + 2 * pool.supported()  # the pool's own code is kept there too


def test_the_default_folder_follows_the_platform(monkeypatch, tmp_path):
    monkeypatch.delenv("MT2_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cache.sys, "platform", "linux")
    assert cache.folder() == tmp_path / "minitorch2" / "kernels"
    assert "SOURCE" in PRELUDE

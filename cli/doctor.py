"""`mt2 doctor`: is this machine fit for minitorch2, and if not, what to do.

In: nothing. Out: one line for each thing that matters, a remedy under each problem, exit code 0
when there is none and 1 otherwise. Numba is looked up, never imported; `--try` compiles a kernel.

    mt2 doctor --try

Source: `brew doctor` and `python -m torch.utils.collect_env`.
"""

import ctypes.util
import importlib
import importlib.metadata
import os
import platform
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import numpy

from minitorch2.cli.cache import counted, entries, size_text
from minitorch2.cli.render import Page, many
from minitorch2.config import config
from minitorch2.kernels.runtime import cache as disk

OK, NOTE, PROBLEM = "ok", "note", "PROBLEM"
PYTHONS = ((3, 11), (3, 13))
VECTORS = ("avx512f", "avx2", "fma", "avx", "sse4.2", "neon", "sve")
SMALL_DISK = 200 << 20
ADD = """\
def add(lo, hi, b0, b1, status):
    for i in range(lo, hi):
        b1[i] = b0[i] + f32(1.0)
"""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: what was found, and what to do where that is not good."""

    name: str
    state: str
    found: str
    remedy: str = ""


@click.command()
@click.option("--try", "compiles", is_flag=True, help="Compile and run a small kernel too.")
def doctor(compiles: bool) -> None:
    """Check Python, packages, CPU, threads, CUDA and the kernel cache."""
    checks = [*_python(), *_packages(), *_cpu(), *_threads(), *_blas(), *_cuda(), *_cache()]
    if compiles:
        checks += _kernel()
    page = Page(sys.stdout)
    width = max(len(check.name) for check in checks)
    styles = {OK: "green", NOTE: "cyan", PROBLEM: "bold red"}
    for check in checks:
        head = f"  {check.state:<8}{check.name:<{width}}  "
        page.hanging(head, check.found, styles[check.state] if check.state == PROBLEM else "")
        if check.remedy:
            page.hanging(" " * len(head), check.remedy, "yellow")
    problems = sum(check.state == PROBLEM for check in checks)
    page.blank()
    page.put(many(problems, "problem") if problems else "no problems")
    sys.exit(1 if problems else 0)


def _python() -> Iterator[Check]:
    version = platform.python_version()
    found = f"{platform.python_implementation()} {version} ({sys.executable})"
    first, last = PYTHONS
    if sys.version_info[:2] < first or platform.python_implementation() != "CPython":
        yield Check("Python", PROBLEM, found, "Use CPython 3.11, 3.12 or 3.13.")
    elif sys.version_info[:2] > last:
        remedy = "Its bytecode is not known here: everything runs eagerly. Use 3.11 to 3.13."
        yield Check("Python", PROBLEM, found, remedy)
    else:
        yield Check("Python", OK, found)
    yield Check("system", OK, f"{platform.system()} {platform.release()}, {platform.machine()}")


def _packages() -> Iterator[Check]:
    """The required packages, against the versions that setup.cfg asks for."""
    for requirement in importlib.metadata.requires("minitorch2") or ():
        if "extra ==" in requirement:
            continue
        name, _, least = requirement.partition(">=")
        remedy = f"pip install '{requirement}'"
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            yield Check(name, PROBLEM, "is not installed", remedy)
            continue
        enough = _numbers(version) >= _numbers(least)
        found = version if enough else f"{version}, but {least} or newer is needed"
        yield Check(name, OK if enough else PROBLEM, found, "" if enough else remedy)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _cpu() -> Iterator[Check]:
    try:
        # By name, because a machine where this import fails is what the doctor is for.
        name, features = importlib.import_module("minitorch2.kernels.runtime.machine").cpu()
    except (ImportError, OSError) as error:
        yield Check("CPU", PROBLEM, f"llvmlite does not load: {error}", "Reinstall llvmlite.")
        return
    present = {part[1:] for part in features.split(",") if part.startswith("+")}
    vectors = [feature for feature in VECTORS if feature in present]
    found = f"{name}: {', '.join(vectors) or 'no vector instructions known here'}"
    slow = not present & {"avx2", "neon", "sve"}
    remedy = "Kernels run, but slowly: this CPU has no wide vector instructions." if slow else ""
    yield Check("CPU", NOTE if slow else OK, found, remedy)


def _threads() -> Iterator[Check]:
    total = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else total
    found = f"{config.threads or usable} for kernels; {usable} of {total} CPUs usable"
    limits = [f"{name}={os.environ[name]}" for name in THREAD_VARIABLES if name in os.environ]
    if limits:
        found += "; " + " ".join(limits)
    remedy = ""
    if usable < total:
        remedy = "This process may use only some CPUs (taskset, container): see `nproc`."
    yield Check("threads", NOTE if remedy else OK, found, remedy)


THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def _blas() -> Iterator[Check]:
    settings = numpy.show_config(mode="dicts") or {}
    blas = settings.get("Build Dependencies", {}).get("blas", {})
    name, version = blas.get("name", ""), blas.get("version", "")
    if "openblas" in name or "mkl" in name or "accelerate" in name:
        yield Check("BLAS", OK, f"{name} {version} (in numpy)")
    else:
        remedy = "Matrix products will be slow; pip's numpy brings OpenBLAS."
        yield Check("BLAS", NOTE, f"{name or 'none'} (in numpy)", remedy)


def _cuda() -> Iterator[Check]:
    driver = Path("/proc/driver/nvidia/version")
    remedy = "Kernels of this version run on the CPU; that is all it takes."
    if driver.exists() or ctypes.util.find_library("cuda"):
        yield Check("CUDA", NOTE, "an NVIDIA driver is there, but is not used", remedy)
    else:
        yield Check("CUDA", NOTE, "no NVIDIA driver found", remedy)


def _cache() -> Iterator[Check]:
    folder = disk.folder()
    found = entries()
    size = size_text(sum(entry.size for entry in found))
    text = f"{folder}: {counted(found)}, {size}"
    problem = _unwritable(folder)
    if problem:
        remedy = "Kernels compile again in every process. Set MT2_CACHE_DIR to a folder of yours."
        yield Check("cache", PROBLEM, f"{folder}: {problem}", remedy)
        return
    free = _free_space(folder)
    if free is not None and free < SMALL_DISK:
        remedy = "Make room, or set MT2_CACHE_DIR to a folder on another disk."
        yield Check("cache", PROBLEM, f"{text}; only {size_text(free)} free", remedy)
        return
    yield Check("cache", OK, text)


def _nearest_existing(folder: Path) -> Path:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def _unwritable(folder: Path) -> str:
    """Why a file cannot be made there (or in what exists above it); '' when it can."""
    place = _nearest_existing(folder)
    if not place.is_dir():
        return f"{place} is no folder"
    try:
        with tempfile.TemporaryFile(dir=place):
            return ""
    except OSError as error:
        return f"cannot be written ({error.strerror})"


def _free_space(folder: Path) -> int | None:
    if not hasattr(os, "statvfs"):
        return None
    status = os.statvfs(_nearest_existing(folder))
    return status.f_bavail * status.f_frsize


def _kernel() -> Iterator[Check]:
    """Compile `x + 1` and run it: the whole way from source to machine code."""
    try:
        runtime = importlib.import_module("minitorch2.kernels.runtime.compile")
        kernel = runtime.compile_kernel(ADD, runtime.KernelSignature(arrays=("f32", "f32")))
        given, made = numpy.arange(1000, dtype="f4"), numpy.zeros(1000, "f4")
        kernel.launch(given.size, (given, made))
    except Exception as error:
        remedy = "Check that the versions of numba, llvmlite and numpy above fit together."
        yield Check("a kernel", PROBLEM, f"{type(error).__name__}: {error}", remedy)
        return
    right = bool((made == given + 1).all())
    found = "compiles, runs, gives the right numbers" if right else "gives wrong numbers"
    remedy = "" if right else "Clear the cache (`mt2 cache clear`) and try again."
    yield Check("a kernel", OK if right else PROBLEM, found, remedy)

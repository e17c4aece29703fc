"""torch.hub: weights and models by URL or from a folder, kept in a cache on disk.

In: a URL, or a folder with a hubconf.py. Out: what torch.load reads, or what the folder's entry
point makes. The cache is $TORCH_HOME/hub, else ~/.cache/torch/hub, torch's own: files already there
are found without a network.

Source: torch.hub.
"""

import hashlib
import importlib.util
import os
import re
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from minitorch2.errors import ArgumentValueError, OperationError
from minitorch2.serialization import load as _load

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # resnet18-f37072fd.pth: the digits begin its SHA-256
_folder: list[str] = []


def get_dir() -> str:
    """The cache: what set_dir said, else $TORCH_HOME/hub, else ~/.cache/torch/hub."""
    if _folder:
        return _folder[-1]
    cache = os.environ.get("XDG_CACHE_HOME", os.path.join("~", ".cache"))
    home = os.environ.get("TORCH_HOME", os.path.join(cache, "torch"))
    return os.path.join(os.path.expanduser(home), "hub")


def set_dir(d: str | os.PathLike) -> None:
    """Keep the cache in another folder from now on."""
    _folder[:] = [os.path.expanduser(os.fspath(d))]


def download_url_to_file(
    url: str, dst: str, hash_prefix: str | None = None, progress: bool = True
) -> None:
    """Write what a URL gives to a file; OperationError where there is none, or another hash."""
    target = Path(os.path.expanduser(dst))
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    try:
        with (
            urllib.request.urlopen(urllib.request.Request(url)) as source,
            tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as file,
        ):
            while block := source.read(1 << 20):
                file.write(block)
                digest.update(block)
    except (urllib.error.URLError, OSError) as problem:
        raise OperationError(
            f"download {url}",
            f"it cannot be had: {problem}",
            f"without a network, put the file at {target} yourself",
        ) from problem
    if hash_prefix is not None and not digest.hexdigest().startswith(hash_prefix):
        os.unlink(file.name)
        raise OperationError(
            f"download {url}",
            f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")',
            "the file was changed or damaged on the way",
        )
    os.replace(file.name, target)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """What torch.load reads from a URL's file, which is kept in `model_dir` (checkpoints/)."""
    folder = model_dir or os.path.join(get_dir(), "checkpoints")
    name = file_name or os.path.basename(urlparse(url).path)
    file = os.path.join(os.path.expanduser(folder), name)
    if not os.path.exists(file):
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, file, found[1] if found else None, progress)
    return _load(file, map_location=map_location)


def _entries(repo_or_dir: str, source: str) -> Any:
    """The module hubconf.py of a folder, or of a repository that the cache has already."""
    if source not in ("github", "local"):
        raise ArgumentValueError(
            f"hub.load(source={source!r})",
            f'Unknown source: "{source}". Allowed values: "github" | "local".',
        )
    folder = Path(os.path.expanduser(repo_or_dir))
    if source == "github":
        folder = _cached_repository(repo_or_dir)
    file = folder / "hubconf.py"
    if not file.exists():
        raise OperationError(f"hub.load({repo_or_dir!r})", f"there is no {file}", "name its folder")
    spec = importlib.util.spec_from_file_location("hubconf", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module


def _cached_repository(name: str) -> Path:
    repository, _, branch = name.partition(":")
    stem = repository.replace("/", "_") + "_"
    found = sorted(Path(get_dir()).glob(f"{stem}{branch.replace('/', '_') or '*'}"))
    if not found:
        raise OperationError(
            f"hub.load({name!r})",
            f"the repository is not in {get_dir()}, and minitorch2 does not fetch code from GitHub",
            f"clone it there as {stem}main, or pass its folder with source='local'",
        )
    return found[0]


def list(github: str, force_reload: bool = False, source: str = "github", **options: Any) -> Any:
    """The names of the entry points that a hubconf.py offers."""
    module = _entries(github, source)
    return [n for n in dir(module) if callable(getattr(module, n)) and not n.startswith("_")]


def help(github: str, model: str, source: str = "github", **options: Any) -> str | None:
    """The docstring of an entry point."""
    return _entry(github, model, source).__doc__


def load(repo_or_dir: str, model: str, *args: Any, source: str = "github", **kwargs: Any) -> Any:
    """What an entry point of a hubconf.py makes, called with the other arguments.

    `source='local'` takes a folder; 'github' a repository that the cache has already.
    """
    for name in ("trust_repo", "force_reload", "verbose", "skip_validation"):
        kwargs.pop(name, None)
    return _entry(repo_or_dir, model, source)(*args, **kwargs)


def _entry(repo_or_dir: str, model: str, source: str) -> Callable:
    found = getattr(_entries(repo_or_dir, source), model, None)
    if not callable(found):
        raise OperationError(
            f"hub.load({repo_or_dir!r}, {model!r})", f"Cannot find callable {model} in hubconf"
        )
    return found


def _get_torch_home() -> str:
    """The folder above get_dir's default (packages of models ask for it by this name)."""
    return os.path.dirname(get_dir())

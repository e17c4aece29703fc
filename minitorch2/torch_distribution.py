"""The package torch, as importlib.metadata finds it while `import torch` gives minitorch2.

In: nothing. Out: a Distribution with a name and a version. It has a file of its own, because
importlib.metadata takes longer to import than most of this package.

    >>> TorchDistribution().metadata["Name"]
    'torch'

Source: importlib.metadata, "Extending the search algorithm".
"""

from importlib.metadata import Distribution
from typing import Any

from minitorch2 import version


class TorchDistribution(Distribution):
    """What importlib.metadata finds as the package torch: `metadata.version("torch")`."""

    def read_text(self, filename: str) -> str | None:
        """The text of METADATA, None for other files."""
        if filename not in ("METADATA", "PKG-INFO"):
            return None
        return f"Metadata-Version: 2.1\nName: torch\nVersion: {version.torch}\n"

    def locate_file(self, path: Any) -> Any:
        """The path itself: there are no files."""
        return path

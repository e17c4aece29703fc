"""The version of minitorch2, and what it was built with: torch.version.

Example: `torch.version.cuda` is None, as nothing here was compiled for CUDA beforehand.
"""

__version__ = "0.1.0"
cuda = None
hip = None
git_version = ""
debug = False

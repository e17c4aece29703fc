"""torch._dynamo.config as a module: what stands here is `minitorch2.compile_config.config`.

Example: `import torch._dynamo.config as config; config.recompile_limit = 16`.
Source: torch/_dynamo/config.py's documentation.
"""

import sys

from minitorch2.compile_config import config

config.__spec__ = __spec__  # of this file: the import system looks for it
config.__file__ = __file__
config.__loader__ = __spec__.loader if __spec__ is not None else None
config.__package__ = __package__
sys.modules[__name__] = config

"""Tools around training: torch.utils.

Files, in reading order:

data   datasets, samplers, loaders
"""

from minitorch2.utils import data

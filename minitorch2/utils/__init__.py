"""Tools around training: torch.utils.

Files, in reading order:

data     datasets, samplers, loaders
dlpack   tensors shared with other libraries
"""

from minitorch2.utils import data, dlpack

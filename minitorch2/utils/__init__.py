"""Tools around training: torch.utils.

Files, in reading order:

data     datasets, samplers, loaders
dlpack   tensors shared with other libraries
benchmark    how long a statement takes
model_zoo    weights by URL: torch.hub's loader
tensorboard  files that TensorBoard shows
"""

from minitorch2.utils import data, dlpack

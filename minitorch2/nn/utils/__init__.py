"""Helpers for training: torch.nn.utils.

Files, in reading order:

clip_grad            limits on the size of gradients
convert_parameters   parameters as one vector, and back
fusion               batch normalization folded into the layer before it
memory_format        weights of convolutions in another order of elements
stateless            functional_call under its older name
parametrize          parameters computed by modules
parametrizations     weight_norm, spectral_norm, orthogonal
weight_hooks         the older weight_norm and spectral_norm
prune                masks that set parts of a parameter to zero
rnn                  sequences of different lengths as one tensor
"""

from minitorch2.nn.utils import (
    memory_format,
    parametrizations,
    parametrize,
    prune,
    rnn,
    stateless,
)
from minitorch2.nn.utils.clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from minitorch2.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from minitorch2.nn.utils.fusion import (
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
    skip_init,
)
from minitorch2.nn.utils.memory_format import (
    convert_conv2d_weight_memory_format,
    convert_conv3d_weight_memory_format,
)
from minitorch2.nn.utils.weight_hooks import (
    remove_spectral_norm,
    remove_weight_norm,
    spectral_norm,
    weight_norm,
)

__all__ = [
    "memory_format",
    "parametrizations",
    "parametrize",
    "prune",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "stateless",
    "spectral_norm",
    "weight_norm",
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "convert_conv2d_weight_memory_format",
    "convert_conv3d_weight_memory_format",
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "get_total_norm",
    "parameters_to_vector",
    "skip_init",
    "vector_to_parameters",
]

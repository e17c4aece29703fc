"""The functions of neural networks: torch.nn.functional.

In: tensors. Out: tensors. Many are rows of the op table under torch's name; the others are made of
rows, or adapt torch's argument order to one (`inplace`, `size_average`, a missing `dim`).

Files, in reading order:

rows             access to the op table
activations      relu, gelu, softmax and the others
lookups          linear, bilinear, one_hot
attention        scaled dot product attention, in blocks
padding          more elements at the ends
multi_head       attention with several heads
embeddings       tables of vectors, bags of their rows
normalizations   layer_norm, batch_norm and the others
dropouts         dropout of elements and of channels
losses           cross_entropy, mse_loss and the others
windows          the places of a kernel
convolutions     conv1d, conv2d, conv3d and their transposes
pooling          the largest or the mean of each window
grids            sampling at places that a tensor names
resampling       interpolate, pixel_shuffle
unpooling        power averages, random regions, max pooling undone
sequences        ctc_loss
folding          windows as columns, and back
margins          losses with margins between classes

    >>> from minitorch2 import tensor
    >>> from minitorch2.nn import functional as F
    >>> F.relu(tensor([-1.0, 2.0]))
    tensor([0., 2.])

Source: torch.nn.functional.
"""

from minitorch2.nn.functional.activations import (
    celu,
    celu_,
    elu,
    elu_,
    gelu,
    glu,
    gumbel_softmax,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    leaky_relu,
    leaky_relu_,
    log_softmax,
    logsigmoid,
    mish,
    prelu,
    relu,
    relu6,
    relu_,
    rrelu,
    rrelu_,
    selu,
    selu_,
    sigmoid,
    silu,
    softmax,
    softmin,
    softplus,
    softshrink,
    softsign,
    tanh,
    tanhshrink,
    threshold,
    threshold_,
)
from minitorch2.nn.functional.attention import scaled_dot_product_attention
from minitorch2.nn.functional.convolutions import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from minitorch2.nn.functional.dropouts import (
    alpha_dropout,
    check_probability,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from minitorch2.nn.functional.embeddings import embedding, embedding_bag
from minitorch2.nn.functional.folding import fold, unfold
from minitorch2.nn.functional.grids import affine_grid, grid_sample
from minitorch2.nn.functional.lookups import (
    bilinear,
    linear,
    one_hot,
)
from minitorch2.nn.functional.losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    cosine_similarity,
    cross_entropy,
    gaussian_nll_loss,
    hinge_embedding_loss,
    huber_loss,
    kl_div,
    l1_loss,
    linear_cross_entropy,
    margin_ranking_loss,
    mse_loss,
    nll_loss,
    pairwise_distance,
    pdist,
    poisson_nll_loss,
    reduction_of,
    smooth_l1_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from minitorch2.nn.functional.margins import (
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
)
from minitorch2.nn.functional.multi_head import multi_head_attention_forward
from minitorch2.nn.functional.normalizations import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    normalize,
    rms_norm,
)
from minitorch2.nn.functional.padding import pad
from minitorch2.nn.functional.pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from minitorch2.nn.functional.resampling import (
    channel_shuffle,
    interpolate,
    native_channel_shuffle,
    pixel_shuffle,
    pixel_unshuffle,
    upsample,
    upsample_bilinear,
    upsample_nearest,
)
from minitorch2.nn.functional.sequences import ctc_loss
from minitorch2.nn.functional.unpooling import (
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d_with_indices,
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d_with_indices,
    max_pool2d_with_indices,
    max_pool3d_with_indices,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)

"""Layers, losses and the class they all derive from: torch.nn.

Files, in reading order:

parameter       tensors that register themselves in a Module
module          Module: the tree of layers
hooks           functions called around forward and backward
module_state    state dicts, saved and loaded
functional      the functions of neural networks
init            initial values of parameters
linear          Linear, Bilinear and Identity
activation      ReLU, GELU and the others
normalization   LayerNorm and RMSNorm
batch_normalization   BatchNorm, InstanceNorm, GroupNorm
dropout         Dropout
embedding       Embedding
convolution     Conv2d and the others
pooling         MaxPool2d and the others, padding, Upsample
attention       MultiheadAttention
flatten         Flatten and Unflatten
loss            CrossEntropyLoss and the others
containers      Sequential, ModuleList and the others
utils           gradient clipping, parameters as one vector
"""

from minitorch2.nn import functional, init, utils
from minitorch2.nn.activation import (
    CELU,
    ELU,
    GELU,
    GLU,
    SELU,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    PReLU,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softmax,
    Softmin,
    Softplus,
    Softsign,
    Tanh,
    Tanhshrink,
    Threshold,
)
from minitorch2.nn.attention import (
    MultiheadAttention,
)
from minitorch2.nn.batch_normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    GroupNorm,
    InstanceNorm1d,
    InstanceNorm2d,
)
from minitorch2.nn.containers import (
    ModuleDict,
    ModuleList,
    ParameterDict,
    ParameterList,
    Sequential,
)
from minitorch2.nn.convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from minitorch2.nn.dropout import (
    Dropout,
    Dropout1d,
    Dropout2d,
    Dropout3d,
)
from minitorch2.nn.embedding import (
    Embedding,
)
from minitorch2.nn.flatten import (
    Flatten,
    Unflatten,
)
from minitorch2.nn.linear import (
    Bilinear,
    Identity,
    Linear,
)
from minitorch2.nn.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CosineEmbeddingLoss,
    CosineSimilarity,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MarginRankingLoss,
    MSELoss,
    NLLLoss,
    PairwiseDistance,
    SmoothL1Loss,
    SoftMarginLoss,
    TripletMarginLoss,
)
from minitorch2.nn.module import Module
from minitorch2.nn.normalization import (
    LayerNorm,
    RMSNorm,
)
from minitorch2.nn.parameter import (
    Buffer,
    Parameter,
)
from minitorch2.nn.pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveMaxPool2d,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    ConstantPad2d,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
    PixelShuffle,
    ReflectionPad2d,
    ReplicationPad2d,
    Upsample,
    ZeroPad2d,
)

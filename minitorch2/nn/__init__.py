"""Layers, losses and the class they all derive from: torch.nn.

Files, in reading order:

parameter       tensors that register themselves in a Module
placing         where a module goes
module          Module: the tree of layers
hooks           functions called around forward and backward
module_state    state dicts, saved and loaded
functional      the functions of neural networks
init            initial values of parameters
linear          Linear, Bilinear and Identity
activation      ReLU, GELU and the others
normalization   LayerNorm and RMSNorm
batch_normalization   BatchNorm, InstanceNorm, GroupNorm
parallel        DataParallel and its like, on one device
dropout         Dropout
embedding       Embedding and EmbeddingBag
convolution     Conv2d and the others
pooling         MaxPool2d and the others
other_pooling   power averages, random regions, max pooling undone
padding         ZeroPad2d and the others
resampling      Upsample, PixelShuffle, Unfold and the others
multi_head      MultiheadAttention
attention       kernels of attention by name; attention by rules of places
recurrent       RNN, LSTM, GRU and their cells
transformer     encoder and decoder layers and their stacks
flatten         Flatten and Unflatten
loss            CrossEntropyLoss and the others
margin_loss     losses with margins, and likelihoods of numbers
sequence_loss   CTCLoss, adaptive softmax
containers      Sequential, ModuleList and the others
lazy            layers whose first input tells their sizes
tuples          a number, or one for each dimension
utils           gradient clipping, parameters as one vector
"""

from minitorch2.nn import functional, init, parallel, utils
from minitorch2.nn.activation import (
    CELU,
    ELU,
    GELU,
    GLU,
    SELU,
    Hardshrink,
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
    RReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softmax2d,
    Softmin,
    Softplus,
    Softshrink,
    Softsign,
    Tanh,
    Tanhshrink,
    Threshold,
)
from minitorch2.nn.batch_normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    CrossMapLRN2d,
    GroupNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    LocalResponseNorm,
)
from minitorch2.nn.containers import (
    Container,
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
    AlphaDropout,
    Dropout,
    Dropout1d,
    Dropout2d,
    Dropout3d,
    FeatureAlphaDropout,
)
from minitorch2.nn.embedding import (
    Embedding,
    EmbeddingBag,
)
from minitorch2.nn.flatten import (
    Flatten,
    Unflatten,
)
from minitorch2.nn.lazy import (
    LazyBatchNorm1d,
    LazyBatchNorm2d,
    LazyBatchNorm3d,
    LazyConv1d,
    LazyConv2d,
    LazyConv3d,
    LazyConvTranspose1d,
    LazyConvTranspose2d,
    LazyConvTranspose3d,
    LazyInstanceNorm1d,
    LazyInstanceNorm2d,
    LazyInstanceNorm3d,
    LazyLinear,
    UninitializedBuffer,
    UninitializedParameter,
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
    LinearCrossEntropyLoss,
    MarginRankingLoss,
    MSELoss,
    NLLLoss,
    PairwiseDistance,
    SmoothL1Loss,
    SoftMarginLoss,
    TripletMarginLoss,
)
from minitorch2.nn.margin_loss import (
    GaussianNLLLoss,
    HingeEmbeddingLoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    PoissonNLLLoss,
)
from minitorch2.nn.module import Module
from minitorch2.nn.multi_head import (
    MultiheadAttention,
)
from minitorch2.nn.normalization import (
    LayerNorm,
    RMSNorm,
)
from minitorch2.nn.other_pooling import (
    FractionalMaxPool2d,
    FractionalMaxPool3d,
    LPPool1d,
    LPPool2d,
    LPPool3d,
    MaxUnpool1d,
    MaxUnpool2d,
    MaxUnpool3d,
)
from minitorch2.nn.padding import (
    CircularPad1d,
    CircularPad2d,
    CircularPad3d,
    ConstantPad1d,
    ConstantPad2d,
    ConstantPad3d,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
    ZeroPad1d,
    ZeroPad2d,
    ZeroPad3d,
)
from minitorch2.nn.parallel import DataParallel, SyncBatchNorm
from minitorch2.nn.parameter import (
    Buffer,
    Parameter,
)
from minitorch2.nn.pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
)
from minitorch2.nn.recurrent import (
    GRU,
    LSTM,
    RNN,
    GRUCell,
    LSTMCell,
    RNNBase,
    RNNCell,
    RNNCellBase,
)
from minitorch2.nn.resampling import (
    ChannelShuffle,
    Fold,
    PixelShuffle,
    PixelUnshuffle,
    Unfold,
    Upsample,
    UpsamplingBilinear2d,
    UpsamplingNearest2d,
)
from minitorch2.nn.sequence_loss import (
    AdaptiveLogSoftmaxWithLoss,
    CTCLoss,
    NLLLoss2d,
    TripletMarginWithDistanceLoss,
)
from minitorch2.nn.transformer import (
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)

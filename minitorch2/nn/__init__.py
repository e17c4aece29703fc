"""Layers, losses and the class they all derive from: torch.nn.

Files, in reading order:

parameter       tensors that register themselves in a Module
module          Module: the tree of layers
hooks           functions called around forward and backward
module_state    state dicts, saved and loaded
functional      the functions of neural networks
init            initial values of parameters
linear          Linear and Identity
activation      ReLU, GELU and the others
normalization   LayerNorm and RMSNorm
dropout         Dropout
embedding       Embedding
flatten         Flatten and Unflatten
loss            CrossEntropyLoss and the others
containers      Sequential, ModuleList and the others
utils           gradient clipping, parameters as one vector
"""

from minitorch2.nn import functional, init, utils
from minitorch2.nn.activation import (
    ELU,
    GELU,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    PReLU,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from minitorch2.nn.containers import (
    ModuleDict,
    ModuleList,
    ParameterDict,
    ParameterList,
    Sequential,
)
from minitorch2.nn.dropout import Dropout, Dropout1d, Dropout2d, Dropout3d
from minitorch2.nn.embedding import Embedding
from minitorch2.nn.flatten import Flatten, Unflatten
from minitorch2.nn.linear import Identity, Linear
from minitorch2.nn.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
)
from minitorch2.nn.module import Module
from minitorch2.nn.normalization import LayerNorm, RMSNorm
from minitorch2.nn.parameter import Buffer, Parameter

"""Optimizers and learning-rate schedules: torch.optim.

Files, in reading order:

given            what users give an optimizer
optimizer        Optimizer: groups, state, one step
sgd              gradient descent with momentum
adam             Adam and AdamW
adam_relatives   Adamax, NAdam and RAdam
sparse_adam      SparseAdam, for sparse gradients
rmsprop          RMSprop
adagrad          Adagrad and Adadelta
rprop            Rprop and ASGD
matrix_steps     Adafactor and Muon
conditional      a step that tensors decide to take back
lbfgs            LBFGS, with its line search
lr_scheduler     schedules of the learning rate
swa_utils        averages of weights
"""

from minitorch2.optim import lr_scheduler, swa_utils
from minitorch2.optim.adagrad import Adadelta, Adagrad
from minitorch2.optim.adam import Adam, AdamW
from minitorch2.optim.adam_relatives import Adamax, NAdam, RAdam
from minitorch2.optim.lbfgs import LBFGS
from minitorch2.optim.matrix_steps import Adafactor, Muon
from minitorch2.optim.optimizer import Optimizer
from minitorch2.optim.rmsprop import RMSprop
from minitorch2.optim.rprop import ASGD, Rprop
from minitorch2.optim.sgd import SGD
from minitorch2.optim.sparse_adam import SparseAdam

"""Optimizers and learning-rate schedules: torch.optim.

Files, in reading order:

optimizer        Optimizer: groups, state, one step
sgd              gradient descent with momentum
adam             Adam and AdamW
adam_relatives   Adamax, NAdam and RAdam
rmsprop          RMSprop
adagrad          Adagrad and Adadelta
lr_scheduler     schedules of the learning rate
"""

from minitorch2.optim import lr_scheduler
from minitorch2.optim.adagrad import Adadelta, Adagrad
from minitorch2.optim.adam import Adam, AdamW
from minitorch2.optim.adam_relatives import Adamax, NAdam, RAdam
from minitorch2.optim.optimizer import Optimizer
from minitorch2.optim.rmsprop import RMSprop
from minitorch2.optim.sgd import SGD

"""Optimizers and learning-rate schedules: torch.optim.

Files, in reading order:

optimizer      Optimizer: groups, state, one step
sgd            gradient descent with momentum
adam           Adam and AdamW
lr_scheduler   schedules of the learning rate
"""

from minitorch2.optim import lr_scheduler
from minitorch2.optim.adam import Adam, AdamW
from minitorch2.optim.optimizer import Optimizer
from minitorch2.optim.sgd import SGD

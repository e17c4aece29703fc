"""Learning-rate schedules: torch.optim.lr_scheduler.

Files, in reading order:

scheduler   LRScheduler, which sets the rates
formulas    StepLR, LinearLR, CosineAnnealingLR and the like
cycles      warm restarts, one cycle, endless cycles
composed    schedules made of schedules; ReduceLROnPlateau
"""

from minitorch2.optim.lr_scheduler.composed import (
    ChainedScheduler,
    ReduceLROnPlateau,
    SequentialLR,
)
from minitorch2.optim.lr_scheduler.cycles import (
    CosineAnnealingWarmRestarts,
    CyclicLR,
    OneCycleLR,
)
from minitorch2.optim.lr_scheduler.formulas import (
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from minitorch2.optim.lr_scheduler.scheduler import LRScheduler

_LRScheduler = LRScheduler  # the name it had before torch 2.0

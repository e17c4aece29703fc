"""More losses as modules: margins between classes, and likelihoods of numbers.

In: predictions and targets. Out: a scalar ('mean', 'sum'), or one loss each ('none').

Source: torch.nn's loss modules.
"""

from typing import Any

from minitorch2.errors import ArgumentValueError
from minitorch2.nn import functional as F
from minitorch2.nn.loss import _Loss, _WeightedLoss
from minitorch2.nn.module import Module


class MultiMarginLoss(_WeightedLoss):
    """max(0, margin - score of the target + score of another class) ** p."""

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Any = None,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ):
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ArgumentValueError(f"MultiMarginLoss(p={p})", "only p == 1 and p == 2 supported")
        self.p, self.margin = p, margin

    def forward(self, input: Any, target: Any) -> Any:
        return F.multi_margin_loss(
            input, target, self.p, self.margin, self.weight, reduction=self.reduction
        )


class MultiLabelMarginLoss(_Loss):
    """max(0, 1 - score of a target + score of a class that is none)."""

    def forward(self, input: Any, target: Any) -> Any:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """Binary cross-entropy of each class, averaged over classes."""

    def forward(self, input: Any, target: Any) -> Any:
        return F.multilabel_soft_margin_loss(input, target, self.weight, reduction=self.reduction)


class HingeEmbeddingLoss(_Loss):
    """The distance where the target is 1, max(0, margin - distance) where it is -1."""

    def __init__(
        self,
        margin: float = 1.0,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Any, target: Any) -> Any:
        return F.hinge_embedding_loss(input, target, self.margin, reduction=self.reduction)


class PoissonNLLLoss(_Loss):
    """Minus the log-likelihood of counts."""

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: Any = None,
        eps: float = 1e-8,
        reduce: Any = None,
        reduction: str = "mean",
    ):
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: Any, target: Any) -> Any:
        return F.poisson_nll_loss(
            log_input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


class GaussianNLLLoss(Module):
    """Minus the log-likelihood of numbers with a predicted mean and variance."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean"):
        super().__init__()
        self.full, self.eps, self.reduction = full, eps, reduction

    def forward(self, input: Any, target: Any, var: Any) -> Any:
        return F.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )

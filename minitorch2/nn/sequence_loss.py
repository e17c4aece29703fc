"""Losses of sequences, of many classes, of distances: CTCLoss, AdaptiveLogSoftmaxWithLoss.

In: predictions and targets. Out: a scalar ('mean', 'sum'), or one loss each ('none').

Source: Graves et al. 2006; Grave et al., "Efficient softmax approximation for GPUs" (2017).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from minitorch2.errors import ArgumentValueError, ShapeError
from minitorch2.nn import functional as F
from minitorch2.nn.containers import ModuleList, Sequential
from minitorch2.nn.linear import Linear
from minitorch2.nn.loss import NLLLoss, _Loss
from minitorch2.nn.module import Module
from minitorch2.ops.table import lookup

_cat = lookup("cat").public


class CTCLoss(_Loss):
    """-log of the probability of labels under any alignment to the frames."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False):
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(self, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any) -> Any:
        return F.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )


class NLLLoss2d(NLLLoss):
    """NLLLoss, which takes pictures as well; the old name."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)


class TripletMarginWithDistanceLoss(_Loss):
    """max(0, margin + distance to the positive - distance to the negative), for any distance."""

    def __init__(
        self,
        *,
        distance_function: Callable | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ):
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ArgumentValueError(
                f"TripletMarginWithDistanceLoss(margin={margin})",
                f"expected margin to be greater than 0, got {margin} instead",
            )
        self.distance_function = distance_function or F.pairwise_distance
        self.margin, self.swap = margin, swap

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


class _ASMoutput(NamedTuple):
    output: Any
    loss: Any


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-softmax over many classes, the frequent ones first; rare ones in smaller clusters.

    In: features [N, in_features] and classes [N]. Out: (output, loss): the log-probabilities of the
    classes, and minus their mean. Cluster i has its own projection to
    in_features / div_value ** (i + 1).
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        given = list(cutoffs)
        if (
            not given
            or given != sorted(set(given))
            or given[0] <= 0
            or given[-1] > n_classes - 1
            or any(int(c) != c for c in given)
        ):
            raise ArgumentValueError(
                f"AdaptiveLogSoftmaxWithLoss(cutoffs={cutoffs})",
                "cutoffs should be a sequence of unique, positive integers sorted in an "
                "increasing order, where each value is between 1 and n_classes-1",
            )
        where = {"device": device, "dtype": dtype}
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs, self.div_value = [*given, n_classes], div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **where)
        self.tail = ModuleList()
        for at in range(self.n_clusters):
            hidden = int(in_features // (div_value ** (at + 1)))
            classes = self.cutoffs[at + 1] - self.cutoffs[at]
            self.tail.append(
                Sequential(
                    Linear(in_features, hidden, bias=False, **where),
                    Linear(hidden, classes, bias=False, **where),
                )
            )

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.head.reset_parameters()
        for cluster in self.tail:
            for layer in cluster.children():
                layer.reset_parameters()

    def forward(self, input: Any, target: Any) -> _ASMoutput:
        single = target.ndim == 0
        if input.ndim != target.ndim + 1 or target.ndim > 1:
            raise ShapeError(
                f"AdaptiveLogSoftmaxWithLoss({list(input.shape)}, {list(target.shape)})",
                "1D target tensor expects 2D input tensors, 0D target tensor expects 1D input",
                "give one row of features for each class",
            )
        if single:
            input, target = input.unsqueeze(0), target.unsqueeze(0)
        if input.shape[0] != target.shape[0]:
            raise ShapeError(
                f"AdaptiveLogSoftmaxWithLoss({list(input.shape)}, {list(target.shape)})",
                "Input and target should have the same size in the batch dimension.",
            )
        if bool(((target < 0) | (target >= self.n_classes)).any()):
            raise ArgumentValueError(
                "AdaptiveLogSoftmaxWithLoss()",
                f"Target values should be in [0, {self.n_classes - 1}]",
            )
        output = self.log_prob(input).gather(1, target.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output.squeeze(0) if single else output, loss)

    def log_prob(self, input: Any) -> Any:
        """The log-probabilities of all classes: [N, n_classes]."""
        head = self.head(input).log_softmax(1)
        parts = [head[:, : self.shortlist_size]]
        for at, cluster in enumerate(self.tail):
            inside = cluster(input).log_softmax(1)
            parts.append(inside + head[:, self.shortlist_size + at].unsqueeze(1))
        return _cat(parts, 1)

    def predict(self, input: Any) -> Any:
        """The most probable class of each row."""
        return self.log_prob(input).argmax(1)

"""ctc_loss: how likely a sequence of labels is, whatever its alignment to the frames.

In: log-probabilities [T, N, C] of each frame, targets without blanks, lengths. Out: one loss for
each sequence, or their mean or sum.

The probability of all alignments is a sum over paths through the labels with blanks between them:
alpha[t, s] is that of paths that are at place s in frame t, and comes from places s, s - 1 and,
over a blank between different labels, s - 2 of the frame before.

Source: Graves et al., "Connectionist temporal classification" (2006); torch.nn.functional.ctc_loss.
"""

from typing import Any

from minitorch2.creation import full, tensor
from minitorch2.dtypes import int64
from minitorch2.errors import OperationError
from minitorch2.nn.functional.rows import row
from minitorch2.ranges import arange
from minitorch2.tensors import Tensor

_where, _cat, _stack = row("where"), row("cat"), row("stack")
_NEVER = float("-inf")


def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """-log of the probability of the targets; 'mean' divides by target lengths first.

    log_probs [T, N, C] or [T, C]; targets [N, S], or all in one row; lengths of inputs and targets
    [N]. An impossible alignment costs inf, or 0 with `zero_infinity`.
    """
    single = log_probs.ndim == 2
    if single:
        log_probs = log_probs.unsqueeze(1)
        targets = targets.unsqueeze(0) if targets.ndim == 1 else targets
    frames, batch, classes = log_probs.shape
    inputs, lengths = _lengths(input_lengths), _lengths(target_lengths)
    for name, given in (("input_lengths", inputs), ("target_lengths", lengths)):
        if len(given) != batch:
            raise OperationError(
                f"ctc_loss() of {batch} sequences",
                f"{name} must be of size batch_size; got {len(given)}",
                "give one length for each sequence",
            )
    if not 0 <= blank < classes:
        raise OperationError(
            f"ctc_loss(blank={blank})", f"blank must be in label range [0, {classes - 1}]"
        )
    if inputs and max(inputs) > frames:
        raise OperationError(
            f"ctc_loss(input_lengths={inputs})",
            f"Expected input_lengths to have value at most {frames}, but got value {max(inputs)}",
            "give lengths that are not longer than log_probs",
        )
    labels = _extended(_rows(targets, lengths), blank)
    losses = _minus_log_likelihood(log_probs, labels, inputs, lengths)
    losses = losses + _slope_only(log_probs, inputs)
    if zero_infinity:
        losses = _where(losses == float("inf"), 0.0, losses)
    if reduction == "mean":
        shares = tensor([max(n, 1) for n in lengths], dtype=losses.dtype)
        return (losses / shares).mean()
    if reduction == "sum":
        return losses.sum()
    return losses[0] if single else losses


def _lengths(given: Any) -> list[int]:
    numbers = given.tolist() if isinstance(given, Tensor) else given
    return [int(n) for n in numbers] if isinstance(numbers, (list, tuple)) else [int(numbers)]


def _rows(targets: Any, lengths: list[int]) -> list[list[int]]:
    """Each sequence's labels."""
    values = targets.tolist()
    if targets.ndim == 2:
        return [each[:count] for each, count in zip(values, lengths, strict=True)]
    found, start = [], 0
    for count in lengths:
        found.append(values[start : start + count])
        start += count
    return found


def _extended(rows: list[list[int]], blank: int) -> Any:
    """Labels with blanks before, between and behind them, in rows of one length [N, 2 S + 1]."""
    longest = max((len(each) for each in rows), default=0)
    table = []
    for labels in rows:
        line = [blank]
        for label in labels:
            line += [label, blank]
        table.append(line + [blank] * (2 * longest + 1 - len(line)))
    return tensor(table, dtype=int64)


def _minus_log_likelihood(
    log_probs: Any, labels: Any, inputs: list[int], lengths: list[int]
) -> Any:
    batch, places = labels.shape
    never = full((batch, 1), _NEVER, dtype=log_probs.dtype)
    scores = log_probs.gather(2, labels.unsqueeze(0).expand(log_probs.shape[0], -1, -1))
    # Over a blank one may jump where the labels on both sides differ.
    jump = _cat([full((batch, min(2, places)), False), labels[:, 2:] != labels[:, :-2]], 1) & (
        arange(places) % 2 == 1
    )
    alpha = _where(arange(places) < 2, scores[0], _NEVER) if len(scores) else never
    ends = tensor([2 * n for n in lengths], dtype=int64).unsqueeze(1)
    count = tensor(inputs, dtype=int64).unsqueeze(1)
    for frame in range(1, log_probs.shape[0]):
        one = _cat([never, alpha[:, :-1]], 1)
        two = _cat([never, never, alpha[:, :-2]], 1)[:, :places]
        stepped = _log_sum([alpha, one, _where(jump, two, _NEVER)]) + scores[frame]
        alpha = _where(count > frame, stepped, alpha)
    last = alpha.gather(1, ends)
    before = _where(ends > 0, alpha.gather(1, (ends - 1).clamp(min=0)), _NEVER)
    found = -_log_sum([last, before]).squeeze(1)
    empty = tensor([n == 0 for n in inputs])  # no frames: only an empty target fits
    fits = tensor([0.0 if n == 0 else float("inf") for n in lengths], dtype=log_probs.dtype)
    return _where(empty, fits, found) if any(n == 0 for n in inputs) else found


def _log_sum(parts: list[Any]) -> Any:
    """log(sum(exp)) whose gradient is 0, not nan, where all parts are -inf."""
    joined = _stack(parts, 0)
    largest = joined.detach().amax(0)
    largest = _where(largest == _NEVER, 0.0, largest)
    total = (joined - largest).exp().sum(0)
    nothing = total == 0
    return _where(nothing, _NEVER, _where(nothing, 1.0, total).log() + largest)


def _slope_only(log_probs: Any, inputs: list[int]) -> Any:
    """Zeros with the gradient exp(log_probs): torch's loss takes log_probs as normalized."""
    frames = arange(log_probs.shape[0]).unsqueeze(1)
    within = frames < tensor(inputs, dtype=int64)
    mass = _where(within.unsqueeze(2), log_probs, _NEVER).exp().sum((0, 2))
    return mass - mass.detach()

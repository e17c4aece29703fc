"""Attention whose scores and masks are functions of the places: flex_attention.

In: query [B, H, L, E], key [B, H, S, E], value [B, H, S, V], a function of a score and its place.
Out: [B, H, L, V]. The functions get whole tensors that broadcast to [B, H, L, S], so they are
written with tensor operations, as torch asks: `torch.where` instead of `if`.

    >>> from minitorch2 import ones
    >>> causal = create_block_mask(lambda b, h, q, kv: q >= kv, None, None, 3, 3)
    >>> x = ones(1, 1, 3, 2)
    >>> flex_attention(x, x, x, block_mask=causal).shape
    torch.Size([1, 1, 3, 2])

A mask is computed for every place: nothing is left out block by block, which is a matter of speed.

Source: Dong et al. 2024, "Flex Attention"; torch.nn.attention.flex_attention.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from minitorch2.creation import tensor
from minitorch2.dtypes import bool as bool_dtype
from minitorch2.errors import ShapeError
from minitorch2.ops.table import lookup

_where, _range = lookup("where").public, lookup("range_").public


_DEFAULT_SPARSE_BLOCK_SIZE = 128  # queries and keys of a block, unless told otherwise


def _places(sizes: tuple[int, int, int, int]) -> tuple[Any, Any, Any, Any]:
    """The indices along each dimension, each with one dimension that is not 1."""
    found = []
    for at, size in enumerate(sizes):
        shape = [1] * 4
        shape[at] = size
        found.append(_range(0, size, 1).reshape(shape))
    return tuple(found)


def noop_mask(b: Any, h: Any, q: Any, kv: Any) -> Any:
    """True everywhere."""
    return tensor(True)


def and_masks(*masks: Callable) -> Callable:
    """The mask that is true where all of them are."""

    def both(b: Any, h: Any, q: Any, kv: Any) -> Any:
        found = tensor(True)
        for mask in masks:
            found = found & mask(b, h, q, kv)
        return found

    return both


def or_masks(*masks: Callable) -> Callable:
    """The mask that is true where any of them is."""

    def any_of(b: Any, h: Any, q: Any, kv: Any) -> Any:
        found = tensor(False)
        for mask in masks:
            found = found | mask(b, h, q, kv)
        return found

    return any_of


def create_mask(
    mod_fn: Callable, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = "cpu"
) -> Any:
    """What a mask function allows, as a bool tensor [B, H, Q_LEN, KV_LEN]; None counts as 1."""
    sizes = (B or 1, H or 1, Q_LEN, KV_LEN)
    return mod_fn(*_places(sizes)).to(bool_dtype).expand(sizes)


@dataclass(frozen=True)
class BlockMask:
    """A mask function with the sizes it is meant for."""

    mask_mod: Callable
    shape: tuple[int, int, int, int]
    BLOCK_SIZE: tuple[int, int]

    def to_dense(self) -> Any:
        """1 for each block of which something is allowed: [B, H, blocks of L, blocks of S]."""
        allowed = create_mask(self.mask_mod, *self.shape)
        rows, columns = self.BLOCK_SIZE
        blocks = [
            [block.any(-1).any(-1).int() for block in strip.split(columns, 3)]
            for strip in allowed.split(rows, 2)
        ]
        stack = lookup("stack").public
        return stack([stack(line, -1) for line in blocks], -2)

    def sparsity(self) -> float:
        """The percentage of blocks of which nothing is allowed."""
        dense = self.to_dense()
        return 100.0 * (1 - float(dense.float().mean()))

    def to(self, device: Any) -> "BlockMask":
        """The mask itself."""
        return self

    def numel(self) -> int:
        """How many places it covers."""
        return math.prod(self.shape)


def create_block_mask(
    mask_mod: Callable,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
) -> BlockMask:
    """The mask that a function of batch, head, query and key places says."""
    size = BLOCK_SIZE if isinstance(BLOCK_SIZE, tuple) else (BLOCK_SIZE, BLOCK_SIZE)
    return BlockMask(mask_mod, (B or 1, H or 1, Q_LEN, KV_LEN), size)


class AuxRequest(NamedTuple):
    """What flex_attention is to return beside the result."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """For each row the logarithm of its sum of exponentials, and its largest score, [B, H, L]."""

    lse: Any = None
    max_scores: Any = None


def flex_attention(
    query: Any,
    key: Any,
    value: Any,
    score_mod: Callable | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: Any = None,
    *,
    return_aux: "AuxRequest | None" = None,
) -> Any:
    """softmax(score_mod(query @ key.mT * scale)) @ value, where the mask allows it.

    `score_mod(score, batch, head, query place, key place)`. With `return_lse`, also the logarithm
    of each row's sum of exponentials [B, H, L]; with `return_aux` an AuxOutput of what it asks
    for. A row that may look at nothing gives zeros.
    """
    if enable_gqa:
        repeats = query.shape[1] // key.shape[1]
        key, value = (x.repeat_interleave(repeats, 1) for x in (key, value))
    if query.shape[1] != key.shape[1]:
        raise ShapeError(
            "flex_attention(query, key, value)",
            f"Expect query and key/value to have the same number of heads but got "
            f"{query.shape[1]} and {key.shape[1]}",
            "pass enable_gqa=True to share heads of keys and values",
        )
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query @ key.mT * scale  # [B, H, L, S]
    places = _places(tuple(scores.shape))
    if score_mod is not None:
        scores = score_mod(scores, *places)
    if block_mask is not None:
        scores = _where(block_mask.mask_mod(*places), scores, -math.inf)
    lse = scores.logsumexp(-1)
    weights = (scores - _where(lse == -math.inf, 0.0, lse).unsqueeze(-1)).exp()
    result = weights.to(value.dtype) @ value
    if return_aux is not None:
        highest = scores.amax(-1) if return_aux.max_scores else None
        return result, AuxOutput(lse if return_aux.lse else None, highest)
    return (result, lse) if return_lse else result

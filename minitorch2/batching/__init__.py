"""Batching: one call of a function on a whole batch, while the function sees single samples.

A Batched tensor stands for the samples along the first dimension of a hidden one. `VmapMode`, a
mode of the dispatcher, takes an operation on Batched tensors and carries it out once on the hidden
ones, by a rule for the operation's kind. Composites are taken apart into their parts (but for those
with a derivative of their own), so only primitives need rules, and few need one of their own.

Files, in reading order:

batched    Batched tensors and their levels
mode       the mode: which rule an operation gets; random numbers
rules      pointwise, reductions, and what only moves its dimensions by one
views      views whose shapes or orders name every dimension
products   matrix products and convolutions
places     picking and writing elements by index; writes in place
backward   the engine on the hidden tensors
"""

from minitorch2.batching import places, products, rules, views
from minitorch2.batching.batched import Batched
from minitorch2.batching.mode import VmapMode

__all__ = ["Batched", "VmapMode", "places", "products", "rules", "views"]

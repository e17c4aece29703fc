"""torch._dynamo._trace_wrapped_higher_order_op: what libraries import from it.

Example: `with TransformGetItemToIndex(): vmap(lambda i: x[i])(indices)`.
Source: torch._dynamo.
"""

import contextlib


class TransformGetItemToIndex(contextlib.nullcontext):
    """Within the block tensors may be indexed by batched indices, as they may everywhere here."""

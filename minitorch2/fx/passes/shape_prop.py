"""ShapeProp: runs a graph and notes the shape, dtype and strides of every value.

In: a GraphModule and arguments. Out: `node.meta["tensor_meta"]`, a TensorMetadata for a tensor and
the same nesting of them for a tuple, and `node.meta["type"]`.

    >>> import minitorch2 as torch
    >>> traced = torch.fx.symbolic_trace(lambda x: x.sum(0))
    >>> _ = ShapeProp(traced).propagate(torch.ones(2, 3))
    >>> [tuple(node.meta["tensor_meta"].shape) for node in traced.graph.nodes]
    [(2, 3), (3,), (3,)]

Source: torch.fx.passes.shape_prop.
"""

from typing import Any, NamedTuple

from minitorch2.fx.interpreter import Interpreter
from minitorch2.fx.node import Node, map_aggregate
from minitorch2.tensors import Tensor


class TensorMetadata(NamedTuple):
    """What is known of a tensor without its elements."""

    shape: Any
    dtype: Any
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


def metadata_of(tensor: Tensor) -> TensorMetadata:
    """The TensorMetadata of a tensor."""
    return TensorMetadata(
        tensor.shape, tensor.dtype, tensor.requires_grad, tensor.stride(), None, False, {}
    )


class ShapeProp(Interpreter):
    """Runs the graph on example arguments (tensors of the meta device will do)."""

    def run_node(self, n: Node) -> Any:
        """Run a node and note what its value is like."""
        result = super().run_node(n)
        found = []

        def note(value: Any) -> Any:
            if isinstance(value, Tensor):
                found.append(value)
                return metadata_of(value)
            return value

        meta = map_aggregate(result, note)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the graph, and return its result."""
        return super().run(*args)

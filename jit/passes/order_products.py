"""Multiplies chains of matrices in the order that takes the fewest operations.

In: a functional graph. Out: the same graph, with numerics="fast", in which `(a @ b) @ c` is
`a @ (b @ c)` where that is less work, and in which a factor of a product is one of its smaller
operand, as the scale in attention. Otherwise the graph as it is, and a note that says why.
"""

from collections import Counter
from collections.abc import Sequence

from minitorch2.jit.ir.graph import Argument, Graph, Node, Value, used_values
from minitorch2.jit.passes.notes import left, note
from minitorch2.jit.passes.options import PassOptions
from minitorch2.jit.passes.rebuild import Rebuilder, rebuild, tensor_type

MADE_BY = "pass order_products"


def order_products(graph: Graph, options: PassOptions) -> Graph:
    """Reassociate chains of products; scale the smallest matrix of a product.

    Before:

    >>> before = '''
    ... graph f(%a: f32[512,8], %b: f32[8,512], %c: f32[512,4]) {
    ...   %0: f32[512,512] = matmul(%a, %b)
    ...   %1: f32[512,4] = matmul(%0, %c)
    ...   %2: f32[512,4] = mul(%1, 0.5)
    ...   return %2
    ... }'''

    After (what nobody uses any more is left to eliminate_dead_code):

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> print(order_products(parse_graph(before), PassOptions("fast")))
    graph f(%a: f32[512,8], %b: f32[8,512], %c: f32[512,4]) {
      %0: f32[512,512] = matmul(%a, %b)
      %1: f32[8,4] = matmul(%b, %c)
      %2: f32[512,4] = matmul(%a, %1)
      %3: f32[8,4] = mul(%1, 0.5)
      %4: f32[512,4] = matmul(%a, %3)
      return %4
    }

    A product that is read elsewhere too is made anyway and stays in the chain as it is.

    Complexity: cubic in the length of a chain. Source: T. Hu, M. Shing, "Computation of Matrix
    Chain Products"; the dynamic program of Cormen et al., 15.2.
    """
    uses = Counter(used_values(graph))

    def step(rebuilder: Rebuilder, node: Node) -> Sequence[Value] | None:
        if node.op not in ("matmul", "mul"):
            return None
        change = _reordered if node.op == "matmul" else _scaled
        found = change(rebuilder, node, uses, options)
        if found is not None:
            uses[found] += uses[node.results[0]]
        return None if found is None else (found,)

    return rebuild(graph, step, lambda inner: order_products(inner, options))


def _reordered(
    rebuilder: Rebuilder, node: Node, uses: Counter, options: PassOptions
) -> Value | None:
    """The product in its best order."""
    covered = [node]
    chain: list[Value] = []
    for operand in node.args[:2]:
        chain += _factors(rebuilder, operand, uses, covered)
    sizes = _sizes(chain)
    if len(chain) < 3 or sizes is None:
        return None
    work, best = _best(sizes)
    now = sum(_work(each) for each in covered)
    if work >= now:
        return None
    text = f"{len(chain)} matrices in {work} instead of {now} multiplications"
    if not options.fast_math:
        left(f"{text} round otherwise; it takes numerics='fast'", node)
        return None
    note(text, node, changes_bits=True)

    def product(first: int, last: int) -> Value:
        if first == last:
            return chain[first]
        middle = best[first, last]
        args = (product(first, middle), product(middle + 1, last))
        return rebuilder.add("matmul", args, covered, MADE_BY)

    return product(0, len(chain) - 1)


def _factors(
    rebuilder: Rebuilder, operand: object, uses: Counter, covered: list[Node]
) -> list[Value]:
    """The matrices whose product an operand is; the products among them that would go."""
    assert isinstance(operand, Value)
    made = rebuilder.definition(operand)
    if made is None or made.op != "matmul" or uses[operand] > 1 or not _is_matrix(operand):
        return [operand]
    covered.append(made)
    return [each for part in made.args[:2] for each in _factors(rebuilder, part, uses, covered)]


def _is_matrix(value: Value) -> bool:
    return tensor_type(value).ndim == 2


def _sizes(chain: list[Value]) -> list[int] | None:
    """The rows of the first matrix and the columns of all; None where one is no number."""
    if not all(map(_is_matrix, chain)):
        return None
    found = [tensor_type(chain[0]).shape[0], *(tensor_type(each).shape[1] for each in chain)]
    known = [size for size in found if isinstance(size, int)]
    return known if len(known) == len(found) else None


def _best(sizes: list[int]) -> tuple[int, dict[tuple[int, int], int]]:
    """The fewest multiplications, and where each part of the chain is split for them."""
    count = len(sizes) - 1
    work = {(at, at): 0 for at in range(count)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for first in range(count - length):
            last = first + length
            choices = (
                (work[first, at] + work[at + 1, last]
                 + sizes[first] * sizes[at + 1] * sizes[last + 1], at)
                for at in range(first, last)
            )  # fmt: skip
            work[first, last], split[first, last] = min(choices)
    return work[0, count - 1], split


def _work(node: Node) -> int:
    """The multiplications of a product of matrices."""
    columns = tensor_type(node.args[0]).shape[-1]
    assert isinstance(columns, int)
    return _count(node.results[0]) * columns


def _scaled(rebuilder: Rebuilder, node: Node, uses: Counter, options: PassOptions) -> Value | None:
    """A product times a number: a smaller operand is multiplied by it instead."""
    value, number = node.args[:2]
    made = rebuilder.definition(value)
    if made is None or made.op != "matmul" or isinstance(number, Value):
        return None
    result = tensor_type(node.results[0])
    if tensor_type(value) != result or not result.dtype.is_floating_point:
        return None
    counts = [_count(each) for each in (*made.args[:2], value)]
    least = min(counts)
    if least <= 0 or least == counts[2]:
        return None
    if uses[value] > 1:
        left("the product is read elsewhere too", node)
        return None
    text = f"the factor of {counts[2]} results is one of {least} in an operand"
    if not options.fast_math:
        left(f"{text}: it rounds otherwise and takes numerics='fast'", node)
        return None
    note(text, node, changes_bits=True)
    at = counts.index(least)
    operands = list(made.args[:2])
    operands[at] = rebuilder.add("mul", (operands[at], number), (node, made), MADE_BY)
    return rebuilder.add("matmul", tuple(operands), (node, made), MADE_BY)


def _count(value: Argument) -> int:
    """The elements of a tensor; -1 where a size is no number."""
    total = 1
    for size in tensor_type(value).shape:
        if not isinstance(size, int):
            return -1
        total *= size
    return total

"""Better loops for an assembled kernel: in the order of memory, collapsed, parallel.

In: a kernel whose loops follow the shape of its values. Out: an equal one, in three steps.

`interchange` puts the loop innermost whose turns are neighbours in memory, where a pointwise kernel
reads and writes what lies in another order than its shape says:

    for i in A { for j in B { y[A*j + i] = x[A*j + i] } }
        =>   for j in B { for i in A { y[A*j + i] = x[A*j + i] } }

`collapse` makes one loop of two nested ones where every index uses them only as B*i + j:

    for i in A { for j in B { y[B*i + j] = x[B*i + j] } }   =>   for i in A*B { y[i] = x[i] }

`parallelize` makes one parallel loop of the outer loops, with index statements for their
variables; the innermost loop of a kernel without rows stays serial, so that it can be vectorized:

    for i in A { for j in B { for k in C {...} } }
        =>   for p in A*B parallel { index i = p // B;  index j = p % B;  for k in C {...} }

Source: loop collapsing as OpenMP's collapse(n) does it; interchange after Allen and Kennedy (2001).
"""

from dataclasses import replace

from minitorch2.kernels.index import (
    Index,
    coefficient,
    product,
    symbol,
)
from minitorch2.kernels.loop_ir import Kernel, Let, LetIndex, Loop, Reduce, Statement, Store
from minitorch2.kernels.positions import delinearize
from minitorch2.kernels.schedule.rewrite import (
    every_index,
    loads_of,
    map_expression_index,
    map_indices,
)

FAR = 16  # a step over more than a neighbour, counted in neighbours


def interchange(kernel: Kernel) -> Kernel:
    """Make the loop with the shortest steps in memory the innermost one of a pointwise kernel."""
    chain: list[Loop] = []
    inside: list[Statement] = []
    body = kernel.body
    while len(body) and isinstance(body[-1], Loop):
        inside += body[:-1]
        chain.append(body[-1])
        body = body[-1].body
    inside += body
    plain = all(isinstance(each, Let | Store) for each in inside)
    if len(chain) < 2 or not plain:
        return kernel
    steps = [_steps(tuple(inside), loop.variable) for loop in chain]
    if min(steps) >= steps[-1]:
        return kernel
    order = sorted(range(len(chain)), key=lambda at: -steps[at])
    made: tuple[Statement, ...] = tuple(inside)
    for at in reversed(order):
        made = (replace(chain[at], body=made),)
    return replace(kernel, body=made)


def _steps(body: tuple[Statement, ...], variable: str) -> int:
    """How far apart in memory two turns of a loop are, over all reads and (twice) writes."""
    total = 0
    for statement in body:
        places = [(load.index, 1) for load in loads_of(statement)]
        places += [(statement.index, 2)] if isinstance(statement, Store) else []
        for index, weight in places:
            step = coefficient(index, variable)
            near = step.as_int() if step is not None else None
            total += weight * (near if near in (0, 1) else FAR)
    return total


def collapse(kernel: Kernel) -> Kernel:
    """Make one loop of nested ones wherever the indices allow."""
    return replace(kernel, body=tuple(_collapsed(statement) for statement in kernel.body))


def _collapsed(statement: Statement) -> Statement:
    if isinstance(statement, Reduce):
        return _collapsed_domain(statement)
    if not isinstance(statement, Loop):
        return statement
    loop = replace(statement, body=tuple(_collapsed(inner) for inner in statement.body))
    if len(loop.body) != 1 or not isinstance(loop.body[0], Loop):
        return loop
    inner = loop.body[0]
    joined = _joined(loop.variable, (inner.variable, inner.extent), every_index(inner.body))
    if joined is None:
        return loop
    body = tuple(map_indices(each, joined) for each in inner.body)
    return replace(loop, extent=loop.extent * inner.extent, body=body)


def _collapsed_domain(reduce: Reduce) -> Reduce:
    domain = list(reduce.domain)
    body, accumulators = reduce.body, reduce.accumulators
    at = len(domain) - 2
    while at >= 0:
        (outer, extent), inner = domain[at], domain[at + 1]
        indices = every_index((replace(reduce, domain=(), body=body, accumulators=accumulators),))
        joined = _joined(outer, inner, indices)
        if joined is not None:
            body = tuple(map_indices(each, joined) for each in body)
            accumulators = tuple(
                replace(each, value=map_expression_index(each.value, joined))
                for each in accumulators
            )
            domain[at : at + 2] = [(outer, extent * inner[1])]
        at -= 1
    return replace(reduce, domain=tuple(domain), body=body, accumulators=accumulators)


def _joined(outer: str, inner: tuple[str, Index], indices: list[Index]) -> "_Join | None":
    """How to rename the two loops' indices, if all use them as extent*outer + inner."""
    variable, extent = inner
    for index in indices:
        slow, fast = coefficient(index, outer), coefficient(index, variable)
        if slow is None or fast is None or slow != fast * extent:
            return None
    return _Join(outer, variable)


class _Join:
    """Maps B*i + j to i, the joined loop's variable."""

    def __init__(self, outer: str, inner: str):
        self.outer, self.inner = outer, inner

    def __call__(self, index: Index) -> Index:
        slow, fast = coefficient(index, self.outer), coefficient(index, self.inner)
        assert slow is not None and fast is not None
        rest = index - slow * symbol(self.outer) - fast * symbol(self.inner)
        return rest + fast * symbol(self.outer)


def parallelize(kernel: Kernel, most: int | None = None) -> Kernel:
    """Make one parallel loop of the outer loops, of at most so many."""
    if len(kernel.body) != 1 or not isinstance(kernel.body[0], Loop):
        return kernel
    chain, hoisted = [kernel.body[0]], []
    while len(chain) != most:
        body = chain[-1].body
        if not body or not isinstance(body[-1], Loop):
            break
        if any(isinstance(each, Loop | Reduce) for each in body[:-1]):
            break
        hoisted.append(body[:-1])
        chain.append(body[-1])
    serial = len(chain) > 1 and not any(isinstance(each, Reduce) for each in chain[-1].body)
    outer = chain[:-1] if serial else chain
    inside: tuple[Statement, ...] = (chain[-1],) if serial else chain[-1].body
    kept = tuple(each for statements in hoisted for each in statements)
    body = (*kept, *inside)
    if len(outer) == 1:
        return replace(kernel, body=(replace(outer[0], body=body, parallel=True),))
    extents = tuple(loop.extent for loop in outer)
    total = product(extents)
    parts = delinearize(symbol("p"), extents, {"p": total})
    lets = tuple(
        LetIndex(loop.variable, part, loop.origin) for loop, part in zip(outer, parts, strict=True)
    )
    loop = Loop("p", total, (*lets, *body), True, outer[0].origin)
    return replace(kernel, body=(loop,))

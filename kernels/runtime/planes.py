"""The source of the kernel that lays the channels of an array out as planes.

In: a float type, the number of dimensions, whether neighbours of a plane were neighbours before.
Out: source in the kernel dialect, for arrays x and y and, for each dimension, the sizes

    n    of the array            s    between positions that are neighbours in a plane
    c    remainders of s kept    f    zeros in front (less than none: positions left out)
    m    of a plane

    y[channel, remainders..., places...] = x[channel, place * s + remainder - f], or 0 outside

>>> print(planes_source("f32", 1, True))
def planes(lo, hi, x, y, n0, s0, c0, f0, m0, status):
    for line in range(lo, hi):
        rest = u64(line)
        r0 = umod(rest, c0)
        rest = udiv(rest, c0)
        inside = b1(u64(1))
        base = rest
        ahead = i64(f0) - i64(r0)
        first = select(ahead > i64(0), ahead, i64(0))
        first = i64(udiv(u64(first) + s0 - u64(1), s0))
        behind = i64(n0) + ahead
        last = select(behind > i64(0), behind, i64(0))
        last = i64(udiv(u64(last) + s0 - u64(1), s0))
        last = select(inside, minimum(last, i64(m0)), i64(0))
        first = u64(minimum(first, last))
        start = i64(base * n0) - ahead
        for j in range(first):
            y[line * m0 + j] = f32(0.0)
        for j in range(first, u64(last)):
            y[line * m0 + j] = x[u64(start + i64(j))]
        for j in range(u64(last), m0):
            y[line * m0 + j] = f32(0.0)

Source: minitorch2.kernels.runtime.convolutions uses it.
"""


def planes_source(short: str, dimensions: int, near: bool) -> str:
    """The source; `near`: the last dimension's positions are neighbours (its s is 1)."""
    last = dimensions - 1
    sizes = ", ".join(f"{name}{at}" for name in "nscfm" for at in range(dimensions))
    lines = [
        f"def planes(lo, hi, x, y, {sizes}, status):",
        "    for line in range(lo, hi):",
        "        rest = u64(line)",
    ]
    for at in reversed(range(last)):
        lines += [f"        j{at} = umod(rest, m{at})", f"        rest = udiv(rest, m{at})"]
    for at in reversed(range(dimensions)):
        lines += [f"        r{at} = umod(rest, c{at})", f"        rest = udiv(rest, c{at})"]
    lines += ["        inside = b1(u64(1))", "        base = rest"]
    for at in range(last):
        lines += [
            f"        p{at} = i64(j{at} * s{at} + r{at}) - i64(f{at})",
            f"        here{at} = (p{at} >= i64(0)) & (p{at} < i64(n{at}))",
            f"        inside = inside & here{at}",
            f"        base = base * n{at} + u64(select(here{at}, p{at}, i64(0)))",
        ]
    place = "u64(start + i64(j))" if near else f"u64(start + i64(j * s{last}))"
    zero = f"{short}(0.0)"
    lines += [
        f"        ahead = i64(f{last}) - i64(r{last})",
        "        first = select(ahead > i64(0), ahead, i64(0))",
        f"        first = i64(udiv(u64(first) + s{last} - u64(1), s{last}))",
        f"        behind = i64(n{last}) + ahead",
        "        last = select(behind > i64(0), behind, i64(0))",
        f"        last = i64(udiv(u64(last) + s{last} - u64(1), s{last}))",
        f"        last = select(inside, minimum(last, i64(m{last})), i64(0))",
        "        first = u64(minimum(first, last))",
        f"        start = i64(base * n{last}) - ahead",
        "        for j in range(first):",
        f"            y[line * m{last} + j] = {zero}",
        "        for j in range(first, u64(last)):",
        f"            y[line * m{last} + j] = x[{place}]",
        f"        for j in range(u64(last), m{last}):",
        f"            y[line * m{last} + j] = {zero}",
    ]
    return "\n".join(lines)

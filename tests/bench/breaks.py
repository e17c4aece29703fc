"""What a graph break costs: `python tests/bench/breaks.py [calls]`.

In: functions with 0, 1, 2, 4 and 8 breaks, a loop that breaks in each round, nothing in them but
the breaks and one small addition for each piece; a function of breaks only. Out: microseconds a
call, medians of nine runs, as Python and compiled, and what one more break adds.
"""

import gc
import statistics
import sys
import time

import minitorch2 as torch


def with_breaks(count):
    """A function with so many `.item()`, an addition after each."""
    lines = ["def function(x):", "    total = 0.0"]
    for _ in range(count):
        lines += ["    total = x.sum().item()", "    x = x + 1"]
    lines += ["    return x + total"]
    scope = {}
    exec("\n".join(lines), scope)
    return scope["function"]


def loop(x, rounds):
    """One break in each round, and the round itself."""
    for _ in range(rounds):
        x = x + 1
        if x.sum() < 0:
            break
    return x


def nothing_between(count):
    """A function with so many breaks and nothing else: calls of a native function that does
    nothing, so that what is measured is the break alone."""
    calls = "    isenabled()\n" * count
    scope = {"isenabled": gc.isenabled}
    exec(f"def function(x):\n{calls}    return x\n", scope)
    return scope["function"]


def microseconds(function, *args, calls):
    """The median time of one call."""
    function(*args), function(*args)
    runs = []
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(calls):
            function(*args)
        runs.append((time.perf_counter() - start) / calls * 1e6)
    return statistics.median(runs)


def main():
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    x = torch.ones(4)
    found = {}
    print(f"{'':24}{'eager':>10}{'compiled':>10}  us a call")
    for count in (0, 1, 2, 4, 8):
        function = with_breaks(count)
        eager = microseconds(function, x, calls=calls)
        found[count] = microseconds(torch.compile(function), x, calls=calls)
        print(f"{f'{count} breaks':24}{eager:10.1f}{found[count]:10.1f}")
    rounds = 20
    eager = microseconds(loop, x, rounds, calls=calls // 10)
    ours = microseconds(torch.compile(loop), x, rounds, calls=calls // 10)
    print(f"{f'loop, {rounds} rounds':24}{eager:10.1f}{ours:10.1f}")
    alone = microseconds(torch.compile(nothing_between(16)), x, calls=calls) / 16
    print(f"a break alone: {alone:.1f} us")
    print(f"one more break: {(found[8] - found[1]) / 7:.1f} us; one round: {ours / rounds:.1f} us")


if __name__ == "__main__":
    main()

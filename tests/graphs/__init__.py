"""Random captured graphs, forward and backward, on every backend, judged by eager and by float64.

    python -m tests.graphs 2000                 2,000 graphs from seed 0, and what they exercised
    python -m tests.graphs 50000 --jobs 2 --log graphs.log      a night's worth, which may be ended
                                                and goes on where it was when started again
    python -m tests.graphs --report a.log b.log     what logs say, summed
    python -m tests.graphs --again a.log        what they complain of, with the code as it is
    python -m tests.graphs 100 --seed 7000      others
    python -m tests.graphs 1 --seed 41 --show   one of them, as text

making      a random graph and inputs for it: any op of the table, views, writes, random dtypes
running     the graph under eager, aot_eager, interpreter, python, numba and others
judging     what counts as a difference
sizes       one artifact for several sizes of a graph
counting    some seeds of work, and what they exercised
shrinking   a failing graph made small, and a script that stands alone
"""

"""Which loop nests become one kernel, in which order, in which loops.

Files, in reading order:

program.py   units of work, dependencies, layouts, outputs and writes
frames.py    the loops of a kernel, and where a nest falls in them
rewrite.py   walking and rebuilding loop IR
assemble.py  a group of nests as one kernel
dependencies.py  which units must run before which
reinplace.py  scatters that write into an input, without copies
hazards.py   writes into inputs that would disturb reads
trial.py     whether nests can be one kernel, found out without building it
recompute.py  what is cheaper computed again than stored
checks.py    which units may fail, so that writes into inputs wait for them
fusion.py    the groups, and a reason for every refusal
split_loops.py  innermost loops cut where their indices change
loops.py     loops collapsed and made parallel
gpu.py       the same loops dealt to a GPU's blocks, warps, threads and vectors
plan.py      the steps of the whole graph
chains.py    batched products and the kernels between them as one step
in_place.py  results in the memory of operands that die
lifetimes.py  when each value has memory, and whose memory it takes
cost.py      what each step must move and compute
"""

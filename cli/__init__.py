"""The window on the other three rooms: the `mt2` command. It only looks; it decides nothing.

Files of this room, in reading order:

main.py      the `mt2` command and its sub-commands
stages.py    the stages of a compiled function, in order, with a sentence on each
records.py   events as plain records, and as JSON
runner.py    runs a script as python would
script.py    SCRIPT and its arguments on the command line
render.py    layout: headings, listings with user lines, tables, folding, colour
diffs.py     what a pass changed, in stable numbers
costs.py     tables of bytes, flops and times
bodies.py    how each kind of artifact is laid out
line.py      what became of one line of the source
report.py    the report: units, their stages, what happened at a glance
graph_texts.py  graphs as text that mt2 opt reads
explain.py   mt2 explain
counting.py  what one script made of the compiler, in numbers
count.py     mt2 count
timing.py    one run of a script under a clock for each stage
times.py     mt2 times
run.py       mt2 run
doctor.py    mt2 doctor
ops.py       mt2 ops
opt.py       mt2 opt
rounding.py  how far numbers may be from those in float64
slopes.py    derivatives against differences
bisection.py every stage on the same inputs, and the first that is wrong
bisect.py    mt2 bisect
bench_workloads.py  what mt2 bench measures
bench.py     mt2 bench
cache.py     mt2 cache
"""

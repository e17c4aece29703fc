"""From a captured graph to graphs of primitives, forward and backward.

Files, in reading order:

tracer         stands where the backends stand and turns every primitive into a node
control_flow   branches and loops: functional graphs inside, and their backward
histories      what an output's history says of its backward
output_plans   a functional graph and what its outputs are for, as data
functionalize  a captured graph without composites and writes
joint          forward and backward in one graph, by running the engine on symbols
costs          what values weigh and what nodes take
min_cut        the cheapest cut of a network
saving         what to keep across a cut, and what to compute again behind it
partition      the joint graph cut in two, and what has to be kept in between
rematerialize  the same choice inside one graph
missing        the backward for outputs of which some get no gradient
runtime        the compiled forward and backward as one node of eager autograd
records        a compiled program as plain data, and back
pipeline       all of the above, in order, for one captured graph
"""

"""The graph IR: what capture writes, what passes change, what kernels are made from.

Files, in reading order:

    types          types of values
    graph          the grammar, the data, and the builder
    fakes          runs ops on tensors without memory
    eager_orders   how eager keeps values in memory
    inference      result types, asked from the op rows
    hidden_sizes   sizes that a graph needs and no input of it shows
    examples       sizes to decide by, where a graph's own are not at hand
    printer        graph to text
    parser         text to graph
    verify         the rules a graph keeps
    interpreter    runs a graph node by node: what a graph means
    compare        do two graphs say, or compute, the same?
"""

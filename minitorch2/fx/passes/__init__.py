"""torch.fx.passes: analyses of fx graphs.

Files, in reading order:

shape_prop  the shape and dtype of every node, by running the graph
"""

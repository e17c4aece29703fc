"""torch.fx: programs as graphs of Python calls, to be read, changed and run.

A symbolic trace calls a module with Proxies, which record what is done to them; the Graph of the
records turns into Python code again, and with a module's parameters into a GraphModule. The graph
is untyped and mutable: it is for people's own transformations, and no stage of the compiler runs
on it (minitorch2.jit.ir is what the compiler uses).

Files, in reading order:

node          one call in the graph
graph         the list of nodes, and the operations on it
codegen       a graph as Python source
proxy         values that record what is done to them
tracing       symbolic_trace, Tracer, wrap
graph_module  a module whose forward is a graph
interpreter   running a graph node by node; transforming one into another
rewriting     replace_pattern
immutable     lists and dicts inside a node's arguments
passes        ShapeProp
"""

from minitorch2.fx.codegen import CodeGen, PythonCode
from minitorch2.fx.graph import Graph
from minitorch2.fx.graph_module import GraphModule
from minitorch2.fx.interpreter import Interpreter, Transformer
from minitorch2.fx.node import Node, has_side_effect, map_arg
from minitorch2.fx.proxy import Proxy
from minitorch2.fx.rewriting import replace_pattern
from minitorch2.fx.tracing import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap

__all__ = [
    "PH",
    "CodeGen",
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "ProxyableClassMeta",
    "PythonCode",
    "Tracer",
    "Transformer",
    "has_side_effect",
    "map_arg",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]

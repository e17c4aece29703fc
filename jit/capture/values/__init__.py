"""What the symbolic machine keeps on its stack in place of Python objects, by kind.

- base: Value, the protocol of all of them; Lazy, which reads (and guards) on first use
- constants: numbers, strings, dtypes, classes of the builtins ... known by value
- tensors: a fake tensor and the graph value it stands for
- floats: a Python float that changes from call to call
- sequences: tuples, lists, slices, sets
- mappings: dicts
- iterators: iterators over known things, and generators of inlined functions
- functions: Python functions, bound methods, native callables, partials
- objects: instances of user classes and nn.Modules
- classes: classes, and what calling one makes; super()
- exceptions: exception instances that are raised and caught inside
- contexts: grad-mode context managers
- namespaces: Python modules, dicts of globals, closure cells
"""

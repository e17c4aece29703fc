"""What the symbolic machine keeps on its stack in place of Python objects, by kind.

- base: Value, the protocol of all of them; Lazy, which reads (and guards) on first use
- constants: numbers, strings, dtypes, classes of the builtins ... known by value
- tensors: a fake tensor and the graph value it stands for
- floats: a Python float that changes from call to call
- sequences: tuples, lists, slices
- deques: collections.deque
- keys: what stands for a value among the keys of a dict or set
- sets: sets and frozensets, in Python's order
- views: dict.keys(), values(), items()
- mappings: dicts
- iterators: iterators over known things, and generators of inlined functions
- outside: iterators that exist already, looked ahead of
- counters: itertools.count from outside, whose numbers are keys
- functions: Python functions, bound methods, native callables
- partials: functools.partial, part by part
- instance_dicts: the __dict__ of an instance
- objects: instances of user classes and nn.Modules
- containers: instances of user classes that extend list, dict and the like
- natives: objects of native classes that capture runs for real, arrays of numpy among them
- random_states: generators of random numbers
- weak: weak references, and classes whose instances tell when they are freed
- classes: classes, and what calling one makes; super()
- made_classes: classes that the function makes itself, and the descriptors in them
- exceptions: exception instances that are raised and caught inside
- contexts: grad-mode context managers
- locks: locks made inside
- namespaces: Python modules, dicts of globals, closure cells
"""

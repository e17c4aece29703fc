"""What happens at calls that are not inlined.

- builtins: Python's builtin functions over values
- kinds: isinstance and issubclass
- constructors: calling builtin classes (list, dict, range, zip, super, type ...)
- class_statements: classes made inside, and the decorators that change them
- iteration: the iterators of the builtins and of itertools
- copying: copy.copy and copy.deepcopy
- arrays: functions of numpy on known values
- twins: functions of native modules that have a twin in Python
- kept_answers: functions with an lru_cache, whose cache is asked first
- library: functools, itertools, operator, math, and slots such as `object.__setattr__`
- package: functions of minitorch2 itself, run directly on fake tensors
- groups: what Python does with exception groups
- control_flow: branches and loops over tensors, each function a graph of its own
- transforms: torch.func: one node with the transformed function as a graph
- late_reads: what a backward may read while forward is captured
- custom_gradients: `Function.apply`: one node with forward and backward as graphs
- watching: hooks on tensors
- dispatching: which of these answers a call
"""

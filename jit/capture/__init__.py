"""A call of a Python function in; a graph, guards and a host function out.

Reading order:
- source: where a value of the call came from
- instructions: bytecode, decoded
- opcodes: every instruction of each Python version, split by what happens to it
- graph_break: the reasons for which capture stops
- values: what stands on the machine's stack
- side_effects: what the captured program changes, recorded
- twins: a leaf and its data, apart in the graph
- picking: views at places that tensors tell
- state: everything one capture knows; frames
- mode: operations on fake tensors become nodes of the graph
- wrapping: objects to values, with guards
- marks: what the user says of a tensor's sizes
- inputs: tensors and numbers that enter
- leaves: parameters and other leaves made inside
- members: attributes of classes and instances
- symbols: operators, their functions and special methods
- protocols: operators, comparisons, keys
- texts: str.format and % over values
- specials: special methods of native classes, by name
- binding: arguments to parameters
- rules: calls that are not inlined
- handlers: one for each instruction
- gradients: backward inside captured code
- interpreter: the machine itself
- resume: going on after a break
- emit: the host function
- trace: what happened at each instruction
- captured: what comes of it
- attempt: one run of the machine, to its end or to a break
- program: `capture(fn, args, kwargs)`, the entry
"""

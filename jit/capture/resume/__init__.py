"""Going on after a graph break: Python does one operation, and capture continues behind it.

Reading order:
- frames: what a program sees of frames and tracebacks
- liveness: which variables are read later
- place: where a frame stands and what it holds there
- splice: code objects that start in the middle of a function
- operations: what each instruction needs from the stack when Python does it alone
- stop: a break: the operation, and the places from which the call goes on
- suspend: the frame of the machine at a break, as values to hand over
"""

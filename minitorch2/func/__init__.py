"""torch.func: functions of functions, which nest and combine freely.

Differentiation here is reverse mode on the ordinary graph: each transform tracks its own inputs,
differentiates, and cuts off what belongs to it alone. A Jacobian times a vector is the gradient of
the gradient with respect to what it starts from, so there is no second set of derivative rules.

Files, in reading order:

vmap        batches through a function of single samples
levels      what one differentiation tracks and cuts off
transforms  grad, vjp, jvp, linearize
jacobians   jacrev, jacfwd, hessian
modules     modules as functions of their parameters; ensembles
rows        the transforms as rows, for captured code
"""

from minitorch2.func.jacobians import hessian, jacfwd, jacrev
from minitorch2.func.modules import functional_call, stack_module_state
from minitorch2.func.transforms import grad, grad_and_value, jvp, linearize, vjp
from minitorch2.func.vmap import vmap

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]

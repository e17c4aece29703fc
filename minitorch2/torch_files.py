"""Where torch keeps a name, and where it is here: files of torch that are not files of ours.

In: a module name such as torch.nn.modules.linear. Out: the name of our module that holds the same
public names, or None.

    >>> ours("torch.nn.modules.linear")
    'minitorch2.nn'
    >>> ours("torch.nn.functional")
    'minitorch2.nn.functional'
    >>> ours("torch.distributions.kl")
    'minitorch2.distributions.divergence'

Scripts import from such files (`from torch.nn.modules.batchnorm import _BatchNorm`), so each is
named; a file that neither side has stays an error.

Source: torch's documentation and the import statements of public scripts.
"""

# A folder of torch and our module; below them torch's files in it.
_FOLDERS = """
torch minitorch2
    functional _tensor _VF _torch_docs
torch._C minitorch2
    _nn _functions
torch.nn minitorch2.nn
    modules cpp
torch.nn.modules minitorch2.nn
    activation adaptive batchnorm channelshuffle container conv distance dropout flatten fold
    instancenorm lazy linear normalization padding pixelshuffle pooling rnn sparse transformer
    upsampling
torch.nn.parallel minitorch2.nn.parallel
    comm data_parallel distributed parallel_apply replicate scatter_gather
torch.nn.utils minitorch2.nn.utils
    clip_grad convert_parameters fusion init
torch.optim minitorch2.optim
    adadelta adagrad adam adamax adamw asgd lbfgs nadam radam rmsprop rprop sgd sparse_adam
    _adafactor _muon _functional _multi_tensor
torch.distributions minitorch2.distributions
    bernoulli beta binomial categorical cauchy chi2 continuous_bernoulli dirichlet
    distribution exp_family exponential fishersnedecor gamma geometric gumbel half_cauchy
    half_normal independent inverse_gamma kumaraswamy laplace lkj_cholesky log_normal
    logistic_normal lowrank_multivariate_normal mixture_same_family multinomial
    multivariate_normal negative_binomial normal one_hot_categorical pareto poisson
    relaxed_bernoulli relaxed_categorical studentT transformed_distribution uniform von_mises
    weibull wishart generalized_pareto
torch.autograd minitorch2.autograd
    grad_mode variable anomaly_mode
torch.amp minitorch2.amp
    autocast_mode
torch.cpu minitorch2.amp
    amp
torch.cpu.amp minitorch2.amp
    autocast_mode grad_scaler
torch.cuda.amp minitorch2.amp.cuda
    autocast_mode grad_scaler common
torch.utils.data minitorch2.utils.data
    backward_compatibility distributed _utils
torch.utils.data._utils minitorch2.utils.data
    collate fetch worker pin_memory
torch.multiprocessing minitorch2.multiprocessing
    spawn reductions pool
torch._higher_order_ops minitorch2._higher_order_ops
    associative_scan cond map scan while_loop
"""

# Files with another name here.
_FILES = {
    "torch.cuda.amp": "minitorch2.amp.cuda",
    "torch.jit.annotations": "minitorch2.jit.scripting",
    "torch._tensor_str": "minitorch2.printing",
    "torch._custom_ops": "minitorch2.library",
    "torch.ao": "minitorch2",
    "torch.ao.quantization": "minitorch2.quantization",
    "torch.onnx.symbolic_helper": "minitorch2.onnx",
    "torch._jit_internal": "minitorch2.jit.scripting",
    "torch.fx._symbolic_trace": "minitorch2.fx.tracing",
    "torch.storage": "minitorch2.untyped_storage",
    "torch.torch_version": "minitorch2.version",
    "torch.autograd._functions": "minitorch2.autograd",
    "torch.distributed.distributed_c10d": "minitorch2.distributed",
    "torch.distributed.nn.functional": "minitorch2.distributed.nn",
    "torch.distributions.constraint_registry": "minitorch2.distributions.registry",
    "torch.distributions.kl": "minitorch2.distributions.divergence",
    "torch.distributions.utils": "minitorch2.distributions.tools",
    "torch.nn.modules.loss": "minitorch2.nn.loss",
    "torch.nn.modules.module": "minitorch2.nn.module",
    "torch.nn.common_types": "minitorch2.nn.tuples",
    "torch.nn.modules.utils": "minitorch2.nn.tuples",
    "torch.optim.adamw": "minitorch2.optim.adam",
    "torch.utils.data.dataloader": "minitorch2.utils.data.dataloader",
    "torch.utils.data.dataset": "minitorch2.utils.data.dataset",
    "torch.utils.data.sampler": "minitorch2.utils.data.sampler",
}

# Files that torch's has in the same place, but holds more in: the whole folder answers.
WIDER = {"torch.distributions.transforms": "minitorch2.distributions"}


def _read(text: str) -> dict[str, str]:
    """The table as a dict from torch's file to our module."""
    found, folder, module = {}, "", ""
    for line in text.strip().split("\n"):
        if not line.startswith(" "):
            folder, module = line.split()
        else:
            found.update({f"{folder}.{name}": module for name in line.split()})
    return found


PLACES = {**_read(_FOLDERS), **_FILES}


def ours(name: str) -> str:
    """Our module for one of torch's: the table's, or the one of the same name."""
    return PLACES.get(name) or "minitorch2" + name.removeprefix("torch")

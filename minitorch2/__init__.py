"""minitorch2: the PyTorch 2 stack, written to be read.

    import minitorch2 as torch

Files of this room, in reading order:

errors           every error: a code, what is wrong, what to do
config           settings from the environment
compile_settings what users ask of compiled calls
garbage.py  cycles are looked for rarely while much is made that stays
forks            what a forked child finds: free locks, whole modules
compile_config   torch._dynamo.config: the same, as attributes of a module
artifacts        provenance and the stream of events
phases           where the time of compiling goes
public           public functions as they are when they are called
__future__       how modules are converted
swapping         two tensors exchanged
dtypes           element types and promotion
devices          where memory lives
layouts          shapes, strides, offsets, views
formats          orders of elements in memory, by name
storages         blocks of memory with a version counter
untyped_storage  the bytes behind a tensor, as torch shows them
tensors          Tensor: a storage, a layout, a dtype, autograd fields
size_marks       what the user says of a tensor's sizes
dispatch         the single door of all operations
ops              THE op table and its rows
backends         numpy and meta: how rows run
batching         tensors that stand for all samples of a batch
autograd         gradients by recorded vjps
random           Philox, a counter-based generator
printing         how a tensor prints
nested_values    numbers and nested lists as arrays
creation         functions that make tensors from Python values
ranges           regular tensors: ranges, evenly spaced numbers, identity matrices
typed_tensors    torch.FloatTensor and its like
interchange      tensors on other people's memory
_C               names of torch's C++ module
foreach          one operation on every tensor of a list
overrides        classes and modes that take over public functions
subclasses       subclasses of Tensor
trees            values inside nested tuples, lists and dicts
control_flow     cond, while_loop, scan, map: branches and loops that compiled code keeps
_higher_order_ops  torch's place for them
settings         settings of the process that scripts change
types            names for annotations
return_types     tuples with names, of functions with several results
functions        other functions: extrema, comparisons, einsum, grids
linalg           norms, factorizations, solutions
special          functions of mathematics: torch.special
masked           what a mask leaves: torch.masked
native_norms     normalizations that give their statistics too
factor_solutions solutions from factors, of tensors, of low rank
fft              discrete Fourier transforms
spectra          window functions, short-time Fourier transforms
sparse           tensors that hold only the elements that are not zero
signal           more windows
splits           parts of a dimension
array_functions  grids, stacks, sets, and methods made of them
differences      derivatives of functions known at sample points
version          which version this is
__config__       what it computes with
cuda             what torch.cuda answers where there is no GPU
accelerator      and what torch.accelerator answers
xpu              and torch.xpu
mps              and torch.mps
distributed      one process as a group of world size 1
func             vmap, grad, Jacobians; modules as functions of their parameters
amp              mixed precision: autocast and GradScaler
nn               layers and losses
draws            gamma, Poisson and binomial numbers
distributions    Normal, Categorical, Gamma and the others; their divergences
optim            optimizers and learning-rate schedules
utils            datasets and loaders
serialization    save and load
hub              weights and models by URL or from a folder, kept in a cache
testing          assert_close
profiler         which operations ran, and how long
futures          values that another thread will set
compiling        minitorch2.compile; stands above jit and kernels, as does the next
custom_backends  backends of the user's own: fn(graph, example_inputs)
compiler         torch.compiler: questions about compilation
_dynamo          torch._dynamo's names for it
fx               symbolic traces: programs as graphs of calls
multiprocessing  work in other processes
library          operations that users add
_logging         artifacts of compilation printed while it goes on
onnx             what models ask of torch.onnx
quantization     marks in models; no quantization
absent           parts of torch that are left out
torch_files      where torch keeps a name, and where it is here
torch_distribution  the package torch as importlib.metadata finds it
compat           other people's torch scripts: `import torch` gives minitorch2
"""

import importlib as _importlib
from math import e, inf, nan, pi
from typing import Any as _Any

from minitorch2.garbage import rarely_collected as _rarely_collected
from minitorch2.ops.code_cache import kept_dataclasses as _kept_dataclasses

_made = _rarely_collected()
_made.__enter__()  # until the end of this file: what it makes stays
_classes = _kept_dataclasses("minitorch2")
_classes.__enter__()

from minitorch2 import autograd, random
from minitorch2.artifacts import Event, Origin, Span
from minitorch2.autograd.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from minitorch2.autograd.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from minitorch2.backends import composite_programs as _composite_programs
from minitorch2.backends import cuda as _cuda_backend
from minitorch2.backends import cudnn as _cudnn
from minitorch2.backends import meta as _meta
from minitorch2.backends import mkl as _mkl
from minitorch2.backends import mkldnn as _mkldnn
from minitorch2.backends import mps as _mps
from minitorch2.backends import numpy_backend as _numpy_backend
from minitorch2.backends import openmp as _openmp
from minitorch2.ops import bind as _bind
from minitorch2.ops import namespaces as _namespaces
from minitorch2.ops import rows as _rows
from minitorch2.random import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from minitorch2.tensors import Size, Tensor

_bind.bind()
globals().update(_bind.functions)

from minitorch2 import (
    _C,
    __config__,
    __future__,
    accelerator,
    amp,
    backends,
    cuda,
    distributed,
    draws,
    fft,
    func,
    linalg,
    masked,
    mps,
    nn,
    optim,
    overrides,
    return_types,
    signal,
    special,
    types,
    utils,
    version,
    xpu,
)
from minitorch2 import foreach as _foreach
from minitorch2 import sparse as _sparse
from minitorch2 import subclasses as _subclasses
from minitorch2.amp import (
    autocast,
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    is_autocast_cpu_enabled,
    is_autocast_enabled,
)
from minitorch2.array_functions import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block_diag,
    broadcast_shapes,
    can_cast,
    cartesian_prod,
    chain_matmul,
    cholesky,
    column_stack,
    combinations,
    cross,
    det,
    dsplit,
    dstack,
    fliplr,
    flipud,
    hsplit,
    inverse,
    is_nonzero,
    logdet,
    matrix_exp,
    median,
    nonzero,
    pinverse,
    polygamma,
    positive,
    qr,
    randint_like,
    ravel,
    rot90,
    row_stack,
    slogdet,
    svd,
    tensor_split,
    tile,
    tril_indices,
    triu_indices,
    unique,
    unique_consecutive,
    vander,
    vsplit,
    where,
)
from minitorch2.autograd import forward_ad as _forward_ad
from minitorch2.autograd import functional as _functional
from minitorch2.autograd import profiler as _autograd_profiler
from minitorch2.control_flow import cond, while_loop
from minitorch2.creation import (
    as_tensor,
    empty,
    empty_like,
    from_numpy,
    full,
    full_like,
    normal,
    ones,
    ones_like,
    rand,
    rand_like,
    randint,
    randn,
    randn_like,
    tensor,
    zeros,
    zeros_like,
)
from minitorch2.devices import device, get_default_device, set_default_device
from minitorch2.differences import gradient
from minitorch2.draws import (
    binomial,
    poisson,
)
from minitorch2.draws import sample_dirichlet as _sample_dirichlet
from minitorch2.draws import standard_gamma as _standard_gamma
from minitorch2.dtypes import (
    bfloat16,
    bool,
    cdouble,
    cfloat,
    complex64,
    complex128,
    double,
    dtype,
    finfo,
    float,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    get_default_dtype,
    half,
    iinfo,
    int,
    int8,
    int16,
    int32,
    int64,
    long,
    promote_types,
    result_type,
    set_default_dtype,
    short,
    uint8,
    uint16,
    uint32,
    uint64,
)
from minitorch2.errors import UnknownName as _UnknownName
from minitorch2.factor_solutions import (
    cholesky_inverse,
    cholesky_solve,
    geqrf,
    lu,
    lu_solve,
    lu_unpack,
    orgqr,
    ormqr,
    pca_lowrank,
    svd_lowrank,
    triangular_solve,
)
from minitorch2.formats import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    jagged,
    memory_format,
    preserve_format,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from minitorch2.func import vmap
from minitorch2.functions import (
    allclose,
    broadcast_tensors,
    broadcast_to,
    einsum,
    equal,
    get_num_threads,
    hstack,
    is_complex,
    is_conj,
    is_floating_point,
    is_tensor,
    isclose,
    max,
    meshgrid,
    min,
    numel,
    set_num_threads,
    sort,
    topk,
    vstack,
)
from minitorch2.interchange import asarray, from_dlpack, frombuffer, scalar_tensor
from minitorch2.layouts import layout
from minitorch2.native_norms import (
    constant_pad_nd,
    native_batch_norm,
    native_group_norm,
    native_layer_norm,
)
from minitorch2.nn.functional import (
    adaptive_avg_pool1d,
    avg_pool1d,
    celu,
    channel_shuffle,
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    group_norm,
    hardshrink,
    layer_norm,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    native_channel_shuffle,
    pairwise_distance,
    pixel_shuffle,
    pixel_unshuffle,
    prelu,
    relu_,
    rms_norm,
    rrelu,
    selu,
    threshold,
)
from minitorch2.ops.derived_methods import is_inference, is_signed, split_with_sizes
from minitorch2.ops.memory_methods import (
    empty_permuted,
    empty_strided,
    get_device,
    is_same_size,
)
from minitorch2.ops.ordering import clone
from minitorch2.printing import set_printoptions
from minitorch2.ranges import arange, eye, linspace, logspace, range
from minitorch2.settings import (
    _assert,
    are_deterministic_algorithms_enabled,
    clear_autocast_cache,
    get_deterministic_debug_mode,
    get_float32_matmul_precision,
    get_num_interop_threads,
    is_autocast_cache_enabled,
    is_deterministic_algorithms_warn_only_enabled,
    is_warn_always_enabled,
    set_autocast_cache_enabled,
    set_autocast_cpu_dtype,
    set_autocast_cpu_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
    set_default_tensor_type,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    set_flush_denormal,
    set_num_interop_threads,
    set_warn_always,
    typename,
    use_deterministic_algorithms,
)
from minitorch2.sparse import smm, sparse_coo_tensor, sparse_csr_tensor, spmm, sspaddmm
from minitorch2.spectra import (
    bartlett_window,
    blackman_window,
    hamming_window,
    hann_window,
    istft,
    kaiser_window,
    stft,
)
from minitorch2.typed_tensors import (
    BFloat16Tensor,
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
)
from minitorch2.untyped_storage import UntypedStorage
from minitorch2.utils.dlpack import to_dlpack

globals().update(_foreach.FUNCTIONS)
_subclasses.install()
_sparse.install()
Tensor.sparse_mask = _sparse.sparse_mask  # type: ignore[attr-defined]
hspmm, newaxis = smm, None
cuda.amp = amp  # type: ignore[attr-defined]
for _method in (stft, istft, cholesky_solve, cholesky_inverse, lu_solve, triangular_solve, geqrf):
    setattr(Tensor, _method.__name__, _method)
Tensor.lu, Tensor.orgqr, Tensor.ormqr = lu, orgqr, ormqr  # type: ignore[attr-defined]
__version__ = version.__version__


# Names whose files stand above this package's other files, or that bring much along that few
# scripts use (distributions: numpy.random; serialization: zipfile): imported when first asked for.
_LAZY = {
    "distributions": "minitorch2.distributions",
    "serialization": "minitorch2.serialization",
    "load": "minitorch2.serialization",
    "save": "minitorch2.serialization",
    "PyTorchFileReader": "minitorch2.serialization.records",
    "jit": "minitorch2.jit",
    "hub": "minitorch2.hub",
    "testing": "minitorch2.testing",
    "profiler": "minitorch2.profiler",
    "futures": "minitorch2.futures",
    "Future": "minitorch2.futures",
    "fx": "minitorch2.fx",
    "Stream": "minitorch2.cuda",
    "_parse_to": "minitorch2.nn.placing",
    "ScriptModule": "minitorch2.jit.scripting",
    "ScriptFunction": "minitorch2.jit.scripting",
    "compile": "minitorch2.compiling",
    "compiler": "minitorch2.compiler",
    "_dynamo": "minitorch2._dynamo",
    "library": "minitorch2.library",
    "onnx": "minitorch2.onnx",
    "quantization": "minitorch2.quantization",
    "_logging": "minitorch2._logging",
    "multiprocessing": "minitorch2.multiprocessing",
}


nn.module.COMPILERS["compile"] = lambda *args, **kwargs: __getattr__("compile")(*args, **kwargs)


def __getattr__(name: str) -> "_Any":
    place = _LAZY.get(name)
    if place is None:
        raise _UnknownName("minitorch2", name, __dir__)
    with _rarely_collected(), _kept_dataclasses(place):
        module = _importlib.import_module(place)
    found = globals()[name] = module if place.endswith("." + name) else getattr(module, name)
    return found


def __dir__() -> "list[str]":
    return sorted({*globals(), *_LAZY})


_classes.__exit__(None, None, None)
_made.__exit__(None, None, None)

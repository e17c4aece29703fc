"""install_as_torch, in a process of its own so that no other test meets a changed `torch`."""

import subprocess
import sys

PROGRAM = """
from minitorch2 import compat
compat.install_as_torch()
compat.install_as_torch()
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader
import minitorch2
assert torch is minitorch2 and nn is minitorch2.nn and F is minitorch2.nn.functional
assert torch.__name__ == 'torch' and nn.__name__ == 'torch.nn'
assert nn.__spec__.name == 'minitorch2.nn'
from torch.nn.modules.conv import _ConvNd
import torch.optim.adamw, torch.distributions.kl, torch.nn.modules.batchnorm
assert issubclass(nn.Conv2d, _ConvNd) and issubclass(nn.Conv2d, torch.nn.modules.conv._ConvNd)
assert torch.nn.modules.linear.Linear is nn.Linear and torch.optim.adamw.AdamW is torch.optim.AdamW
assert torch.nn.modules.container.Sequential is nn.Sequential
torch.nn.modules.linear.Marker = 1
assert nn.Marker == 1 and 'Linear' in dir(torch.nn.modules.linear)
assert torch.distributions.kl.kl_divergence is torch.distributions.kl_divergence
assert torch.utils._pytree.tree_map(lambda x: x + 1, [1]) == [2]
print(nn.Linear(2, 1)(torch.ones(1, 2)).shape)
try:
    import torch.zzzzz
except ImportError as error:
    print(error)
try:
    import torch.optim.lr_schedulers
except ImportError as error:
    print(error)
"""


def test_torch_is_minitorch2():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM], capture_output=True, text=True
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "torch.Size([1, 1])",
        "minitorch2 has neither a module nor a name 'torch.zzzzz': leave the import out, or run "
        "the script with torch itself",
        "minitorch2 has neither a module nor a name 'torch.optim.lr_schedulers' (the nearest is "
        "'torch.optim.lr_scheduler'): leave the import out, or run the script with torch itself",
    ]


VERSIONS = """
from importlib import metadata
from minitorch2 import compat, version
import minitorch2
before = minitorch2.__version__
compat.install_as_torch()
import torch
assert torch.__version__ == version.torch and metadata.version('torch') == version.torch
assert torch.__version__ >= '2.0' and torch.__version__ > (1, 13) and torch.__version__ < '3'
assert int(torch.__version__.split('.')[0]) == 2 and '2.9' < torch.__version__ != '2.1'
assert metadata.version('numpy')  # other packages are found as always
assert torch.functional.einsum is torch.einsum  # without an import of its own
assert torch.optim.adadelta.Adadelta is torch.optim.Adadelta
assert torch.nn.parallel.distributed.DistributedDataParallel
compat.uninstall()
assert minitorch2.__version__ == before
"""


def test_scripts_that_ask_for_the_version_are_told_torchs():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", VERSIONS], capture_output=True, text=True
    )
    assert done.stderr == ""


COLLECTIVES = """
from minitorch2 import compat
compat.install_as_torch()
import torch
from torch.distributed import nn as dist_nn
import torch.distributed.nn.functional
from torch.distributed.distributed_c10d import ReduceOp
torch.distributed.init_process_group('gloo', rank=0, world_size=1)
x = torch.ones(2, requires_grad=True)
parts = [dist_nn.all_reduce(x, op=ReduceOp.SUM), *dist_nn.all_gather(x), *dist_nn.gather(x)]
parts += [dist_nn.broadcast(x, 0), dist_nn.reduce(x, 0), dist_nn.scatter([x])]
parts += [torch.distributed.nn.functional.reduce_scatter(torch.zeros(2), [x])]
sum(each.sum() for each in parts).backward()
assert len(parts) == 7 and x.grad.tolist() == [7.0, 7.0]
torch.distributed.destroy_process_group()
"""


def test_communication_that_gradients_flow_through():
    done = subprocess.run([sys.executable, "-c", COLLECTIVES], capture_output=True, text=True)
    assert done.stderr == ""


MISSING = """
from minitorch2 import compat
compat.install_as_torch()
import torch, torch.nn as nn, torch.nn.functional as F
from torch.nn.modules import conv
asked = [
    lambda: torch.ones_lke, lambda: nn.Linnear, lambda: F.rellu, lambda: torch.linalg.slv,
    lambda: torch.optim.lr_scheduler.StepLr, lambda: torch.fft.ftt, lambda: torch.utils.data.Datset,
]
for ask in asked:
    try:
        ask()
    except AttributeError as error:
        print(error)
for text in ('from torch import ones_lke', 'from torch.nn import Linnear'):
    try:
        exec(text)
    except ImportError as error:
        print(error)
assert not hasattr(torch, 'npu') and not hasattr(torch.nn, '__path_')
names = {}
exec('from torch.nn.modules.conv import *', names)
assert names['Conv2d'] is nn.Conv2d
from torch.distributions.transforms import __all__ as listed
assert 'CatTransform' in listed
import torch.distributions.transforms as transforms
assert transforms.CatTransform is torch.distributions.CatTransform
compat.uninstall()
import minitorch2
assert minitorch2.__name__ == 'minitorch2' and minitorch2.nn.__name__ == 'minitorch2.nn'
try:
    minitorch2.nn.Linnear
except AttributeError as error:
    print(error)
"""


def test_a_missing_name_is_told_with_the_nearest_that_exists():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", MISSING], capture_output=True, text=True
    )
    assert done.stderr == ""
    told = "module 'torch{0}' has no attribute '{1}' in minitorch2 (the nearest is 'torch{0}.{2}')"
    left = ": leave the import out, or run the script with torch itself"
    lacks = "minitorch2 has neither a module nor a name 'torch{0}' (the nearest is 'torch{1}')"
    assert done.stdout.splitlines() == [
        told.format("", "ones_lke", "ones_like"),
        told.format(".nn", "Linnear", "Linear"),
        told.format(".nn.functional", "rellu", "relu"),
        told.format(".linalg", "slv", "solve"),
        told.format(".optim.lr_scheduler", "StepLr", "StepLR"),
        told.format(".fft", "ftt", "fft"),
        told.format(".utils.data", "Datset", "Dataset"),
        lacks.format(".ones_lke", ".ones_like") + left,
        lacks.format(".nn.Linnear", ".nn.Linear") + left,
        "module 'minitorch2.nn' has no attribute 'Linnear'",
    ]


ABSENT = """
from minitorch2 import compat
compat.install_as_torch()
import torch
import torch.distributed.fsdp
from torch.distributed.tensor import DTensor
from torch.distributed import rpc
from torch._subclasses.fake_tensor import FakeTensor
from torch.export import export
@rpc.api._require_initialized
def later(): pass
class Mine(DTensor): pass
assert not isinstance(torch.ones(1), DTensor) and not isinstance(torch.ones(1), FakeTensor)
assert torch.distributed.fsdp.FullyShardedDataParallel.__module__ == 'torch.distributed.fsdp'
for use in (lambda: DTensor(torch.ones(1)), Mine, lambda: export(None), later):
    try:
        use()
    except RuntimeError as error:
        print(str(error).splitlines()[0])
"""


def test_parts_that_are_left_out_are_imported_and_say_so_when_used():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", ABSENT], capture_output=True, text=True
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert [line.partition("] ")[2].partition(":")[0] for line in lines] == [
        "torch.distributed.tensor.DTensor",
        "torch.distributed.tensor.DTensor",
        "torch.export.export",
        "torch.distributed.rpc.api._require_initialized",
    ]


AFTERWARDS = """
import sys
from minitorch2 import absent, compat
import minitorch2, minitorch2.nn.functional, minitorch2.utils.data
names = [name for name in sys.modules if name.split('.')[0] == 'minitorch2']
before = {name: dict(vars(sys.modules[name])) for name in names}
for _ in range(2):
    compat.install_as_torch()
    import torch, torch.nn.modules.conv, torch.distributed.fsdp, torch.functional, torch._tensor
    import torch.optim.adamw, torch.utils.data, torch.nn.functional, torch.compat
    from torch.distributed.tensor import DTensor
    from torch.nn import Linear, init
    torch.sparse, torch.fft, torch.distributions, torch.onnx, torch.cuda.amp
    for module in list(sys.modules.values()):
        found = vars(module).get('__getattr__')
        if getattr(found, '__qualname__', '') == '_answer.<locals>.__getattr__':
            kept = dict(zip(found.__code__.co_freevars, found.__closure__))
            own = kept['own'].cell_contents
            assert getattr(own, '__qualname__', '') != found.__qualname__, module
    compat.uninstall()
    for name in [name for name in sys.modules if name.split('.')[0] == 'minitorch2']:
        module = sys.modules[name]
        for key, value in vars(module).items():
            assert not isinstance(value, (compat.Window, absent.AbsentModule)), (name, key)
            assert 'compat' not in str(getattr(value, '__module__', '')) or key != '__getattr__'
        assert module.__name__ == name, (name, module.__name__)
        assert set(before.get(name, ())) <= set(vars(module)), name
"""


def test_nothing_is_left_afterwards_and_no_module_is_given_two_answers():
    """Also after a second time: names, attributes and lazy names are the modules' own."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", AFTERWARDS], capture_output=True, text=True
    )
    assert done.stderr == ""


FAILING = """
import sys, types
from minitorch2 import compat
import minitorch2.fft as lazy
def failing(name):
    if name == 'broken':
        return types.SimpleNamespace().inner  # as an import that fails on the way
    raise AttributeError(name)
vars(lazy)['__getattr__'] = failing
compat.install_as_torch()
import torch.fft
try:
    torch.fft.broken
except AttributeError as error:
    assert isinstance(error, compat.MissingName) and 'inner' in str(error.__cause__)
else:
    raise AssertionError('torch.fft.broken is there')
"""


def test_a_lazy_name_that_fails_shows_why():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FAILING], capture_output=True, text=True
    )
    assert done.stderr == ""


def test_a_passage_over_a_loader_has_its_length():
    from minitorch2.utils.data import DataLoader  # noqa: PLC0415

    batches = iter(DataLoader(range(10), batch_size=4))
    assert len(batches) == 3 and next(batches).tolist() == [0, 1, 2, 3]

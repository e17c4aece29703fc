"""What minitorch2 does not do says so: ONNX files, quantization. What models mark is taken."""

import subprocess
import sys

import pytest

import minitorch2 as torch
from minitorch2 import _C
from minitorch2.errors import OperationError

PROGRAM = """
from minitorch2 import compat
compat.install_as_torch()
import torch, torch._custom_ops
from torch.ao.quantization import QuantStub, DeQuantStub
from torch.onnx.symbolic_helper import parse_args
from torch.onnx import symbolic_opset11
x = torch.ones(2)
assert torch.ao.quantization.DeQuantStub()(QuantStub()(x)) is x
assert parse_args('v', 'f')(len) is len
torch.onnx.register_custom_op_symbolic('mine::f', len, 11)
keys = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)
keys = keys | torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCUDA)
with torch._C._ExcludeDispatchKeyGuard(keys):
    assert keys.has(torch._C.DispatchKey.AutocastCPU)
"""


@pytest.mark.parametrize("name", ["quantize_dynamic", "prepare", "convert", "fuse_modules"])
def test_quantization_is_refused(name):
    with pytest.raises(OperationError, match=rf"quantization.{name}[\s\S]*bfloat16"):
        getattr(torch.quantization, name)(torch.nn.Linear(1, 1))


def test_onnx_is_refused_with_the_way_out():
    assert torch.onnx.is_in_onnx_export() is False
    with pytest.raises(OperationError, match="state_dict"):
        torch.onnx.export(torch.nn.Linear(1, 1), torch.ones(1), "model.onnx")


def test_marks_that_libraries_set_are_taken():
    assert not _C.DispatchKeySet(_C.DispatchKey.CPU).has(_C.DispatchKey.CUDA)
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.stderr == ""


PARTS = """
from minitorch2 import compat
compat.install_as_torch()
import torch.distributed.rpc
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.utils.cpp_extension import CUDA_HOME, ROCM_HOME, CUDAExtension, load
from torch.utils import cpp_extension
assert CUDA_HOME is None and ROCM_HOME is None and cpp_extension.CUDA_HOME is None
assert torch.distributed.rpc.is_available() is False
assert isinstance(CUDAExtension, type) and not isinstance(torch.ones(1), FSDP)
for call in (load, CUDAExtension, FSDP, torch.distributed.rpc.init_rpc):
    try:
        call("name")
    except RuntimeError as error:
        assert "is not in minitorch2" in str(error), error
    else:
        raise AssertionError(call)
"""


def test_parts_that_are_left_out_say_so_without_failing():
    """Constants are None and nothing is available; what is made or called refuses."""
    done = subprocess.run([sys.executable, "-c", PARTS], capture_output=True, text=True)
    assert done.stderr == ""

"""What public libraries take from torch's private places, and what it does."""

import subprocess
import sys
from typing import NamedTuple

import numpy
import pytest

import minitorch2 as torch
from minitorch2.utils import _pytree

IMPORTS = """
from torch import PyTorchFileReader, ScriptModule, Stream
from torch._C import _TensorMeta, _get_tracing_state, _get_default_device, _get_accelerator
from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
from torch._tensor_str import PRINT_OPTS, _tensor_str
from torch.autograd.profiler import EventList, emit_itt, emit_nvtx, record_function
from torch.cuda import StreamContext, graph
from torch.distributed import ReduceOp, all_to_all_single, rpc
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributions.constraints import MixtureSameFamilyConstraint
from torch.distributions.utils import _standard_normal, _sum_rightmost, lazy_property
from torch.fx.graph_module import _CodeOnlyModule, _USER_PRESERVED_ATTRIBUTES_KEY, _copy_attr
from torch.nn.attention.flex_attention import AuxRequest, _DEFAULT_SPARSE_BLOCK_SIZE
from torch.nn.init import _calculate_correct_fan
from torch.nn.modules.module import _EXTRA_STATE_KEY_SUFFIX
from torch._C._nn import _parse_to
from torch.nn.modules.instancenorm import _InstanceNorm
from torch.profiler import kineto_available
from torch.utils._pytree import SUPPORTED_NODES, LeafSpec, TreeSpec, _dict_flatten, _get_node_type
from torch.utils.data.dataloader import _BaseDataLoaderIter, _MultiProcessingDataLoaderIter
from torch.utils.data.dataloader import _collate_fn_t
import torch
assert isinstance(ReduceOp.SUM, ReduceOp.RedOpType) and repr(Shard(0)) == 'Shard(0,)'
assert torch.ops.aten._to_copy.default and torch.ops.aten._sparse_addmm.default
assert torch.__name__ == 'torch' and not kineto_available() and _get_tracing_state() is None
"""


def test_what_libraries_import_is_there():
    program = "from minitorch2.compat import install_as_torch\ninstall_as_torch()\n" + IMPORTS
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr == ""


def test_steps_inside_aten_can_be_named_and_refuse():
    x = torch.ones(2)
    copy = torch.ops.aten._to_copy.default(x, dtype=torch.float64)
    assert copy.dtype is torch.float64 and torch.ops.aten._to_copy(x) is not x
    with pytest.raises(RuntimeError, match="no such step"):
        torch.ops.aten._sparse_addmm(x)
    with pytest.raises(AttributeError):
        _ = torch.ops.aten.nosuch


def test_trees_are_walked_one_level_at_a_time():
    for value in ({"a": 1, "b": [2]}, [1, 2], (3, (4,)), _Pair(5, 6)):
        kind = _pytree._get_node_type(value)
        parts, context = _pytree.SUPPORTED_NODES[kind].flatten_fn(value)
        assert _pytree.SUPPORTED_NODES[kind].unflatten_fn(parts, context) == value
    assert int not in _pytree.SUPPORTED_NODES and _pytree._is_leaf(3)
    spec = _pytree.TreeSpec(list, None, [_pytree.LeafSpec(), _pytree.LeafSpec()])
    assert _pytree.tree_unflatten([1, 2], spec) == [1, 2]


class _Pair(NamedTuple):
    first: int
    second: int


def test_files_are_mapped_as_storages(tmp_path):
    path = tmp_path / "numbers"
    numpy.arange(4, dtype=numpy.float32).tofile(path)
    own = torch.empty(0).set_(torch.UntypedStorage.from_file(path, False, 16), 0, (4,))
    own[0] = 9
    assert own.tolist() == [9, 1, 2, 3]
    assert numpy.fromfile(path, numpy.float32).tolist() == [0, 1, 2, 3]
    shared = torch.empty(0).set_(torch.UntypedStorage.from_file(path, True, 16), 0, (4,))
    shared[1] = 7
    assert numpy.fromfile(path, numpy.float32).tolist() == [0, 7, 2, 3]
    with pytest.raises(OSError, match="fewer"):
        torch.UntypedStorage.from_file(path, False, 17)


def test_records_of_files_are_read_by_name(tmp_path):
    torch.save({"x": torch.arange(3)}, tmp_path / "x.pt")
    reader = torch.PyTorchFileReader(tmp_path / "x.pt")
    assert reader.has_record("data.pkl") and "data/0" in reader.get_all_records()
    assert reader.get_record("data/0") == numpy.arange(3).tobytes()


def test_an_optimizer_that_wraps_another_steps_without_a_constructor():
    class Wrapping(torch.optim.Optimizer):
        def __init__(self, inner):
            self.inner = inner

        def step(self, closure=None):
            self.inner.step(closure)

    weight = torch.ones(1, requires_grad=True)
    optimizer = Wrapping(torch.optim.SGD([weight], 0.5))
    weight.sum().backward()
    optimizer.step()
    assert weight.item() == 0.5


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("float8_e4m3fn", 1 / 16),
        ("float8_e5m2", 1 / 8),
        ("float8_e4m3fnuz", 1 / 16),
        ("float8_e5m2fnuz", 1 / 8),
        ("float8_e8m0fnu", 1 / 2),
    ],
)
def test_eight_bits_are_stored_and_converted_only(name, error):
    eight = getattr(torch, name)
    x = (
        torch.tensor([0.1, 3.3, 17.0])
        if name == "float8_e8m0fnu"
        else torch.tensor([0.1, -3.3, 17])
    )
    assert x.to(eight).element_size() == 1 and eight.is_floating_point
    assert torch.allclose(x.to(eight).float(), x, rtol=error)
    assert x.to(eight).view(torch.uint8).view(eight).float().equal(x.to(eight).float())
    with pytest.raises(NotImplementedError, match="not implemented"):
        x.to(eight) + 1


def test_numbers_too_large_for_e4m3fn_are_its_largest():
    x = torch.tensor([1e6, -torch.inf, torch.nan]).to(torch.float8_e4m3fn).float()
    assert x[:2].tolist() == [448.0, -448.0] and x[2].isnan()


def test_flex_attention_returns_what_is_asked_for():
    from minitorch2.nn.attention.flex_attention import AuxRequest, flex_attention  # noqa: PLC0415

    q, k, v = torch.randn(3, 1, 2, 4, 8).unbind()
    found, extra = flex_attention(q, k, v, return_aux=AuxRequest(lse=True, max_scores=True))
    scores = q @ k.mT / 8**0.5
    assert torch.allclose(extra.lse, scores.logsumexp(-1))
    assert torch.allclose(extra.max_scores, scores.amax(-1))
    assert found.equal(flex_attention(q, k, v))

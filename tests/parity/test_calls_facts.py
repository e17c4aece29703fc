"""Random numbers, facts, printing, files: every line with torch and with minitorch2."""

import pytest

from tests.parity.situations import check, lines

CALLS = """
    torch.multinomial(t([0.5,0.5]), 3)
    torch.multinomial(t([-1.,1]), 1)
    torch.multinomial(t([nan,1]), 1)
    torch.multinomial(t([0.,0]), 1)
    torch.multinomial(t([1,2]), 1)
    torch.multinomial(t([1.,2]), 0)
    torch.multinomial(torch.ones(2,2,2), 1)
    torch.bernoulli(t([0.,1.]))
    t([0.,1]).bernoulli_(1)
    t([0.,1]).bernoulli_(t([1.,0]))
    t([0,1]).bernoulli_(1)
    t([0.,1]).bernoulli_(2)
    t([0.]).uniform_(2,1)
    t([0.]).normal_(0,-1)
    t([0.]).exponential_(-1)
    t([0.]).cauchy_(0,-1)
    t([0.]).geometric_(2)
    t([0.]).log_normal_(0,-1)
    t([0]).random_(5,3)
    t([0],dtype=torch.uint8).random_(0,300)
    t([0.]).random_(0,0)
    torch.poisson(t([-1.]))
    torch.binomial(t([3.]), t([1.]))
    t([1,2]).untyped_storage().nbytes()
    t([1,2]).untyped_storage().size()
    len(t([1,2]).untyped_storage())
    torch.UntypedStorage(3).nbytes()
    t([1,2]).set_()
    t([1,2]).set_(t([3]))
    t([1,2]).apply_(lambda x: x+1)
    t([1.,2]).map_(t([3.,4]), lambda a,b: a+b)
    t([1,2]).apply_(3)
    t([1,2]).is_leaf
    t([1,2]).grad_fn
    t([1,2]).output_nr
    t([1,2])._version
    t([1,2]).names
    t([1,2]).is_cuda
    t([1,2]).is_quantized
    t([1,2]).is_mkldnn
    t([1,2]).is_meta
    t([1,2]).is_sparse
    t([1,2]).is_nested
    t([1,2]).is_inference()
    t([1,2]).is_pinned()
    t([1,2]).is_shared()
    t([1,2]).is_distributed()
    t([1,2]).get_device()
    t([1,2]).is_complex()
    t([1,2]).is_signed()
    t([1.]).requires_grad_().requires_grad
    t([1]).requires_grad_()
    t([1.]).requires_grad_(False).requires_grad
    t([1.],requires_grad=True).detach().requires_grad
    t([1.],requires_grad=True).data.requires_grad
    t([1.],requires_grad=True).item()
    t([1,2]).cpu()
    torch.device('cpu').type
    torch.device('cuda', 1).index
    torch.device('cpu:0') == torch.device('cpu')
    torch.device('foo')
    torch.device('cuda:-1')
    torch.device(1).type if False else 0
    repr(torch.device('cuda:1'))
    str(torch.device('cuda:1'))
    hash(torch.device('cpu')) == hash(torch.device('cpu'))
    torch.Generator().initial_seed() >= 0
    torch.Generator().manual_seed(5).initial_seed()
    torch.manual_seed(2**63).initial_seed() if False else 0
    torch.manual_seed(-1) is not None
    torch.set_rng_state(torch.get_rng_state())
    torch.seed() >= 0
    torch.initial_seed() >= 0
    torch.get_num_threads() > 0
    torch.set_num_threads(0)
    torch.set_num_threads(1.5)
    torch.set_default_device('cpu')
    torch.is_grad_enabled()
    torch.typename(t([1.]))
    torch.typename(1)
    str(t([1.5,2]))
    str(t([[1,2],[3,4]]))
    str(t([]))
    str(t(1.5))
    str(t([True]))
    str(t([1+2j]))
    str(t([nan,inf,-inf]))
    str(t([1e10,1.]))
    str(t([1e-10,1.]))
    str(torch.zeros(2,0))
    str(t([1],dtype=torch.int8))
    str(t([1.],dtype=torch.float64))
    str(t([1.],requires_grad=True))
    str(torch.arange(2000))
    str(torch.ones(3,3,3))
    '{:.2f}'.format(t(1.234))
    '{}'.format(t(3))
    '{:5d}'.format(t(3))
    '{:.2f}'.format(t([1.2,3]))
    f'{t(2.5):.1f}'
    t([1,2]).__len__()
    t([[1,2],[3,4]]).__iter__().__next__()
    t([1,2]).__contains__(1)
    dir(t([1]))[0] is not None
    t([1.,2]).index_copy_(0, t([0]), t([5.]))
    t([1.,2]).index_add_(0, t([0]), t([5.]))
    t([1.,2]).scatter_(0, t([0]), t([5.]))
    t([1.,2]).scatter_add_(0, t([0]), t([5.]))
    t([1.,2]).masked_fill_(t([True,False]), 3)
    t([1.,2]).copy_(t([[3.,4]]))
    t([1.,2]).copy_(t([3.,4,5]))
    t([1,2]).copy_(t([1.7,2.2]))
    t([True,False]).copy_(t([0,5]))
    torch.ones(2,3).copy_(t([[1.],[2.]]))
    t([1.,2]).swap_(t([1.])) if False else 0
    t([3,1,2]).sort_() if False else 0
    t([1.,2]).addcmul_(t([1.,2]), t([1.,2]))
    t([1.,2]).lerp_(t([2.,3]), 0.5)
    t([1,2]).new_tensor([1.5])
    t([1,2]).new_tensor([1.5], dtype=torch.float32)
    torch.where(t([1.,2]) > 1)
    t([1,2,3]).cumsum_(0)
    t([1.,2,3]).cumprod_(0)
    torch.equal(t([1,2]), t([1,2]))
    t([1,2]).equal(t([1,2]))
    t([1.,2]).allclose(t([1.,2]))
    torch.cartesian_prod(t([1]), t([2]))
    torch.dot(t([1,2]), t([3,4]))
    torch.tensor(3).expand(2).sum()
    isinstance(t([1]), torch.Tensor)
    torch.set_default_tensor_type(torch.FloatTensor)
    torch.tensor([1,2]).type() == 'torch.LongTensor'
    torch.Tensor.add(t([1]), 2)
    torch.Tensor.__add__(t([1]), 2)
    torch._C._get_tracing_state() if hasattr(torch._C,'_get_tracing_state') else None
    torch.is_warn_always_enabled()
    torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(False)
    torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision('abc')
    torch.__version__ is not None
    torch.cuda.is_available()
    torch.backends.mps.is_available()
    torch.inf, torch.nan, torch.pi, torch.e
    torch.newaxis
    torch.utils.data.default_collate([1,2]) if False else 0
    torch.from_dlpack(t([1,2]))
    torch.from_dlpack(torch.utils.dlpack.to_dlpack(t([1,2])))
    torch.from_dlpack(np.array([1,2]))
    np.from_dlpack(t([1,2]))
    t([1.],requires_grad=True).__dlpack__()
    torch.from_numpy(np.ones(2,dtype=np.float16))
    torch.from_numpy(np.ones(2,dtype=np.complex64))
    torch.from_numpy(np.array([True]))
    torch.from_numpy(np.array([1],dtype='>i4'))
    torch.as_tensor(np.float64(3.))
    torch.tensor(np.float16(3.))
    torch.tensor([np.array([1,2]), np.array([3,4])])
    np.array([t(1),t(2)]) if False else 0
    torch.tensor([1.]) == np.array([1.])
    np.array([1.]) == torch.tensor([1.])
    t([1.]) < np.float32(2)
    torch.add(np.array([1]), t([1]))
    t([1,2])[np.array([0])]
    t([1,2])[np.array(True)]
    np.ones(3)[t([0,1])]
    t([1,2]).__array__()
    t([1,2]).__array__(np.float32)
    np.multiply(np.ones(3), torch.ones(3))
    np.sum(t([1,2]))
    np.stack([t([1,2]), t([3,4])])
    torch.Tensor(np.array([1,2]))
    torch.FloatTensor(np.array([1,2],dtype=np.float32))
    torch.LongTensor(np.array([1.5]))
    >> torch.load('/nonexistent/x.pt')
    torch.isclose(t([True,False]), t([True,True]))
    torch.ravel(torch.ones(5,2)[:, 0]).stride()
    torch.ravel(torch.arange(10)[::2])
    torch.gather(t([1.]), 0, t([],dtype=torch.uint8))
    torch.gather(t([1.]), 0, t([0],dtype=torch.uint8))
    t([1.]).i0_()
    t([1.]).igamma_(t([2.]))
    t([3.]).mvlgamma_(1)
    t([1]).float(memory_format=torch.contiguous_format)
    torch.ones(2,3,2,3).half(memory_format=torch.channels_last).stride()
    torch.ones(2,3,2,3,dtype=torch.int64).long(memory_format=torch.channels_last).stride()
    t([1,2]).double(memory_format=torch.preserve_format)
"""


@pytest.mark.parametrize("line", lines(CALLS))
def test_both_do_the_same(line: str) -> None:
    check(line)

"""Brackets, gather, scatter and whatever picks elements: each line with torch and minitorch2."""

import pytest

from tests.parity.situations import check, lines

CALLS = """
    torch.arange(24).reshape(2,3,4)[0]
    torch.arange(24).reshape(2,3,4)[..., 1]
    torch.arange(24).reshape(2,3,4)[:, None, 1:, ::2]
    torch.arange(24).reshape(2,3,4)[0, ..., 0]
    torch.arange(24).reshape(2,3,4)[..., None, ...]
    torch.arange(24).reshape(2,3,4)[0,0,0,0]
    torch.arange(24).reshape(2,3,4)[0,0,0]
    torch.arange(24).reshape(2,3,4)[5]
    torch.arange(24).reshape(2,3,4)[-3]
    torch.arange(24).reshape(2,3,4)[::-1]
    torch.arange(24).reshape(2,3,4)[::0]
    torch.arange(24).reshape(2,3,4)[1:0]
    torch.arange(24).reshape(2,3,4)[10:20]
    torch.arange(24).reshape(2,3,4)[-10:1]
    torch.arange(24).reshape(2,3,4)[t([0,1])]
    torch.arange(24).reshape(2,3,4)[t([0,1]), t([1,2])]
    torch.arange(24).reshape(2,3,4)[:, t([0,1]), t([1,2])]
    torch.arange(24).reshape(2,3,4)[t([0,1]), :, t([1,2])]
    torch.arange(24).reshape(2,3,4)[t([0,1]), None, t([1,2])]
    torch.arange(24).reshape(2,3,4)[[0,1]]
    torch.arange(24).reshape(2,3,4)[[0,1],[1,2]]
    torch.arange(24).reshape(2,3,4)[([0,1],[1,2])]
    torch.arange(24).reshape(2,3,4)[[[0,1],[1,0]]]
    torch.arange(24).reshape(2,3,4)[np.array([0,1])]
    torch.arange(24).reshape(2,3,4)[np.int64(1)]
    torch.arange(24).reshape(2,3,4)[t(1)]
    torch.arange(24).reshape(2,3,4)[t(True)]
    torch.arange(24).reshape(2,3,4)[t(False)]
    torch.arange(24).reshape(2,3,4)[True]
    torch.arange(24).reshape(2,3,4)[False]
    torch.arange(24).reshape(2,3,4)[True, True]
    torch.arange(24).reshape(2,3,4)[None, True, 0]
    torch.arange(24).reshape(2,3,4)[t([True,False])]
    torch.arange(24).reshape(2,3,4)[[True,False]]
    torch.arange(24).reshape(2,3,4)[:, t([True,False,True])]
    torch.arange(24).reshape(2,3,4)[t([True,False]), t([0])]
    torch.arange(24).reshape(2,3,4)[t([True,False,True])]
    torch.arange(24).reshape(2,3,4)[torch.arange(24).reshape(2,3,4)>5]
    torch.arange(24).reshape(2,3,4)[t([[True,False,True],[False,True,False]])]
    torch.arange(24).reshape(2,3,4)[t([1,0],dtype=torch.uint8)]
    torch.arange(24).reshape(2,3,4)[t([1,0],dtype=torch.int32)]
    torch.arange(24).reshape(2,3,4)[t([1.,0])]
    torch.arange(24).reshape(2,3,4)[1.0]
    torch.arange(24).reshape(2,3,4)['a']
    torch.arange(24).reshape(2,3,4)[t([2])]
    torch.arange(24).reshape(2,3,4)[t([-3])]
    torch.arange(24).reshape(2,3,4)[t([0,1]), t([0,1,2])]
    torch.arange(24).reshape(2,3,4)[0.5:1]
    torch.arange(24).reshape(2,3,4)[t(0):t(1)]
    torch.arange(24).reshape(2,3,4)[:, 0:2.]
    torch.arange(24).reshape(2,3,4)[slice(None), slice(0,2)]
    torch.arange(24).reshape(2,3,4)[(slice(None), 1)]
    torch.arange(24).reshape(2,3,4)[[slice(None), 1]]
    torch.arange(24).reshape(2,3,4)[[0, slice(None)]]
    torch.arange(24).reshape(2,3,4)[()]
    torch.arange(24).reshape(2,3,4)[...]
    torch.arange(24).reshape(2,3,4)[None]
    torch.arange(24).reshape(2,3,4)[range(2)]
    torch.arange(24).reshape(2,3,4)[(0,1)]
    torch.arange(24).reshape(2,3,4)[(0,1),]
    t(5)[0]
    t(5)[...]
    t(5)[None]
    t(5)[True]
    t(5)[False]
    t(5)[t(True)]
    t(5)[()]
    t(5)[:]
    t(5)[t(0)]
    len(t(5))
    len(t([1,2]))
    list(t([1,2]))
    list(t(5))
    t([])[0]
    t([1,2,3])[1:].stride()
    t([1,2,3])[t([[0,1],[1,2]])]
    torch.arange(24).reshape(2,3,4)[t([[0],[1]]), t([0,1])]
    torch.arange(24).reshape(2,3,4)[..., t([0,1])]
    torch.arange(24).reshape(2,3,4)[..., t([True,False,True,False])]
    torch.arange(24).reshape(2,3,4)[t([0,1]), ..., t([0,1])]
    torch.arange(24).reshape(2,3,4).permute(2,0,1)[t([0,1])]
    torch.arange(24).reshape(2,3,4)[torch.zeros(2,3,5,dtype=torch.bool)]
    torch.zeros(0,3)[t([0])]
    torch.zeros(2,3)[torch.zeros(2,0,dtype=torch.bool)]
    torch.arange(6.).reshape(2,3).index_put((t([0]),), t(5.))
    torch.arange(6.).reshape(2,3).take(t([0,5]))
    torch.arange(6.).reshape(2,3).take(t([-1]))
    torch.arange(6.).reshape(2,3).take(t([6]))
    torch.arange(6.).reshape(2,3).take(t([1.]))
    torch.take(t(5.), t([0,0]))
    torch.arange(6.).reshape(2,3).put(t([0,5]), t([9.,8]))
    torch.arange(6.).reshape(2,3).put(t([0,0]), t([9.,8]), accumulate=True)
    torch.arange(6.).reshape(2,3).put(t([0]), t([9.,8]))
    torch.arange(6.).reshape(2,3).put_(t([6]), t([9.]))
    torch.arange(6.).reshape(2,3).put_(t([0]), t([9]))
    torch.arange(6.).reshape(2,3).index_select(1, t([0,2]))
    torch.arange(6.).reshape(2,3).index_select(1, t([3]))
    torch.arange(6.).reshape(2,3).index_select(1, t([-1]))
    torch.arange(6.).reshape(2,3).index_select(1, t(1))
    torch.arange(6.).reshape(2,3).index_select(1, t([[1]]))
    torch.arange(6.).reshape(2,3).index_select(1, t([1.]))
    torch.arange(6.).reshape(2,3).index_select(1, t([1],dtype=torch.int32))
    torch.arange(6.).reshape(2,3).index_select(2, t([1]))
    torch.index_select(t(5), 0, t([0]))
    torch.index_select(t(5), 0, t([1]))
    torch.arange(6.).reshape(2,3).index_add(0, t([0,0]), torch.ones(2,3))
    torch.arange(6.).reshape(2,3).index_add(0, t([0,0]), torch.ones(2,3), alpha=2)
    torch.arange(6.).reshape(2,3).index_add(0, t([0]), torch.ones(2,3))
    torch.arange(6.).reshape(2,3).index_add(0, t([2]), torch.ones(1,3))
    torch.arange(6.).reshape(2,3).index_add(0, t([0]), torch.ones(1,2))
    torch.arange(6.).reshape(2,3).index_add(0, t([0]), torch.ones(1,3,dtype=torch.float64))
    torch.arange(6.).reshape(2,3).index_add(0, t([0.]), torch.ones(1,3))
    torch.arange(6.).reshape(2,3).index_copy(0, t([1,0]), torch.ones(2,3))
    torch.arange(6.).reshape(2,3).index_copy(0, t([0]), torch.ones(1,3,dtype=torch.int64))
    torch.arange(6.).reshape(2,3).index_copy(0, t([2]), torch.ones(1,3))
    torch.arange(6.).reshape(2,3).index_copy(0, t([0]), torch.ones(3))
    torch.arange(6.).reshape(2,3).index_fill(0, t([1]), 5)
    torch.arange(6.).reshape(2,3).index_fill(0, t([1]), t(5.))
    torch.arange(6.).reshape(2,3).index_fill(0, t([1]), t([5.]))
    torch.arange(6.).reshape(2,3).index_fill(0, t([-1]), 5)
    torch.arange(6.).reshape(2,3).index_fill(0, t([2]), 5)
    torch.arange(6).reshape(2,3).index_fill(0, t([1]), 5.5)
    torch.arange(6).reshape(2,3).index_fill(0, t([1]), 1j)
    torch.arange(6.).reshape(2,3).gather(1, t([[0,1],[2,0]]))
    torch.arange(6.).reshape(2,3).gather(1, t([[3]]))
    torch.arange(6.).reshape(2,3).gather(1, t([[-1]]))
    torch.arange(6.).reshape(2,3).gather(1, t([0]))
    torch.arange(6.).reshape(2,3).gather(1, t([[0],[0],[0]]))
    torch.arange(6.).reshape(2,3).gather(1, t([[0]],dtype=torch.int32))
    torch.arange(6.).reshape(2,3).gather(1, t([[0.]]))
    torch.arange(6.).reshape(2,3).gather(2, t([[0]]))
    torch.gather(t(5.), 0, t(0))
    torch.gather(t(5.), 0, t([0]))
    torch.gather(t([5.]), 0, t(0))
    torch.zeros(2,3).scatter(1, t([[0,2]]), t([[1.,2]]))
    torch.zeros(2,3).scatter(1, t([[0,2]]), 5)
    torch.zeros(2,3).scatter(1, t([[0,2]]), 5, reduce='add')
    torch.zeros(2,3).scatter(1, t([[0,2]]), 5, reduce='multiply')
    torch.zeros(2,3).scatter(1, t([[0,2]]), t([[5.,6]]), reduce='add')
    torch.zeros(2,3).scatter(1, t([[0,2]]), 5, reduce='mean')
    torch.zeros(2,3).scatter(1, t([[0,3]]), 5)
    torch.zeros(2,3).scatter(1, t([[0,2]]), t([[5,6]]))
    torch.zeros(2,3).scatter(1, t([[0,2],[0,1],[0,1]]), 5)
    torch.zeros(2,3).scatter(1, t([[0,2]]), t([[5.]]))
    torch.zeros(2,3).scatter(1, t([0,2]), t([5.,6]))
    torch.zeros(2,3).scatter_add(1, t([[0,0]]), t([[1.,2]]))
    torch.zeros(2,3).scatter_add(1, t([[0,3]]), t([[1.,2]]))
    torch.zeros(2,3).scatter_add(1, t([[0,1]]), t([[1,2]]))
    torch.zeros(2,3).scatter_reduce(1, t([[0,0]]), t([[1.,2]]), 'sum')
    torch.ones(2,3).scatter_reduce(1, t([[0,0]]), t([[3.,2]]), 'prod', include_self=False)
    torch.ones(2,3).scatter_reduce(1, t([[0,0]]), t([[3.,2]]), 'mean')
    torch.ones(2,3).scatter_reduce(1, t([[0,0]]), t([[3.,2]]), 'amax')
    torch.ones(2,3).scatter_reduce(1, t([[0,0]]), t([[3.,2]]), 'median')
    torch.ones(2,3,dtype=torch.int64).scatter_reduce(1, t([[0,0]]), t([[4,3]]), 'mean')
    torch.ones(2,3).index_reduce(0, t([0,0]), torch.ones(2,3)*2, 'prod')
    torch.ones(2,3).index_reduce(0, t([0,0]), torch.ones(2,3)*2, 'mean', include_self=False)
    torch.ones(2,3).index_reduce(0, t([0,0]), torch.ones(2,3)*2, 'sum')
    torch.zeros(2,3).masked_fill(t([[True,False,True]]), 5)
    torch.zeros(2,3).masked_fill(t([[1,0,1]]), 5)
    torch.zeros(2,3).masked_fill(t([[1,0,1]],dtype=torch.uint8), 5)
    torch.zeros(2,3).masked_fill(t([True,False,True]), t(5.))
    torch.zeros(2,3).masked_fill(t([True,False,True]), t([5.]))
    torch.zeros(2,3,dtype=torch.int64).masked_fill(t([True,False,True]), 5.5)
    torch.zeros(3).masked_fill(torch.ones(2,3,dtype=torch.bool), 5)
    torch.zeros(3).masked_fill_(torch.ones(2,3,dtype=torch.bool), 5)
    torch.zeros(2,3).masked_select(t([True,False,True]))
    torch.zeros(3).masked_select(torch.ones(2,3,dtype=torch.bool))
    torch.zeros(2,3).masked_select(t([1,0,1]))
    torch.zeros(2,3).masked_scatter(t([True,False,True]), torch.arange(9.))
    torch.zeros(2,3).masked_scatter(t([True,False,True]), torch.arange(2.))
    torch.zeros(2,3).masked_scatter(t([True,False,True]), torch.arange(9))
    torch.arange(6).reshape(2,3).take_along_dim(t([[0],[1]]), 1)
    torch.arange(6).reshape(2,3).take_along_dim(t([0,5]))
    torch.arange(6).reshape(2,3).take_along_dim(t([[0]]), 0)
    torch.arange(6).reshape(2,3).take_along_dim(t([0]), 1)
    torch.arange(6).reshape(2,3).take_along_dim(t([[0.]]), 1)
    torch.take_along_dim(t(3), t(0))
    torch.nonzero(t([[1,0],[0,2]]))
    torch.nonzero(t([[1,0],[0,2]]), as_tuple=True)
    torch.nonzero(t(5))
    torch.nonzero(t(0), as_tuple=True)
    torch.argwhere(t([[1,0],[0,2]]))
    torch.argwhere(t(1))
    torch.where(t([True,False]))
    torch.where(t([True,False]), 1, 2)
    torch.where(t([True,False]), 1., 2)
    torch.where(t([True,False]), t([1,2]), 2.5)
    torch.where(t([True,False]), t([1,2]), t([1.5,2]))
    torch.where(t([True,False]), 1, t(2,dtype=torch.int32))
    torch.where(t([1,0]), 1, 2)
    torch.where(t([1,0],dtype=torch.uint8), 1, 2)
    torch.where(t(True), t([1,2]), t([[3],[4]]))
    torch.where(t([True,False]), t([1j,2]), 1)
    torch.where(t([True,False]), t([1,2,3]), 1)
    torch.where(t([True,False]), t([1,2]))
    t([1,2]).where(t([True,False]), 5)
    torch.select_scatter(torch.zeros(2,3), torch.ones(3), 0, 1)
    torch.select_scatter(torch.zeros(2,3), torch.ones(2), 0, 1)
    torch.slice_scatter(torch.zeros(4), torch.ones(2), 0, 1, 3)
    torch.slice_scatter(torch.zeros(4), torch.ones(2), start=0, end=4, step=2)
    torch.diagonal_scatter(torch.zeros(3,3), torch.ones(3))
    torch.diagonal_scatter(torch.zeros(3,3), torch.ones(2), 1)
    torch.diagonal_scatter(torch.zeros(3,3), torch.ones(3), 1)
    torch.as_strided_scatter(torch.zeros(3,3), torch.ones(2,2), (2,2), (3,1), 1)
    torch.searchsorted(t([1,3,5]), t([3,4]))
    torch.searchsorted(t([1,3,5]), t([3,4]), right=True)
    torch.searchsorted(t([1,3,5]), 3)
    torch.searchsorted(t([1,3,5]), t([3]), side='right')
    torch.searchsorted(t([1,3,5]), t([3]), side='left', right=True)
    torch.searchsorted(t([1,3,5]), t([3]), out_int32=True)
    torch.searchsorted(t([5,3,1]), t([3]), sorter=t([2,1,0]))
    torch.searchsorted(t([5,3,1]), t([3]), sorter=t([2,1,3]))
    torch.searchsorted(t([1.,3]), t([3]))
    torch.searchsorted(t([[1,3],[2,4]]), t([3]))
    torch.bucketize(t([1,3]), t([1,2,3]))
    torch.bucketize(3, t([1,2,3]), right=True)
    torch.bucketize(t([1,3]), t([[1,2,3]]))
    t([1,2,3]).item()
    t([1]).item()
    int(t([3]))
    float(t(2))
    bool(t([1,2]))
    bool(t([]))
    bool(t([0.]))
    t([1,2]).tolist()
    t(1).tolist()
    [0,1,2][t(1)]
    [0,1,2][t(1.)]
    [0,1,2][t([1])]
    list(range(5))[t(1):t(3)]
    t([1,2,3]).index_select(0, t([0,0]))
    t(True).__index__()
"""


@pytest.mark.parametrize("line", lines(CALLS))
def test_both_do_the_same(line: str) -> None:
    check(line)

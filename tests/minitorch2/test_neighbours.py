"""What stands beside the framework in torch: hub, futures, distributed, profiler, jit, backends."""

import importlib.util
import json
import threading
import zlib
from typing import Any

import numpy
import pytest

import minitorch2 as torch
import minitorch2.utils.benchmark as benchmark
import minitorch2.utils.model_zoo as model_zoo
import minitorch2.utils.tensorboard as tensorboard
from minitorch2 import distributed, futures, hub, profiler
from minitorch2.errors import DeviceError, OperationError
from minitorch2.nn.parallel import DistributedDataParallel, data_parallel

# ---- hub -------------------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path: Any) -> Any:
    before = hub.get_dir()
    hub.set_dir(tmp_path)
    yield tmp_path
    hub.set_dir(before)


def test_weights_come_from_the_cache_and_from_a_url(cache: Any) -> None:
    source = cache / "source" / "net-0000.pth"
    source.parent.mkdir()
    torch.save({"w": torch.arange(3)}, source)
    url = source.as_uri()
    assert model_zoo.load_url(url)["w"].tolist() == [0, 1, 2]
    assert (cache / "checkpoints" / "net-0000.pth").exists()
    source.unlink()
    assert model_zoo.load_url(url)["w"].tolist() == [0, 1, 2]  # now it is the cache's
    with pytest.raises(OperationError, match="cannot be had"):
        model_zoo.load_url(source.with_name("other.pth").as_uri())


def test_a_damaged_file_is_refused(cache: Any) -> None:
    source = cache / "net-00000000.pth"
    torch.save({}, source)
    with pytest.raises(OperationError, match="invalid hash"):
        hub.load_state_dict_from_url(source.as_uri(), check_hash=True)
    assert not list((cache / "checkpoints").iterdir())


def test_models_come_from_a_folder_or_a_cached_repository(cache: Any) -> None:
    folder = cache / "someone_nets_main"
    folder.mkdir()
    (folder / "hubconf.py").write_text(
        "import minitorch2 as torch\n"
        "def small(width=2):\n    'a layer'\n    return torch.nn.Linear(width, 1)\n"
    )
    assert hub.load(str(folder), "small", source="local", width=3).in_features == 3
    assert hub.load("someone/nets", "small").in_features == 2
    assert "small" in hub.list("someone/nets:main") and hub.help("someone/nets", "small")
    with pytest.raises(OperationError, match="clone it there"):
        hub.load("someone/else", "small")
    with pytest.raises(OperationError, match="Cannot find callable"):
        hub.load("someone/nets", "large")


# ---- futures ---------------------------------------------------------------------------------


def test_futures_wait_for_another_thread() -> None:
    first, second = futures.Future(), torch.futures.Future()
    doubled = first.then(lambda done: done.value() * 2)
    failed = first.then(lambda done: 1 / 0)
    with pytest.raises(OperationError):
        first.value()
    threading.Timer(0.01, first.set_result, (21,)).start()
    threading.Timer(0.01, second.set_result, ("x",)).start()
    assert futures.wait_all([first, second]) == [21, "x"] and doubled.wait() == 42
    with pytest.raises(ZeroDivisionError):
        failed.wait()
    with pytest.raises(OperationError):
        first.set_result(1)
    assert futures.collect_all([]).wait() == []


# ---- one process -----------------------------------------------------------------------------


@pytest.fixture
def group() -> Any:
    distributed.init_process_group("gloo", rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


def test_a_group_of_one(group: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    for op in (distributed.ReduceOp.SUM, distributed.ReduceOp.AVG):
        distributed.all_reduce(x, op=op)
    assert x.tolist() == [1, 2]
    into = [torch.zeros(2)]
    work = distributed.all_gather(into, x * 3, async_op=True)
    assert work is not None and work.wait()
    assert into[0].tolist() == [3, 6]
    distributed.scatter(x, [x + 1])
    assert x.tolist() == [2, 3]
    objects = [None]
    distributed.all_gather_object(objects, {"a": 1})
    assert objects == [{"a": 1}] and distributed.get_world_size() == 1
    distributed.barrier()
    with pytest.raises(DeviceError, match="no other process"):
        distributed.send(x, 1)
    with pytest.raises(OperationError, match="twice"):
        distributed.init_process_group()


def test_more_processes_are_refused(monkeypatch: Any) -> None:
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(DeviceError, match="world size 1"):
        distributed.init_process_group("nccl")
    assert not distributed.is_initialized()
    with pytest.raises(OperationError, match="not been initialized"):
        distributed.all_reduce(torch.ones(1))


def test_parallel_modules_train_as_the_module_does(group: Any) -> None:
    x = torch.randn(4, 3)
    plain = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.BatchNorm1d(5))
    for wrap in (torch.nn.DataParallel, DistributedDataParallel):
        wrapped = wrap(plain)
        assert torch.equal(wrapped(x), plain(x))
        assert all(name.startswith("module.") for name in wrapped.state_dict())
        wrapped(x).square().sum().backward()
    assert plain[0].weight.grad is not None
    assert torch.equal(data_parallel(plain, x), plain(x))
    with DistributedDataParallel(plain).no_sync():
        pass
    with pytest.raises(OperationError, match="requires a gradient"):
        DistributedDataParallel(torch.nn.ReLU())


def test_synchronized_batch_normalization_is_the_usual_one() -> None:
    plain = torch.nn.Sequential(torch.nn.Conv2d(3, 5, 1), torch.nn.BatchNorm2d(5))
    names = list(plain.state_dict())
    weight = plain[1].weight
    x = torch.randn(2, 3, 4, 4)
    expected = plain(x)
    made: Any = torch.nn.SyncBatchNorm.convert_sync_batchnorm(plain)
    assert isinstance(made[1], torch.nn.SyncBatchNorm) and made[1].weight is weight
    assert list(made.state_dict()) == names
    assert torch.allclose(made(x), expected, atol=1e-6)
    with pytest.raises(ValueError, match="at least 2D"):
        torch.nn.SyncBatchNorm(3)(torch.ones(3))


# ---- time ------------------------------------------------------------------------------------


def test_profiler_counts_operations_and_what_they_are_made_of(tmp_path: Any) -> None:
    x = torch.randn(10, 10, requires_grad=True)
    with profiler.profile(record_shapes=True) as found:
        with profiler.record_function("mine"):
            torch.softmax(x @ x, 1).sum().backward()
    counts = {each.key: each.count for each in found.key_averages()}
    assert counts["softmax"] == 1 and counts["mine"] == 1 and counts["matmul"] >= 3
    assert counts["exp"] == 1  # of the softmax
    mine = next(each for each in found.key_averages() if each.key == "mine")
    assert 0 <= mine.self_cpu_time_total < mine.cpu_time_total
    table = found.key_averages().table(sort_by="self_cpu_time_total", row_limit=3)
    assert len(table.splitlines()) == 3 + 3 + 2 and "# of Calls" in table
    found.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert {"softmax", "mine"} <= {event["name"] for event in events}
    torch.ones(2).exp()
    assert {each.key: each.count for each in found.key_averages()} == counts  # it has ended


def test_profiler_sees_compiled_functions_as_they_were_written() -> None:
    run = torch.compile(lambda x: (x * 2).exp())
    x = torch.ones(3)
    expected = run(x)
    with profiler.profile() as found:
        assert torch.equal(run(x), expected)
    assert {each.key for each in found.key_averages()} >= {"mul", "exp"}


def test_a_schedule_says_which_steps_are_recorded() -> None:
    seen: list[int] = []
    plan = profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    with profiler.profile(schedule=plan, on_trace_ready=lambda p: seen.append(p.step_num)) as found:
        for _ in range(8):
            torch.ones(2).exp()
            found.step()
    assert seen == [4]
    assert {each.key: each.count for each in found.key_averages()}["exp"] == 2


def test_timer_measures_a_statement() -> None:
    calls: list[int] = []
    timer = benchmark.Timer("f(1)", globals={"f": calls.append}, label="append", description="one")
    found = timer.timeit(50)
    assert found.number_per_run == 50 and len(calls) == 52 and found.mean > 0
    longer = timer.blocked_autorange(min_run_time=0.01)
    assert sum(longer.raw_times) >= 0.01 and longer.iqr >= 0 and "append" in repr(longer)
    table = str(benchmark.Compare([found, longer]))
    assert "append" in table and "one" in table


# ---- TensorBoard -----------------------------------------------------------------------------


def test_pictures_are_png() -> None:
    image = numpy.arange(24, dtype=numpy.uint8).reshape(2, 4, 3)
    data = tensorboard.png(image)
    assert data.startswith(b"\x89PNG") and data[16:24] == b"\0\0\0\4\0\0\0\2"
    at = data.index(b"IDAT") + 4
    rows = zlib.decompress(data[at:])
    assert rows == b"".join(b"\0" + image[row].tobytes() for row in range(2))


def test_a_writer_writes_or_says_what_is_missing(tmp_path: Any) -> None:
    if importlib.util.find_spec("tensorboard") is None:
        with pytest.raises(ImportError, match=r"minitorch2\[tensorboard\]"):
            tensorboard.SummaryWriter(str(tmp_path))
        return
    with tensorboard.SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("loss", torch.tensor(0.5), 3)
        writer.add_histogram("weights", torch.randn(9))
        writer.add_image("picture", torch.rand(3, 4, 5))
    assert any(file.stat().st_size > 100 for file in tmp_path.iterdir())


# ---- switches --------------------------------------------------------------------------------


def test_torchscript_names_leave_python_as_it_is() -> None:
    jit: Any = torch.jit

    @jit.script
    def double(x: Any) -> Any:
        return x * 2

    class Net(torch.nn.Module):
        width: jit.Final[int] = 3

        @jit.export
        def extra(self) -> int:
            return 1

        @jit.ignore(drop=True)
        def dropped(self) -> int:
            return 2

        @jit.unused
        def forward(self, x: Any) -> Any:
            return x + 1 if jit.is_scripting() or jit.is_tracing() else double(x)

    net = Net().eval()
    x = torch.ones(2)
    traced = jit.trace(net, (x,))
    assert traced(x).tolist() == [2, 2] and jit.script(net) is net and jit.freeze(net) is net
    assert net.extra() + net.dropped() == 3 and jit.trace(double, x) is double
    assert jit.isinstance([1], list[int]) and jit.annotate(int, 3) == 3
    for refused in (lambda: jit.save(net, "x.pt"), lambda: jit.load("x.pt")):
        with pytest.raises(OperationError, match="no TorchScript"):
            refused()
    with pytest.raises(OperationError, match="eval mode"):
        jit.freeze(Net())


def test_backends_and_cuda_say_that_there_is_none() -> None:
    backends = torch.backends
    for each in (backends.cudnn, backends.mps, backends.mkl, backends.mkldnn, backends.openmp):
        assert each.is_available() is False
    backends.cudnn.benchmark = True
    with backends.cudnn.flags(enabled=False, benchmark=False):
        assert not backends.cudnn.benchmark
    assert backends.cudnn.benchmark and backends.cudnn.version() is None
    backends.cudnn.benchmark = False
    backends.cuda.matmul.allow_tf32 = True
    with backends.cuda.sdp_kernel(enable_flash=False):
        assert not backends.cuda.flash_sdp_enabled() and backends.cuda.math_sdp_enabled()
    assert backends.cuda.flash_sdp_enabled() and not backends.cuda.is_built()
    torch.cuda.reset_peak_memory_stats()
    torch.cuda.set_device(0)
    assert torch.cuda.max_memory_allocated() == torch.cuda.memory_reserved() == 0
    assert torch.cuda.amp.GradScaler and not torch.cuda.is_bf16_supported()
    for missing in (torch.cuda.Event, torch.cuda.Stream, torch.cuda.mem_get_info):
        with pytest.raises(DeviceError, match="no CUDA device"):
            missing()

"""torch.utils.tensorboard: numbers, pictures and texts written for TensorBoard to show.

In: `writer.add_scalar("loss", 0.3, step)`. Out: an events file in `log_dir` (runs/<time>_<host>),
to be seen with `tensorboard --logdir runs`. The format is the `tensorboard` package's, an
extra: `pip install 'minitorch2[tensorboard]'`; without it a SummaryWriter raises ImportError.

Source: torch.utils.tensorboard; TensorBoard's event files.
"""

import importlib
import io
import os
import socket
import struct
import time
import zlib
from datetime import datetime
from typing import Any

import numpy

from minitorch2.errors import OperationError
from minitorch2.tensors import Tensor

_CHANNELS = {1: 0, 3: 2, 4: 6}  # PNG's colour types: grey, RGB, RGBA


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise ImportError(
            "SummaryWriter writes with the tensorboard package, which is not installed: "
            "pip install 'minitorch2[tensorboard]'"
        ) from problem


def _array(value: Any) -> numpy.ndarray:
    if isinstance(value, Tensor):
        value = value.detach()
        value = (value.float() if value.dtype.itemsize == 2 else value).numpy()
    return numpy.asarray(value)


def png(image: numpy.ndarray) -> bytes:
    """A PNG file of [H, W, C] bytes, C being 1, 3 or 4."""
    height, width, channels = image.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    rows = b"".join(b"\0" + image[row].tobytes() for row in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, _CHANNELS[channels], 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


class SummaryWriter:
    """Writes an events file; a context manager that closes it."""

    def __init__(
        self,
        log_dir: str | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ):
        if not log_dir:
            now = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = os.fspath(log_dir)
        self._event = _package("tensorboard.compat.proto.event_pb2")
        self._summary = _package("tensorboard.compat.proto.summary_pb2")
        self._tensor = _package("tensorboard.compat.proto.tensor_pb2")
        files = _package("tensorboard.summary.writer.event_file_writer")
        self._options = (max_queue, flush_secs, filename_suffix)
        self._files = files.EventFileWriter
        self._writers = {self.log_dir: self._files(self.log_dir, *self._options)}
        self._closed = False

    def _add(self, value: Any, step: int | None, walltime: float | None, folder: str = "") -> None:
        if self._closed:
            raise OperationError("SummaryWriter", "it was closed", "make a new one")
        folder = folder or self.log_dir
        if folder not in self._writers:
            self._writers[folder] = self._files(folder, *self._options)
        summary = self._summary.Summary(value=[value])
        event = self._event.Event(wall_time=walltime or time.time(), summary=summary)
        if step is not None:
            event.step = int(step)
        self._writers[folder].add_event(event)

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """One number."""
        number = float(_array(scalar_value).reshape(()))
        self._add(self._summary.Summary.Value(tag=tag, simple_value=number), global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: dict[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Several numbers in one chart: each has an events file of its own."""
        for tag, number in tag_scalar_dict.items():
            folder = os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{tag}")
            value = self._summary.Summary.Value(
                tag=main_tag, simple_value=float(_array(number).reshape(()))
            )
            self._add(value, global_step, walltime, folder)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = 64,
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """How often numbers fall into each of `bins` intervals."""
        numbers = _array(values).astype(numpy.float64).reshape(-1)
        if not numbers.size:
            raise OperationError(f"add_histogram({tag!r})", "The input has no element.")
        bins = 64 if bins == "tensorflow" else bins
        counts, limits = numpy.histogram(numbers, bins)
        histogram = self._summary.HistogramProto(
            min=numbers.min(), max=numbers.max(), num=numbers.size, sum=numbers.sum(),
            sum_squares=numbers.dot(numbers), bucket_limit=limits[1:].tolist(),
            bucket=counts.tolist(),
        )  # fmt: skip
        self._add(self._summary.Summary.Value(tag=tag, histo=histogram), global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """One picture: bytes, or floats from 0 to 1; `dataformats` names the dimensions."""
        found = _array(img_tensor)
        if len(dataformats) != found.ndim:
            raise OperationError(
                f"add_image({tag!r}) of shape {list(found.shape)}",
                f"dataformats={dataformats!r} names {len(dataformats)} dimensions",
                "name each dimension: 'CHW', 'HWC' or 'HW'",
            )
        if "C" not in dataformats:
            found, dataformats = found[..., None], dataformats + "C"
        found = found.transpose([dataformats.index(name) for name in "HWC"])
        if found.dtype.kind == "f":
            found = (numpy.clip(found, 0, 1) * 255).astype(numpy.uint8)
        height, width, channels = found.shape
        image = self._summary.Summary.Image(
            height=height, width=width, colorspace=channels,
            encoded_image_string=png(numpy.ascontiguousarray(found.astype(numpy.uint8))),
        )  # fmt: skip
        self._add(self._summary.Summary.Value(tag=tag, image=image), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Several pictures, side by side."""
        found = numpy.moveaxis(_array(img_tensor), dataformats.index("N"), 0)
        rest = dataformats.replace("N", "")
        row = numpy.concatenate(list(found), rest.index("W"))
        self.add_image(tag, row, global_step, walltime, rest)

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: int | None = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """A matplotlib figure, as a picture."""
        for at, each in enumerate(figure if isinstance(figure, list) else [figure]):
            buffer = io.BytesIO()
            each.savefig(buffer, format="rgba")
            width, height = each.canvas.get_width_height()
            pixels = numpy.frombuffer(buffer.getvalue(), numpy.uint8)
            name = f"{tag}/{at}" if isinstance(figure, list) else tag
            self.add_image(
                name, pixels.reshape(height, width, 4)[..., :3], global_step, walltime, "HWC"
            )
            if close:
                each.clear()

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None, walltime: Any = None
    ) -> None:
        """A text, in Markdown."""
        data = self._summary.SummaryMetadata.PluginData(plugin_name="text")
        words = self._tensor.TensorProto(
            dtype="DT_STRING", string_val=[text_string.encode()],
            tensor_shape={"dim": [{"size": 1}]},
        )  # fmt: skip
        value = self._summary.Summary.Value(
            tag=f"{tag}/text_summary",
            metadata=self._summary.SummaryMetadata(plugin_data=data),
            tensor=words,
        )
        self._add(value, global_step, walltime)

    def add_hparams(
        self, hparam_dict: dict[str, Any], metric_dict: dict[str, Any], *args: Any, **options: Any
    ) -> None:
        """Settings as a table of text, and the numbers they led to as scalars."""
        rows = [f"| {name} | {value} |" for name, value in hparam_dict.items()]
        self.add_text("hparams", "\n".join(["| name | value |", "| --- | --- |", *rows]))
        for name, number in metric_dict.items():
            self.add_scalar(name, number)

    def add_graph(self, model: Any, *args: Any, **options: Any) -> None:
        """Nothing: `mt2 explain` shows the graph of a compiled function."""

    def get_logdir(self) -> str:
        """The folder of the events file."""
        return self.log_dir

    def flush(self) -> None:
        """Write what waits to the disk."""
        for writer in self._writers.values():
            writer.flush()

    def close(self) -> None:
        """Write what waits, and end."""
        if not self._closed:
            self._closed = True
            for writer in self._writers.values():
                writer.close()

    def __enter__(self) -> "SummaryWriter":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

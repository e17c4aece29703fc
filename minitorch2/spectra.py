"""Window functions, and the short-time Fourier transform with its inverse.

In: a window's length; or signals [..., samples] and how they are cut into frames. Out: a window; or
spectra [..., frequencies, frames], complex.

    >>> hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])

Source: torch.stft, torch.istft and torch.*_window; Griffin and Lim 1984 (the inverse); Kaiser 1974.
"""

import math
from typing import Any

import numpy

from minitorch2 import dtypes, fft
from minitorch2.creation import full, ones, tensor, zeros
from minitorch2.errors import DtypeError, OperationError
from minitorch2.nn.functional.padding import pad
from minitorch2.ops.infer import describe_value
from minitorch2.ops.table import lookup
from minitorch2.ranges import arange

_cat, _index_add = lookup("cat").public, lookup("index_add").public
_view_as_real = lookup("view_as_real").public

# ---- windows ---------------------------------------------------------------------------------


def _window(
    length: int,
    periodic: bool,
    weights: tuple[float, ...],
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Any:
    """A sum of cosines: weights[0] - weights[1] cos(x) + weights[2] cos(2x), x once around."""
    wanted = window_dtype(length, dtype)
    if length < 2:
        found = ones(length, dtype=wanted, device=device)
    else:
        count = length if periodic else length - 1
        x = arange(length, dtype=dtypes.float64, device=device) * (2 * math.pi / count)
        found = full((length,), weights[0], dtype=dtypes.float64, device=device)
        for k, weight in enumerate(weights[1:], 1):
            found = found + (x * k).cos() * (weight * (-1) ** k)
        found = found.to(wanted)
    return found.requires_grad_() if requires_grad else found


def window_dtype(length: int, dtype: Any) -> Any:
    """The dtype of a window: floating, the default one unless given."""
    wanted = dtype or dtypes.get_default_dtype()
    if length < 0:
        raise OperationError(
            f"a window of length {length}",
            f"requires non-negative window_length, got window_length={length}",
        )
    if not wanted.is_floating_point:
        raise DtypeError(
            f"a window of dtype {wanted}",
            f"expects floating point dtypes, got: {wanted}",
            "give torch.float32 or torch.float64",
        )
    return wanted


def hann_window(window_length: int, periodic: bool = True, **options: Any) -> Any:
    """One half minus one half of a cosine; `periodic` leaves out the last sample."""
    return _window(window_length, periodic, (0.5, 0.5), **options)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    **options: Any,
) -> Any:
    """`alpha` minus `beta` times a cosine."""
    return _window(window_length, periodic, (alpha, beta), **options)


def blackman_window(window_length: int, periodic: bool = True, **options: Any) -> Any:
    """Blackman's sum of two cosines."""
    return _window(window_length, periodic, (0.42, 0.5, 0.08), **options)


def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **options: Any,
) -> Any:
    """A triangle."""
    wanted = window_dtype(window_length, dtype)
    count = max(window_length if periodic else window_length - 1, 1)
    place = arange(window_length, dtype=dtypes.float64, device=device) * (2 / count)
    found = ones(1) if window_length == 1 else 1 - (place - 1).abs()
    found = found.to(wanted)
    return found.requires_grad_() if requires_grad else found


def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **options: Any,
) -> Any:
    """Kaiser's window: the Bessel function I0 over a half circle of height `beta`."""
    wanted = window_dtype(window_length, dtype)
    count = window_length if periodic else window_length - 1
    place = numpy.arange(window_length) * (2 / max(count, 1)) - 1
    curve = numpy.i0(beta * numpy.sqrt(numpy.maximum(1 - place * place, 0))) / numpy.i0(beta)
    if window_length == 1:
        curve = numpy.ones(1)
    return tensor(curve, dtype=wanted, device=device, requires_grad=requires_grad)


# ---- short-time transforms -------------------------------------------------------------------


def _frame_window(window: Any, n_fft: int, win_length: int, like: Any, asked: str) -> Any:
    """The window in the middle of a frame of n_fft samples."""
    if not 0 < win_length <= n_fft:
        raise OperationError(
            asked, f"expected 0 < win_length <= n_fft, but got win_length={win_length}"
        )
    if window is None:
        window = ones(win_length, dtype=like.dtype.to_real(), device=like.device)
    elif tuple(window.shape) != (win_length,):
        raise OperationError(
            asked,
            "expected a 1D window tensor of size equal to win_length="
            f"{win_length}, but got window with size {list(window.shape)}",
            "give win_length=len(window)",
        )
    before = (n_fft - win_length) // 2
    after = n_fft - win_length - before
    if before or after:
        edges = [zeros(size, dtype=window.dtype, device=window.device) for size in (before, after)]
        window = _cat((edges[0], window, edges[1]), 0)
    return window


def stft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    """The spectra of overlapping frames of a signal [samples] or [batch, samples].

    Out: [..., frequencies, frames]; `onesided` (the default for real signals) keeps n_fft // 2 + 1
    frequencies. `return_complex=False` gives pairs of real numbers.
    """
    asked = f"stft({describe_value(input)}, n_fft={n_fft}, hop_length={hop_length})"
    is_complex = input.dtype.is_complex or (window is not None and window.dtype.is_complex)
    if return_complex is None:
        if not is_complex:
            raise OperationError(
                asked,
                "stft requires the return_complex parameter be given for real inputs, and will "
                "further require that return_complex=True in a future PyTorch release.",
                "pass return_complex=True",
            )
        return_complex = True
    if not input.dtype.differentiable or input.ndim not in (1, 2):
        raise OperationError(
            asked, "expected a tensor of floating point or complex values of 1 or 2 dimensions"
        )
    hop = n_fft // 4 if hop_length is None else hop_length
    frame = _frame_window(window, n_fft, win_length or n_fft, input, asked)
    signal = input if input.ndim == 2 else input.unsqueeze(0)
    if center:
        if align_to_window:
            raise OperationError(
                asked, "stft align_to_window should only be set when center = false"
            )
        signal = _padded(signal, n_fft // 2, pad_mode)
    if not 0 < n_fft <= signal.shape[-1] or hop <= 0:
        raise OperationError(
            asked,
            f"expected 0 < n_fft <= {signal.shape[-1]} and hop_length > 0",
            "give a longer signal, or a smaller n_fft",
        )
    one_sided = not is_complex if onesided is None else onesided
    if one_sided and is_complex:
        raise OperationError(
            asked,
            "Cannot have onesided output if window or input is complex",
            "pass onesided=False",
        )
    frames = signal.unfold(-1, n_fft, hop) * frame
    transform = fft.rfft if one_sided else fft.fft
    found = transform(frames, norm="ortho" if normalized else None).transpose(1, 2)
    found = found if input.ndim == 2 else found.squeeze(0)
    return found if return_complex else _view_as_real(found)


def _padded(signal: Any, margin: int, mode: str) -> Any:
    return pad(signal.unsqueeze(1), (margin, margin), mode).squeeze(1)


def istft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Any:
    """The signal whose stft is nearest to `input` [..., frequencies, frames] in least squares."""
    asked = f"istft({describe_value(input)}, n_fft={n_fft}, hop_length={hop_length})"
    if not input.dtype.is_complex:
        raise OperationError(
            asked,
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True.",
            "use torch.view_as_complex on pairs of real numbers",
        )
    hop = n_fft // 4 if hop_length is None else hop_length
    frame = _frame_window(window, n_fft, win_length or n_fft, input, asked)
    spectra = (input if input.ndim == 3 else input.unsqueeze(0)).transpose(1, 2)
    half = spectra.shape[-1] != n_fft if onesided is None else onesided
    if spectra.shape[-1] != (n_fft // 2 + 1 if half else n_fft):
        raise OperationError(
            asked,
            "expected the frequency dimension (3rd to the last) of the input tensor to match n_fft "
            f"{'/ 2 + 1 ' if half else ''}of {n_fft}, but got {spectra.shape[-1]}",
        )
    norm = "ortho" if normalized else None
    if half and not return_complex:
        frames = fft.irfft(spectra, n_fft, norm=norm)
    else:
        frames = fft.ifft(spectra, n_fft, norm=norm)
        frames = frames if return_complex else frames.real
    found = _overlap_add(frames * frame, hop)
    weight = _overlap_add((frame * frame).expand(1, *tuple(frames.shape[1:])), hop)
    start = n_fft // 2 if center else 0
    whole = n_fft + hop * (frames.shape[1] - 1)
    end = (
        whole - start if length is None and center else whole if length is None else start + length
    )
    found, weight = found[:, start:end], weight[:, start:end]
    if bool(weight.abs().min() < 1e-11):
        raise OperationError(
            asked,
            f"window overlap add min: {float(weight.abs().min())}",
            "the frames must cover every sample: give a smaller hop_length",
        )
    found = found / weight
    if length is not None and end > whole:
        more = zeros(found.shape[0], end - whole, dtype=found.dtype, device=found.device)
        found = _cat((found, more), 1)
    return found if input.ndim == 3 else found.squeeze(0)


def _overlap_add(frames: Any, hop: int) -> Any:
    """[batch, frames, n] summed at every hop: [batch, n + hop * (frames - 1)]."""
    batch, count, size = tuple(frames.shape)
    places = (arange(count) * hop).unsqueeze(1) + arange(size)
    whole = zeros(batch, size + hop * (count - 1), dtype=frames.dtype, device=frames.device)
    return _index_add(whole, 1, places.reshape(-1), frames.reshape(batch, -1))

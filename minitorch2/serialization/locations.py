"""Where loaded memory goes: what `map_location` of load says of each storage of a file.

In: `map_location`, and for each storage its bytes and the location that the file names ('cpu',
'cuda:0', ...). Out: a storage on the CPU, or one of the meta device, which has no elements.

    >>> place = placing({"cuda:0": "meta"})
    >>> place(Storage(device("cpu"), 0, None), "cuda:0").device
    device(type='meta')

Source: torch.load's map_location.
"""

from collections.abc import Callable
from typing import Any

from minitorch2.devices import META, device
from minitorch2.errors import ArgumentTypeError, DeviceError
from minitorch2.storages import Storage
from minitorch2.untyped_storage import UntypedStorage

Placing = Callable[[Storage, str], Storage]


class NotPlaced(Exception):
    """What was raised for a storage, kept apart from what a damaged file raises: its cause."""


def placing(map_location: Any) -> Placing:
    """The function from a storage and the file's name for its place to the storage as loaded.

    `map_location` is None (where the file says), a place for all ('cpu', torch.device('meta')), a
    dict from the file's places to others, or a function of an UntypedStorage and the file's place,
    which returns one, or None for where the file says. DeviceError for places that are not there.
    """
    if map_location is None:
        return _placed
    if isinstance(map_location, dict):
        return lambda storage, where: _placed(storage, map_location.get(where, where))
    if isinstance(map_location, (str, bytes, device)):
        place = map_location
        if isinstance(place, device):  # torch takes meta's index for what it is: of no meaning
            place = "meta" if place.type == "meta" else str(place)
        return lambda storage, where: _placed(storage, place)

    def asked(storage: Storage, where: str) -> Storage:
        found = map_location(UntypedStorage(storage), where)
        if found is None:
            return _placed(storage, where)
        if not isinstance(found, UntypedStorage):
            raise ArgumentTypeError(
                f"load(map_location={map_location!r})",
                f"it returned a {type(found).__name__} for a storage, not an UntypedStorage",
                "return the storage that it was given, or None",
            )
        return found._memory

    return asked


def _placed(storage: Storage, where: Any) -> Storage:
    """A storage at the place of that name: on the CPU as it is, on meta without its bytes."""
    asked = f"load(map_location={where!r})"
    if not isinstance(where, str):
        raise ArgumentTypeError(
            asked,
            f"expected string or bytes-like object, got '{type(where).__name__}'",
            "name places by texts: 'cpu', 'meta'",
        )
    if where == "cpu":
        return storage
    if where == "meta":
        return Storage(META, storage.nbytes, None)
    if where.startswith(("cuda", "xpu")):
        name = where[:4].removesuffix(":")
        raise DeviceError(
            asked,
            f"Attempting to deserialize object on a {name.upper()} device but "
            f"torch.{name}.is_available() is False.",
            "use torch.load with map_location=torch.device('cpu')",
        )
    raise DeviceError(
        asked,
        f"don't know how to restore data location of torch.storage.UntypedStorage (tagged with "
        f"{where})",
        "use map_location='cpu'",
    )

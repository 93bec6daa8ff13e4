"""The parts of the demo server that features bring."""

from __future__ import annotations

import json
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Handler = Callable[[Any], dict[str, Any]]


class DemoPart:
    """The part of one feature, in the era without a handshake: an extension and its methods."""

    __slots__ = ("extension", "fresh", "handlers", "read", "settings", "streams")

    def __init__(
        self,
        extension: str,
        *,
        settings: Mapping[str, Any] | None = None,
        handlers: Mapping[str, Handler] | None = None,
        streams: Mapping[str, type[Any]] | None = None,
        fresh: Mapping[str, int] | None = None,
        read: Callable[[str], dict[str, Any] | None] | None = None,
    ) -> None:
        self.extension = extension
        self.settings = settings or {}
        self.handlers = handlers or {}
        self.streams = streams or {}
        """The class of each request that lasts (`LastingRequest`), by method."""
        self.fresh = fresh or {}
        """The time to live of results in milliseconds, by method."""
        self.read = read
        """Returns the contents of a resource of its own, which is not listed."""


@cache
def parts() -> tuple[DemoPart, ...]:
    """The parts, in the order of the features."""
    from inspector.feature import our_features  # Not before the first request that may need it.

    return tuple(feature.load(feature.demo) for feature in our_features() if feature.demo)


def load_json(module: str) -> Any:
    """The JSON file beside a module, named by its `__file__`."""
    with open(module.replace(".py", ".json"), encoding="utf-8") as file:
        return json.load(file)

"""Our requests as readers see them, in flight or ended, live and recorded alike."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from inspector.client.extensions import missing_extensions
from inspector.errors import ServerError
from inspector.hints import NO_HINT, Hint, Parameter, Setting
from inspector.text import repr_of

Fate = Literal["pending", "done", "error", "cancelled", "timeout", "lost"]


class Progress:
    """The latest progress of a call. `total` and `message` are None if missing or of a wrong type."""

    __slots__ = ("count", "message", "n", "t", "total", "value")

    def __init__(self, n: int, t: int, params: dict[str, Any], count: int) -> None:
        value, total, message = params.get("progress"), params.get("total"), params.get("message")
        self.n = n
        self.t = t
        self.value = value if type(value) in (int, float) else 0
        self.total = total if type(total) in (int, float) else None
        self.message = message if type(message) is str else None
        self.count = count
        """The number of progress notifications for the call."""

    def __repr__(self) -> str:
        return repr_of(self, self.value if self.total is None else f"{self.value} of {self.total}", self.message)

    @property
    def fraction(self) -> float | None:
        """A value between 0 and 1, or None if the total is unknown."""
        if not self.total or not self.total > 0:
            return None
        try:
            return float(min(1.0, max(0.0, self.value / self.total)))
        except OverflowError:  # integers beyond what a double holds
            return None


class CallState(Protocol):
    """The read access to a call. A live one is a `Call`, one of a recording a `RecordedCall`."""

    @property
    def n(self) -> int:
        """The request's number in the journal; 0 before it was sent."""

    @property
    def method(self) -> str:
        """The request's method."""

    @property
    def name(self) -> str:
        """The tool's or prompt's name, or the resource's URI."""

    @property
    def fate(self) -> Fate:
        """How it ended; `pending` before its end."""

    @property
    def progress(self) -> Progress | None:
        """The latest progress."""

    @property
    def elapsed(self) -> float:
        """Seconds from its start to its end, or to now."""

    @property
    def allowed(self) -> float:
        """Seconds after the start at which it times out without progress; 0 if unknown."""

    @property
    def person_time(self) -> float:
        """Seconds of `elapsed` in which it waited for a person."""


def server_error(error: Any, method: str) -> ServerError:
    """Return a JSON-RPC error object, valid or not, as an exception."""
    if type(error) is not dict:
        return ServerError(None, error if type(error) is str else None, error, method=method)
    code, data = error.get("code"), error.get("data")
    return ServerError(code, error.get("message"), data, method=method, hint=_extension_hint(code, data))


def _extension_hint(code: Any, data: Any) -> Hint:
    """Return how to offer the extensions that an error demands from the client (C-EXT-05)."""
    missing = missing_extensions(code, data)
    if not missing:
        return NO_HINT
    named = [id for id in missing if len(id) <= 200][:3]
    parts: list[str | Setting] = [f"The server needs the extension{'' if len(missing) == 1 else 's'} "]
    parts += [f"{', '.join(named)}. Offer it: "]
    for at, id in enumerate(named):
        parts += [" and " if at else "", Parameter.EXTENSION.to(id)]
    return Hint(*parts, ".")

"""A request of ours as a reader sees it, in flight or over, live and recorded alike."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from inspector.errors import ServerError

Fate = Literal["pending", "done", "error", "cancelled", "timeout", "lost"]


class Progress:
    """The latest progress of a call. `total` and `message` are None where the server gave none of the right type."""

    __slots__ = ("count", "message", "n", "t", "total", "value")

    def __init__(self, n: int, t: int, params: dict[str, Any], count: int) -> None:
        value, total, message = params.get("progress"), params.get("total"), params.get("message")
        self.n = n
        self.t = t
        self.value = value if type(value) in (int, float) else 0
        self.total = total if type(total) in (int, float) else None
        self.message = message if type(message) is str else None
        self.count = count
        """How many progress notifications the call has had."""

    @property
    def fraction(self) -> float | None:
        """Between 0 and 1, or None where the total is not known."""
        if not self.total or not self.total > 0:
            return None
        try:
            return float(min(1.0, max(0.0, self.value / self.total)))
        except OverflowError:  # integers beyond what a double holds
            return None


class CallState(Protocol):
    """What can be read of a call. A live one is a `Call`, one of a recording a `RecordedCall`."""

    @property
    def n(self) -> int:
        """The request's number in the journal; 0 before it was sent."""

    @property
    def method(self) -> str:
        """The request's method."""

    @property
    def name(self) -> str:
        """What the request is about: the tool's or prompt's name, or the resource's URI."""

    @property
    def fate(self) -> Fate:
        """How it ended; `pending` while it has not."""

    @property
    def progress(self) -> Progress | None:
        """The newest progress."""

    @property
    def elapsed(self) -> float:
        """Seconds since it was sent, up to its end."""

    @property
    def allowed(self) -> float:
        """Seconds after the start at which it will time out unless there is progress; 0 where that is not known."""

    @property
    def person_time(self) -> float:
        """Seconds of `elapsed` for which it waited for a person."""


def server_error(error: Any, method: str) -> ServerError:
    """A JSON-RPC error object, whatever its fields are, as an exception."""
    if type(error) is not dict:
        return ServerError(None, error if type(error) is str else None, error, method=method)
    return ServerError(error.get("code"), error.get("message"), error.get("data"), method=method)

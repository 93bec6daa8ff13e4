"""The second argument of the functions of an addon: facts about a message, and actions on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inspector.text import safe

MAX_DELAY_SECONDS = 3600.0


class Context:
    """`ctx` of one call of a function.

    `sender` is `client` or `server`, and empty in `on_connect` and `on_end`. `request` is the request that a response
    answers, or None. `state` is a dict for the functions of one addon on one connection.
    """

    # Defaults of the class: most functions never set them.
    outcome: tuple[str, dict[str, Any]] | None = None
    """`refused` or `answered`, and the members of the response."""
    seconds = 0.0
    headers: tuple[tuple[str, str], ...] = ()

    def __init__(
        self,
        by: str,
        say: Callable[[str], None],
        state: dict[Any, Any],
        sender: str = "",
        request: dict[str, Any] | None = None,
    ) -> None:
        self.sender = sender
        self.request = request
        self.state = state
        self._by = by
        self._say = say

    def refuse(self, code: int, text: str) -> None:
        """Do not pass the message on: its sender gets this error. A response becomes it; a notification is dropped."""
        if type(code) is not int or not isinstance(text, str):
            raise TypeError("ctx.refuse takes a number and a text")
        self._decide("refused", {"error": {"code": code, "message": text}})

    def answer(self, result: Any) -> None:
        """Do not pass a request on: its sender gets this result. A response gets this result instead of its own."""
        self._decide("answered", {"result": result})

    def _decide(self, did: str, members: dict[str, Any]) -> None:
        if not self.sender:
            raise TypeError(f"no message can be {did} here")
        self.outcome = did, members

    def delay(self, seconds: float) -> None:
        """Pass the message on after this time; other messages do not wait for it."""
        if not 0 <= seconds <= MAX_DELAY_SECONDS:
            raise ValueError(f"ctx.delay takes 0 to {MAX_DELAY_SECONDS:g} seconds")
        self.seconds += seconds

    def note(self, text: str) -> None:
        """Record a note, and show it on stderr."""
        self._say(f"{self._by}: {safe(str(text), 2000)}")

    def header(self, name: str, value: str) -> None:
        """Send this HTTP header with the message; over stdio it has no effect."""
        from inspector.config.text_checks import parse_header

        self.headers = (*self.headers, parse_header(f"{name}: {value}"))

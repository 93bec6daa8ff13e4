"""URL elicitation by error -32042 of revision 2025-11-25: the person visits URLs before the call is retried.

Source: specification 2025-11-25, "Elicitation", "URL Mode Elicitation Required Error" (C-ELIC-04, C-ELIC-05).
"""

from __future__ import annotations

import asyncio
from typing import Any

from inspector.client.engine.engine import Engine
from inspector.client.engine.input_requests import InputRequests, InputUnavailable
from inspector.client.engine.pending_requests import Call
from inspector.errors import ServerError


def elicitations_of(error: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the elicitations of an error -32042 that have a URL."""
    data = error.get("data")
    named = data.get("elicitations") if type(data) is dict else None
    return (
        [item for item in named if type(item) is dict and isinstance(item.get("url"), str)]
        if type(named) is list
        else []
    )


class UrlElicitation:
    """The URLs that one call waits for: each must be accepted, and completed if it has an id.

    A server need not notify the completion: the call then times out with a hint.
    """

    def __init__(self, engine: Engine, call: Call, asked: list[dict[str, Any]], error: ServerError) -> None:
        self._call = call
        self._error = error
        self._open = {item["elicitationId"] for item in asked if isinstance(item.get("elicitationId"), str)}
        self._completed = asyncio.Event()
        requests = {
            str(number): {"method": "elicitation/create", "params": {**item, "mode": "url"}}
            for number, item in enumerate(asked)
        }
        self._requests = InputRequests(engine.state.inbox, engine.state.server.features, requests)
        self.complete(None)

    def ask(self, n: int, t: int) -> None:
        """Add the URLs of message `n`, which arrived at `t`, to the inbox."""
        self._requests.ask(n, self._call.n, t)

    async def done(self) -> None:
        """Wait until all are accepted and completed. Raises the server's error if one is declined."""
        reason = ""
        try:
            answers = await self._requests.answers()
            agreed = all(answer.get("action") == "accept" for answer in answers.values())
        except InputUnavailable as refused:
            agreed, reason = False, f": {refused.reason}"
        if not agreed:
            self._error.hint = f"The server requires a visit to a URL first, which was not accepted{reason}."
            raise self._error
        self._call.deadline.alive()
        await self._completed.wait()

    def complete(self, id: Any) -> None:
        """Handle `notifications/elicitation/complete`; unknown and completed ids are ignored."""
        if isinstance(id, str):
            self._open.discard(id)
        if not self._open:
            self._completed.set()

    def withdraw(self) -> None:
        """Withdraw the questions: the call has ended."""
        self._requests.withdraw()

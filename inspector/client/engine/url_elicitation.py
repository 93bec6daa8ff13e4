"""URLs that a person must have visited before the server does what was asked: error -32042 of revision 2025-11-25.

Source: specification 2025-11-25, "Elicitation", "URL Mode Elicitation Required Error" (C-ELIC-04, C-ELIC-05).
"""

from __future__ import annotations

import asyncio
from typing import Any

from inspector.client.engine.engine import Engine
from inspector.client.engine.input_requests import InputRequests, Unanswered
from inspector.client.engine.pending_requests import Call
from inspector.errors import ServerError


def elicitations_of(error: dict[str, Any]) -> list[dict[str, Any]]:
    """The elicitations that an error -32042 names, those with a URL."""
    data = error.get("data")
    named = data.get("elicitations") if type(data) is dict else None
    return [
        item for item in named if type(item) is dict and isinstance(item.get("url"), str)
    ] if type(named) is list else []  # fmt: skip


class UrlElicitation:
    """The URLs that one call waits for: each must be agreed to, and completed where it has an id.

    A server need not tell of completion: the call then runs out of time, and says what is to be done.
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
        """Put the URLs of message `n`, which came at `t`, to the inbox."""
        self._requests.ask(n, self._call.n, t)

    async def done(self) -> None:
        """Wait until all have been agreed to and completed. Raises the server's error where one is refused."""
        why = ""
        try:
            answers = await self._requests.answers()
            agreed = all(answer.get("action") == "accept" for answer in answers.values())
        except Unanswered as refused:
            agreed, why = False, f": {refused.why}"
        if not agreed:
            self._error.hint = f"A URL has to be visited first, and that was not agreed to{why}."
            raise self._error
        self._call.alive()
        await self._completed.wait()

    def complete(self, id: Any) -> None:
        """`notifications/elicitation/complete`; ids that are unknown or done mean nothing."""
        if isinstance(id, str):
            self._open.discard(id)
        if not self._open:
            self._completed.set()

    def withdraw(self) -> None:
        """The call is over: take the questions back."""
        self._requests.withdraw()

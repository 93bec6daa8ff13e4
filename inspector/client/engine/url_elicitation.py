"""URLs that a person must have visited before the server does what was asked: error -32042 of revision 2025-11-25.

Source: specification 2025-11-25, "Elicitation", "URL Mode Elicitation Required Error" (C-ELIC-04, C-ELIC-05).
"""

from __future__ import annotations

from typing import Any

from inspector.client.engine.calls import Call
from inspector.client.engine.engine import Engine
from inspector.client.engine.input_requests import InputRound
from inspector.errors import ServerError


def elicitations_of(error: dict[str, Any]) -> list[dict[str, Any]]:
    """The elicitations that an error -32042 names, those with a URL."""
    data = error.get("data")
    named = data.get("elicitations") if type(data) is dict else None
    return [
        item for item in named if type(item) is dict and isinstance(item.get("url"), str)
    ] if type(named) is list else []  # fmt: skip


class UrlVisits:
    """The visits that one call waits for. When all are agreed to and completed, the call is sent again, once.

    A server need not tell of completion: the call then runs out of time, and says what is to be done.
    """

    def __init__(self, engine: Engine, call: Call, asked: list[dict[str, Any]], error: ServerError) -> None:
        self.engine = engine
        self.call = call
        self.error = error
        self._open = {item["elicitationId"] for item in asked if isinstance(item.get("elicitationId"), str)}
        self._agreed = False
        requests = {
            str(number): {"method": "elicitation/create", "params": {**item, "mode": "url"}}
            for number, item in enumerate(asked)
        }
        self._round = InputRound(engine.state.inbox, engine.state.server.features, requests, self._done)

    def ask(self, n: int) -> None:
        """Put the URLs of message `n` to the inbox; the call waits."""
        self.call.held = True
        self.call.rounds += 1
        self._round.ask(n, self.call.n, self.engine.state.journal.index.times[n - 1])

    def _done(self, responses: dict[str, Any] | None, why: str) -> None:
        if self.call.fate != "pending":
            return
        if responses is None or any(answer.get("action") != "accept" for answer in responses.values()):
            self.error.hint = "A URL has to be visited first, and that was not agreed to" + (
                f": {why}." if why else "."
            )
            self.engine.pending.fail(self.call, self.error)
            return
        self._agreed = True
        self.call.alive()
        self._go_on()

    def completed(self, id: Any) -> bool:
        """`notifications/elicitation/complete`; ids that are unknown or done mean nothing. True: the call goes on."""
        if isinstance(id, str):
            self._open.discard(id)
        return self._go_on()

    def _go_on(self) -> bool:
        if not self._agreed or self._open or self.call.fate != "pending":
            return False
        self.engine.send_again(self.call)
        return True

    def withdraw(self) -> None:
        """The call is over."""
        self._round.withdraw()

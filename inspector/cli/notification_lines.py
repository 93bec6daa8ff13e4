"""Prints notifications of a server, one line each, as they arrive: as text, or as JSON."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from inspector.cli.live_messages import Watch
from inspector.cli.output import PIPED, Output
from inspector.protocol import jsonrpc
from inspector.protocol.exact_json import depth
from inspector.protocol.jsonrpc import Shape

if TYPE_CHECKING:
    from inspector.client.session import Session
    from inspector.journal.journal import Journal

NAME = 200


class Notices(Watch):
    """Prints notifications; `over` is set when the connection ends or the reader of stdout has gone."""

    draws_progress = False
    precedes_results = False

    def __init__(self, session: Session, out: Output) -> None:
        self.over = asyncio.Event()
        self.asked = 0
        """The number of requested kinds of notifications in a subscription, which the server may end."""
        self._lines: list[str] = []
        self._trouble = ""
        super().__init__(session, out)

    @property
    def refused(self) -> bool:
        """Whether the server sends none of them, or has stopped."""
        return 0 < self.asked <= len(self._session.subscriptions.refused)

    def tell(self) -> bool:
        """Print new notifications, up to a number of events. Returns whether there are more."""
        more = super().tell()
        lines, self._lines = self._lines, []
        if lines:
            (self._out.documents if self._out.json else self._out.lines)(lines)
        if self._out.unread or self.refused or self._session.phase in ("lost", "failed", "closed"):
            self.over.set()
        return more

    def _notification(self, n: int, method: str) -> list[str]:
        event = self._session.journal.event(n)
        self._add_line(event.t, event.message, event.raw)
        return []

    def _batch(self, n: int) -> list[str]:
        event = self._session.journal.event(n)
        for item in event.message if type(event.message) is list else ():
            if jsonrpc.shape_of(item) is Shape.NOTIFICATION:
                self._add_line(event.t, item, None)
        return []

    def _life(self, n: int) -> list[str]:
        """A broken stream is requested again; that is reported once for each reason."""
        fields = self._session.journal.event(n).fields
        error = fields.get("error") if fields.get("event") in ("stream-end", "lost") else None
        text = error.get("message") if type(error) is dict else error
        if not isinstance(text, str) or not text or self._session.phase != "ready":
            return super()._life(n)
        if self._trouble and self._trouble in text:
            return []
        self._trouble = text
        return [f"note: The stream broke and is requested again: {self._out.safe(text, PIPED)}"]

    def _add_line(self, t: int, message: Any, raw: str | None) -> None:
        out = self._out
        if out.json:
            text = raw if raw is not None else written(message)
            # Replace line breaks, which only separate tokens, so that one message is one line.
            self._lines.append(text.replace("\r", " ").replace("\n", " ").strip("\ufeff "))
        else:
            self._lines.append(line_of(out, self._session.journal, t, message))


def written(message: dict[str, Any]) -> str:
    """A message as JSON if its text is not available.

    Params that are nested too deeply are omitted.
    """
    try:
        return jsonrpc.encode(message).decode()
    except RecursionError:
        return jsonrpc.encode(jsonrpc.notification(message["method"]) | {"params": depth.LEFT_OUT}).decode()


def line_of(out: Output, journal: Journal, t: int, message: dict[str, Any]) -> str:
    """A notification as text: time, method, and summary."""
    params = message.get("params")
    at = journal.clock(t).astimezone().strftime("%H:%M:%S.%f")[:-3]
    summary = out.safe(_short(params if type(params) is dict else {}, message["method"]), PIPED)
    line = f"{at}  {out.safe(message['method'], NAME)}  {summary}".rstrip()
    width = out.width
    if width is None:
        return line
    from inspector.text import ellipsis, signs

    return ellipsis(line, width, signs(out.ascii).cut)


def _short(params: dict[str, Any], method: str) -> str:
    """The summary of a notification in one line; the params of an unknown one."""
    match method:
        case "notifications/message":
            logger = f" {_word(params['logger'])}" if params.get("logger") else ""
            return f"{_word(params.get('level'))}{logger}: {_word(params.get('data'))}"
        case "notifications/resources/updated":
            return _word(params.get("uri"))
        case "notifications/progress":
            total = f"/{_word(params['total'])}" if "total" in params else ""
            amount = f"{_word(params.get('progressToken'))}: {_word(params.get('progress'))}{total}"
            return f"{amount}  {_word(params['message'])}" if params.get("message") else amount
        case "notifications/cancelled":
            return f"{_word(params.get('requestId'))}  {_word(params.get('reason', ''))}"
        case "notifications/tasks/status" | "notifications/tasks":
            values = (params.get(key) for key in ("taskId", "status", "statusMessage"))
            return "  ".join(_word(value) for value in values if value is not None)
    kept = {key: value for key, value in params.items() if key != "_meta"}
    return jsonrpc.excerpt(kept, PIPED) if kept else ""


def _word(value: Any) -> str:
    """A string unchanged, other values as JSON."""
    return value if type(value) is str else jsonrpc.excerpt(value, PIPED)

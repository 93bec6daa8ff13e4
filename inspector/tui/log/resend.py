"""Sends a recorded message again, unchanged or edited."""

from __future__ import annotations

import json
from typing import Any

from inspector.client.session_state import Commands
from inspector.errors import InspectorError
from inspector.journal.format import Dir, Kind
from inspector.journal.index import Index
from inspector.protocol.jsonrpc import Shape


def sent_by_us(index: Index, n: int) -> int:
    """Return the message to send again at event `n`. It is `n`, our request that it answers, or 0."""
    if n and index.dir(n) == Dir.RECV and index.shape(n) in (Shape.RESULT, Shape.ERROR):
        n = index.pair(n)
    return n if n and index.dir(n) == Dir.SEND and index.kind(n) in (Kind.RPC, Kind.INVALID) else 0


def send_again(session: Commands, n: int) -> str:
    """Send event `n` again: a request with a new id, anything else unchanged. Returns why it failed."""
    event = session.journal.event(n)
    message = event.message
    try:
        if event.shape == Shape.REQUEST:
            session.start(message["method"], without_token(message.get("params")))
        elif event.shape == Shape.NOTIFICATION and isinstance(message.get("params", {}), dict):
            session.notify(message["method"], message.get("params"))
        else:
            session.send_raw(event.bytes)
    except InspectorError as error:
        return error.message
    return ""


def text_to_edit(session: Commands, n: int) -> str:
    """Return the text of event `n` to edit; a request gets the next id and loses its progress token."""
    event = session.journal.event(n)
    message = event.message
    if event.shape != Shape.REQUEST:
        return event.text if message is None else _pretty(message)
    edited = {**message, "id": session.next_id}
    params = without_token(message["params"]) if isinstance(message.get("params"), dict) else message.get("params")
    if params is None:
        edited.pop("params", None)
    else:
        edited["params"] = params
    return _pretty(edited)


def _pretty(message: Any) -> str:
    return json.dumps(message, indent=2, ensure_ascii=False)


def without_token(params: Any) -> dict[str, Any] | None:
    """Return the parameters of a request to send again, without its progress token."""
    if not isinstance(params, dict):
        return None
    meta = params.get("_meta")
    if not isinstance(meta, dict) or "progressToken" not in meta:
        return params
    kept = {key: value for key, value in meta.items() if key != "progressToken"}
    rest = {key: value for key, value in params.items() if key != "_meta"}
    if not kept:
        return rest or None
    return {**rest, "_meta": kept}

"""The parts of recorded and live messages that are compared."""

from __future__ import annotations

from typing import Any

from inspector.protocol import jsonrpc
from inspector.transports.response_matching import id_span


def body_of(message: Any, id: Any = None) -> dict[str, Any]:
    """Return the compared part of a response: its result or its error. Of a batch, the response to `id`."""
    if type(message) is list:
        message = next((item for item in message if type(item) is dict and item.get("id") == id), None)
    if type(message) is not dict:
        return {}
    return {key: message[key] for key in ("result", "error") if key in message}


def status_of(body: dict[str, Any]) -> str:
    """Return the status in a task response, or an empty text."""
    result = body.get("result")
    status = result.get("status") if type(result) is dict else None
    return status if isinstance(status, str) else ""


def name_of(message: Any) -> str:
    params = message.get("params") if type(message) is dict else None
    if type(params) is not dict:
        return ""
    name = params.get("name") or params.get("uri") or ""
    return name if isinstance(name, str) else ""


def with_id(data: bytes, id: int | str) -> bytes:
    """Return a response with another id, byte-identical otherwise if possible."""
    span = id_span(data)
    if span is not None:
        return data[: span[0]] + jsonrpc.encode(id) + data[span[1] :]
    return jsonrpc.encode({**jsonrpc.parse(data), "id": id})

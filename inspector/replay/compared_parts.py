"""Parts of recorded and live messages: what of an answer is compared, what a request is about."""

from __future__ import annotations

from typing import Any

from inspector.protocol import jsonrpc
from inspector.transports.correlate import id_span


def body_of(message: Any, id: Any = None) -> dict[str, Any]:
    """The part of an answer that is compared: its result or its error. Of a batch, the answer to `id`."""
    if type(message) is list:
        message = next((item for item in message if type(item) is dict and item.get("id") == id), None)
    if type(message) is not dict:
        return {}
    return {key: message[key] for key in ("result", "error") if key in message}


def status_of(body: dict[str, Any]) -> str:
    """What a task's answer says of its state; empty where it says nothing."""
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
    """An answer with another id, and nothing else changed where that can be."""
    span = id_span(data)
    if span is not None:
        return data[: span[0]] + jsonrpc.encode(id) + data[span[1] :]
    return jsonrpc.encode({**jsonrpc.parse(data), "id": id})

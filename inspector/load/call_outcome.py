"""The kind, code and text of the error with which a call under load ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.errors import HttpError, ServerError
from inspector.load.result_schemas import ResultSchemas

if TYPE_CHECKING:
    from inspector.client.engine.pending_requests import Call

CallError = tuple[str, int | None, str]
"""See `ErrorCount`: kind, code and text of the server."""


def error_of(call: Call, tool: str, schemas: ResultSchemas) -> CallError | None:
    """The error of an ended call; None for a result that matches the output schema of its tool."""
    if call.fate == "done":
        value = call.value
        if type(value) is not dict or value.get("isError") is not True:
            problem = schemas.problem(tool, value)
            return ("schema", None, problem) if problem else None
        content = value.get("content")
        texts = (block.get("text") for block in (content if type(content) is list else ()) if type(block) is dict)
        return "tool", None, next((text for text in texts if type(text) is str), "")
    error = call.error
    if isinstance(error, ServerError):
        return "server", error.rpc_code if type(error.rpc_code) is int else None, error.rpc_message
    if call.fate == "timeout":
        return "timeout", None, f"No answer within {call.deadline.timeout:g} s"
    return error.code if error is not None else call.fate, refusing_status(call), str(error or "")


def refusing_status(call: Call) -> int | None:
    """The HTTP status with which the server refused a call; None otherwise."""
    return call.error.status if isinstance(call.error, HttpError) else None

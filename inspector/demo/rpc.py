"""JSON-RPC 2.0 for the server: error codes, decoding and encoding of messages."""

from __future__ import annotations

import json

TYPE_CHECKING = False  # importing `typing` would take a tenth of the start; type checkers know this name
if TYPE_CHECKING:
    from typing import Any, NoReturn

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002  # until 2025-11-25; later an unknown resource is INVALID_PARAMS
URL_ELICITATION_REQUIRED = -32042  # 2025-11-25 only
HEADER_MISMATCH = -32020  # this one and the next two: since 2026-07-28
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022


class RpcError(Exception):
    """A request whose response is a JSON-RPC error; `status` is its HTTP status (2026-07-28)."""

    def __init__(self, code: int, message: str, data: Any = None, *, status: int = 200) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.status = status


class NotFound(RpcError):
    """A resource that does not exist."""

    def __init__(self, uri: str) -> None:
        super().__init__(RESOURCE_NOT_FOUND, "Resource not found", {"uri": uri})


class Cancelled(Exception):
    """The client cancelled the request, or disconnected: it needs no response."""


class ToolError(Exception):
    """A tool call whose result reports an error to the model."""


class Refused(Exception):
    """The client responded to our question with a JSON-RPC error."""

    def __init__(self, code: Any, message: Any) -> None:
        super().__init__(f"{message} ({code})")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number - number != 0:  # infinity: it can be read, but not written as JSON
        raise ValueError("a number is out of range")
    return number


_decoder = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)
_plain = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_escaped = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def decode(raw: bytes) -> Any:
    """Decodes one message from UTF-8 bytes; raises RpcError (parse error) for anything that is not strict JSON."""
    try:
        return _decoder.decode(raw.decode("utf-8").strip())
    except (ValueError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, f"Parse error: {error}") from None


def encode(message: Any) -> bytes:
    """Encodes one message as UTF-8 JSON without line breaks; lone surrogates are escaped."""
    try:
        return _plain.encode(message).encode("utf-8")
    except UnicodeEncodeError:
        return _escaped.encode(message).encode("ascii")


def valid_id(value: Any) -> bool:
    """Whether a request id is a string or an integer, as MCP requires (never null, never a float)."""
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def result(request_id: Any, value: dict[str, Any]) -> dict[str, Any]:
    """A response that carries a result."""
    return {"jsonrpc": "2.0", "id": request_id, "result": value}


def error(request_id: Any, problem: RpcError) -> dict[str, Any]:
    """A response with an error; without an id if the request's own could not be read."""
    body: dict[str, Any] = {"code": problem.code, "message": problem.message}
    if problem.data is not None:
        body["data"] = problem.data
    message: dict[str, Any] = {"jsonrpc": "2.0"}
    if valid_id(request_id):
        message["id"] = request_id
    return message | {"error": body}


def notification(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """A notification."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return message


def kind_of(message: Any) -> str:
    """Returns "request", "notification" or "response"; raises RpcError for a message that is none of them."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 object")
    if "method" in message:
        if not isinstance(message["method"], str):
            raise RpcError(INVALID_REQUEST, "Invalid request: method must be a string")
        if "id" not in message:
            return "notification"
        if not valid_id(message["id"]):
            raise RpcError(INVALID_REQUEST, "Invalid request: id must be a string or an integer")
        return "request"
    if ("result" in message or "error" in message) and "id" in message:
        # An error without a usable id matches no request of ours and needs no action.
        return "response"
    raise RpcError(INVALID_REQUEST, "Invalid request: neither a method nor a result")

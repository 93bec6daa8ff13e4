"""The result of one request of a check: its response, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class RequestOutcome:
    """One request of a check and its response. Values are the server's: of any type."""

    method: str
    n: int = 0
    """The event number of the request."""
    response_n: int = 0
    """The event number of the response; 0 if there is none."""
    message: dict[str, Any] | None = None
    """The response message."""
    status: int = 0
    """The HTTP status of the response; 0 if there is none."""
    seconds: float = 0.0
    reason: str = ""
    """The reason for a missing response, as a sentence."""
    sent_at: float = 0.0
    """When it was sent, on the monotonic clock."""

    @property
    def answered(self) -> bool:
        """Whether there is a response."""
        return self.message is not None

    @property
    def ok(self) -> bool:
        """Whether the response is a result."""
        return self.message is not None and "result" in self.message

    @property
    def result(self) -> Any:
        """The result; None without one."""
        return None if self.message is None else self.message.get("result")

    @property
    def body(self) -> dict[str, Any]:
        """The result if it is an object, otherwise an empty one."""
        return self.result if type(self.result) is dict else {}

    @property
    def error(self) -> dict[str, Any]:
        """The error if it is an object, otherwise an empty one."""
        error = None if self.message is None else self.message.get("error")
        return error if type(error) is dict else {}

    @property
    def code(self) -> Any:
        """The code of the error."""
        return self.error.get("code")

    @property
    def events(self) -> tuple[int, ...]:
        """The evidence: the request and its response."""
        return tuple(n for n in (self.n, self.response_n) if n)

    @property
    def reply(self) -> str:
        """The response in a few words that follow “got”."""
        return self.brief if self.message is not None else f"no response ({self.brief.removeprefix('no response ')})"

    @property
    def brief(self) -> str:
        """The response, or the reason why there is none, in a few words that follow a colon."""
        from inspector.protocol.jsonrpc import excerpt

        if self.message is None:
            return self.reason.rstrip(".") or "no answer"
        if "error" in self.message:
            # Over HTTP+SSE, 202 is the status of the POST, which may come before or after the response.
            status = f" with status {self.status}" if self.status not in (0, 200, 202) else ""
            return f"error {excerpt(self.code, 40)} {excerpt(self.error.get('message'), 80)}{status}"
        return f"the result {excerpt(self.result, 120)}"

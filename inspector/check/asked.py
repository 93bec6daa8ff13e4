"""An answer that a check has got, or why it got none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Asked:
    """One request of a check and what came back. Values are the server's: of any type."""

    method: str
    n: int = 0
    """The request's number in the recording."""
    answer_n: int = 0
    """The answer's; 0 where none came."""
    message: dict[str, Any] | None = None
    """The answer as it came."""
    status: int = 0
    """The HTTP status of the answer; 0 where there is none."""
    seconds: float = 0.0
    why: str = ""
    """Why there is no answer, as a sentence."""
    began: float = 0.0
    """When it was sent, on the monotonic clock."""

    @property
    def answered(self) -> bool:
        """Whether a result or an error came."""
        return self.message is not None

    @property
    def ok(self) -> bool:
        """Whether it was a result."""
        return self.message is not None and "result" in self.message

    @property
    def result(self) -> Any:
        """The result; None where there is none."""
        return None if self.message is None else self.message.get("result")

    @property
    def body(self) -> dict[str, Any]:
        """The result where it is an object, else an empty one."""
        return self.result if type(self.result) is dict else {}

    @property
    def error(self) -> dict[str, Any]:
        """The error where it is an object, else an empty one."""
        error = None if self.message is None else self.message.get("error")
        return error if type(error) is dict else {}

    @property
    def code(self) -> Any:
        """The code of the error."""
        return self.error.get("code")

    @property
    def events(self) -> tuple[int, ...]:
        """The evidence: the request and its answer."""
        return tuple(n for n in (self.n, self.answer_n) if n)

    @property
    def reply(self) -> str:
        """What it was answered with, in a few words that follow “with”."""
        return self.shown if self.message is not None else f"nothing ({self.shown})"

    @property
    def shown(self) -> str:
        """What came, or why nothing has, in a few words that follow a colon."""
        from inspector.protocol.jsonrpc import excerpt

        if self.message is None:
            return self.why.rstrip(".") or "no answer"
        if "error" in self.message:
            # Over HTTP+SSE 202 is the status of the POST, which may come before the answer or after it.
            status = f" with status {self.status}" if self.status not in (0, 200, 202) else ""
            return f"error {excerpt(self.code, 40)} {excerpt(self.error.get('message'), 80)}{status}"
        return f"the result {excerpt(self.result, 120)}"

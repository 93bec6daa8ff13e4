"""The exception tree. Each error says what happened and to what (`message`) and what to do next (`hint`).

A hint is data (`inspector.hints`): a sentence in which an option, a key or a keyword argument is a separate part. As
text it is for a program that uses the library; `as_json` has it for the command line, and `inspector.tui.advice`
renders its parts for the interface. A hint that is the same everywhere is a plain string.
"""

from __future__ import annotations

from typing import Any

from inspector.hints import Hint


class InspectorError(Exception):
    """Any error for the user. `code` is a stable name for `--json`; `exit_code` ends the process."""

    code = "error"
    exit_code = 4

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self._hint = Hint("")
        self.message = message
        self.hint = hint
        self.recording = ""
        """The recording of the session with the error, if the session is over."""

    @property
    def hint(self) -> Hint:
        """The next action, for a program that uses the library; empty if there is none."""
        return self._hint

    @hint.setter
    def hint(self, hint: str) -> None:
        others = [note for note in getattr(self, "__notes__", ()) if note != _note(self._hint)]
        self._hint = hint if isinstance(hint, Hint) else Hint(hint)
        notes = [*([_note(self._hint)] if self._hint else []), *others]
        if notes or hasattr(self, "__notes__"):
            self.__notes__ = notes  # A plain traceback shows them.

    def as_json(self) -> dict[str, Any]:
        """Return the error for the `--json` line on stderr: code, message, and hint and recording if it has them."""
        body: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.hint:
            body["hint"] = self.hint.command_line
        if self.recording:
            body["recording"] = self.recording
        return body

    def as_event(self) -> dict[str, Any]:
        """Return the error for a recording: `as_json`, and the parts of a hint that each surface renders."""
        parts = self.hint.as_json()
        return self.as_json() | ({"hint_parts": parts} if parts else {})


def _note(hint: Hint) -> str:
    return f"Hint: {hint}"


class Interrupted(Exception):
    """A signal ended the work of a command. Nothing is shown for it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


class UsageError(InspectorError):
    """The arguments of a command, or a file in them, cannot be used."""

    code = "usage"
    exit_code = 2


class FeatureError(InspectorError):
    """A feature of another package cannot be used."""

    code = "feature"
    exit_code = 2


class TargetError(UsageError):
    """A target is not a command, URL, @NAME or recording that exists."""

    code = "target"


class ConfigError(UsageError):
    """A config or settings file cannot be read or has an invalid value."""

    code = "config"


class ValueMissing(ConfigError):
    """A config entry needs a value that the environment does not have. `variable` is the name to set."""

    def __init__(self, message: str, *, variable: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.variable = variable


class RecordingError(UsageError):
    """A recording cannot be read, or cannot be written to the requested file."""

    code = "recording"


class RecordingExists(RecordingError):
    """The file of a new recording already exists."""


class SchemaError(UsageError):
    """A JSON Schema cannot be used: invalid, too large, of an unknown dialect, or with outside references."""

    code = "schema"


class SchemaTooLarge(SchemaError):
    """A JSON Schema exceeds one of our limits; it may still be valid."""


class TrustNeeded(InspectorError):
    """A config file of another person would use the user's secrets without consent.

    `exposure` is the `config.trust.Exposure` to ask about.
    """

    code = "trust"
    exit_code = 3

    def __init__(self, message: str, *, hint: str = "", exposure: Any = None) -> None:
        super().__init__(message, hint=hint)
        self.exposure = exposure


class ConnectionProblem(InspectorError):
    """The connection could not be made, or broke."""

    code = "connection"
    exit_code = 4
    connecting = False
    """Whether the connection could not be made, so that the doctor may find the cause."""


class ConnectingStopped(ConnectionProblem):
    """The user stopped connecting."""

    code = "stopped"


class SpawnError(ConnectionProblem):
    """The server's command could not be started."""

    code = "spawn"
    connecting = True


class ServerExited(ConnectionProblem):
    """The server process ended. `status` is its exit code, negative for a signal; `stderr` has its last lines."""

    code = "exited"

    def __init__(
        self, message: str, *, hint: str = "", status: int | None = None, stderr: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.stderr = stderr

    def as_json(self) -> dict[str, Any]:
        return super().as_json() | {"status": self.status, "stderr": list(self.stderr)}


class HandshakeError(ConnectionProblem):
    """The server was reached, but without a common protocol revision or a usable answer to `initialize`.

    `wants_modern`: the server refused the handshake like one that supports only the next era.
    """

    code = "handshake"

    def __init__(self, message: str, *, hint: str = "", wants_modern: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.wants_modern = wants_modern


class HttpError(ConnectionProblem):
    """An HTTP exchange failed: refused, TLS, redirected elsewhere, an unexpected status, a broken body."""

    code = "http"

    def __init__(self, message: str, *, hint: str = "", status: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.arrived = True
        """Whether a server was reached, which may have read the request."""

    def as_event(self) -> dict[str, Any]:
        return super().as_event() | ({} if self.arrived else {"arrived": False})


class NoSseEndpoint(HttpError):
    """The URL answers, but not with HTTP+SSE: no event stream, or one without an endpoint."""


class SessionLost(ConnectionProblem):
    """The server no longer knows our session (HTTP 404 to a session id)."""

    code = "session-lost"
    renewed = False
    """Another session has begun since the request was sent."""


class LimitReached(ConnectionProblem):
    """A limit that the user can set was reached; the message has the limit and the setting."""

    code = "limit"


class RequestTimeout(ConnectionProblem):
    """The request timed out."""

    code = "timeout"


class RequestCancelled(InspectorError):
    """The request, or its task, was cancelled."""

    code = "cancelled"
    exit_code = 130


class AuthorizationNeeded(InspectorError):
    """The server requires authorization, or refused the given one.

    `status` is 401 or 403; `challenge` has the values of its `WWW-Authenticate` headers (RFC 9110 section 11.6.1);
    `given`: the user gave a token or an Authorization header, which the server refuses.
    """

    code = "authorization"
    exit_code = 3

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        status: int | None = None,
        challenge: tuple[str, ...] = (),
        given: bool = False,
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.challenge = challenge
        self.given = given


def recorded_error(body: object) -> InspectorError:
    """Return the error that `as_event` wrote to a recording, of the classes that readers tell apart."""
    members = body if isinstance(body, dict) else {}
    code, message = members.get("code"), str(members.get("message", "The connection ended."))
    hint = Hint.from_json(members.get("hint_parts"), members.get("hint"))
    if code == ServerExited.code:
        status, stderr = members.get("status"), members.get("stderr")
        lines = tuple(line for line in stderr if isinstance(line, str)) if isinstance(stderr, list) else ()
        return ServerExited(message, hint=hint, status=status if type(status) is int else None, stderr=lines)
    kinds = (RequestTimeout, AuthorizationNeeded)
    return next((kind for kind in kinds if kind.code == code), ConnectionProblem)(message, hint=hint)


class ServerError(InspectorError):
    """The server answered a request with a JSON-RPC error (JSON-RPC 2.0 section 5.1)."""

    code = "server"
    exit_code = 1

    def __init__(self, rpc_code: Any, rpc_message: Any, data: Any = None, *, method: str = "", hint: str = "") -> None:
        text = rpc_message if isinstance(rpc_message, str) and rpc_message else "no message"
        number = "error" if rpc_code is None else f"error {rpc_code}"
        super().__init__(f"The server answered {method or 'the request'} with {number}: {text}", hint=hint)
        self.rpc_code = rpc_code
        self.rpc_message = text
        self.data = data

    def as_json(self) -> dict[str, Any]:
        error: dict[str, Any] = {"code": self.rpc_code, "message": self.rpc_message}
        if self.data is not None:
            error["data"] = self.data
        return super().as_json() | {"rpc_error": error}


class InvalidAnswer(InspectorError):
    """The server's answer is a response, but not valid for the request in this revision."""

    code = "invalid-answer"
    exit_code = 1


class InputRefused(InspectorError):
    """The server requested input for a call, and the input was refused or impossible."""

    code = "input-refused"
    exit_code = 1


class NotOffered(InspectorError):
    """The server does not declare the capability that an operation needs."""

    code = "not-offered"
    exit_code = 1


class SkillRefused(InspectorError):
    """A skill or a file of it is not used.

    It is invalid, too large, not listed, or differs from its entry.
    """

    code = "skill"
    exit_code = 5


class ToolFailed(InspectorError):
    """A tool reports a failure (`isError`). `result` is its unchanged result."""

    code = "tool"
    exit_code = 1

    def __init__(self, said: str, result: Any = None, *, tool: str = "") -> None:
        what = f"The tool {tool[:80]}" if tool else "The tool"
        super().__init__(f"{what} failed: {said[:2000] or 'it gives no reason'}")
        self.result = result

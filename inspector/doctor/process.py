"""The start of a server: its process, its output, its exit, and its responses."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from inspector.client.bare_connection import BareConnection
from inspector.client.listening_address import listening_address
from inspector.config.targets import StdioTarget
from inspector.doctor.diagnosis import NO_FIX, Fix, Stopwatch, Weight
from inspector.doctor.server_facts import ServerFacts, StderrCause
from inspector.doctor.session_step import ConnectionRecord, OpenResult, SessionDoctor, open_session, read_connection
from inspector.doctor.stderr_causes import MAX_LINE, stderr_cause
from inspector.doctor.stdout_noise import StdoutNoise, noise
from inspector.errors import ConnectionProblem, InspectorError
from inspector.journal.journal import Frame
from inspector.log_lines import display_lines, readable
from inspector.protocol import jsonrpc
from inspector.protocol.revisions import LEGACY
from inspector.text import duration, quantity
from inspector.transports.base import Outgoing
from inspector.transports.child import describe_status

LAST_WORDS = 20
_ENDS = {
    126: "the shell reports that the command is not executable",
    127: "the shell does not find the command",
    137: "it was killed, perhaps because memory was exhausted",
    139: "it crashed",
    143: "it was terminated",
}
_INITIALIZE = {
    "protocolVersion": LEGACY[-1],
    "capabilities": {},
    "clientInfo": {"name": "inspector-doctor", "version": "1"},
}


@dataclass
class ProcessDoctor(SessionDoctor):
    """Starts a target's server as a session does, and reads its recording."""

    target: StdioTarget

    async def check(self) -> OpenResult:
        """Open a session, and report what happened."""
        opened = await open_session(self.target, self.journal, self.options, connect=self.connect)
        if not self._seen(opened):
            return opened
        connection = opened.connection
        silent = opened.error is not None and not connection.exits and not connection.answered
        if silent and not self._listens(connection) and noise(connection.noise) is None:
            await self._framing()
        self._answered(opened)
        return opened

    def explain(self, error: InspectorError, first: int) -> None:
        """Report what happened in a connection that failed with `error`, recorded from event `first` on.

        Starts nothing.
        """
        result = OpenResult(error=error, connection=read_connection(self.journal, first))
        if self._seen(result) and not (not result.connection.answered and self._listens(result.connection)):
            self._answered(result)

    def _seen(self, opened: OpenResult) -> bool:
        """Report what the server did; True if it was started."""
        connection = opened.connection
        lines = connection.stderr
        # A server that ended with our first request may say why.
        words = list(map(readable, lines)) if connection.exits and not connection.answered else display_lines(lines)
        self.steps.last_words = tuple(self.steps.privacy(line)[:MAX_LINE] for line in words[-LAST_WORDS:])
        self._started(opened)
        if not connection.started:
            return False
        failed = opened.error is not None
        server = ServerFacts(self.target, self.target.cwd or os.getcwd(), os.environ, self.steps.line)
        known = stderr_cause(connection.stderr[-200:], server) if failed else None
        printed = None
        if failed and known is None and connection.exits and not connection.answered:
            printed = stderr_cause([raw.decode("utf-8", "replace") for raw in connection.noise[-200:]], server)
        self._stdout(connection, printed, failed=failed)
        self._stderr(connection, known, failed=failed)
        self._reads(opened)
        self._ended(opened)
        return True

    def _started(self, opened: OpenResult) -> None:
        if not opened.connection.started:
            error, known = opened.error, self.steps.cause()
            is_proven = known is not None and known.weight is Weight.PROOF
            text = error.message if error is not None else "it was not started"
            self.steps.add(
                "start",
                "failed",
                text.rstrip("."),
                fix=NO_FIX if error is None or is_proven else Fix(error.hint),
                cause=text,
                weight=Weight.LIKELY,
            )
            return
        spawned = opened.connection.started[0].fields
        details = [f"variables: {', '.join(map(str, _words(spawned.get('env'))))}"]
        if len(opened.connection.started) > 1:
            details.append(f"started {len(opened.connection.started)} times")
        text = f"process {spawned.get('pid')} in {spawned.get('cwd')}"
        if opened.connection.first_byte is not None:
            text += f", first output after {duration(opened.connection.first_byte * 1e6)}"
        self.steps.add("start", "ok", text, details=details, seconds=opened.connection.first_byte)

    # Output

    def _stdout(self, connection: ConnectionRecord, known: StderrCause | None, *, failed: bool) -> None:
        """Report what it printed to stdout, with the cause of its end if that names it."""
        printed = noise(connection.noise)
        if printed is None:
            if connection.carriage_returns:
                self.steps.add("stdout", "info", "its lines end in CR LF, which all clients should accept")
            return
        text, cause, fix = _noise_words(printed)
        weight = Weight.SEEN if printed.kind in ("log", "text") else Weight.PROOF
        if failed and connection.exits and weight is Weight.SEEN:
            # An exit has another cause than the output before it, which may name it.
            cause, fix, weight = known[:3] if known is not None else ("", fix, weight)
        lines = [line.decode("utf-8", "replace")[:200] for line in connection.noise[:10]]
        self.steps.add(
            "stdout",
            "failed" if failed and weight is Weight.PROOF else "warn",
            text,
            details=lines,
            fix=fix,
            cause=cause,
            weight=weight,
        )

    def _stderr(self, connection: ConnectionRecord, known: StderrCause | None, *, failed: bool) -> None:
        if not connection.stderr and not failed:
            return
        count = len(connection.stderr)
        details = self.steps.last_words
        if known is None:
            text = f"{quantity(count, 'line')} on stderr" if count else "no output on stderr"
            self.steps.add("stderr", "info", text, details=details)
            return
        self.steps.add(
            "stderr",
            "failed",
            known.cause.rstrip("."),
            details=details,
            fix=known.fix,
            cause=known.cause,
            weight=known.weight,
        )

    def _listens(self, connection: ConnectionRecord) -> bool:
        """Whether it reports that it listens at a URL, and so does not use its stdin."""
        printed = (raw.decode("utf-8", "replace") for raw in connection.noise)
        address = listening_address([*connection.stderr, *printed])
        if not address:
            return False
        url = re.sub(r"//(?:0\.0\.0\.0|\[::\])", "//127.0.0.1", address)
        self.steps.add(
            "listens",
            "failed",
            f"it reports that it listens at {address}",
            fix=Fix(
                "Start it in another terminal and connect to that URL, or make the server use stdio.",
                str(self.steps.line.on_url(url)),
            ),
            cause=f"It is a server at a URL, {address}, and does not use stdin and stdout.",
        )
        return True

    # Behaviour

    def _reads(self, opened: OpenResult) -> None:
        if opened.read_stdin is None or opened.connection.answered or opened.connection.exits:
            return
        if opened.read_stdin:
            self.steps.add("stdin", "ok", "it reads its stdin")
        else:
            self.steps.add(
                "stdin",
                "failed",
                "it does not read its stdin",
                fix=Fix("It may wait for something else first, or need an option to use stdio."),
                cause="The server runs, but does not read its stdin.",
                weight=Weight.LIKELY,
            )

    def _ended(self, opened: OpenResult) -> None:
        connection = opened.connection
        if not connection.exits:
            return
        status = connection.status
        how = describe_status(status) if status is not None else "ended"
        after = f" after {duration(connection.lived * 1e6)}" if connection.lived is not None else ""
        if opened.server is not None:
            asked = " after the request server/discover" if "server/discover" in connection.asked else ""
            self.steps.add(
                "exit",
                "warn",
                f"it {how}{asked}, and was restarted",
                fix=Fix("Respond to an unknown method with error -32601, and keep running."),
                cause=f"It {how}{asked}: a server should refuse an unknown method and keep running.",
                weight=Weight.LIKELY,
            )
            return
        reason = f": {_ENDS[status]}" if status in _ENDS else ""
        unanswered = " before it responded" if not connection.answered else ""
        cause = f"The server {how}{unanswered}{reason}."
        if status == 0 and not connection.answered:
            cause = "The server exited by itself with exit code 0 and without a response: it may lack arguments."
        printed = noise(connection.noise)
        if printed is not None and not connection.answered:
            cause += f" It printed “{printed.first}” to stdout."
        elif self.steps.last_words and not connection.answered:
            cause += f" Its last words are “{self.steps.last_words[-1].strip()[:200]}”."
        self.steps.add(
            "exit", "failed", f"it {how}{after}{reason}", seconds=connection.lived, cause=cause, weight=Weight.SYMPTOM
        )

    def _answered(self, opened: OpenResult) -> None:
        server, error = opened.server, opened.error
        if server is not None:
            times = [f"{method}: {duration(seconds * 1e6)}" for method, seconds in opened.connection.answered.items()]
            self.steps.add(
                "handshake",
                "ok",
                introduced(opened),
                details=[*times, *opened.connection.steps],
                seconds=opened.seconds,
            )
            return
        if opened.connection.exits and not opened.connection.answered:
            self.steps.add("handshake", "skipped", "not reached", details=opened.connection.steps)
            return
        assert error is not None
        silent = not opened.connection.answered
        known = self.steps.cause()
        is_proven = known is not None and known.weight is Weight.PROOF
        cause = error.message
        if silent:
            reads = {
                True: "does not respond to what it reads",
                False: "does not read its stdin",
                None: "does not respond",
            }
            cause = f"The server runs, but {reads[opened.read_stdin]}."
        self.steps.add(
            "handshake",
            "failed",
            error.message.rstrip("."),
            details=opened.connection.steps,
            seconds=opened.seconds,
            fix=NO_FIX if silent and is_proven else Fix(error.hint),
            cause=cause,
            weight=Weight.SYMPTOM if silent else Weight.LIKELY,
        )

    async def _framing(self) -> None:
        """Check whether a silent server responds to a message with a Content-Length header."""
        message = jsonrpc.request(0, "initialize", _INITIALIZE)
        body = jsonrpc.encode(message)
        listener, watch = _AnyMessage(), Stopwatch()
        connection = BareConnection(self.target, self.journal, listener, self.options, connect=self.connect)
        self.journal.record_life("", "reopen", by="doctor")
        try:
            await connection.open()
            connection.transport.send(Outgoing(b"Content-Length: %d\r\n\r\n%b" % (len(body), body), None))
            async with asyncio.timeout(self.limits.framing):
                await listener.something.wait()
        except (TimeoutError, ConnectionProblem):
            pass
        finally:
            await connection.close()
        if any(line.lower().startswith(b"content-length:") for line in listener.lines):
            self.steps.add(
                "framing",
                "failed",
                "it responds to Content-Length framing",
                seconds=watch.seconds,
                fix=Fix("Send each message as one line of JSON, and read lines."),
                cause=_FRAMING,
            )
        else:
            self.steps.add(
                "framing", "info", "it does not respond to Content-Length framing either", seconds=watch.seconds
            )


class _AnyMessage:
    """Waits for any message."""

    def __init__(self) -> None:
        self.something = asyncio.Event()
        self.lines: list[bytes] = []

    def on_received(self, messages: Sequence[bytes], frames: Sequence[Frame]) -> None:
        self.lines += messages[:10]
        self.something.set()

    def on_stderr(self, lines: Sequence[bytes]) -> None:
        """Ignore stderr: it contains no messages."""

    def on_failed(self, outgoing: Outgoing, error: InspectorError) -> None:
        self.something.set()

    def on_lost(self, error: InspectorError) -> None:
        self.something.set()


_FRAMING = (
    "It frames its messages with Content-Length headers, as language servers do. MCP has one JSON message on each line."
)


def _noise_words(printed: StdoutNoise) -> tuple[str, str, Fix]:
    """Return the step, the cause and the fix for noise."""
    first = f"“{printed.first}”"
    if printed.kind == "headers":
        return (
            "it sends Content-Length headers",
            _FRAMING,
            Fix("Send each message as one line of JSON, and read lines."),
        )
    if printed.kind == "utf-16":
        return (
            f"UTF-16: {first}",
            "It writes UTF-16 to stdout; messages must be UTF-8.",
            Fix("Make its output UTF-8; in PowerShell: $OutputEncoding = [Text.UTF8Encoding]::new($false)"),
        )
    if printed.kind == "bom":
        return (
            "it starts with a byte order mark",
            "It writes a byte order mark to stdout, before the first message.",
            Fix("Write UTF-8 without a byte order mark."),
        )
    if printed.kind == "pretty":
        return (
            "its JSON spans several lines",
            "It writes JSON that spans several lines; a message must be one line.",
            Fix("Write messages without line feeds and indentation."),
        )
    what = "log lines" if printed.kind == "log" else first
    more = f", and {quantity(printed.lines - 1, 'more line')}" if printed.lines > 1 else ""
    return (
        f"{first} is not JSON-RPC{more}; recorded and skipped",
        f"It prints {what} to stdout, which must contain only messages"
        + (f": {first}." if printed.kind == "log" else "."),
        Fix("Print to stderr instead (Python: file=sys.stderr, Node: console.error)."),
    )


def introduced(opened: OpenResult) -> str:
    """Return the server's name, revision and era."""
    server = opened.server
    assert server is not None
    named = " ".join(filter(None, (server.name, server.version))) or "an unnamed server"
    return f"{named[:200]}, {server.revision[:40]} ({server.era} era), over {opened.transport}"


def _words(value: object) -> list[object]:
    return value[:100] if isinstance(value, list) else []

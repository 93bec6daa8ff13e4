"""A session log of mcpsnoop: JSON Lines, an envelope for each message and line of stderr.

Each line is an object with `session_id`, `server_label`, `seq`, `ts`, `direction` (`c2s`, `s2c`, `stderr`, `meta`),
`transport` and either `raw`, the message as JSON, or `text`. The log has no header; its `meta` line has `command` and
`cwd`. Over HTTP it has the routing headers of a request and the status of a response, but no channels.
"""

from __future__ import annotations

from typing import Any

from inspector.imports.embedded_messages import ImportedEntry
from inspector.imports.recording_builder import RecordingBuilder, moment
from inspector.imports.source import Source, encoded
from inspector.imports.targets import http_target, stdio_target
from inspector.journal import channels
from inspector.journal.format import Dir

_DIRS = {"c2s": Dir.SEND, "s2c": Dir.RECV}
_ROUTING = ("mcp_method", "mcp_name", "mcp_protocol_version", "mcp_param_headers", "auth_challenge")


def fits(source: Source) -> bool:
    """Whether the file is such a log."""
    return any(
        type(value) is dict and {"session_id", "seq", "direction"} <= value.keys() for value in source.first_values()
    )


def read(source: Source, maker: RecordingBuilder) -> None:
    """Read the log, line by line."""
    log = _Log(maker)
    for number, line in source.lines():
        if line is None:
            maker.unread(f"Line {number:,}", "it is too long")
            continue
        entry = ImportedEntry(line.decode("utf-8", "surrogateescape"))
        if not entry.readable:
            maker.unread(f"Line {number:,}", "it is not a JSON object")
        elif not log.take(entry):
            maker.unread(f"Line {number:,}", "it has an unknown direction")
    log.tell()


class _Log:
    def __init__(self, maker: RecordingBuilder) -> None:
        self._maker = maker
        self._session: Any = None
        self._others = 0
        self._batches = 0
        self._over_http = False

    def take(self, entry: ImportedEntry) -> bool:
        """Record a line. False: its direction is unknown."""
        maker, direction, session = self._maker, entry.get("direction"), entry.get("session_id")
        if type(direction) is not str or direction not in (*_DIRS, "stderr", "meta"):
            return False
        if not maker.begun:
            self._session = session
            self._begin(entry)
        if session != self._session:
            self._others += 1
            return True
        maker.at(moment(entry.get("ts")))
        if direction == "stderr":
            maker.stderr(encoded(entry.text("text")))
        elif direction != "meta":
            self._message(_DIRS[direction], entry)
        return True

    def _begin(self, entry: ImportedEntry) -> None:
        self._over_http = entry.get("transport") == "http"
        about = entry.get("raw")
        about = about if type(about) is dict and entry.get("direction") == "meta" else {}
        label = entry.text("server_label")
        if self._over_http:
            target, secrets = http_target(about.get("url"), label)
        else:
            target, secrets = stdio_target(about.get("command"), about.get("cwd"), label)
        self._maker.begin(moment(entry.get("ts")), target, "mcpsnoop", secrets)

    def _message(self, dir: Dir, entry: ImportedEntry) -> None:
        data = entry.exact("raw")
        fields: dict[str, Any] = {key: entry.get(key) for key in _ROUTING if entry.get(key) is not None}
        if type(entry.get("status")) is int:
            fields["status"] = entry.get("status")
        if entry.get("truncated") is True:
            fields["cut"] = True
        if entry.get("redacted") is True:
            fields["redacted"] = True
        self._batches += entry.get("batch") is True
        if data is None and self._over_http and "text" not in entry.value and "status" in fields:
            # A response without a body: 202 to a notification, 204 to the end of a session.
            self._maker.journal.record_http("http", dir, status=fields["status"])
            return
        self._maker.message(
            dir,
            "http" if self._over_http else channels.STDIO,
            encoded(entry.text("text")) if data is None else data,
            **fields,
        )

    def tell(self) -> None:
        """Add notes about what the format does not keep."""
        maker = self._maker
        if not maker.begun:
            return
        if self._others:
            maker.note(f"Lines of other sessions in the same log ({self._others:,}) are skipped.")
        if self._batches:
            maker.note(
                f"Messages of batches ({self._batches:,}) are recorded separately: mcpsnoop does not keep the batches."
            )
        kept = "HTTP heads, the request that a message belongs to" if self._over_http else "the server's exit"
        maker.note(f"mcpsnoop does not keep {kept}, and the white space within messages.")

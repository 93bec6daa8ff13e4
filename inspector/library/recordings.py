"""Recordings for programs: `inspector.recording`, and the recording of an open session."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from inspector.journal import exchange, format
from inspector.journal.format import Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.views import Prompt, Resource, ResourceTemplate, Tool

if TYPE_CHECKING:
    from inspector.check.judge.judge import Judge
    from inspector.client.recorded_session import RecordedSession
    from inspector.client.state.server import Server
    from inspector.journal.findings import Finding


class Event:
    """One event of a recording. Its members have the names and values of the recording format."""

    __slots__ = ("_event",)

    def __init__(self, event: format.Event) -> None:
        self._event = event

    def __repr__(self) -> str:
        return f"<Event {self.n} {self.dir} {self.kind} {self.ch}>"

    @property
    def n(self) -> int:
        """Its number, from 1."""
        return self._event.n

    @property
    def t(self) -> int:
        """Microseconds since the recording began."""
        return self._event.t

    @property
    def dir(self) -> Literal["local", "send", "recv"]:
        """The direction: `send` is to the server."""
        return format.DIR_NAMES[self._event.dir]

    @property
    def kind(self) -> str:
        """`rpc`, `invalid`, `stderr`, `http`, `sse`, `life`, `auth`, `note`, `mark`, or one of a newer version."""
        return self._event.kind_name

    @property
    def ch(self) -> str:
        """The channel, such as `stdio` or `post-7`."""
        return self._event.ch

    @property
    def raw(self) -> str | None:
        """The exact text of the message; None if there is none or if it was not UTF-8 (see `data`)."""
        return self._event.raw

    @property
    def data(self) -> bytes | None:
        """The exact bytes if they were not UTF-8."""
        return self._event.data

    @property
    def bytes(self) -> bytes:
        """The exact bytes on the wire."""
        return self._event.bytes

    @property
    def text(self) -> str:
        """The message as text; bytes that are not UTF-8 show as U+FFFD."""
        return self._event.text

    @property
    def message(self) -> Any:
        """The parsed message of an `rpc` event, else None."""
        return self._event.message

    @property
    def fields(self) -> dict[str, Any]:
        """The other members of the line (status, headers, exit code, why …)."""
        return self._event.fields

    @property
    def dropped(self) -> int | None:
        """Bytes of a message whose body was not recorded, because the recording was full; None for a recorded one."""
        return self._event.dropped


class Exchange(exchange.Exchange):
    """A request and its outcome. Bodies are read from the recording on demand.

    It always shows the current content of the recording: a later response appears as soon as it is recorded.
    """

    __slots__ = ()

    @property
    def request(self) -> Event:  # type: ignore[override]
        """The request as recorded."""
        return Event(super().request)

    @property
    def answer(self) -> Event | None:  # type: ignore[override]
        """The answer; None without one."""
        answer = super().answer
        return None if answer is None else Event(answer)


class Recording:
    """A recording: finished, growing, or of an open session. Event numbers start at 1.

    Read one with `inspector.recording(path)`. Only the index is in memory; bodies are read on access.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        """The reader behind it."""
        self._session: RecordedSession | None = None
        self._judge: Judge | None = None
        self._release = weakref.finalize(self, journal.release)

    def __repr__(self) -> str:
        return f"<inspector.Recording {self.path or 'without a file'}, {len(self):,} events>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. It is also closed when the recording is garbage-collected."""
        self._release()

    @property
    def path(self) -> Path | None:
        """Its path; None if it is in memory only."""
        return self.journal.path

    @property
    def header(self) -> dict[str, Any]:
        """The first line of the file."""
        return self.journal.header

    @property
    def started(self) -> datetime:
        """The start time."""
        return self.journal.started

    @property
    def notices(self) -> list[str]:
        """Anomalies of the file, as sentences."""
        return list(self.journal.notices)

    @property
    def is_complete(self) -> bool:
        """Whether its end line exists: otherwise it is still being written, or its writer was killed."""
        return self.journal.ended is not None

    # Events

    def refresh(self) -> Self:
        """Read what another process has written in the meantime."""
        while self.journal.refresh():
            pass
        return self

    def __len__(self) -> int:
        return len(self.journal)

    def __getitem__(self, n: int) -> Event:
        """Return event `n`, from 1. Raises IndexError if it does not exist."""
        return Event(self.journal.event(n))

    def __iter__(self) -> Iterator[Event]:
        return map(Event, self.journal.events())

    def numbers(self, filter: str = "") -> Iterator[int]:
        """Yield the numbers of the matching events, in order (docs/reference/filter.md). Raises `FilterError`."""
        if not filter.strip():
            return iter(range(1, len(self) + 1))
        from inspector.journal.filters import parse
        from inspector.journal.filters.conditions import Scan

        parsed = parse(filter)
        if parsed.by_finding:
            self.findings()
        return parsed.forwards(Scan(self.journal), 1, len(self))

    def events(self, filter: str = "") -> Iterator[Event]:
        """Yield the events that match a filter, one at a time."""
        for n in self.numbers(filter):
            yield Event(next(self.journal.events(n, n)))

    def messages(self, filter: str = "") -> Iterator[Any]:
        """Yield the JSON-RPC messages that match a filter, parsed."""
        index = self.journal.index
        for n in self.numbers(filter):
            if index.kind(n) is Kind.RPC:
                yield next(self.journal.events(n, n)).message

    def exchanges(self, filter: str = "") -> Iterator[Exchange]:
        """Yield the requests of either side that match a filter, each with its response."""
        index = self.journal.index
        for n in self.numbers(filter):
            if index.shape(n) is Shape.REQUEST:
                yield Exchange(self.journal, n, self)

    def exchange(self, n: int) -> Exchange | None:
        """Return the exchange of event `n`; None if it belongs to none."""
        request = self.journal.index.request_of(n)
        return Exchange(self.journal, request, self) if request else None

    # State at its end

    @property
    def server(self) -> Server:
        """The server's identity, as far as known."""
        return self._reduced().server

    @property
    def tools(self) -> list[Tool]:
        """The items of the latest `tools/list`; empty without one."""
        return [Tool(item) for item in self._reduced().catalog.tools.items]

    @property
    def resources(self) -> list[Resource]:
        """The items of the latest `resources/list`."""
        return [Resource(item) for item in self._reduced().catalog.resources.items]

    @property
    def templates(self) -> list[ResourceTemplate]:
        """The items of the latest `resources/templates/list`."""
        return [ResourceTemplate(item) for item in self._reduced().catalog.templates.items]

    @property
    def prompts(self) -> list[Prompt]:
        """The items of the latest `prompts/list`."""
        return [Prompt(item) for item in self._reduced().catalog.prompts.items]

    def _reduced(self) -> RecordedSession:
        if self._session is None:
            from inspector.client.recorded_session import RecordedSession

            self._session = RecordedSession(self.journal, self.path or Path())
        while self._session.advance():
            pass
        return self._session

    # Findings and exports

    def findings(self) -> list[Finding]:
        """Return the violations of the protocol's rules in its messages."""
        if self._judge is None:
            from inspector.check.judge.judge import Judge

            self._judge = Judge(self.journal)
        self._judge.run_all()
        return list(self.journal.findings.all())

    def export(self, format: str, filter: str = "") -> str:
        """Return the recording in another format (`inspector export --help` names them), as text."""
        from io import StringIO

        from inspector.formats import export

        self.findings()
        out = StringIO()
        export(self.journal, format, out, self.numbers(filter) if filter.strip() else None)
        return out.getvalue()


def recording(path: str | os.PathLike[str]) -> Recording:
    """Read a recording. Raises `RecordingError` if the file is missing or not a recording."""
    return Recording(Journal.open(Path(path))).refresh()

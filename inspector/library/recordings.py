"""Recordings for programs: `inspector.recording`, and that of a session while it goes on."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from inspector.journal.exchange import Exchange
from inspector.journal.format import Event, Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.views import Prompt, Resource, ResourceTemplate, Tool

if TYPE_CHECKING:
    from inspector.check.judge import Judge
    from inspector.client.recorded import RecordedSession
    from inspector.client.state.server import Server
    from inspector.journal.findings import Finding


class Recording:
    """A recording, finished, growing, or of a session that goes on. Events have numbers from 1.

    Read one with `inspector.recording(path)`. Only the index is kept in memory; bodies are read when they are wanted.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        """The reader that does the work."""
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
        """Close the file. It is closed in any case when nobody holds the recording any more."""
        self._release()

    @property
    def path(self) -> Path | None:
        """Where it is; None where it leaves nothing behind."""
        return self.journal.path

    @property
    def header(self) -> dict[str, Any]:
        """The first line."""
        return self.journal.header

    @property
    def started(self) -> datetime:
        """When it began."""
        return self.journal.started

    @property
    def notices(self) -> list[str]:
        """What is unusual about the file, in sentences."""
        return list(self.journal.notices)

    @property
    def is_complete(self) -> bool:
        """Whether it has its end: otherwise it is still written, or its writer was killed."""
        return self.journal.ended is not None

    # Events

    def refresh(self) -> Self:
        """Take in what another process has written in the meantime."""
        while self.journal.refresh():
            pass
        return self

    def __len__(self) -> int:
        return len(self.journal)

    def __getitem__(self, n: int) -> Event:
        """Event `n`, from 1. IndexError where there is none."""
        return self.journal.event(n)

    def __iter__(self) -> Iterator[Event]:
        return self.journal.events()

    def numbers(self, filter: str = "") -> Iterator[int]:
        """The numbers of the events that fit a filter (docs/reference/filter.md), in order. Raises `FilterError`."""
        if not filter.strip():
            return iter(range(1, len(self) + 1))
        from inspector.journal.filters import parse
        from inspector.journal.filters.conditions import Scan

        found = parse(filter)
        if found.by_finding:
            self.findings()
        return found.each(Scan(self.journal), 1, len(self))

    def events(self, filter: str = "") -> Iterator[Event]:
        """The events that fit a filter, one at a time."""
        for n in self.numbers(filter):
            yield next(self.journal.events(n, n))

    def messages(self, filter: str = "") -> Iterator[Any]:
        """The JSON-RPC messages that fit a filter, parsed."""
        index = self.journal.index
        for n in self.numbers(filter):
            if index.kind(n) is Kind.RPC:
                yield next(self.journal.events(n, n)).message

    def exchanges(self, filter: str = "") -> Iterator[Exchange]:
        """The requests of either side that fit a filter, each with its answer."""
        index = self.journal.index
        for n in self.numbers(filter):
            if index.shape(n) is Shape.REQUEST:
                yield Exchange(self.journal, n, self)

    def exchange(self, n: int) -> Exchange | None:
        """The exchange to which event `n` belongs; None where it belongs to none."""
        request = self.journal.index.request_of(n)
        return Exchange(self.journal, request, self) if request else None

    # What was known at its end

    @property
    def server(self) -> Server:
        """Who the server is, as far as it has introduced itself."""
        return self._reduced().server

    @property
    def tools(self) -> list[Tool]:
        """What the newest `tools/list` gave; empty where it was never asked for."""
        return [Tool(item) for item in self._reduced().catalog.tools.items]

    @property
    def resources(self) -> list[Resource]:
        """What the newest `resources/list` gave."""
        return [Resource(item) for item in self._reduced().catalog.resources.items]

    @property
    def templates(self) -> list[ResourceTemplate]:
        """What the newest `resources/templates/list` gave."""
        return [ResourceTemplate(item) for item in self._reduced().catalog.templates.items]

    @property
    def prompts(self) -> list[Prompt]:
        """What the newest `prompts/list` gave."""
        return [Prompt(item) for item in self._reduced().catalog.prompts.items]

    def _reduced(self) -> RecordedSession:
        if self._session is None:
            from inspector.client.recorded import RecordedSession

            self._session = RecordedSession(self.journal, self.path or Path())
        while self._session.advance():
            pass
        return self._session

    # What there is to say about it

    def findings(self) -> list[Finding]:
        """What the messages do against the protocol's rules, as the judge sees it."""
        if self._judge is None:
            from inspector.check.judge import Judge

            self._judge = Judge(self.journal)
        self._judge.run_all()
        return list(self.journal.findings.all())

    def export(self, format: str, filter: str = "") -> str:
        """The recording in another format (`inspector export --help` names them), as text."""
        from io import StringIO

        from inspector.export import export

        self.findings()
        out = StringIO()
        export(self.journal, format, out, self.numbers(filter) if filter.strip() else None)
        return out.getvalue()


def recording(path: str | os.PathLike[str]) -> Recording:
    """Read a recording. Raises `RecordingError` where the file is missing or none."""
    return Recording(Journal.open(Path(path))).refresh()

"""Addons in files of their own, between a session and an in-memory server."""

import json
import os
from contextlib import asynccontextmanager

import pytest

from inspector.addons.chain import Addons
from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.targets import StdioTarget
from inspector.journal.journal import Journal
from inspector.transports.memory import MemoryTransport


class Stage:
    """Writes addons and keeps what they say."""

    def __init__(self, folder):
        self.folder = folder
        self.notes = []
        self.filter = None

    def load(self, *sources):
        """Load addons from their text; they are `a.py`, `b.py` …"""
        files = [self.write(chr(ord("a") + at), text) for at, text in enumerate(sources)]
        self.filter = Addons(files, self.notes.append)
        return self.filter

    def write(self, name, text):
        """Write an addon again, so that its time differs."""
        path = self.folder / f"{name}.py"
        before = path.stat().st_mtime_ns if path.exists() else 0
        path.write_text(text)
        os.utime(path, ns=(before + 10**9, before + 10**9))
        return path

    @asynccontextmanager
    async def session(self, server, secrets=(), transport=MemoryTransport, **options):
        """An open session of the legacy era with the loaded addons."""
        options.setdefault("standing", StandingAnswers(sampling="ask", elicitation="ask", roots="ask"))
        session = Session(
            StdioTarget(("test",)),
            Journal.unnamed({}, secrets),
            Options(era="legacy", filter=self.filter, **options),
            connect=lambda _t, sink, o: o.filter.transport(sink, lambda inner: transport(inner, server)),
        )
        await session.open()
        try:
            yield session
        finally:
            await session.close()
            session.journal.release()


@pytest.fixture
def stage(tmp_path):
    return Stage(tmp_path)


def lines(journal, kind="rpc"):
    """The events of a recording, as their lines have them."""
    return [
        {"dir": event.dir.name.lower(), "raw": event.raw, **event.fields}
        for event in journal.events(1, len(journal))
        if event.kind_name == kind
    ]


def altered(journal):
    """The messages that an addon has altered."""
    return [line for line in lines(journal) if "addon" in line]


def message(line):
    """The message of a line."""
    return json.loads(line["raw"])

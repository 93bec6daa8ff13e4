"""The checks after every session: its recording, and processes that still run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector.check.judge.judge import Judge
from inspector.cli.open_recording import whole_journal
from inspector.client.recorded_session import RecordedSession
from inspector.journal.findings import Finding
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.official_schemas import validate_message
from tests.interop.conftest import said_of_servers
from tests.processes import left_of, spawned


def look_at(recording: Path) -> None:
    """No process is left, the recording is complete, and our messages are correct; findings on the server are printed."""
    assert [left for pid in spawned(recording) for left in left_of(pid)] == []
    with whole_journal(recording) as journal:
        assert journal.ended is not None
        assert journal.ended["reason"] == "closed"
        assert not journal.torn
        judge = Judge(journal)
        judge.run_all()
        assert faults_of_ours(journal) == []
        server = RecordedSession(journal, recording)
        while server.advance():
            pass
        for event in journal.events():
            if event.dir is Dir.SEND and event.kind is Kind.RPC:
                asked = journal.index.method(event.n) if event.shape is Shape.RESULT else None
                revision = _said_in(event.message) or server.server.revision
                wrong = validate_message(event.message, revision=revision, direction="send", answered_method=asked)
                assert wrong == [], event.text
        said_of_servers.update(
            f"{server.server.name}: {finding.rule} ({finding.level}) {finding.message}"
            for finding in journal.findings.all()
        )


def faults_of_ours(journal: Journal) -> list[Finding]:
    """Findings on our messages. A note does not count, because some calls are wrong on purpose."""
    findings = [finding for finding in journal.findings.all() if journal.index.dir(finding.n) is Dir.SEND]
    return [finding for finding in findings if finding.level != "note"]


def _said_in(message: Any) -> str:
    """The revision that a message of the modern era names."""
    meta = message.get("params", {}).get("_meta", {})
    revision: str = meta.get("io.modelcontextprotocol/protocolVersion", "")
    return revision

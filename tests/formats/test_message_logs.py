"""Logs of Claude Desktop and VS Code, imported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.errors import UsageError
from inspector.formats import Imported, import_file
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from tests.formats.journals import opened

INIT = '{"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}},"jsonrpc":"2.0","id":0}'
DONE = '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"note":"[a] {b}"}}'
NOTE = '{"method":"notifications/initialized","jsonrpc":"2.0"}'
CLAUDE = f"""\
2026-03-14T10:22:01.100Z [shop] [info] Initializing server... {{ metadata: undefined }}
2026-03-14T10:22:01.200Z [shop] [info] Message from client: {INIT} {{ metadata: undefined }}
INFO starting [shop]
2026-03-14T10:22:01.350Z [shop] [info] Message from server: {DONE}
2026-03-14T10:22:01.360Z [shop] [info] Message from client: {NOTE}
2026-03-14T10:22:02.000Z [shop] [info] Message from server: {{"jsonrpc":"2.0","id":1,"resu
2026-03-14T10:22:02.100Z [shop] [error] Server disconnected. For debugging guidance see https://x.example {{ a: 1 }}
"""
VSCODE = f"""\
2026-03-14 10:22:01.100 [info] Starting server shop
2026-03-14 10:22:01.150 [info] Connection state: Starting
2026-03-14 10:22:01.200 [trace] [editor -> server] {INIT}
2026-03-14 10:22:01.300 [warning] [server stderr] INFO starting [shop]
2026-03-14 10:22:01.350 [trace] [server -> editor] {DONE}
2026-03-14 10:22:01.360 [trace] [editor -> server] {NOTE}
2026-03-14 10:22:01.400 [info] Discovered 2 tools
"""


def imported(folder: Path, content: str | bytes) -> tuple[Imported, Journal]:
    file, out = folder / "their.log", folder / "ours.mcp.jsonl"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    made = import_file(file, out)
    return made, opened(out)


@pytest.mark.parametrize(("log", "tool"), [(CLAUDE, "Claude Desktop"), (VSCODE, "VS Code")])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_messages_of_a_log_have_their_senders_times_and_exact_text(
    tmp_path: Path, log: str, tool: str, newline: str
) -> None:
    made, journal = imported(tmp_path, log.replace("\n", newline))
    assert made.format == "host-log"
    assert journal.header["imported"]["tool"] == tool
    assert journal.header["target"]["label"] == "shop"
    messages = [event for event in journal.events() if event.kind is Kind.RPC]
    assert [(event.dir, event.t, event.bytes.decode()) for event in messages] == [
        (Dir.SEND, 100_000, INIT),
        (Dir.RECV, 250_000, DONE),
        (Dir.SEND, 260_000, NOTE),
    ]
    stderr = [event for event in journal.events() if event.kind is Kind.STDERR]
    assert [event.bytes for event in stderr] == [b"INFO starting [shop]"]
    cut = [note for note in made.notes if note.startswith("Line 6 cannot be read: its message is not JSON")]
    assert len(cut) == (tool == "Claude Desktop")
    assert any("read as UTC" in note for note in made.notes) == (tool == "VS Code")


def test_a_log_of_several_starts_is_one_recording(tmp_path: Path) -> None:
    made, journal = imported(tmp_path, CLAUDE + CLAUDE.replace("10:22", "11:22"))
    assert made.messages == 6
    assert "The log has 2 starts of the server. All are in one recording, and ids are used again." in made.notes
    assert [event.kind for event in journal.events()].count(Kind.INVALID) == 0


@pytest.mark.parametrize(
    "content",
    [
        "2026-03-14 10:22:01.100 [info] Starting server shop\n",
        json.dumps({"text": "Message from client: {}"}),
        "Message from client: {}\n",
        b"\xff\xfe\x00[editor -> server] {\n",
    ],
)
def test_a_log_without_messages_is_not_taken_for_one(tmp_path: Path, content: str | bytes) -> None:
    with pytest.raises(UsageError, match="has no known format"):
        imported(tmp_path, content)

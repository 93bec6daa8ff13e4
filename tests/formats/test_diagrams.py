"""Mermaid: a line an event, and an end before it is too long to be drawn."""

from __future__ import annotations

import io

from inspector.formats import export
from tests.formats.journals import SESSION, call, exported, live, opened, result


def test_who_said_what_to_whom() -> None:
    journal = live()
    call(journal, 1, "tools/call", {"name": "echo"}, result(1, {"isError": True}))
    journal.record_received("stdio", [b'{"method":"notifications/progress"}', b"noise", b"7"])
    journal.record_stderr("stderr", [b"warning; no"])
    journal.record_life("stdio", "exit", status=3, signal=None)
    call(journal, 2, "ping", None, None)
    lines = exported(journal, "mermaid").splitlines()
    assert lines[:4] == [
        "sequenceDiagram",
        "  participant C as client",
        "  participant S as live",
        "  C->>S: 1 tools/call echo",
    ]
    assert lines[4].startswith("  S-->>C: 2 result of 1 in ")
    assert lines[4].endswith(" (isError)")
    assert lines[5:] == [
        "  S-)C: 3 notifications/progress",
        "  S-xC: 4 not read as JSON",
        "  S->>C: 5 not JSON-RPC",
        "  Note right of S: 6 stderr warning#59; no",
        "  Note over C,S: 7 exit 3",
        "  C->>S: 8 ping (never answered)",
    ]


def test_only_what_is_chosen_is_drawn() -> None:
    text = exported(opened(SESSION), "mermaid", [6, 7])
    assert text.count("\n") == 5
    assert "  C->>S: 6 tools/list\n  S-->>C: 7 result of 6 in 12 ms\n" in text


def test_a_diagram_ends_before_it_is_too_long() -> None:
    journal = live(*(b'{"method":"notifications/progress"}' for _ in range(3000)))
    out = io.StringIO()
    (note,) = export(journal, "mermaid", out)
    assert len(out.getvalue()) < 50_000
    drawn = out.getvalue().count("S-)C")
    assert f"{3000 - drawn:,} of 3,000 lines" in note

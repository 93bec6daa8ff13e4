"""A recording whose lines have anything in them is shown like any other."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from inspector.errors import InspectorError
from inspector.journal.format import header_line
from inspector.journal.journal import Journal
from inspector.text import SIGNS, safe
from inspector.tui.log import copy_as, detail_view
from inspector.tui.log.labels import title
from inspector.tui.log.reader import MessageView
from inspector.tui.log.rows import MessageRows
from inspector.tui.log.waterfall import WaterfallRows

ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 9)
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["\x1b[2J", "stdio"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "id": st.integers(0, 2) | ANY,
        "method": st.sampled_from(
            ["tools/call", "notifications/progress", "notifications/message", "initialize", "sampling/createMessage"]
        )
        | ANY,
        "params": ANY
        | st.dictionaries(st.sampled_from(["name", "uri", "ref", "messages", "progressToken", "data"]), ANY),
        "result": ANY | st.dictionaries(st.sampled_from(["content", "tools", "contents", "serverInfo", "task"]), ANY),
        "error": ANY | st.dictionaries(st.sampled_from(["code", "message", "data"]), ANY),
    },
)
LINE = st.fixed_dictionaries(
    {
        "dir": st.sampled_from(["send", "recv", "local"]),
        "kind": st.sampled_from(["rpc", "invalid", "stderr", "http", "sse", "life", "auth", "note", "later"]),
        "ch": st.sampled_from(["stdio", "post-1"]) | ANY,
        "t": st.integers(-(10**17), 10**17),
    },
    optional={
        "raw": MESSAGE.map(json.dumps) | ANY,
        "b64": st.just("//8=") | ANY,
        "event": st.sampled_from(["spawn", "exit", "ready", "failed", "lost", "cancel", "timeout"]) | ANY,
        "for": st.integers(0, 3) | ANY,
        "status": ANY, "signal": ANY, "argv": ANY, "error": ANY, "headers": ANY | st.just([["A", "b"], 7, [1, 2]]),
        "method": ANY, "url": ANY, "ms": ANY, "reason": ANY, "env": ANY, "why": ANY, "cut": ANY, "text": ANY,
        "finding": ANY | st.fixed_dictionaries({"n": st.integers(0, 3), "rule": ANY, "level": ANY, "page": ANY}),
    },
)  # fmt: skip


def opened(folder: str, target: Any, lines: list[dict[str, Any]]) -> Journal:
    path = Path(folder) / "x.mcp.jsonl"
    body = "".join(json.dumps({"n": n, **line}) + "\n" for n, line in enumerate(lines, 1))
    path.write_bytes(header_line({"started": "2026-01-02T03:04:05Z", "target": target}) + body.encode())
    journal = Journal.open(path)
    while journal.refresh():
        pass
    return journal


TWO_BODIES = {"dir": "send", "kind": "rpc", "ch": "stdio", "t": 0, "raw": '{"result": {}}', "b64": "//8="}


@pytest.mark.slow
@example({}, [TWO_BODIES])
@settings(max_examples=2 * settings.default.max_examples)
@given(
    ANY | st.dictionaries(st.sampled_from(["argv", "url", "name", "env", "headers", "cwd"]), ANY),
    st.lists(LINE, max_size=6),
)
def test_anything_can_be_shown(target: Any, lines: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        journal = opened(folder, target, lines)
        view = MessageView(journal, None, by_exchange=True)
        view.apply(view.scan(journal.index.count))
        assert view.exchanges is not None
        flat = MessageRows(journal)
        flat.everything.count = journal.index.count
        flat.measure_ids()
        grouped = WaterfallRows(flat, view.exchanges)
        grouped.look_at(0, 20)
        for rows in (flat, grouped):
            for row in range(len(rows)):
                text = "".join(segment.text for segment in rows.render(row, 90, False, False))
                assert safe(text) == text
        for n in range(1, journal.index.count + 1):
            show_detail(journal, n)
        journal.release()


def show_detail(journal: Journal, n: int) -> None:
    event = journal.event(n)
    title(journal, n, SIGNS)
    sections = [
        *detail_view.plain_sections(event),
        *detail_view.raw_sections(event),
        *detail_view.http_sections(journal, n),
        *detail_view.finding_sections(journal, n, event),
    ]
    for section in sections:
        for line in range(len(section)):
            text = section.text(line)
            assert safe(text) == text
            assert all(0 <= start <= end for start, end, _ in section.spans(line, text))
    detail_view.json_text(event)
    copy_as.suggested_name(journal, n)
    for form in copy_as.FORMS.values():
        with suppress(InspectorError):
            assert isinstance(form(journal, n), str)

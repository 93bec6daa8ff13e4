"""A self-contained web page: every event, with search, filter, folding and findings.

Only the page's own script and style can run (`inspector/html_page.py`). Recorded data is in blocks of JSON without any
`<`, and is only shown as text. Rows are drawn when they are visible, and bodies are parsed
when they are selected, so that a hundred thousand events stay fast.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import IO, Any

from inspector.errors import UsageError
from inspector.formats.selection import RecordingClock, Selection, facts_of, findings_of, marks_of, target_of
from inspector.hints import Hint, Parameter
from inspector.html_page import page_head
from inspector.journal.filters.conditions import subjects_of
from inspector.journal.format import DIR_NAMES, KIND_NAMES, Event, Kind, dumps
from inspector.journal.index import STATE_NAMES
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape
from inspector.text import count, duration, escape_json, safe, size
from inspector.version import __version__

MAX_SIZE = 100_000_000
"""Maximum bytes of messages in a page."""
MAX_COUNT = 500_000
"""Maximum events in a page."""
MAX_LENGTH = 512 * 1024
"""Bytes of one message after which it is truncated."""
BLOCK = 400
"""Number of events whose bodies share a block."""
BLOCK_BYTES = 1 << 20

_SCRIPTS = ("text.js", "data.js", "filter.js", "tree.js", "list.js", "main.js")
_SHAPES = ("", "request", "notification", "result", "error", "batch")
_NAME = 200
_dumps = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), default=str).encode


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the page to `out`, block by block. Raises `UsageError` if it would be too large for a browser."""
    chosen = Selection(journal, numbers)
    check(journal, chosen)
    script, style, body = _ours()
    title = safe(target_of(journal).text("label"), _NAME) or "MCP session"
    out.write(page_head(title, style, script))
    out.write(body.format(title=html.escape(title)))
    out.write(_block("facts", "", _facts(journal, chosen)))
    for rows, bodies in _blocks(journal, chosen):
        out.write(_block("", "rows", rows))
        out.write(_block("", "bodies", bodies))
    out.write(f"<script>{script}</script>\n</body>\n</html>\n")
    return []


def check(journal: Journal, chosen: Iterable[int]) -> None:
    """Raise `UsageError` if the page of these events would be too large for a browser."""
    total = amount = 0
    for n in chosen:
        total += min(journal.index.size(n), MAX_LENGTH)
        amount += 1
    if total > MAX_SIZE or amount > MAX_COUNT:
        raise UsageError(
            f"The page would have {count(amount)} events with {size(total)}; a browser can show up to "
            f"{count(MAX_COUNT)} events with {size(MAX_SIZE)}.",
            hint=Hint(
                "Select events with ",
                Parameter.FILTER,
                " or ",
                Parameter.EVENTS,
                ", or use ",
                Parameter.FORMAT.to("json"),
                ".",
            ),
        )


def _ours() -> tuple[str, str, str]:
    """Return the page's script and style, and the start of its body with a place for the title."""
    folder = files(__package__) / "page"
    *parts, style, body = ((folder / name).read_text(encoding="utf-8") for name in (*_SCRIPTS, "page.css", "body.html"))
    script = '"use strict";\n(() => {\n' + "\n".join(parts) + "})();"
    return script, style, body


def _block(id: str, name: str, value: Any) -> str:
    """Return a block of data: it contains no markup, and nothing that ends it (WHATWG HTML, 4.12.1.3)."""
    text = escape_json(_dumps(value)).replace("<", "\\u003c")
    about = f' id="{id}"' if id else f' class="{name}"'
    return f'<script type="application/json"{about}>{text}</script>\n'


def _facts(journal: Journal, chosen: Selection) -> dict[str, Any]:
    facts = facts_of(journal)
    named = " ".join(text for key in ("name", "version") if isinstance(text := facts.server.get(key), str))
    head = [
        ("server", named or "not identified"),
        ("revision", facts.revision),
        ("era", facts.era),
        ("transport", facts.transport),
        ("recorded", f"{RecordingClock(journal)(0)}, {duration(facts.duration)}"),
        ("events", f"{count(len(chosen))} of {count(len(journal))}"),
        ("errors", count(facts.errors) if facts.errors else None),
        ("invalid", count(facts.invalid) if facts.invalid else None),
        ("written by", f"inspector {__version__}"),
        *(("notice", notice) for notice in journal.notices),
    ]
    if journal.end_is_missing:
        head.append(("end", "missing: the writer was killed, or is still writing"))
    return {
        "head": [(name, safe(value, 1000)) for name, value in head if value is not None],
        "findings": list(findings_of(journal)),
        "marks": {mark["n"]: safe(mark["note"], MAX_LENGTH) for mark in marks_of(journal)},
    }


def _blocks(journal: Journal, chosen: Selection) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield rows and bodies of `BLOCK` events at a time."""
    rows: list[Any] = []
    bodies: list[Any] = []
    held = 0
    for n in chosen:
        event = next(journal.events(n, n))
        rows.append(_row(journal, event))
        bodies.append(_body(event))
        held += min(journal.index.size(n), MAX_LENGTH)
        if len(rows) == BLOCK or held > BLOCK_BYTES:
            yield rows, bodies
            rows, bodies, held = [], [], 0
    if rows:
        yield rows, bodies


def _row(journal: Journal, event: Event) -> list[Any]:
    """Return the list columns of an event, in the order of `page/data.js`."""
    index, n = journal.index, event.n
    rpc = event.kind == Kind.RPC
    id = index.id(n)
    elapsed = index.duration(n)
    return [
        n,
        event.t,
        DIR_NAMES[event.dir],
        KIND_NAMES[event.kind],
        _SHAPES[index.shape(n)] if rpc else "",
        STATE_NAMES[index.state(n)],
        index.method(n)[:_NAME],
        safe(_name(event, index.shape(n)), _NAME),
        "" if id is None else str(id)[:_NAME],
        index.pair(n),
        index.parent(n),
        index.size(n),
        -1 if elapsed is None else elapsed,
        len(journal.findings.of(n)),
    ]


def _name(event: Event, shape: Shape) -> object:
    """Return the name that a request is about, or the start of a text."""
    fields = event.fields
    if event.kind == Kind.RPC:
        large = shape is not Shape.REQUEST or len(event.raw or "") > MAX_LENGTH
        return "" if large else next(iter(subjects_of(event.message)), "")
    if event.kind == Kind.HTTP:
        parts = (fields.get(key) for key in ("method", "url", "status", "reason"))
        return " ".join(safe(part, _NAME) for part in parts if part is not None)
    if event.kind in (Kind.STDERR, Kind.INVALID):
        return event.text[:_NAME]
    return fields.get("event") or fields.get("step") or fields.get("text") or ""


def _body(event: Event) -> list[Any]:
    """Return text, fields and notes of an event."""
    text: str | None = None
    notes = []
    if event.dropped is not None:
        notes.append(f"The body ({size(event.dropped)}) was not recorded: the recording was full.")
    if event.raw is not None or event.data is not None:
        text = event.text
        if event.data is not None:
            notes.append(f"Not UTF-8: {size(len(event.data))}.")
        if len(text) > MAX_LENGTH:
            notes.append(f"The first {MAX_LENGTH:,} of {len(text):,} characters.")
            text = text[:MAX_LENGTH]
    return [text, _plain(event.fields) if event.fields else None, " ".join(notes)]


def _plain(fields: dict[str, Any]) -> Any:
    """Return fields as JSON that a browser accepts, even from a hand-made file."""
    try:
        return json.loads(dumps(fields), parse_constant=str)
    except (ValueError, RecursionError):
        return {"fields": safe(fields, _NAME)}

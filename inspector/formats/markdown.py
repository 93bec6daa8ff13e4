"""A transcript in Markdown, to be read and attached to a bug report.

All recorded text is in code, in a span or a fence longer than any run of backticks in it, and escaped by
`inspector.text.safe`: it can neither end its block nor become markup, and nothing in it is invisible.

In a transcript of the whole recording, the negotiation is one short section: one line per message. A failed
negotiation, and selected events, are written in full.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, Any

from inspector.formats.selection import RecordingFacts, facts_of, marks_of, target_of
from inspector.journal import alterations
from inspector.journal.connections import KINDS
from inspector.journal.format import Dir, Event, Kind, dumps
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.markup import fence, fenced, span
from inspector.protocol.exact_json.text import lines, pretty
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.views import View
from inspector.text import SIGNS, count, duration, quantity, safe, size
from inspector.version import __version__

INLINE = 80
"""Maximum characters of an object or array of scalars on one line."""
STDERR_TOGETHER = 200
"""Maximum lines of stderr in one block."""

_MAX_NOTE = 10_000

_STATES = {
    State.PENDING: "never answered",
    State.CANCELLED: "cancelled",
    State.TIMED_OUT: "timed out",
    State.LATE: "late",
    State.UNKNOWN: "answers an unknown request",
    State.DOUBLED: "a second response",
    State.LOST: "lost with the connection",
}


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the transcript to `out`, event by event. Without numbers, all events, with a short negotiation."""
    facts = facts_of(journal)
    out.write(f"# MCP session: {span(target_of(journal).text('label') or 'unnamed')}\n\n")
    out.write("".join(f"- **{name}:** {text}\n" for name, text in _head(journal, facts)))
    _write_marks(journal, out)
    _write_findings(journal, out)
    out.write("\n## Messages\n")
    short = _negotiations(journal) if numbers is None else {}
    stderr: list[str] = []
    written = until = 0
    for n in range(1, len(journal) + 1) if numbers is None else numbers:
        event = next(journal.events(n, n))
        written += 1
        if n in short:
            _write_stderr(stderr, out)
            until = short[n]
            out.writelines(_negotiation(journal, n, until))
        if n <= until and event.kind in KINDS:
            continue
        if event.kind == Kind.STDERR:
            stderr.append(event.text)
            if len(stderr) < STDERR_TOGETHER:
                continue
        _write_stderr(stderr, out)
        if event.kind not in (Kind.STDERR, Kind.MARK):
            out.writelines(_event(journal, event))
    _write_stderr(stderr, out)
    if written < len(journal):
        out.write(f"\n{count(written)} of {count(len(journal))} events are shown.\n")
    out.write(f"\nWritten by inspector {__version__}.\n")
    return []


def _write_stderr(lines: list[str], out: IO[str]) -> None:
    """Write the collected lines, and clear the list."""
    if lines:
        out.write(f"\n#### {SIGNS.local} stderr\n\n{fence(chr(10).join(lines), '')}")
        lines.clear()


def _head(journal: Journal, facts: RecordingFacts) -> Iterator[tuple[str, str]]:
    target = target_of(journal).members
    argv = target.get("argv")
    where = " ".join(map(str, argv)) if type(argv) is list else target.get("url") or target.get("path") or "unknown"
    yield "target", span(where, 1000)
    named = " ".join(text for key in ("name", "version") if isinstance(text := facts.server.get(key), str))
    yield "server", span(named) if named else "not identified"
    if facts.revision:
        yield "revision", span(facts.revision) + (f" ({span(facts.era)} era)" if facts.era else "")
    if facts.transport:
        yield "transport", span(facts.transport)
    yield (
        "recorded",
        f"{span(journal.header.get('started'))}, {duration(facts.duration)}, by {span(journal.header.get('tool'))}",
    )
    amounts = [
        quantity(len(journal), "event"),
        f"{quantity(facts.sent, 'message')} sent",
        f"{count(facts.received)} received",
        f"{quantity(facts.stderr, 'line')} of stderr",
    ]
    if facts.errors:
        amounts.append(quantity(facts.errors, "error"))
    if facts.invalid:
        amounts.append(f"{count(facts.invalid)} invalid")
    yield "counts", ", ".join(amounts)
    yield "end", _end(journal)
    for notice in journal.notices:
        yield "notice", span(notice, 1000)


def _end(journal: Journal) -> str:
    if journal.ended is not None:
        return span(journal.ended.get("reason") or "closed")
    if not journal.end_is_missing:
        return "the session is still open"
    torn = ", and its last line is truncated" if journal.torn else ""
    return f"**missing**: the writer was killed, or is still writing{torn}"


def _write_marks(journal: Journal, out: IO[str]) -> None:
    marks = list(marks_of(journal))
    if marks:
        out.write(f"\n## Marked by the user ({count(len(marks))})\n\n")
        out.writelines(f"- event {mark['n']}{_note(mark['note'])}\n" for mark in marks)


def _note(note: str) -> str:
    return f": {span(note, _MAX_NOTE)}" if note else ""


def _write_findings(journal: Journal, out: IO[str]) -> None:
    findings = journal.findings.all()
    if not findings:
        return
    out.write(f"\n## Findings ({count(journal.findings.total)})\n\n")
    for finding in findings:
        about = f"event {finding.n}: " if finding.n else ""
        out.write(f"- {SIGNS.finding} {about}**{finding.level}** {span(finding.rule)} {span(finding.message, 1000)}\n")
    if journal.findings.left_out:
        out.write(f"- {journal.findings.left_out} of these rules\n")


def _negotiations(journal: Journal) -> dict[int, int]:
    """Return first and last events of successful negotiations. A failed one is written in full."""
    negotiations = dict(journal.index.connections.between(1, len(journal)))
    return {
        first: last
        for first, last in negotiations.items()
        if last != len(journal) and journal.event(last).fields.get("event") != "failed"
    }


def _negotiation(journal: Journal, first: int, last: int) -> Iterator[str]:
    """Yield a line for each message from `first` to `last`, and for each conclusion."""
    yield f"\n### {first}–{last} {SIGNS.local} negotiation +{duration(journal.index.time(first))}\n\n"
    for event in journal.events(first, last):
        if event.kind == Kind.RPC:
            yield f"- {event.n} {_rpc_title(journal, event)}\n"
        elif event.kind == Kind.INVALID:
            yield f"- {event.n} {SIGNS.received} not read as JSON, {size(len(event.bytes))}\n"
        elif event.kind == Kind.LIFE:
            fields = event.fields
            facts = [span(fields[name]) for name in ("text", "revision", "how") if isinstance(fields.get(name), str)]
            if facts:
                yield f"- {event.n} {SIGNS.local} {span(fields.get('event'))} {', '.join(facts)}\n"


def _event(journal: Journal, event: Event) -> Iterator[str]:
    """Yield one event other than stderr: a heading with the facts, and the text."""
    moment = f"+{duration(event.t)}"
    if event.kind in (Kind.LIFE, Kind.NOTE, Kind.AUTH):
        name = event.fields.get("event") or event.kind_name
        rest = {key: value for key, value in event.fields.items() if key != "event"}
        yield f"\n#### {event.n} {SIGNS.local} {span(name)} {moment}\n"
        if rest:
            yield f"\n{fence(_json(rest), 'json')}"
        return
    if event.kind == Kind.RPC:
        yield f"\n### {event.n} {_rpc_title(journal, event)} {moment}\n\n{_marked(journal, event)}"
        for step in alterations.read(event.fields):
            before = f", before:\n\n{fence(step.before, 'json')}" if step.before else "."
            yield f"{span(step.did)} by the addon {span(step.by)}{before}\n\n"
        yield from _payload(event)
        return
    sign = {Dir.SEND: SIGNS.sent, Dir.RECV: SIGNS.received}.get(event.dir, SIGNS.local)
    yield f"\n### {event.n} {sign} {span(event.kind_name)} {moment}\n\n{_marked(journal, event)}"
    has_text = event.raw is not None or event.data is not None
    if event.fields:
        yield fence(_json(event.fields), "json") + ("\n" if has_text else "")
    if has_text:
        yield from _payload(event)


def _marked(journal: Journal, event: Event) -> str:
    mark = journal.marks.of(event.n)
    return f"**Marked**{_note(mark.note)}\n\n" if mark is not None else ""


def _rpc_title(journal: Journal, event: Event) -> str:
    """Return arrow, method, id, duration, size, and outcome: `← result of 7 tools/call, 12 ms, 184 B`."""
    index, n = journal.index, event.n
    shape, method, pair = index.shape(n), index.method(n), index.pair(n)
    sent = event.dir == Dir.SEND
    arrow = SIGNS.sent if sent else SIGNS.received
    facts: list[str] = []
    if shape is Shape.REQUEST:
        what = f"{span(method)}{_named(event)}"
        arrow = arrow if sent else f"{arrow}{SIGNS.asked}"
        facts.append(f"id {span(index.id(n))}")
        if pair:
            facts.append(f"answered by {pair}")
        if index.parent(n):
            facts.append(f"inside {index.parent(n)}")
    elif shape in (Shape.RESULT, Shape.ERROR):
        what = "result" if shape is Shape.RESULT else "error"
        what += f" of {pair} {span(method)}" if pair else f" with id {span(index.id(n))}"
        elapsed = index.duration(n)
        if elapsed is not None:
            facts.append(duration(elapsed))
    elif shape is Shape.NOTIFICATION:
        arrow += SIGNS.progress if method == "notifications/progress" else SIGNS.notification
        what = span(method)
        if pair or index.parent(n):
            facts.append(f"belongs to {pair or index.parent(n)}")
    else:
        what = "batch" if shape is Shape.BATCH else "not a JSON-RPC message"
    facts.append(size(index.size(n)))
    state = index.state(n)
    if state is State.ERROR and shape is Shape.RESULT:
        facts.append("isError")
    elif state in _STATES:
        facts.append(_STATES[state])
    return f"{arrow} {what}, {', '.join(facts)}"


def _named(event: Event) -> str:
    """Return the tool's or prompt's name, or the resource's URI."""
    params = View(event.message).object("params")
    return next((" " + span(params[key]) for key in ("name", "uri") if isinstance(params.get(key), str)), "")


def _payload(event: Event) -> Iterator[str]:
    """Yield the content: indented JSON with unchanged tokens; bytes that are not UTF-8 are marked."""
    if event.dropped is not None:
        yield f"(The body, {size(event.dropped)}, was not recorded: the recording was full.)\n"
        return
    text = event.text
    if event.data is not None:
        yield f"{len(event.data):,} bytes that are not UTF-8:\n\n"
    if event.kind in (Kind.RPC, Kind.SSE):
        yield from fenced(text, lines(text, inline=INLINE), "json" if event.kind == Kind.RPC else "")
    else:
        yield fence(text, "")


def _json(value: Any) -> str:
    try:
        return "\n".join(pretty(dumps(value), inline=INLINE))
    except RecursionError:
        return safe(value)

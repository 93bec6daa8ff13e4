"""The content of a message's detail: for each tab, a list of sections."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from inspector.journal import alterations, channels
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.exact_json.text import Tree, pretty
from inspector.protocol.views import View
from inspector.text import count, duration, safe, size
from inspector.tui.log.summaries import headers_of, life, summary
from inspector.tui.themes import ascii_only, signs_now
from inspector.tui.widgets.json_view import AT_ONCE
from inspector.tui.widgets.sections import INLINE, JsonSection, PieceSection, Section, Span, TextSection
from inspector.tui.widgets.text_view import SHOWN_AT_FIRST, beginning, more_section

DetailLine = tuple[str, list[Span]]

_MAX_LENGTH = 2000
_HEX_SHOWN = 16
_DIFFED = 2000
"""Lines of a message that are compared."""


def line(*pieces: str | tuple[str, str]) -> DetailLine:
    """Return a line of texts, optionally with roles; all texts are made safe."""
    text = ""
    spans: list[Span] = []
    for piece in pieces:
        words, role = (piece, "") if isinstance(piece, str) else piece
        drawn = safe(words, _MAX_LENGTH, ascii=ascii_only())
        if role:
            spans.append((len(text), len(text) + len(drawn), role))
        text += drawn
    return text, spans


EMPTY = line("")


class HexSection(Section):
    """Bytes, sixteen per line: offset, hexadecimal, printable ASCII."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __len__(self) -> int:
        return -(-len(self.data) // _HEX_SHOWN)

    def text(self, line: int) -> str:
        part = self.data[line * _HEX_SHOWN : (line + 1) * _HEX_SHOWN]
        half = _HEX_SHOWN // 2
        columns = f"{part[:half].hex(' ')}  {part[half:].hex(' ')}"
        printable = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        return f"{line * _HEX_SHOWN:08x}  {columns:<{_HEX_SHOWN * 3 + 1}} {printable}"

    def spans(self, line: int, text: str) -> Sequence[Span]:
        return [(0, 8, "faint"), (_HEX_SHOWN * 3 + 12, len(text), "muted")]

    def copy_text(self, line: int) -> str:
        return self.data.hex(" ")


def has_view(journal: Journal, n: int, view: str) -> bool:
    """Whether a view has something about event `n`; each event has `parsed`."""
    if view == "raw":
        event = journal.event(n)
        return event.raw is not None or event.data is not None or event.dropped is not None
    if view == "http":
        return any(journal.index.kind(m) is Kind.HTTP for m in facts_around(journal, n))
    if view == "note":
        mark = journal.marks.of(n)
        return mark is not None and bool(mark.note)
    return view == "parsed" or bool(journal.findings.of(n))


# Parsed


def json_text(event: Event) -> str:
    """Return the text that the parsed tab shows as JSON; empty if the event is not JSON."""
    if event.kind == Kind.RPC:
        return event.text
    if event.kind in (Kind.INVALID, Kind.STDERR):
        return ""
    import json

    members = {**event.fields, **({"raw": event.raw} if event.raw is not None else {})}
    return json.dumps(members, ensure_ascii=False, default=str)


def not_kept(octets: int) -> str:
    """Return the sentence for a message whose body was not recorded."""
    return (
        f"The body ({size(octets)}) was not recorded: the recording was full. See max_recording_bytes in the settings."
    )


def plain_sections(event: Event, *, all: bool = False) -> list[Section]:
    """Return an event that is not JSON as text, after the reason."""
    if event.dropped is not None:
        return [PieceSection([line((not_kept(event.dropped), "finding"))])]
    reason = event.fields.get("why")
    if event.kind == Kind.INVALID:
        words = reason if isinstance(reason, str) else "this is not JSON"
        head: list[Section] = [PieceSection([line(("not read as JSON: ", "error"), (words, "normal")), EMPTY])]
    elif event.kind == Kind.OTHER and isinstance(reason, str):
        head = [PieceSection([line((reason, "muted")), EMPTY])]
    else:
        head = []
    return [*head, *text_sections(event.text, all=all)]


def text_sections(text: str, *, all: bool = False) -> list[Section]:
    """Return a text, at first only the beginning of a long one."""
    if not text:
        return [PieceSection([line("nothing")])]
    visible = text if all else beginning(text, SHOWN_AT_FIRST)
    rest = len(text) - len(visible)
    return [TextSection(visible), *([more_section(rest)] if rest else [])]


# Raw


def raw_sections(event: Event, *, all: bool = False) -> list[Section]:
    """Return the bytes on the wire, after what is known about them."""
    notes: list[DetailLine] = []
    fields = event.fields
    if fields.get("redacted") is True:
        notes.append(line(("Secrets in it were redacted before it was recorded.", "finding")))
    if fields.get("cut") is True:
        notes.append(line(("The message is cut off: the connection ended before its end.", "finding")))
    if event.data is not None:
        notes.append(line((f"{size(len(event.data))} that are not UTF-8.", "finding")))
    head: list[Section] = [*_altered(event), *([PieceSection([*notes, EMPTY])] if notes else [])]
    if event.data is not None:
        return [*head, HexSection(event.data)]
    if event.dropped is not None:
        return [PieceSection([line((not_kept(event.dropped), "finding"))])]
    if event.raw is None:
        return [PieceSection([line("Inspector recorded this event itself; it has no bytes on the wire.")])]
    return [*head, *text_sections(event.raw, all=all)]


def _altered(event: Event) -> list[Section]:
    """Return what addons did to a message, with its text before each change."""
    sections: list[Section] = []
    for step in alterations.read(event.fields):
        rest = ", before:" if step.before else "."
        sections.append(
            PieceSection([line((f"{safe(step.did, 80)} by the addon {safe(step.by, 80)}{rest}", "finding"))])
        )
        sections += [*text_sections(step.before), PieceSection([EMPTY])] if step.before else []
    return sections


# HTTP


def http_sections(journal: Journal, n: int, folded: Sequence[int] = ()) -> list[Section]:
    """Return the HTTP exchange of an event: request and response heads, timings, SSE facts; for stdio, the process.

    `folded` are the events in its row of the log: SSE events and the pages of a list are shown too.
    """
    event = journal.event(n)
    of_stream = [m for m in folded if journal.index.kind(m) == Kind.SSE]
    numbers = sorted({*facts_around(journal, n), *of_stream[:MAX_COUNT]})
    lines: list[DetailLine] = []
    kinds = {journal.index.kind(m) for m in numbers}
    is_http = Kind.HTTP in kinds or event.kind in (Kind.HTTP, Kind.SSE)
    if not is_http and channels.is_of_process(event.ch):
        lines += [line("This connection is stdio: messages are lines of the process, without HTTP."), EMPTY]
        numbers = numbers or _life_of(journal, n)
    elif not numbers:
        lines += [line(f"Only the message was recorded on {event.ch or 'its channel'}.")]
    began = journal.index.time(numbers[0]) if numbers else 0
    for m in numbers:
        fact_event = journal.event(m)
        facts = View(fact_event.fields)
        after = f"+{duration(fact_event.t - began)}" if fact_event.t > began else ""
        if fact_event.kind == Kind.HTTP:
            lines += [*_head_lines(facts, sent=fact_event.dir == Dir.SEND, after=after), EMPTY]
        elif fact_event.kind == Kind.SSE:
            lines += [*_sse_lines(fact_event, after=after)]
        else:
            words = "".join(piece if isinstance(piece, str) else piece[0] for piece in life(facts))
            lines.append(line((f"{signs_now().local} ", "muted"), words, (f"  {after}", "faint")))
            lines += _spawn_lines(facts)
    lines += _sse_lines(event)
    lines += _folded_lines(journal, folded)
    return [PieceSection(lines, role="normal", copied="\n".join(text for text, _ in lines))]


def _life_of(journal: Journal, n: int) -> list[int]:
    """Return the start of the process that wrote an stderr event: life events are on its other channel."""
    return Query(kind=Kind.LIFE, channel=channels.STDIO).numbers(journal.index, upto=min(n, 200) - 1)[:5]


def _head_lines(facts: View, *, sent: bool, after: str) -> list[DetailLine]:
    signs = signs_now()
    if sent:
        first = line((f"{signs.sent} ", "sent"), (facts.text("method"), "bright"), f" {facts.text('url')}")
    else:
        status = facts.members.get("status")
        bad = type(status) is int and status >= 400
        took = facts.members.get("ms")
        words = duration(took * 1000) if isinstance(took, (int, float)) else ""
        first = line(
            (f"{signs.received} ", "received"),
            (f"{safe(status, 20)} {facts.text('reason')}".rstrip(), "error" if bad else "bright"),
            (f"  {facts.text('version')}  {words or after}", "muted"),
        )
    return [first, *(line("  ", (f"{name}: ", "json-key"), value) for name, value in headers_of(facts))]


def _sse_lines(event: Event, *, after: str = "") -> list[DetailLine]:
    """Return the facts of the server-sent event that carried a message, or none."""
    carried = event.fields.get("sse")
    fields = carried if isinstance(carried, dict) else event.fields
    known = [key for key in ("event", "id", "retry") if key in fields]
    if event.kind not in (Kind.RPC, Kind.INVALID, Kind.SSE) or not (known or event.kind == Kind.SSE):
        return []
    facts = [piece for key in known for piece in (f"  {key} ", (safe(fields[key], 300), "bright"))]
    words = "server-sent event" if event.kind == Kind.SSE else "It came as a server-sent event"
    return [line((f"{signs_now().local} ", "muted"), words, *facts, (f"  {after}" if after else "", "faint"))]


def _folded_lines(journal: Journal, folded: Sequence[int]) -> list[DetailLine]:
    """Return the messages of a list's pages, and the number of events in the row."""
    if not folded:
        return []
    lines: list[DetailLine] = []
    for m in [m for m in folded if journal.index.kind(m) in (Kind.RPC, Kind.INVALID)][:MAX_COUNT]:
        words = "".join(piece if isinstance(piece, str) else piece[0] for piece in summary(journal, m))
        sent = journal.index.dir(m) == Dir.SEND
        sign = (signs_now().sent, "sent") if sent else (signs_now().received, "received")
        lines.append(line(sign, f" {words}"))
    one = len(folded) == 1
    note = f"{'This event is' if one else f'These {count(len(folded))} events are'} folded into the row in the log."
    return [*lines, EMPTY, line((note, "muted"))]


def _spawn_lines(facts: View) -> list[DetailLine]:
    if facts.text("event") != "spawn":
        return []
    rows: list[DetailLine] = []
    known = [key for key in ("program", "cwd", "pid") if facts.members.get(key) is not None]
    rows += [line((f"    {key:<8}", "muted"), safe(facts.members[key], _MAX_LENGTH)) for key in known]
    names = [name for name in facts.array("env") if isinstance(name, str)]
    if names:
        rows.append(line(("    env     ", "muted"), f"{count(len(names))} variables: {', '.join(names[:100])}"))
    return rows


# Findings


def finding_sections(journal: Journal, n: int, event: Event) -> list[Section]:
    """Return each finding with its rule, level, sentence, evidence and page, then the message."""
    sign = signs_now().finding
    lines: list[DetailLine] = []
    for finding in journal.findings.of(n):
        level = (finding.level.upper(), "error" if finding.level == "must" else "muted")
        lines.append(line((f"{sign} ", "finding"), (finding.rule, "bright bold"), "  ", level))
        lines.append(line(finding.message))
        if finding.evidence:
            lines += [EMPTY, *(line("  ", (words, "bright")) for words in finding.evidence[:50])]
        if finding.page:
            lines += [EMPTY, line((finding.page, "muted"))]
        lines += [EMPTY, EMPTY]
    if not lines:
        return [PieceSection([line("No findings.")])]
    sections: list[Section] = [PieceSection(lines, role="normal", copied="\n".join(text for text, _ in lines))]
    text = json_text(event)
    if text and len(text) <= AT_ONCE:
        sections += [PieceSection([line("the message")]), JsonSection(Tree(text, inline=INLINE))]
    return sections


# Compare


def difference(one: str, other: str) -> list[Section]:
    """Return the difference of two messages, line by line of their indented text; long ones are cut."""
    before, after = (pretty(text, limit_lines=_DIFFED) for text in (one, other))
    lines: list[DetailLine] = []
    same = True
    for text in difflib.unified_diff(before, after, lineterm="", n=3):
        if text.startswith(("---", "+++")) and len(lines) < 2:
            continue
        same = False
        role = {"-": "error", "+": "received", "@": "muted"}.get(text[0], "normal")
        lines.append(line((text, role)))
    if same:
        lines = [line("The two messages are equal.")]
    if len(before) >= _DIFFED or len(after) >= _DIFFED:
        lines.append(line((f"Only the first {count(_DIFFED)} lines of each were compared.", "finding")))
    return [PieceSection(lines, role="normal", copied="\n".join(text for text, _ in lines))]


REACH = 200_000
"""Events before and after one that are searched."""
MAX_COUNT = 60
"""Most events that are shown."""


def facts_around(journal: Journal, n: int) -> list[int]:
    """Return the HTTP and life events of the channel of event `n`, ascending.

    The channel of one POST is shown whole. On a long-lived channel, an exchange starts with a request head: the result
    has the last one before `n`, or the first one after it, and the events up to the next.
    """
    index = journal.index
    facts = Query(kind=(Kind.HTTP, Kind.LIFE), channel=index.channel(n))
    numbers = facts.numbers(index, n - REACH - 1, n + REACH)
    if len(numbers) <= MAX_COUNT:
        return numbers
    heads = [m for m in numbers if is_request_head(journal, m)]
    begin = max((m for m in heads if m <= n), default=0)
    end = min((m for m in heads if m > n), default=index.count + 1)
    near = [m for m in numbers if begin <= m < end]
    before = sum(m <= n for m in near)
    start = max(before - MAX_COUNT // 2, 0)
    return near[start : start + MAX_COUNT]


def is_request_head(journal: Journal, n: int) -> bool:
    """Whether event `n` is the head of an HTTP request."""
    index = journal.index
    return index.kind(n) == Kind.HTTP and index.dir(n) == Dir.SEND


def request_head(journal: Journal, n: int) -> int:
    """Return the head of the HTTP request for event `n`, or for its stream; 0 if there is none."""
    heads = [m for m in facts_around(journal, n) if is_request_head(journal, m)]
    earlier = [m for m in heads if m <= n]
    # The head of a POST is recorded next to its message, and a redirected POST has several.
    return earlier[-1] if earlier else heads[0] if heads else 0

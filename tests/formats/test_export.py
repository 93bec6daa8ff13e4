"""Exports: they contain every event, nothing in them is ambiguous, and their format is stable."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.errors import UsageError
from inspector.formats import WRITABLE, export
from inspector.formats.json_edits import is_strict, member, strict
from inspector.formats.markdown import INLINE
from inspector.journal.alterations import Alteration
from inspector.journal.findings import Finding
from inspector.journal.journal import Journal, altered, whole_journal
from inspector.markup import fence
from inspector.protocol.exact_json.text import pretty
from tests import golden
from tests.formats.journals import GOLDEN, SESSION, exported, live, opened

DOCUMENTS = ("md", "json")


@pytest.mark.parametrize("format", [format for format in WRITABLE if format != "html"])
def test_an_export_stays_unchanged(format: str) -> None:
    text = exported(opened(SESSION), format).replace("\r\n", "\n")
    text = re.sub(r'(inspector |"Inspector", ?"version": ?")\d[\d.]*\d', r"\1VERSION", text)
    name = "session" if format in DOCUMENTS else f"session-{format}"
    suffix = WRITABLE[format].suffix.replace(".py", ".py.txt")
    golden.check(GOLDEN / f"{name}{suffix}", text)


@pytest.mark.parametrize("format", DOCUMENTS)
def test_events_can_be_chosen(format: str) -> None:
    text = exported(opened(SESSION), format, [2, 4, 900, 0, -1])
    assert "sampling/createMessage" not in text
    assert "initialize" in text
    assert "notifications/initialized" in text


@pytest.mark.parametrize("format", WRITABLE)
def test_a_format_that_does_not_contain_what_addons_did_says_so(format: str) -> None:
    journal = live()
    journal.header["addons"] = ["guard.py"]
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    journal.record_sent("stdio", json.dumps(asked).encode(), asked)
    steps = [Alteration("guard.py", "changed", b'{"be":"fore"}')]
    journal.record_received("stdio", [b'{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}'], altered(journal, steps))
    out = io.StringIO()
    notes = export(journal, format, out)
    sentence = "It has the messages after the addons guard.py, not what they did."
    contains = "fore" in out.getvalue() and "before" in out.getvalue()
    assert (contains, sentence in notes) in ((True, False), (False, True))
    journal.release()


def test_an_unknown_format_is_refused_with_those_that_exist() -> None:
    with pytest.raises(UsageError) as caught:
        exported(live(), "pdf")
    assert "md, json, html" in caught.value.hint


@pytest.mark.parametrize("format", DOCUMENTS)
def test_a_live_journal_and_a_torn_file_are_exported_too(format: str, tmp_path: Path) -> None:
    assert "tools/list" in exported(live(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'), format)
    torn = tmp_path / "torn.mcp.jsonl"
    torn.write_bytes(SESSION.read_bytes()[:-150])
    journal = opened(torn)
    assert journal.torn
    text = exported(journal, format)
    assert ("**missing**: the writer was killed" in text) or json.loads(text)["end"] is None


@pytest.mark.parametrize("format", DOCUMENTS)
def test_a_newer_format_is_exported_as_its_lines(format: str, tmp_path: Path) -> None:
    newer = tmp_path / "newer.mcp.jsonl"
    newer.write_bytes(b'{"format":"mcp-recording","version":99}\n{"something":"else"}\n')
    text = exported(opened(newer), format)
    assert "version 99" in text
    if format == "md":
        assert '{"something":"else"}' in text
    else:
        (event,) = json.loads(text)["events"]
        assert event["raw"] == '{"something":"else"}'


ODD_LINES: list[dict[str, Any]] = [
    {"n": -5, "t": -(10**15), "dir": [], "kind": {}, "ch": 5, "raw": 5},
    {"t": 2**62, "kind": "stderr", "raw": "\x1b"},
    {"kind": "life", "event": {"a": 1}, "for": "x"},
    {"kind": "http", "dir": "send", "url": {"a": 1}, "headers": 7},
    {"kind": "rpc", "dir": "recv", "raw": '{"jsonrpc":"2.0","id":{},"result":[]}'},
    {"kind": "rpc", "dir": "recv", "raw": "\ud800"},
    {"kind": "rpc", "b64": "!!"},
    {"kind": "note", "finding": {"n": "x"}},
    {"kind": "auth"},
    {"kind": "sse", "raw": "data"},
    {"x": float("nan")},
]


@pytest.mark.parametrize("format", DOCUMENTS)
@pytest.mark.parametrize("line", ODD_LINES)
def test_lines_that_no_writer_of_ours_makes_are_exported_too(format: str, line: dict[str, Any], tmp_path: Path) -> None:
    header = {"format": "mcp-recording", "version": 1, "tool": {"a": 1}, "target": {"label": {"x": 1}, "argv": [1]}}
    file = tmp_path / "odd.mcp.jsonl"
    file.write_text(f"{json.dumps(header)}\n{json.dumps(line)}\n", encoding="utf-8")
    text = exported(opened(file), format)
    text.encode()
    assert format == "md" or len(json.loads(text)["events"]) == 1


@pytest.mark.parametrize("format", DOCUMENTS)
def test_a_server_of_the_modern_era_is_named(format: str) -> None:
    """It introduces itself in the metadata of its answer."""
    journal = Journal.unnamed({"label": "live"})
    asked = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}}
    journal.record_sent("stdio", json.dumps(asked).encode(), asked)
    info = {"io.modelcontextprotocol/serverInfo": {"name": "newer", "version": "3"}}
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"supportedVersions": ["2026-07-28"], "_meta": info}}
    journal.record_received("stdio", [json.dumps(answer).encode()])
    text = exported(journal, format)
    assert "`newer 3`" in text if format == "md" else json.loads(text)["server"]["name"] == "newer"


# JSON


RAW = [
    '{"jsonrpc":"2.0","id":12345678901234567890,"result":{"a":1.0e2,"a":2}}',
    '{"jsonrpc": "2.0",\n "method": "x", "params": {"é": "\\u00e9\\ud800"}}',
    '{"jsonrpc":"2.0","method":"x","params":{"n":NaN}}',
    '\ufeff{"jsonrpc":"2.0","method":"x"}',
    "Starting server...",
    "[" * 3000 + "]" * 3000,
]


def test_messages_stand_as_they_were_written_where_they_are_json() -> None:
    text = exported(live(*(raw.encode() for raw in RAW), b'{"jsonrpc":"2.0","method":"\xff"}'), "json")
    assert RAW[0] in text
    assert RAW[1] in text
    events = json.loads(text)["events"]
    assert [next(key for key in ("message", "raw", "b64") if key in event) for event in events] == [
        "message", "message", "raw", "raw", "raw", "raw", "b64",
    ]  # fmt: skip
    assert [event["raw"] for event in events[2:6]] == RAW[2:]


def test_pairs_durations_and_states_stand_with_the_events() -> None:
    events = {event["n"]: event for event in json.loads(exported(opened(SESSION), "json"))["events"]}
    assert (events[6]["method"], events[6]["id"], events[6]["pair"], events[6]["state"]) == ("tools/list", 1, 7, "done")
    assert (events[7]["pair"], events[7]["duration_us"]) == (6, 12_345)
    assert events[10]["parent"] == 9


def test_findings_are_part_of_the_document() -> None:
    journal = live(b'{"jsonrpc":"2.0","id":1,"result":{}}')
    journal.findings.add(Finding(1, "BASE-02", "must", "an answer `to` nothing", ("x",), "basic"))
    (finding,) = json.loads(exported(journal, "json"))["findings"]
    assert (finding["n"], finding["rule"], finding["message"]) == (1, "BASE-02", "an answer `to` nothing")
    assert "- ▲ event 1: **must** `BASE-02` ``an answer `to` nothing``" in exported(journal, "md")


@settings(max_examples=2 * settings.default.max_examples, deadline=None)
@given(
    st.lists(st.binary(max_size=40), max_size=5),
    # The names of `record_life`'s own parameters are no names of fields.
    st.dictionaries(
        st.text(max_size=5).filter(lambda key: key not in ("self", "event")), st.text(max_size=5), max_size=3
    ),
)
def test_whatever_was_on_the_wire_the_document_is_json(messages: list[bytes], fields: dict[str, str]) -> None:
    journal = live(*(message.replace(b"\n", b"") for message in messages))
    journal.record_life("c\x00h", "odd", **fields)
    document = json.loads(exported(journal, "json"))
    assert [event["n"] for event in document["events"]] == list(range(1, len(messages) + 2))
    journal.release()


# Markdown


HOSTILE = [
    "```\n# not a heading\n```",
    "` `` ```` `",
    "\x1b[2J\u202e",
    "<script>alert(1)</script>",
    "a | b \\ * _ [x](y)",
    "~~~",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_is_not_ours_leaves_its_block(text: str) -> None:
    journal = Journal.unnamed({"label": text, "argv": [text]})
    call = {"jsonrpc": "2.0", "id": text, "method": text, "params": {"name": text}}
    data = json.dumps(call, ensure_ascii=False).encode()
    journal.record_sent("stdio", data, call)
    journal.record_received("stdio", [text.encode().replace(b"\n", b" ")])
    journal.record_stderr("stderr", text.encode().split(b"\n"))
    journal.record_life("", text, reason=text)
    outside = without_code(exported(journal, "md"))
    for trace in ("not a heading", "script", "[x](y)", "\x1b", "\u202e", "~~~"):
        assert trace not in outside
    headings = [line for line in outside.split("\n") if line.startswith("#")]
    assert len(headings) == 6


def without_code(text: str) -> str:
    """Markdown without its fenced blocks and code spans, read as CommonMark reads them (sections 4.5 and 6.1)."""
    kept: list[str] = []
    fence = ""
    for line in text.split("\n"):
        if fence:
            closes = re.fullmatch(r" {0,3}(`{3,})[ \t]*", line)
            fence = "" if closes and len(closes[1]) >= len(fence) else fence
            continue
        opens = re.match(r" {0,3}(`{3,})[^`]*$", line)
        if opens:
            fence = opens[1]
            continue
        kept.append(re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", line))
    return "\n".join(kept)


@settings(max_examples=2 * settings.default.max_examples, deadline=None)
@given(st.text(max_size=60))
def test_any_text_ends_where_its_block_ends(text: str) -> None:
    marker = "MARK"
    journal = live(json.dumps({"jsonrpc": "2.0", "method": "m" + text, "params": [marker + text]}).encode())
    outside = without_code(exported(journal, "md"))
    assert marker not in outside
    assert outside.count("\n## Messages") == 1
    journal.release()


def test_lines_of_stderr_stand_together() -> None:
    journal = live()
    journal.record_stderr("stderr", [b"one", b"two\x1b"])
    journal.record_stderr("stderr", [b"three"])
    assert "#### ▪ stderr\n\n```\none\ntwo␛\nthree\n```\n" in exported(journal, "md")


def connected(*between: bytes, end: str = "ready") -> Journal:
    """A connection that was asked for, and a call that came after it."""
    journal = live()
    for id, method in enumerate(("server/discover", "tools/list"), 1):
        message = {"jsonrpc": "2.0", "id": id, "method": method}
        journal.record_sent("stdio", json.dumps(message).encode(), message)
        if id == 1:
            journal.record_stderr("stderr", [b"warming up"])
            journal.record_received("stdio", [b'{"jsonrpc":"2.0","id":1,"result":{"secret":"in full"}}', *between])
            journal.record_life("", end, revision="2026-07-28", how="it `answered`", error={"message": "no"})
    return journal


def test_what_was_asked_until_a_connection_stood_is_short() -> None:
    text = exported(connected(b"noise"), "md")
    assert "in full" not in text
    assert "noise" not in text
    negotiated = text.partition("### 1–5 ▪ negotiation +")[2].partition("####")[0]
    assert "- 1 → `server/discover`, id `1`, answered by 3" in negotiated
    assert "- 3 ← result of 1 `server/discover`" in negotiated
    assert "- 4 ← not read as JSON, 5 B\n" in negotiated
    assert "- 5 ▪ `ready` `2026-07-28`, `` it `answered` ``" in negotiated
    assert "warming up" in text
    assert "### 6 → `tools/list`" in text
    assert "events are shown" not in text


def test_it_is_written_in_full_where_it_was_chosen_or_came_to_nothing() -> None:
    assert "in full" in exported(connected(), "md", [1, 3])
    assert "in full" in exported(connected(end="failed"), "md")
    assert "in full" in exported(live(b'{"jsonrpc":"2.0","method":"x","params":{"a":"in full"}}'), "md")


def test_the_document_says_which_events_belong_to_it() -> None:
    events = json.loads(exported(connected(), "json"))["events"]
    assert [event.get("phase") for event in events] == ["negotiation", None, "negotiation", "negotiation", None]


def test_requests_that_came_to_nothing_say_so() -> None:
    journal = live()
    for id in (1, 2, 3):
        message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "slow"}}
        journal.record_sent("stdio", json.dumps(message).encode(), message)
    journal.record_life("", "timeout", **{"for": 2})
    journal.record_received("stdio", [b'{"jsonrpc":"2.0","id":2,"result":{}}', b'{"jsonrpc":"2.0","id":9,"result":{}}'])
    text = exported(journal, "md")
    assert "### 1 → `tools/call` `slow`, id `1`, " in text
    assert text.count("never answered") == 2
    assert "timed out" in text
    assert ", late +" in text
    assert "answers an unknown request" in text


# Exact pieces of JSON


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ('{"a": 1, "result": 1.50 }', "1.50"),
        ('{"result": {"result": [1, {"x": 2}]}, "b": 3}', '{"result": [1, {"x": 2}]}'),
        ('{"result": 1, "res\\u0075lt": [ ]}', "[ ]"),
        ('{"x": {"result": 1}, "y": ["result", 2]}', None),
        ('["result", 1]', None),
        ('{"result": 1', None),
        ("", None),
        ("[" * 100_000, None),
    ],
)
def test_a_member_is_cut_out_as_it_was_written(raw: str, expected: str | None) -> None:
    assert member(raw, "result") == expected


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        max_leaves=12,
    )
)
def test_strict_json_is_read_by_every_reader(value: Any) -> None:
    text, changed = strict(json.dumps(value))
    assert is_strict(text)
    if not changed:
        assert json.loads(text) == value


@pytest.mark.slow
def test_a_long_line_is_not_in_memory_many_times(tmp_path: Path) -> None:
    """It is written in parts, and the text is the same."""
    import tracemalloc

    text = "lorem ``ipsum`` \u202e dolor " * 200_000
    rows = [{"id": at, "tags": ["a", "b"], "long": "x" * 90} for at in range(20_000)]
    journal = Journal.create(tmp_path / "long.mcp.jsonl", {})
    message = {"jsonrpc": "2.0", "id": 1, "result": {"text": text, "rows": rows}}
    journal.record_received("stdio", [json.dumps(message, ensure_ascii=False).encode()])
    journal.close()
    journal.release()
    size = (tmp_path / "long.mcp.jsonl").stat().st_size
    with open(tmp_path / "out.md", "w", encoding="utf-8", errors="backslashreplace") as out:
        tracemalloc.start()
        with whole_journal(tmp_path / "long.mcp.jsonl") as journal:
            export(journal, "md", out)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 5 * size  # Text that is not ASCII takes two bytes a character in memory.
    transcript = (tmp_path / "out.md").read_text("utf-8")
    assert fence("\n".join(pretty(json.dumps(message, ensure_ascii=False), inline=INLINE)), "json") in transcript

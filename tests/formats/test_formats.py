"""Every format: whatever was on the wire, what is written is what it says it is."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.calls.collection import read_flow
from inspector.calls.variables import check as check_variables
from inspector.calls.variables import names_used
from inspector.formats import WRITABLE
from inspector.journal.journal import Journal
from tests.formats.journals import RECORDINGS, SESSION, exported, hostile, live, opened
from tests.formats.test_pages import Page

pytestmark = pytest.mark.slow


def refuse(word: str) -> None:
    raise AssertionError(f"{word} is not JSON")


def is_document(text: str) -> None:
    assert isinstance(json.loads(text, parse_constant=refuse), dict)


def is_lines(text: str) -> None:
    assert text == "" or text.endswith("\n")
    for line in text.split("\n")[:-1]:
        json.loads(line, parse_constant=refuse)


def is_recording(text: str) -> None:
    """Ours are read leniently: `NaN` may stand in a line that someone wrote by hand."""
    for line in text.split("\n")[:-1]:
        assert isinstance(json.loads(line), dict)


def is_table(text: str) -> None:
    assert text.endswith("\r\n")
    head, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    for row in rows:
        assert len(row) == len(head)
        begun = [cell.lstrip() for cell in row if not re.fullmatch(r"-?[0-9]+", cell)]
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in begun), row
        # Spaces of other widths, such as U+00A0, are not "printable", and do no harm.
        assert all(char.isprintable() or unicodedata.category(char) == "Zs" for cell in row for char in cell)


DIAGRAM_LINE = re.compile(
    r"  (?:participant [CS] as |[CS](?:->>|-->>|-\)|-x)[CS]: |Note (?:over C,S|right of S): )"
    r"(?:[A-Za-z0-9 _/.,()+*'?!@-]|#[0-9]{1,7};)+"
)


def is_diagram(text: str) -> None:
    head, *lines, last = text.split("\n")
    assert (head, last) == ("sequenceDiagram", "")
    assert len(text) < 50_000
    for line in lines:
        assert DIAGRAM_LINE.fullmatch(line), line
        assert not re.search(r"\bend\b", line, re.IGNORECASE)


HAR = jsonschema_rs.validator_for(
    json.loads(Path(__file__).with_name("har.schema.json").read_text()), validate_formats=True
)


def is_archive(text: str) -> None:
    is_document(text)
    archive = json.loads(text)
    HAR.validate(archive)
    for entry in archive["log"]["entries"]:
        phases = sum(value for key, value in entry["timings"].items() if value > 0)
        assert entry["time"] == pytest.approx(phases, abs=0.01)
        content = entry["response"]["content"]
        assert content["size"] >= 0


def are_traces(text: str) -> None:
    is_document(text)
    (resource,) = json.loads(text)["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    ids = {span["spanId"] for span in scope["spans"]}
    assert len(ids) == len(scope["spans"])
    session, *spans = scope["spans"]
    for span in scope["spans"]:
        assert re.fullmatch("[0-9a-f]{32}", span["traceId"])
        assert re.fullmatch("[0-9a-f]{16}", span["spanId"])
        assert 0 <= int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]) < 2**63
        assert span["name"]
        assert len({attribute["key"] for attribute in span["attributes"]}) == len(span["attributes"])
    for span in spans:
        assert span["parentSpanId"] in ids or span["traceId"] != session["traceId"]


def is_page(text: str) -> None:
    assert text.startswith("<!doctype html>\n")
    page = Page(text)
    assert len(page.scripts) == 1
    assert len(page.blocks["rows"]) == len(page.blocks["bodies"])
    assert {len(row) for row in page.blocks["rows"]} <= {14}


def is_mcp_cassette(text: str) -> None:
    is_document(text)
    cassette = json.loads(text)
    assert cassette["format_version"] == 3
    assert cassette["transport"] in ("stdio", "http")
    assert cassette["server_info"] is None or all(isinstance(value, str) for value in cassette["server_info"].values())
    for at, message in enumerate(cassette["messages"]):
        assert message["seq"] == at
        assert message["sender"] in ("client", "server")
        assert message["kind"] in ("request", "response", "notification", "raw", "unclassified")
        assert isinstance(message["payload"], str if message["kind"] == "raw" else dict)
        assert isinstance(message["t_offset_ms"], int)
        assert isinstance(message["method"], (str, type(None)))
        assert isinstance(message["msg_id"], (str, int, type(None)))
        assert isinstance(message["exchange"], (int, type(None)))
        assert message["channel"] in ("post", "get", None)


def is_mcp_recorder_cassette(text: str) -> None:
    is_document(text)
    cassette = json.loads(text)
    assert cassette["version"] == "1.0"
    for interaction in cassette["interactions"]:
        assert interaction["type"] in ("jsonrpc_request", "notification", "lifecycle")
        if interaction["type"] == "lifecycle":
            assert interaction["http_method"] in ("GET", "DELETE")
            continue
        assert isinstance(interaction["request"], dict)
        assert isinstance(interaction["response"], (dict, type(None)))
        assert isinstance(interaction["response_status"], int)
        assert interaction["latency_ms"] >= 0


def is_mcpsnoop_log(text: str) -> None:
    is_lines(text)
    lines = [json.loads(line) for line in text.split("\n")[:-1]]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert lines[0]["direction"] == "meta"
    assert isinstance(lines[0]["raw"]["command"], list)
    for line in lines:
        assert line["direction"] in ("c2s", "s2c", "stderr", "meta")
        assert isinstance(line["session_id"], str)
        assert ("raw" in line) != ("text" in line)
        assert isinstance(line.get("text", ""), str)
        assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?[+-]\d\d:\d\d$", line["ts"])


def is_mcporter_recording(text: str) -> None:
    is_lines(text)
    lines = [json.loads(line) for line in text.split("\n")[:-1]]
    assert [lines[at]["method"] for at in (0, -1)] == ["$transport/start", "$transport/close"]
    for line in lines:
        assert line["_meta"]["dir"] in ("send", "recv", "lifecycle")
        assert line["_meta"]["server"] == lines[0]["_meta"]["server"] != ""


def is_program(text: str) -> None:
    assert text.isascii()
    compile(text, "program", "exec")


def is_script(text: str) -> None:
    assert all(line.isprintable() for line in text.split("\n"))
    done = subprocess.run(["sh", "-n"], input=text.encode(), capture_output=True)
    assert done.returncode == 0, done.stderr


def is_flow(text: str) -> None:
    flow = read_flow(Path("flow.yaml"), text.encode())
    check_variables(flow, {name for name in names_used(flow) if name.startswith("secret")})


CHECKS: dict[str, Callable[[str], None]] = {
    "md": lambda text: None,
    "json": is_document,
    "jsonl": is_lines,
    "recording": is_recording,
    "csv": is_table,
    "html": is_page,
    "har": is_archive,
    "otlp": are_traces,
    "mermaid": is_diagram,
    "curl": is_script,
    "python": is_program,
    "python-sdk": is_program,
    "pytest": is_program,
    "calls": is_flow,
    "mcp-cassette": is_mcp_cassette,
    "mcp-recorder": is_mcp_recorder_cassette,
    "mcpsnoop": is_mcpsnoop_log,
    "mcporter": is_mcporter_recording,
}


def test_every_format_is_read() -> None:
    assert set(CHECKS) == set(WRITABLE)


@pytest.fixture(scope="module", params=["stdio", "http"])
def worst(request: pytest.FixtureRequest) -> Journal:
    return hostile(http=request.param == "http")


@pytest.mark.parametrize("format", WRITABLE)
def test_nothing_on_the_wire_breaks_a_format(format: str, worst: Journal) -> None:
    CHECKS[format](exported(worst, format))
    CHECKS[format](exported(worst, format, range(1, len(worst) + 1, 3)))


@pytest.mark.parametrize("format", WRITABLE)
@pytest.mark.parametrize("name", ["demo-tour", "demo-http", "hostile"])
def test_the_sample_recordings_are_exported(format: str, name: str) -> None:
    text = exported(opened(RECORDINGS / f"{name}.mcp.jsonl"), format)
    CHECKS[format](text)
    assert text == exported(opened(RECORDINGS / f"{name}.mcp.jsonl"), format), "the same again"


@pytest.mark.parametrize("format", WRITABLE)
def test_a_recording_of_nothing_is_exported(format: str) -> None:
    CHECKS[format](exported(Journal.unnamed({}), format))


@pytest.mark.parametrize("format", WRITABLE)
def test_a_torn_recording_is_exported(format: str, tmp_path: Path) -> None:
    torn = tmp_path / "torn.mcp.jsonl"
    torn.write_bytes(SESSION.read_bytes()[:-150])
    CHECKS[format](exported(opened(torn), format))


@pytest.mark.parametrize("format", WRITABLE)
def test_a_recording_of_a_newer_version_is_exported(format: str, tmp_path: Path) -> None:
    newer = tmp_path / "newer.mcp.jsonl"
    newer.write_text('{"format":"mcp-recording","version":99}\n{"something":"else"}\n')
    CHECKS[format](exported(opened(newer), format))


ODD_LINES: list[dict[str, Any] | str] = [
    {"n": -5, "t": -(10**15), "dir": [], "kind": {}, "ch": 5, "raw": 5},
    {"t": 2**61, "dir": "send", "kind": "rpc", "ch": "a\x00b", "raw": '{"id":1,"method":"m"}'},
    {"t": 2**62, "kind": "stderr", "raw": "\x1b"},
    {"kind": "life", "event": {"a": 1}, "for": "x"},
    {"kind": "life", "event": "cancel", "for": 99},
    {"kind": "http", "dir": "send", "url": {"a": 1}, "headers": 7},
    {"kind": "http", "dir": "send", "ch": "post-1", "url": "", "headers": [["a"], [1, 2], "x", ["a", "b", "c"]]},
    {"kind": "http", "dir": "recv", "ch": "post-1", "status": "x", "ms": [], "version": 5, "headers": {"a": 1}},
    {"kind": "rpc", "dir": "recv", "raw": '{"jsonrpc":"2.0","id":{},"result":[]}'},
    {"kind": "rpc", "dir": "recv", "raw": "\ud800", "sse": {"id": {"a": "b"}, "event": 5}},
    {"kind": "rpc", "b64": "!!"},
    {"kind": "note", "finding": {"n": "x"}},
    {"kind": "note", "finding": {"n": 99}},
    {"kind": "auth"},
    {"kind": "sse", "raw": "data", "id": 5},
    {"x": float("nan")},
    "[1, 2",
    "no JSON",
]


@pytest.mark.parametrize("format", WRITABLE)
@pytest.mark.parametrize(
    "started", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59Z", "2026-01-01T00:00:00", "?", 5]
)
def test_clocks_that_no_machine_has_are_exported(format: str, started: Any, tmp_path: Path) -> None:
    file = tmp_path / "clock.mcp.jsonl"
    lines: list[dict[str, Any]] = [{"format": "mcp-recording", "version": 1, "started": started}]
    for t in (2**61, 5, 0):
        lines.append({"t": t, "dir": "send", "kind": "rpc", "ch": "a", "raw": f'{{"id":{t},"method":"m"}}'})
        lines.append({"t": 1, "dir": "recv", "kind": "rpc", "ch": "a", "raw": f'{{"id":{t},"result":1}}'})
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    CHECKS[format](exported(opened(file), format))


@pytest.mark.parametrize("format", WRITABLE)
def test_lines_that_no_writer_of_ours_makes_are_exported(format: str, tmp_path: Path) -> None:
    header = {"format": "mcp-recording", "version": 1, "tool": {"a": 1}, "target": {"label": {"x": 1}, "argv": [1]}}
    file = tmp_path / "odd.mcp.jsonl"
    lines = [header, *ODD_LINES]
    file.write_text(
        "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines), encoding="utf-8"
    )
    journal = opened(file)
    assert len(journal) == len(ODD_LINES)
    CHECKS[format](exported(journal, format))
    for n in range(1, len(journal) + 1):
        CHECKS[format](exported(journal, format, [n]))


@pytest.mark.parametrize("format", WRITABLE)
@settings(max_examples=15, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=5), st.text(max_size=20))
def test_any_bytes_and_any_text_are_exported(format: str, messages: list[bytes], text: str) -> None:
    asked = {"jsonrpc": "2.0", "id": text, "method": text, "params": {"name": text, "uri": text}}
    journal = live(*(message.replace(b"\n", b"") for message in messages))
    journal.record_sent("stdio", json.dumps(asked).encode(), asked)
    journal.record_received("stdio", [json.dumps({"id": text, "error": {"code": 1, "message": text}}).encode()])
    CHECKS[format](exported(journal, format))
    journal.release()

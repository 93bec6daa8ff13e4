"""The sample recordings: whole, readable by everything that reads recordings, and without traces of their maker."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.check.judge.judge import Judge
from inspector.client.recorded_session import RecordedSession
from inspector.config.paths import RECORDING_SUFFIX, data_folder
from inspector.formats import export
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape

FOLDER = Path(__file__).parents[2] / "recordings"
NAMES = ["demo-tour", "demo-http", "hostile"]
MAX_SIZE = 150_000
# Of the requests in each recording, ours and the server's: how they stand in the end.
STATES = {
    "demo-tour": {"DONE": 52, "ERROR": 10, "CANCELLED": 1, "TIMED_OUT": 1, "LOST": 1},
    "demo-http": {"DONE": 8, "ERROR": 1},
    "hostile": {"DONE": 55, "ERROR": 3, "CANCELLED": 4, "LOST": 2},
}
# What the judge says of each, by rule.
RULES = {
    "demo-tour": {"BASE-30", "TOOL-09", "arguments"},
    "demo-http": set[str](),
    "hostile": {
        "BASE-01", "BASE-02", "BASE-03", "BASE-04", "BASE-13", "BASE-14", "BASE-30", "C-PAG-03", "STDIO-01", "STDIO-02",
        "TOOL-04", "UTIL-16",
    },
}  # fmt: skip


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """Each of them."""
    given: str = request.param
    return given


@pytest.fixture
def journal(name: str) -> Iterator[Journal]:
    """The recording, read to its end."""
    opened = Journal.open(FOLDER / f"{name}{RECORDING_SUFFIX}")
    while opened.refresh():
        pass
    yield opened
    opened.release()


def test_there_are_no_others() -> None:
    assert {path.name for path in FOLDER.iterdir() if path.is_file()} == {f"{name}{RECORDING_SUFFIX}" for name in NAMES}
    assert data_folder("recordings").samefile(FOLDER)


def test_it_is_whole(journal: Journal) -> None:
    assert journal.notices == []
    assert not journal.torn
    assert journal.ended is not None
    assert journal.ended["reason"] == "closed"
    counted = (journal.ended["events"], journal.ended["invalid"], journal.ended["errors"])
    assert counted == (len(journal), journal.index.invalid, journal.index.errors)
    assert [event.n for event in journal.events()] == list(range(1, len(journal) + 1))
    assert {event.kind for event in journal.events()}.isdisjoint({Kind.OTHER})


def test_every_request_has_its_answer_or_its_fate(name: str, journal: Journal) -> None:
    index = journal.index
    requests = [n for n in range(1, len(journal) + 1) if index.shape(n) is Shape.REQUEST]
    assert dict(Counter(index.state(n).name for n in requests)) == STATES[name]
    for n in requests:
        answer = index.pair(n)
        if index.state(n) in (State.DONE, State.ERROR):
            assert index.pair(answer) == n
            assert index.dir(answer) is not index.dir(n)
            assert index.shape(answer) is Shape.BATCH or index.method(answer) == index.method(n)


def test_it_is_exported(name: str, journal: Journal) -> None:
    for format in ("md", "json"):
        file = io.StringIO()
        export(journal, format, file)
        text = file.getvalue()
        assert text.endswith("\n")
        if format == "json":
            assert len(json.loads(text)["events"]) == len(journal)
        else:
            assert text.startswith("# ")
            assert "tools/call" in text


def test_the_judge_says_what_is_wrong_and_nothing_else(name: str, journal: Journal) -> None:
    Judge(journal).run_all()
    assert {finding.rule for finding in journal.findings.all()} == RULES[name]


def test_it_tells_nothing_of_who_made_it(name: str) -> None:
    data = (FOLDER / f"{name}{RECORDING_SUFFIX}").read_bytes()
    assert len(data) < MAX_SIZE
    spawns = [json.loads(line) for line in data.split(b"\n") if b'"event":"spawn"' in line]
    assert {event["cwd"] for event in spawns} <= {"/home/ada/inspector"}
    assert {name for event in spawns for name in event["env"]} <= {"HOME", "LANG", "PATH", "TERM"}
    assert str(Path(__file__).parents[2]).encode() not in data
    assert b"/root" not in data


@pytest.mark.parametrize("name", ["demo-tour"], indirect=True)
def test_the_tour_shows_everything(journal: Journal) -> None:
    session = RecordedSession(journal, FOLDER / f"demo-tour{RECORDING_SUFFIX}")
    while session.advance():
        pass
    catalog = session.catalog
    assert session.server.name
    assert [len(found) > 4 for found in catalog.lists.values()] == [True] * 4
    assert [found.complete for found in catalog.lists.values()] == [True] * 4
    topics = [(asked.topic, asked.mode, asked.state) for asked in session.inbox.questions if asked.mode]
    assert topics == [
        ("sampling", "form", "answered"),
        ("sampling", "form", "declined"),
        ("elicitation", "form", "answered"),
        ("elicitation", "form", "declined"),
        ("elicitation", "form", "cancelled"),
        ("elicitation", "url", "declined"),
        ("roots", "form", "answered"),
    ]
    told = Counter(event.message["method"] for event in journal.events() if event.shape is Shape.NOTIFICATION)
    assert told["notifications/progress"] > 8
    assert told["notifications/message"] > 5
    assert {"notifications/cancelled", "notifications/resources/updated", "notifications/tools/list_changed"} <= set(
        told
    )
    assert any(event.kind is Kind.STDERR for event in journal.events())


@pytest.mark.parametrize("name", ["demo-http"], indirect=True)
def test_the_session_over_http_shows_streams_and_a_resumption(journal: Journal) -> None:
    fields = [event.fields for event in journal.events() if event.kind is Kind.HTTP]
    assert {field["method"] for field in fields if "method" in field} == {"POST", "GET", "DELETE"}
    assert {field["url"] for field in fields if "url" in field} == {"http://127.0.0.1:8000/mcp"}
    assert any(event.fields.get("event") == "reconnect" for event in journal.events())
    assert any(event.kind is Kind.SSE for event in journal.events())


@pytest.mark.parametrize("name", ["hostile"], indirect=True)
def test_the_hostile_one_has_what_cannot_be_read(journal: Journal) -> None:
    received = [event for event in journal.events() if event.dir is Dir.RECV]
    assert sum(event.kind is Kind.INVALID for event in received) == 7
    assert any(event.data is not None for event in received)
    assert any("\u2028" in event.text and "\u0085" in event.text for event in received)
    assert any("\x1b" in json.dumps(event.message, ensure_ascii=False) or "\\u001b" in event.text for event in received)
    assert any(event.fields.get("cut") for event in received)

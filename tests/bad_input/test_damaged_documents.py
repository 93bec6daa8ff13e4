"""Documents of others, right but for a few members, are read or refused: never a crash, whatever the members are.

Each reader gets a document that is right, with one to three of its parts replaced, removed, or repeated.
"""

from __future__ import annotations

import copy
import io
import json
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.calls.collection import read_environment, read_flow
from inspector.calls.variables import check as check_variables
from inspector.calls.yaml_text import CallsError
from inspector.check.run import of_recording
from inspector.check.selection import CheckSelection
from inspector.client.recorded_session import RecordedSession
from inspector.config.targets import RecordingTarget
from inspector.doctor.recording import diagnose_recording
from inspector.errors import InspectorError, UsageError
from inspector.features.apps.page import read_page
from inspector.features.cards.consistency import LiveFacts, compare_card
from inspector.features.cards.documents import card_problems, disclosures, is_catalog, listed_parts, read_catalog
from inspector.features.cards.registries import read_listing, start_facts
from inspector.features.events.protocol import event_page, event_type
from inspector.features.events.subscription import Subscription, argument_problem, data_check
from inspector.features.events.webhook import Delivery, refresh_after, verify
from inspector.features.skills.entries import read_entry
from inspector.features.skills.observed import SkillLog
from inspector.features.skills.verify import FrontMatterError, check_result, differences, read_front_matter
from inspector.formats import otlp
from inspector.hosts import ServerDefinitions, evaluate, host_facts
from inspector.hosts.evaluation import EvaluatedResult
from inspector.journal.format import header_line
from inspector.journal.journal import Journal, whole_journal
from inspector.protocol.app_definitions import is_for_model, tool_app, unused_pages
from inspector.redact.recording import Redaction
from inspector.redact.rules import read_rules
from tests.features.apps.test_page import URI as PAGE_URI
from tests.features.apps.test_page import answer as page_answer
from tests.features.cards.test_discovery import CARD, ENTRY, HOME, catalog
from tests.features.cards.test_registries import WRAPPED
from tests.features.events.test_protocol import TIDE
from tests.features.events.test_subscription import POLLED, happened
from tests.features.events.test_webhook import AT, BODY, HEADERS, SECRET
from tests.features.skills.conftest import FRONT, ROOT, SKILL_MD, entry
from tests.hosts.servers import GOOD_TOOL

DEEP: Any = []
for _ in range(900):
    DEEP = [DEEP]

# What a member may be instead: each is valid JSON.
HOSTILE = [
    None, True, False, 0, 1, -1, 0.5, 1e308, 10**400, "", " ", "x", "\ud800", "\x00\x1b[2J", "x" * 5000, "9" * 5000, [], {},
    [[]], [None], {"": None}, {"a": {}}, [1, "2"], DEEP, [{}] * 300, "0001-01-01T00:00:00", "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59", "https://", "https://[", "http://x:99999999/", "skill:", "../../x", "%", "%zz", "{", "{{x}}",
    "(a+)+$", "[", "$ref", "#/x", "²", "-0", "NaN", "latest", "application/json", "push", "poll", "stdio", "ui://", ["push"],
    {"$ref": "#"}, {"type": "object", "properties": {"a": {"$ref": "#"}}}, {"enum": [{}]}, {"pattern": "("}, {"type": []},
]  # fmt: skip


def places(document: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all parts of a document, its own first."""
    items: Any = document.items() if type(document) is dict else enumerate(document) if type(document) is list else ()
    return [at, *(place for key, value in items for place in places(value, (*at, key)))]


def changed(document: Any, place: tuple[Any, ...], change: Any) -> Any:
    """The document with one part changed: `change` is "remove", "repeat", or a list with the value to put there."""
    if not place:
        return change[0] if type(change) is list else document
    first, rest = place[0], place[1:]
    if type(document) not in (dict, list) or not (
        first in document if type(document) is dict else type(first) is int and first < len(document)
    ):
        return document  # Another change removed it.
    made = copy.copy(document)
    if rest or type(change) is list:
        made[first] = changed(made[first], rest, change)
    elif change == "repeat" and type(made) is list:
        made += [made[first]] * 3
    elif change == "repeat":
        made[f"{first}2"] = made[first]
    else:
        del made[first]
    return made


def damaged(document: Any) -> st.SearchStrategy[Any]:
    """The document with one to three changes."""
    change = st.sampled_from(["remove", "repeat"]) | st.sampled_from(HOSTILE).map(lambda value: [value])

    def applied(changes: list[tuple[tuple[Any, ...], Any]]) -> Any:
        made = document
        for place, what in changes:
            made = changed(made, place, what)
        return made

    return st.lists(st.tuples(st.sampled_from(places(document)), change), min_size=1, max_size=3).map(applied)


def damaged_text(text: bytes) -> st.SearchStrategy[bytes]:
    """The text with one to three pieces inserted or cut out."""
    pieces = st.sampled_from([
        b"", b"\n", b"\r\n", b" ", b"\t", b":", b": ", b"- ", b"---\n", b"...\n", b"&a ", b"*a", b"!!x ", b"<<: ", b"|\n", b">",
        b"'", b'"', b"{", b"[" * 2000, b"{a: " * 500, b"]", b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"%", b"#",
        b"? ", b"\xc2\x85", b"\xe2\x80\xa8", b"{{", b"{{uuid}}", b"0x", b"1e999", b".inf", b"9" * 5000, b"null", b"a" * 3000,
    ])  # fmt: skip

    def applied(changes: list[tuple[int, int, bytes]]) -> bytes:
        made = text
        for at, cut, piece in changes:
            made = made[:at] + piece + made[at + cut :]
        return made

    change = st.tuples(st.integers(0, len(text)), st.sampled_from([0, 0, 1, 3, 20]), pieces)
    return st.lists(change, min_size=1, max_size=3).map(applied)


# Readers. Each does with the document what the program does with it.


def read_skill(document: Any) -> None:
    skill = read_entry(document)
    for file in skill.files:
        check_result(skill, file, {"contents": [{"uri": file.uri, "text": SKILL_MD.decode()}]}).as_json()


def read_skill_answer(document: Any) -> None:
    skill = read_entry(entry())
    for file in skill.files:
        check_result(skill, file, document).as_json()


def read_card(document: Any) -> None:
    live = LiveFacts(f"{HOME}/mcp", "streamable-http", {"name": "tides", "version": "2"}, ("2025-11-25",), True)
    list(card_problems(document)), list(disclosures(document, "harbour.example")), listed_parts(document)
    if type(document) is dict:
        list(compare_card(document, live))


def read_card_catalog(document: Any) -> None:
    list(disclosures(document, "harbour.example"))
    if is_catalog(document):
        for kind in ("card", "catalog", "other", "invalid"):
            read_catalog(document).of_kind(kind)


def read_registry(document: Any) -> None:
    try:
        listing = read_listing(document)
    except UsageError:
        return
    listing.matching("tide x")
    for server in listing.servers:
        json.dumps(server.as_json())
        for choice in server.choices:
            list(start_facts(choice, {"TIDES_KEY": "x"}))


def read_event_type(document: Any) -> None:
    for event in event_page({"events": [document]}).types:
        argument_problem(event, {"pier": 3})
        check = data_check(event)
        if check is not None:
            check({"pier": 3})


def followed() -> Subscription:
    event = event_type(TIDE)
    return Subscription(event, {"pier": 3}, data_check(event))


def read_poll(document: Any) -> None:
    subscription = followed()
    subscription.polled({"events": [happened()], "cursor": "c"}, 1, 1.0)
    subscription.polled(document, 2, 2.0)
    subscription.counts.as_json(), subscription.params()


def read_notifications(document: Any) -> None:
    subscription = followed()
    subscription.notified("event", happened(), 1, 1.0)
    for method in ("event", "active", "heartbeat", "error", "terminated", "\x00other"):
        subscription.notified(method, document, 2, 2.0)


def read_delivery(document: Any) -> None:
    verify([SECRET], Delivery(HEADERS, json.dumps(document).encode()), AT)
    refresh_after(document.get("timestamp") if type(document) is dict else document)


def read_app(document: Any) -> None:
    app = tool_app(document)
    is_for_model(document), unused_pages([document], [{"uri": "ui://x"}, document]), app.problems


def read_app_page(document: Any) -> None:
    page = read_page(PAGE_URI, document)
    _ = page.all_problems, page.warnings, page.text, page.title, page.policy


def read_tool(document: Any) -> None:
    made = document if type(document) is dict else {}
    results = [EvaluatedResult("get_order", made), EvaluatedResult("get_order", {"content": [document]})]
    server = ServerDefinitions.of("shop", [document, GOOD_TOOL], document, results)
    for note in evaluate(server, host_facts().facts):
        _ = note.actual, note.limit


TOOL = GOOD_TOOL | {"_meta": {"ui": {"resourceUri": "ui://shop/order", "visibility": ["model", "app"]}}}
READERS: dict[str, tuple[Any, Callable[[Any], None]]] = {
    "skill": (entry(), read_skill),
    "skill file": ({"contents": [{"uri": f"{ROOT}/SKILL.md", "text": SKILL_MD.decode()}]}, read_skill_answer),
    "card": (CARD, read_card),
    "catalog": (catalog(ENTRY, {"identifier": "urn:air:a:b:c", "type": "x", "data": CARD}), read_card_catalog),
    "registry": ({"servers": [WRAPPED, WRAPPED["server"]]}, read_registry),
    "event type": (TIDE, read_event_type),
    "poll": (POLLED | {"events": [happened(), happened("e-2")]}, read_poll),
    "notification": (
        happened(cursor="c2") | {"error": {"code": -32001, "message": "x", "data": {"reason": "x"}}},
        read_notifications,
    ),
    "delivery": (json.loads(BODY), read_delivery),
    "app": (TOOL, read_app),
    "page": (page_answer(), read_app_page),
    "tool for hosts": (TOOL, read_tool),
}


@pytest.mark.parametrize("name", READERS)
@given(st.data())
def test_a_damaged_document_is_read_or_refused(name: str, data: st.DataObject) -> None:
    document, read = READERS[name]
    read(data.draw(damaged(document)))


@given(damaged_text(SKILL_MD))
def test_damaged_front_matter_is_read_or_refused(text: bytes) -> None:
    try:
        found = read_front_matter(text)
    except FrontMatterError:
        return
    json.dumps(found.values)
    differences(FRONT, found.values)


FLOW = b"""inspector: 1
name: Order
variables: {n: 1, key: {default: a}}
steps:
  - call: create_order
    with: {item: "{{item}}", note: "{{uuid}}"}
    save: {id: structured.id}
    expect:
      structured: {id: {type: integer}, lines: {length: 1}}
      time: {at_most: 2 s}
  - read: order://{{id}}
    repeat: {until: {text: {matches: "^a+$"}}, every: 1 s, at_most: 5}
"""
ENVIRONMENT = b"inspector: 1\nvariables: {item: tea}\nsecrets: {key: env:KEY}\n"


@given(damaged_text(FLOW))
def test_a_damaged_flow_is_read_or_refused(text: bytes) -> None:
    with suppress(CallsError):
        check_variables(read_flow(Path("x.yaml"), text), ["item"])


@given(damaged_text(ENVIRONMENT))
def test_a_damaged_environment_is_read_or_refused(text: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "local.env.yaml"
        path.write_bytes(text)
        with suppress(CallsError):
            read_environment(path)


CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "arguments": {"token": "s"}}}
LISTED = {"jsonrpc": "2.0", "id": 2, "method": "skills/list", "params": {}}
RECORDED = [
    {"started": "2026-01-02T03:04:05Z", "target": {"kind": "stdio", "argv": ["server"]}, "bundle": {"made": "x", "doctor": {}}},
    {"n": 1, "t": 0, "dir": "send", "kind": "rpc", "ch": "stdio", "raw": json.dumps(CALL)},
    {"n": 2, "t": 9, "dir": "recv", "kind": "rpc", "ch": "stdio", "raw": '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'},
    {"n": 3, "t": 9, "dir": "send", "kind": "rpc", "ch": "stdio", "raw": json.dumps(LISTED)},
    {"n": 4, "t": 12, "dir": "recv", "kind": "rpc", "ch": "stdio",
     "raw": json.dumps({"jsonrpc": "2.0", "id": 2, "result": {"skills": [entry()]}})},
    {"n": 5, "t": 20, "dir": "local", "kind": "mark", "for": 2, "text": "note"},
    {"n": 6, "t": 21, "dir": "local", "kind": "mark", "for": 2, "off": True},
    {"kind": "end", "events": 6},
]  # fmt: skip


@given(damaged(RECORDED))
def test_a_damaged_recording_is_marked_bundled_and_exported(document: Any) -> None:
    """Marks, the bundle, spans of OTLP, skills, the doctor."""
    lines = document if type(document) is list else [document]
    head = lines[0] if lines and type(lines[0]) is dict else {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.mcp.jsonl"
        path.write_bytes(header_line(head) + b"".join(json.dumps(line).encode() + b"\n" for line in lines[1:]))
        try:
            journal = Journal.open(path)
        except InspectorError:
            return
        while journal.refresh():
            pass
        RecordedSession(journal, path).advance()
        if len(journal):
            journal.mark(1, "seen")
        SkillLog(journal).advance()
        otlp.write(journal, io.StringIO(), None)
        _ = journal.clock(5).astimezone()
        journal.release()
        diagnose_recording(RecordingTarget(path)).as_json()
        Redaction(path, read_rules((), ()), about={"bundle": {}}).write(io.BytesIO())
        with whole_journal(path) as again:
            assert not len(again) or again.marks.of(1) is not None


def test_an_event_without_a_name_is_no_beginning(tmp_path: Path) -> None:
    path = tmp_path / "x.mcp.jsonl"
    line = {"n": 1, "t": 1, "dir": "local", "kind": "life", "ch": "", "event": []}
    path.write_bytes(header_line({}) + json.dumps(line).encode() + b"\n")
    with whole_journal(path) as journal:
        session = RecordedSession(journal, path)
        session.advance()
        assert session.phase == "ready"
        assert of_recording(journal, "x", CheckSelection()).problem

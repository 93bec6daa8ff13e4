"""The summary of an event in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.protocol.summaries import MAX_READ
from inspector.text import SIGNS
from inspector.tui.log.labels import id_text, sign_of, subject, title
from inspector.tui.log.summaries import result_summary, summary
from tests.tui.recorded_conversation import Talk, example

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = "content structuredContent tools contents messages completion serverInfo isError task".split()  # fmt: skip


def plain(pieces: Any) -> str:
    return "".join(piece if isinstance(piece, str) else piece[0] for piece in pieces).strip()


@pytest.mark.parametrize(("method", "result", "words"), [
    ("initialize", {"serverInfo": {"name": "everything", "version": "2.1"}}, "everything 2.1"),
    ("initialize", {"serverInfo": {"name": "e", "title": "Every", "version": "2"}}, "Every 2"),
    ("initialize", {}, "(unnamed)"),
    ("tools/list", {"tools": [{}] * 17}, "17 tools"),
    ("tools/list", {"tools": [{}], "nextCursor": "x"}, "1 tool, more to come"),
    ("resources/templates/list", {"resourceTemplates": []}, "0 templates"),
    ("tools/call", {"content": [{"type": "text", "text": "\n# Revenue\n\nUp"}]}, "# Revenue  +2 lines"),
    ("tools/call", {"content": [{"type": "text", "text": "paid"}], "structuredContent": {"paid": True}}, "paid"),
    ("tools/call", {"content": [{"type": "text", "text": '[{"a": 1}, {"a": 2}]'}]}, "2 rows"),
    ("tools/call", {"content": [], "structuredContent": {"result": [{"a": 1}] * 500}}, "500 rows"),
    ("tools/call", {"content": [], "structuredContent": {"orders": [{}] * 48, "total": 90}}, "total 90, 48 orders"),
    ("tools/call", {"content": [], "structuredContent": {"orders": [{}] * 48}}, "48 orders"),
    ("tools/call", {"content": [], "structuredContent": {"errors": [{}], "status": "failed"}},
     "status failed, 1 error"),
    ("tools/call", {"content": [], "structuredContent": {"orders": []}}, "0 orders"),
    ("tools/call",
     {"content": [], "structuredContent": {"hours": [1, 2], "place": {"x": 1}, "city": "Lima", "sun": True}},
     "city Lima, sun true, hours 2 items, place"),
    ("tools/call", {"content": [{"type": "text", "text": '{"hours": [1, 2], "city": "Lima"}'}]},
     "city Lima, hours 2 items"),
    ("tools/call", {"content": [], "structuredContent": {"result": "words\nmore"}}, "words"),
    ("tools/call", {"content": [], "structuredContent": {"result": '{\n "board": "home",\n "tasks": [{}, {}]\n}'}},
     "board home, 2 tasks"),
    ("tools/call", {"content": [], "structuredContent": {"result": "[stderr]: oops\n[exit code]: 3"}}, "[stderr]: oops"),
    ("tools/call", {"task": {"taskId": "t", "status": "working", "statusMessage": "40%"}}, "task working  40%"),
    ("tools/call", {"content": [], "structuredContent": {"a": 1, "b": 2}}, "a 1, b 2"),
    ("tools/call", {"isError": True, "content": [{"type": "text", "text": "declined"}]}, "isError: declined"),
    ("tools/call", {"isError": True}, "isError: nothing"),
    (
        "tools/call",
        {"isError": True, "content": [{"type": "text", "text": '{\n  "error": "no table"\n}'}]},
        "isError: error no table",
    ),
    ("tools/call", {"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]}, "image/png 3 B"),
    ("tools/call", {"resultType": "input_required", "inputRequests": {"a": {"method": "x/y"}}},
     "input_required x/y"),
    ("resources/read", {"contents": [{"uri": "a:b", "text": "words"}]}, "words"),
    ("resources/read", {"contents": [{"uri": "a:b", "text": '{\n  "language": "en"\n}'}]}, "language en"),
    ("resources/read", {"contents": [{"uri": "a:b", "mimeType": "t/x", "blob": "AAAA"}]}, "t/x 3 B"),
    ("prompts/get", {"messages": [{"content": {"type": "text", "text": "do"}}]}, "1 message  do"),
    ("completion/complete", {"completion": {"values": ["a", "b"], "total": 9}}, '2 of 9 values  "a", "b"'),
    ("elicitation/create", {"action": "accept", "content": {"ok": True}}, "accept ok true"),
    ("roots/list", {"roots": [{}, {}]}, "2 roots"),
    ("sampling/createMessage", {"role": "assistant", "content": {"type": "text", "text": "haiku"}}, "haiku"),
    ("ping", {}, "empty result"), ("x/y", {"one": 1}, "one 1"),
    ("x/y", {str(n): n for n in range(20)}, "0 0, 1 1, 2 2, 3 3, 4 4, 5 5, 6 6, 7 7, …"),
    ("tools/call", [1], "the result is not an object: [1]"),
])  # fmt: skip
def test_a_result_is_reported_by_what_matters_in_it(method: str, result: Any, words: str) -> None:
    assert plain(result_summary(method, result)) == words


@given(
    st.sampled_from(["initialize", "tools/call", "resources/read", "prompts/get", "completion/complete", "tools/list"]),
    st.dictionaries(st.sampled_from(MEMBERS), JSON, max_size=4) | JSON,
)
def test_a_result_of_any_shape_has_a_summary(method: str, result: Any) -> None:
    assert isinstance(plain(result_summary(method, result)), str)


@pytest.mark.parametrize(("method", "params", "words"), [
    ("tools/call", {"name": "echo"}, "tools/call echo"),
    ("resources/read", {"uri": "file:///x"}, "resources/read file:///x"),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}}, "completion/complete p"),
    ("tools/list", {"cursor": "abc"}, "tools/list cursor abc"),
    ("logging/setLevel", {"level": "debug"}, "logging/setLevel debug"),
    ("elicitation/create", {"message": "May I?"}, "elicitation/create May I?"),
    ("sampling/createMessage", {"messages": [{"content": {"type": "text", "text": "hi"}}]},
     "sampling/createMessage hi"),
    ("tools/call", {"name": {"not": "text"}}, "tools/call"),
    ("tools/call", [], "tools/call"),
])  # fmt: skip
def test_a_request_is_reported_by_its_method_and_what_it_is_about(method: str, params: Any, words: str) -> None:
    talk = Talk()
    assert plain(summary(talk.journal, talk.ask(1, method, params))) == words


@pytest.mark.parametrize(("method", "params", "words"), [
    ("progress", {"progress": 3, "total": 5, "message": "soon"}, "progress 3 of 5  soon"),
    ("message", {"level": "error", "data": {"a": 1}}, 'log error {"a": 1}'),
    ("cancelled", {"requestId": 1, "reason": "bored"}, "cancelled bored"),
    ("cancelled", {"requestId": 1, "reason": "cancelled by the user"}, "cancelled by the user"),
    ("tools/list_changed", {}, "notifications/tools/list_changed"),
    ("resources/updated", {"uri": "a:b"}, "notifications/resources/updated a:b"),
])  # fmt: skip
def test_a_notification_says_what_it_says(method: str, params: Any, words: str) -> None:
    talk = Talk()
    assert plain(summary(talk.journal, talk.notice(method, **params))) == words


@pytest.mark.parametrize(("event", "fields", "words"), [
    ("spawn", {"argv": ["npx", "-y", "x"]}, "started npx -y x"),
    ("exit", {"status": 3}, "the server exited: status 3"),
    ("exit", {"status": -9, "signal": 9, "by": "us"}, "Inspector stopped the server: signal 9"),
    ("ready", {"revision": "2025-11-25", "era": "legacy", "transport": "stdio"},
     "ready 2025-11-25 legacy over stdio"),
    ("failed", {"error": {"message": "refused"}}, "no connection: refused"),
    ("cancel", {"for": 1, "reason": "by the user"}, "cancelled by us: by the user"),
    ("cancel", {"for": 1, "reason": "cancelled by the user"}, "cancelled by the user"),
    ("timeout", {"for": 1, "reason": "timed out"}, "timed out"),
    ("questions-declined", {"count": 1, "open": 1000}, "1 question declined unseen: 1,000 others waited"),
    ("questions-declined", {"count": 300, "open": "x"}, "300 questions declined unseen: 0 others waited"),
    ("questions-declined", {"count": 10**4000, "open": -1}, "0 questions declined unseen: 0 others waited"),
    ("reading-paused", {}, "reading paused: the server does not read our responses"),
    ("reconnect", {"attempt": 2, "after": "id-7"}, "reconnect  attempt 2  after id-7"),
])  # fmt: skip
def test_what_happened_to_the_connection_is_reported_in_words(event: str, fields: Any, words: str) -> None:
    talk = Talk()
    assert plain(summary(talk.journal, talk.journal.record_life("stdio", event, **fields))) == words


def test_http_heads_are_reported_by_method_and_status_and_a_step_of_a_login_by_its_decision() -> None:
    journal = Talk().journal
    journal.record_http("post-1", Dir.SEND, method="POST", url="https://x.example/mcp", headers=[])
    journal.record_http("post-1", Dir.RECV, status=404, reason="Not Found", headers=[("Content-Type", "text/plain")])
    journal.record_sse("post-1", "", id="7", retry=3000)
    journal.record_auth("issuer", False, "The issuer is another one.", rule="RFC 8414")
    assert [plain(summary(journal, n)) for n in (1, 2, 3, 4)] == [
        "POST https://x.example/mcp",
        "404 Not Found  text/plain",
        "id 7 retry 3000",
        "issuer The issuer is another one.",
    ]


def test_a_large_message_is_not_read_for_its_summary() -> None:
    talk = Talk()
    talk.call(1, "echo")
    n = talk.say(1, "x" * MAX_READ)
    talk.journal.event = None  # type: ignore[method-assign, assignment]
    assert plain(summary(talk.journal, n)) == "a result of 262 kB"


def test_a_line_of_a_newer_format_is_shown_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.mcp.jsonl"
    path.write_text('{"format":"mcp-recording","version":9}\n{"what": "ever"}\n')
    journal = Journal.open(path)
    journal.refresh()
    assert plain(summary(journal, 1)) == 'line {"what": "ever"}'


def test_events_wear_signs_and_ids() -> None:
    journal = example().journal
    labels = [(sign_of(journal.index, n, SIGNS)[0], id_text(journal.index, n)) for n in range(1, 12)]
    assert labels == [
        ("▪", ""), ("→", "1"), ("←", "1"), ("→", "2"), ("↻", "2"), ("↯", ""), ("←", "2"), ("→", "3"), ("←", "3"),
        ("▪", ""), ("←", ""),
    ]  # fmt: skip
    assert sign_of(journal.index, 9, SIGNS)[1] == "error"


def test_a_title_names_the_exchange() -> None:
    journal = example().journal
    assert plain(title(journal, 7, SIGNS)) == "← 2  tools/call echo"
    assert plain(title(journal, 9, SIGNS)) == "✗ 3  tools/call pay"
    assert plain(title(journal, 5, SIGNS)) == "↻ 2  progress"
    assert plain(subject(journal, 11)) == "not JSON: Server running on port 3000"


def test_an_event_about_a_request_names_it() -> None:
    talk = Talk()
    request = talk.call(1, "crash")
    journal = talk.journal
    n = journal.record_life("", "lost", **{"for": request, "by": "server"})
    assert plain(summary(journal, n)) == "tools/call crash lost its connection"
    for other in (n + 1, 10**9, "x", None):
        n = journal.record_life("", "lost", **{"for": other})
        assert plain(summary(journal, n)) == "a request lost its connection"

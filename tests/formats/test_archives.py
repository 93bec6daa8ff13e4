"""HAR: what went over HTTP as it was, what crossed stdio as requests that are plainly made up."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any

import pytest

from inspector.formats.har import _url
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from tests.formats.journals import RECORDINGS, call, exported, live, opened, result


def entries(journal: Journal, numbers: Iterable[int] | None = None) -> list[dict[str, Any]]:
    har_entries: list[dict[str, Any]] = json.loads(exported(journal, "har", numbers))["log"]["entries"]
    return har_entries


def over_http() -> Journal:
    return opened(RECORDINGS / "demo-http.mcp.jsonl")


def test_each_http_request_is_an_entry_with_its_head_body_and_times() -> None:
    journal = over_http()
    first, *rest = entries(journal)
    assert len(rest) + 1 == sum(1 for event in journal.events() if event.kind_name == "http" and event.dir is Dir.SEND)
    asked, answered = first["request"], first["response"]
    assert (asked["method"], asked["url"]) == ("POST", "http://127.0.0.1:8000/mcp")
    assert {"name": "Content-Length", "value": "265"} in asked["headers"]
    assert json.loads(asked["postData"]["text"])["method"] == "initialize"
    assert asked["bodySize"] == len(asked["postData"]["text"]) == 265
    assert (answered["status"], answered["statusText"], answered["httpVersion"]) == (200, "OK", "HTTP/1.1")
    assert json.loads(answered["content"]["text"])["result"]["serverInfo"]["name"] == "inspector-demo"
    assert answered["content"]["size"] == 1658
    assert first["timings"]["connect"] == 94.096
    assert first["timings"]["wait"] == round(96.23 - 94.096, 3)
    assert first["serverIPAddress"] == "127.0.0.1"
    assert "_synthetic" not in first
    started = [entry["startedDateTime"] for entry in (first, *rest)]
    assert started == sorted(started)


def test_a_stream_is_the_body_of_its_response() -> None:
    journal = over_http()
    slow = next(entry for entry in entries(journal) if '"slow"' in entry["request"].get("postData", {}).get("text", ""))
    body = slow["response"]["content"]["text"]
    assert body.startswith("id: 5.1\ndata: \n\nid: 5.2\ndata: {")
    assert body.count("notifications/progress") == 4
    assert slow["response"]["content"]["mimeType"] == "text/event-stream"
    assert slow["timings"]["receive"] > 200


def test_a_resumed_stream_is_an_entry_of_its_own() -> None:
    gets = [entry for entry in entries(over_http()) if entry["request"]["method"] == "GET"]
    assert len(gets) > 1
    assert all("postData" not in entry["request"] for entry in gets)
    assert any(pair["name"] == "Last-Event-ID" for entry in gets for pair in entry["request"]["headers"])


def test_a_request_is_chosen_with_whatever_belongs_to_it() -> None:
    journal = over_http()
    (entry,) = entries(journal, [30])
    assert '"slow"' in entry["request"]["postData"]["text"]
    content = entry["response"]["content"]
    assert content["text"].count("data: ") == 1
    assert content["comment"].endswith("are omitted.")
    for n in (20, 21, 22, 23):
        (entry,) = entries(journal, [n])
        assert entry["response"]["content"]["text"]


def test_a_body_that_is_not_utf_8_is_base64() -> None:
    journal = Journal.unnamed({})
    call(journal, 1, "x", {}, None, "post-1")
    journal.record_http("post-1", Dir.SEND, method="POST", url="http://h/?a=1&b=", headers=[("Cookie", "a=b")])
    journal.record_http("post-1", Dir.RECV, status=200, reason="OK", version="HTTP/1.1", headers=[], ms=1)
    journal.record_received("post-1", [b'{"result":"\xff"}'])
    (entry,) = entries(journal)
    content = entry["response"]["content"]
    assert (content["encoding"], base64.b64decode(content["text"])) == ("base64", b'{"result":"\xff"}')
    assert entry["request"]["queryString"] == [{"name": "a", "value": "1"}, {"name": "b", "value": ""}]


def test_a_request_without_an_answer_says_so() -> None:
    journal = Journal.unnamed({})
    call(journal, 1, "x", {}, None, "post-1")
    journal.record_http("post-1", Dir.SEND, method="POST", url="http://h/", headers=[])
    (entry,) = entries(journal)
    assert (entry["response"]["status"], entry["comment"]) == (0, "No response was received.")


def test_a_body_that_was_recorded_after_its_head_belongs_to_it() -> None:
    journal = Journal.unnamed({})
    for id in (1, 2):
        journal.record_http("post-1", Dir.SEND, method="POST", url=f"http://h/{id}", headers=[])
        call(journal, id, "x", {}, None, "post-1")
        journal.record_http("post-1", Dir.RECV, status=200, reason="OK", version="HTTP/1.1", headers=[], ms=1)
        journal.record_received("post-1", [result(id, {})])
    har_entries = entries(journal)
    assert [json.loads(entry["request"]["postData"]["text"])["id"] for entry in har_entries] == [1, 2]
    assert [json.loads(entry["response"]["content"]["text"])["id"] for entry in har_entries] == [1, 2]


def test_a_request_that_was_sent_twice_has_its_body_twice() -> None:
    journal = Journal.unnamed({"url": "http://h/"})
    call(journal, 1, "x", {}, None, "post-1")
    for status in (401, 200):
        headers = [("Authorization", "Bearer abcdefgh")] if status == 200 else []
        journal.record_http("post-1", Dir.SEND, method="POST", url="http://h/", headers=headers)
        journal.record_http("post-1", Dir.RECV, status=status, reason="", version="HTTP/1.1", headers=[], ms=1)
    journal.record_received("post-1", [result(1, {})])
    har_entries = entries(journal)
    assert [entry["response"]["status"] for entry in har_entries] == [401, 200]
    assert [json.loads(entry["request"]["postData"]["text"])["id"] for entry in har_entries] == [1, 1]
    script = exported(journal, "curl")
    assert script.count("--data-binary") == 1
    assert '"$INSPECTOR_TOKEN"' in script


def test_more_channels_than_the_index_tells_apart_are_reported_apart() -> None:
    journal = Journal.unnamed({})
    names = journal.index.channels
    for number in range(1, 0xFFFF):
        names.numbers[f"c{number}"] = number
        names.texts.append(f"c{number}")
    for channel in ("post-1", "post-2", "post-3"):
        call(journal, channel, channel, {}, None, channel)
        journal.record_http(channel, Dir.SEND, method="POST", url=f"http://h/{channel}", headers=[])
    for channel in ("post-2", "post-3", "post-1"):
        journal.record_http(channel, Dir.RECV, status=200, reason="OK", version="HTTP/1.1", headers=[], ms=1)
        journal.record_received(channel, [result(channel, channel)])
    assert len({journal.index.channel(n) for n in range(4, len(journal) + 1)}) == 1
    for entry in entries(journal):
        channel = entry["request"]["url"].rpartition("/")[2]
        assert json.loads(entry["response"]["content"]["text"])["result"] == channel
        assert json.loads(entry["request"]["postData"]["text"])["id"] == channel


def test_what_crossed_stdio_is_plainly_made_up() -> None:
    journal = live()
    call(journal, 1, "tools/call", {"name": "a b/c"}, result(1, {}))
    journal.record_received("stdio", [b'{"method":"notifications/x"}', b'{"id":5,"method":"roots/list"}', b"noise"])
    call(journal, 2, "ping", None, b'{"id":2,"error":{}}')
    har_entries = entries(journal)
    assert [entry["request"]["url"] for entry in har_entries] == [
        "http://stdio.invalid/tools/call/a%20b%2Fc",
        "http://client.stdio.invalid/notifications/x",
        "http://client.stdio.invalid/roots/list",
        "http://client.stdio.invalid/message",
        "http://stdio.invalid/ping",
    ]
    assert all(entry["_synthetic"] and "stdio" in entry["comment"] for entry in har_entries)
    assert [entry["response"]["statusText"] for entry in har_entries] == ["result", "", "", "", "error"]
    assert entries(journal, [2])[0]["_event"] == 1


@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("https://h:8443/a?b=c#d", "https://h:8443/a?b=c#d"),
        ("http://h/‹redacted ab›?x=%41&y=100%#a#b", "http://h/%E2%80%B9redacted%20ab%E2%80%BA?x=%41&y=100%25#a%23b"),
        ("http://[::1]:80/", "http://[::1]:80/"),
        ("http://[x/", "http://unknown.invalid/"),
        ("http://h:x/", "http://unknown.invalid/"),
        ("javascript:alert(1)", "http://unknown.invalid/"),
        ({"a": 1}, "http://unknown.invalid/"),
    ],
)
def test_an_address_is_one_for_every_reader(url: Any, written: str) -> None:
    assert _url(url) == written

"""The demo's lists, resources, prompts and completions, and how they change."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.demo.demo_client import EVERYTHING, MemoryPeer, Peer, StdioPeer, text_of

Connect = Callable[..., MemoryPeer]


def walk(peer: Peer, method: str, key: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    page = peer.ask(method)
    while True:
        entries += page[key]
        if "nextCursor" not in page:
            return entries
        page = peer.ask(method, {"cursor": page["nextCursor"]})


def test_resources_come_in_pages_of_a_hundred_without_gaps_or_repeats(shared: StdioPeer) -> None:  # UTIL-01, UTIL-02
    first = shared.ask("resources/list")
    assert len(first["resources"]) == 100
    assert shared.ask("resources/list", {"cursor": first["nextCursor"]}) == shared.ask(
        "resources/list", {"cursor": first["nextCursor"]}
    )
    uris = [resource["uri"] for resource in walk(shared, "resources/list", "resources")]
    assert len(uris) == len(set(uris)) == 259
    assert uris[-1] == "demo://items/250"
    assert shared.error("tools/list", {"cursor": first["nextCursor"]})["code"] == -32602  # UTIL-03


def test_every_fixed_resource_reads_as_listed(shared: StdioPeer) -> None:  # RES-04 to RES-06
    for resource in shared.ask("resources/list")["resources"][:12]:
        (contents,) = shared.ask("resources/read", {"uri": resource["uri"]})["contents"]
        assert (contents["uri"], contents["mimeType"]) == (resource["uri"], resource["mimeType"])
        raw = contents["text"].encode() if "text" in contents else base64.b64decode(contents["blob"], validate=True)
        assert len(raw) == resource["size"]


@pytest.mark.parametrize(
    "uri",
    [
        "demo://items/0",
        "demo://items/251",
        "demo://items/01",
        "demo://items/x",
        "demo://items/²",
        "demo://items/1/2",
        "demo://files/../../etc/passwd",
        "demo://weather/peru/oslo",
        "demo://nothing",
        "",
        "file:///etc/passwd",
    ],
)
def test_what_does_not_exist_is_not_found(shared: StdioPeer, uri: str) -> None:  # RES-07, RES-09, RES-10
    problem = shared.error("resources/read", {"uri": uri})
    assert problem["code"] == -32002
    assert problem["data"] == {"uri": uri}


def test_a_uri_of_a_megabyte_is_not_found_at_once(shared: StdioPeer) -> None:
    assert shared.error("resources/read", {"uri": "demo://photos/" + "a." * 500_000 + " "})["code"] == -32002


@pytest.mark.parametrize(
    ("uri", "template", "values"),
    [
        ("demo://manual#usage%20notes", "manual", {"section": "usage notes"}),
        ("demo://map/3,-4", "map", {"x": "3", "y": "-4"}),
        ("demo://photos/sun.png", "photo", {"name": "sun", "format": "png"}),
        ("demo://photos/sun", "photo", {"name": "sun"}),
        ("demo://archive/2025/11", "archive", {"year": "2025", "month": "11"}),
        ("demo://grid;row=3;column=4", "grid", {"row": "3", "column": "4"}),
        ("demo://find?q=a%26b&limit=5", "find", {"q": "a&b", "limit": "5"}),
        ("demo://find?limit=5", "find", {"limit": "5"}),
        ("demo://report?kind=full&to=9", "report", {"to": "9"}),
        ("demo://words/val/value", "word", {"word": "value"}),
        ("demo://tags/red/gr%2Fn", "tags", {"tags": ["red", "gr/n"]}),
        ("demo://filter?a=1&b=2", "filter", {"keys": {"a": "1", "b": "2"}}),
    ],
)
def test_templates_of_every_level_are_read(shared: StdioPeer, uri: str, template: str, values: Any) -> None:  # RES-12
    (contents,) = shared.ask("resources/read", {"uri": uri})["contents"]
    assert json.loads(contents["text"]) == {"template": template, "values": values}


def test_templates_that_stand_for_something_read_it(shared: StdioPeer) -> None:
    (file,) = shared.ask("resources/read", {"uri": "demo://files/src/lib/numbers.py"})["contents"]
    assert (file["mimeType"], file["text"][:3]) == ("text/x-python", "def")
    assert len(shared.ask("resources/read", {"uri": "demo://files/"})["contents"]) == 3
    (city,) = shared.ask("resources/read", {"uri": "demo://weather/norway/troms%C3%B8"})["contents"]
    assert city["text"] == "Sunny in tromsø.\n"


def complete(peer: Peer, ref: dict[str, str], name: str, value: str, **chosen: str) -> dict[str, Any]:
    params: dict[str, Any] = {"ref": ref, "argument": {"name": name, "value": value}}
    if chosen:
        params["context"] = {"arguments": chosen}
    completion: dict[str, Any] = peer.ask("completion/complete", params)["completion"]
    return completion


CODE = {"type": "ref/prompt", "name": "explain-code"}
WEATHER = {"type": "ref/resource", "uri": "demo://weather/{country}/{city}"}
ITEMS = {"type": "ref/resource", "uri": "demo://items/{id}"}


def test_completion_knows_what_was_chosen_before(shared: StdioPeer) -> None:  # UTIL-05, UTIL-07
    assert complete(shared, CODE, "language", "p")["values"] == ["python"]
    assert complete(shared, CODE, "framework", "", language="rust")["values"] == ["actix", "axum", "rocket"]
    assert complete(shared, CODE, "framework", "r")["values"] == ["rails", "react", "rocket"]
    assert complete(shared, WEATHER, "city", "", country="peru")["values"] == ["arequipa", "cusco", "lima"]
    assert complete(shared, WEATHER, "country", "N")["values"] == ["norway"]


@pytest.mark.parametrize(
    ("value", "total"), [("", 250), ("1", 111), ("25", 2), ("250", 1), ("251", 0), ("0", 0), ("x", 0)]
)
def test_completion_gives_a_hundred_values_at_most_and_counts_the_rest(
    shared: StdioPeer, value: str, total: int
) -> None:
    known = [str(number) for number in range(1, 251) if str(number).startswith(value)]
    completion = complete(shared, ITEMS, "id", value)
    assert completion["total"] == total == len(known)
    assert completion["hasMore"] == (total > 100)
    assert len(completion["values"]) == min(total, 100)
    assert set(completion["values"]) <= set(known)


@pytest.mark.parametrize(
    "params",
    [
        {"ref": {"type": "ref/prompt", "name": "unknown"}, "argument": {"name": "a", "value": ""}},
        {"ref": {"type": "ref/prompt", "name": []}, "argument": {"name": "a", "value": ""}},
        {"ref": CODE, "argument": {"name": "colour", "value": ""}},
        {"ref": {"type": "ref/resource", "uri": "demo://nothing/{x}"}, "argument": {"name": "x", "value": ""}},
        {"ref": ITEMS, "argument": {"name": "x", "value": ""}},
        {"ref": ITEMS, "argument": {"name": "id"}},
        {"ref": {"type": "ref/other"}, "argument": {"name": "id", "value": ""}},
        {},
    ],
)
def test_completion_of_what_does_not_exist_is_refused(shared: StdioPeer, params: dict[str, Any]) -> None:  # UTIL-06
    assert shared.error("completion/complete", params)["code"] == -32602


def test_prompts_carry_their_arguments_and_every_kind_of_content(shared: StdioPeer) -> None:  # PROM-03, PROM-09
    arguments = {"language": "python", "code": "print(17)", "framework": "flask"}
    (message,) = shared.ask("prompts/get", {"name": "explain-code", "arguments": arguments})["messages"]
    assert all(value in message["content"]["text"] for value in arguments.values())
    prompts = {
        "greet": {},
        "summarize-resource": {"uri": "demo://readme"},
        "describe-media": {},
        "interview": {"topic": "x"},
    }
    kinds = [
        message["content"]["type"]
        for name, given in prompts.items()
        for message in shared.ask("prompts/get", {"name": name, "arguments": given})["messages"]
    ]
    assert set(kinds) == {"text", "resource", "image", "audio", "resource_link"}


@pytest.mark.parametrize(
    "params",
    [
        {"name": "unknown"},
        {"name": "explain-code", "arguments": {"language": "python"}},
        {"name": "explain-code", "arguments": {"language": "python", "code": 3}},
        {"name": "explain-code", "arguments": []},
        {},
    ],
)
def test_bad_requests_for_prompts_are_refused(shared: StdioPeer, params: dict[str, Any]) -> None:  # PROM-04, PROM-05
    assert shared.error("prompts/get", params)["code"] == -32602


@pytest.mark.parametrize(("topic", "method"), [("tools", "tools"), ("resources", "resources"), ("prompts", "prompts")])
def test_lists_change_and_the_client_is_told(connect: Connect, topic: str, method: str) -> None:  # TOOL-16
    peer = connect(items=0)
    before = [item["name"] for item in walk(peer, f"{method}/list", topic)]
    peer.call("change-list", list=topic, action="add")
    peer.notification(f"notifications/{topic}/list_changed")
    assert [item["name"] for item in walk(peer, f"{method}/list", topic)] == [*before, "extra-1"]
    if topic == "tools":
        assert text_of(peer.call("extra-1")) == "This is extra-1."
    elif topic == "resources":
        assert "1" in peer.ask("resources/read", {"uri": "demo://extras/1"})["contents"][0]["text"]
    else:
        assert peer.ask("prompts/get", {"name": "extra-1"})["messages"]
    peer.call("change-list", list=topic, action="remove")
    assert [item["name"] for item in walk(peer, f"{method}/list", topic)] == before
    assert peer.call("change-list", list=topic, action="remove")["isError"] is True


def test_before_initialized_the_client_is_told_of_no_change() -> None:  # LIFE-06
    peer = MemoryPeer()
    client = {"name": "t", "version": "1"}
    peer.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
    peer.call("change-list")
    assert not any("method" in message for message in peer.received)


def test_only_subscribed_resources_are_reported_and_only_while_they_are(connect: Connect) -> None:  # RES-13, RES-14
    peer = connect()
    peer.call("touch-resource", uri="demo://readme")
    assert peer.ask("resources/subscribe", {"uri": "demo://readme"}) == {}
    assert peer.ask("resources/subscribe", {"uri": "demo://readme"}) == {}
    peer.call("touch-resource", uri="demo://planets")
    peer.call("touch-resource", uri="demo://readme")
    assert peer.ask("resources/unsubscribe", {"uri": "demo://readme"}) == {}
    peer.call("touch-resource", uri="demo://readme")
    assert peer.all_of("notifications/resources/updated") == [{"uri": "demo://readme"}]
    assert peer.error("resources/subscribe", {"uri": "demo://nothing"})["code"] == -32002


def test_the_clock_ticks_while_it_is_subscribed(connect: Connect) -> None:
    peer = connect(tick=0.01)
    clock = {"uri": "demo://clock"}
    for _ in range(2):
        peer.received.clear()
        peer.ask("resources/subscribe", clock)
        peer.wait(lambda m: len(peer.all_of("notifications/resources/updated")) >= 3)
        peer.ask("resources/unsubscribe", clock)
    peer.call("slow", seconds=0.03, steps=1)  # a tick may have been under way
    peer.received.clear()
    peer.call("slow", seconds=0.05, steps=1)
    assert peer.all_of("notifications/resources/updated") == []
    for thread in threading.enumerate():
        if thread.name == "clock":
            thread.join(10)
            assert not thread.is_alive()


def test_slow_servers_answer_late_but_can_still_be_cancelled(connect: Connect) -> None:
    peer = connect(delay=30)
    request_id = peer.start("tools/list")
    assert peer.ask("ping") == {}
    peer.notify("notifications/cancelled", {"requestId": request_id})
    assert peer.ask("ping") == {}
    assert not any(message.get("id") == request_id for message in peer.received)


def test_what_the_server_knows_of_its_client_is_told(shared: StdioPeer) -> None:
    facts = shared.ask("tools/call", {"name": "about-client", "_meta": {"example.com/trace": "abc"}})[
        "structuredContent"
    ]
    assert facts["client"] == {"name": "tests", "version": "1"}
    assert facts["capabilities"] == EVERYTHING
    assert (facts["revision"], facts["transport"]) == ("2025-11-25", "stdio")
    assert facts["meta"] == {"example.com/trace": "abc"}

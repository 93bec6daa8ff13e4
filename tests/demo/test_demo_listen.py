"""subscriptions/listen of the demo server: what is agreed, what comes, and how it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.demo.demo_client import MODERN, PREFIX, HttpServer, MemoryPeer, ModernHttpPeer, Peer, StdioPeer, about_client
from tests.demo.schemas import check

Modern = Callable[..., MemoryPeer]
SUBSCRIPTION = PREFIX + "subscriptionId"


def listen(peer: Peer, **notifications: Any) -> tuple[int, dict[str, Any]]:
    """Begins to listen; gives the id and what was agreed."""
    number = peer.start("subscriptions/listen", {"notifications": notifications})
    said = peer.wait(lambda each: each.get("params", {}).get("_meta", {}).get(SUBSCRIPTION) == number)
    check(MODERN, "SubscriptionsAcknowledgedNotification", said)
    agreed: dict[str, Any] = said["params"]["notifications"]
    return number, agreed


def told(peer: Peer, number: Any) -> list[str]:
    """The methods of the notifications that came for a subscription."""
    mine = [each for each in peer.received if each.get("params", {}).get("_meta", {}).get(SUBSCRIPTION) == number]
    for each in mine:
        check(MODERN, "ServerNotification", each)
    return [each["method"] for each in mine]


def test_what_cannot_be_had_is_omitted_of_the_agreement(modern: Modern) -> None:  # SUB-01, SUB-02
    client = modern()
    wanted = {
        "toolsListChanged": True,
        "promptsListChanged": False,
        "moonPhases": True,
        "resourceSubscriptions": ["demo://readme", "demo://nowhere", "demo://readme"],
    }
    _, agreed = listen(client, **wanted)
    assert agreed == {"toolsListChanged": True, "resourceSubscriptions": ["demo://readme"]}
    _, nothing = listen(client)
    assert nothing == {}


def test_only_what_was_requested_comes_and_each_carries_its_id(modern: Modern) -> None:  # SUB-03, SUB-04, SUB-08
    client = modern()
    tools, _ = listen(client, toolsListChanged=True)
    others, _ = listen(client, resourcesListChanged=True, promptsListChanged=True)
    one, _ = listen(client, resourceSubscriptions=["demo://readme"])
    for topic in ("tools", "resources", "prompts"):
        client.call("change-list", list=topic)
    for uri in ("demo://readme", "demo://planets"):
        client.call("touch-resource", uri=uri)
    begun = "notifications/subscriptions/acknowledged"
    assert told(client, tools) == [begun, "notifications/tools/list_changed"]
    assert told(client, others) == [
        begun, "notifications/resources/list_changed", "notifications/prompts/list_changed",
    ]  # fmt: skip
    assert told(client, one) == [begun, "notifications/resources/updated"]


def test_an_id_keeps_its_type(modern: Modern) -> None:
    client = modern()
    params = {"notifications": {"toolsListChanged": True}, "_meta": about_client()}
    for number in (1, "1"):
        client.send({"jsonrpc": "2.0", "id": number, "method": "subscriptions/listen", "params": params})
    client.notify("notifications/cancelled", {"requestId": 1})
    client.call("change-list")
    changes = [each for each in client.received if each.get("method") == "notifications/tools/list_changed"]
    assert [each["params"]["_meta"][SUBSCRIPTION] for each in changes] == ["1"]


def test_the_clock_ticks_while_a_client_is_subscribed(modern: Modern) -> None:
    client = modern(tick=0.005)
    number, _ = listen(client, resourceSubscriptions=["demo://clock"])
    client.wait(lambda each: len(told(client, number)) > 3)
    client.notify("notifications/cancelled", {"requestId": number})
    assert client.world._followers == 0


def test_progress_and_log_messages_do_not_come_to_who_listens(modern: Modern) -> None:  # SUB-06
    client = modern(log_level="debug")
    number, _ = listen(client, toolsListChanged=True)
    client.call("count", to=1)
    assert told(client, number) == ["notifications/subscriptions/acknowledged"]
    assert len(client.all_of("notifications/message")) == 1


@pytest.mark.parametrize("wanted", [None, [], "all", {"resourceSubscriptions": "demo://clock"},
                                    {"resourceSubscriptions": [1]}])  # fmt: skip
def test_a_malformed_filter_is_refused(modern: Modern, wanted: Any) -> None:
    client = modern()
    assert client.error("subscriptions/listen", {"notifications": wanted})["code"] == -32602
    assert client.world.subscriptions == []


def test_a_client_that_cancels_is_reported_nothing_more(modern: Modern) -> None:
    client = modern()
    number, _ = listen(client, toolsListChanged=True)
    client.notify("notifications/cancelled", {"requestId": number})
    client.call("change-list")
    assert told(client, number) == ["notifications/subscriptions/acknowledged"]
    assert not any(each.get("id") == number for each in client.received)
    again = client.start("tools/list")
    client.response(again)


def test_the_server_ends_subscriptions_in_every_way(modern: Modern) -> None:  # SUB-07
    client = modern()
    for how, last in (("result", "result"), ("cancelled", "notifications/cancelled"), ("silence", "")):
        number, _ = listen(client, toolsListChanged=True)
        client.call("end-listening", how=how)
        ended = [each for each in client.received if each.get("id") == number]
        assert bool(ended) == (how == "result")
        for each in ended:
            check(MODERN, "SubscriptionsListenResultResponse", each)
            assert each["result"]["_meta"][SUBSCRIPTION] == number
        assert (last in told(client, number)) == (how == "cancelled")
        client.call("change-list")
        assert "notifications/tools/list_changed" not in told(client, number)


@pytest.mark.slow
def test_subscriptions_end_with_their_result_when_stdin_ends() -> None:
    client = StdioPeer()
    client.meta = about_client()
    number, _ = listen(client, toolsListChanged=True)
    assert client.close() == 0
    assert client.response(number)["result"]["resultType"] == "complete"


def test_over_http_each_subscription_is_a_stream(http_server: HttpServer) -> None:
    client = ModernHttpPeer(http_server.url)
    number, agreed = listen(client, promptsListChanged=True, resourceSubscriptions=["demo://clock"])
    assert agreed == {"promptsListChanged": True, "resourceSubscriptions": ["demo://clock"]}
    client.call("change-list", list="prompts")
    client.call("change-list", list="prompts", action="remove")
    client.wait(lambda each: len(told(client, number)) > 4)
    assert set(told(client, number)[1:]) == {"notifications/prompts/list_changed", "notifications/resources/updated"}
    client.call("end-listening")
    assert client.response(number)["result"]["resultType"] == "complete"
    client.finish_posts()

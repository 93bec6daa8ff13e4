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
    acknowledgement = peer.wait(lambda message: message.get("params", {}).get("_meta", {}).get(SUBSCRIPTION) == number)
    check(MODERN, "SubscriptionsAcknowledgedNotification", acknowledgement)
    agreed: dict[str, Any] = acknowledgement["params"]["notifications"]
    return number, agreed


def methods_for(peer: Peer, number: Any) -> list[str]:
    """The methods of the notifications that came for a subscription."""
    mine = [
        message for message in peer.received if message.get("params", {}).get("_meta", {}).get(SUBSCRIPTION) == number
    ]
    for message in mine:
        check(MODERN, "ServerNotification", message)
    return [message["method"] for message in mine]


def test_what_cannot_be_had_is_omitted_of_the_agreement(modern: Modern) -> None:  # SUB-01, SUB-02
    client = modern()
    requested = {
        "toolsListChanged": True,
        "promptsListChanged": False,
        "moonPhases": True,
        "resourceSubscriptions": ["demo://readme", "demo://nowhere", "demo://readme"],
    }
    _, agreed = listen(client, **requested)
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
    assert methods_for(client, tools) == [begun, "notifications/tools/list_changed"]
    assert methods_for(client, others) == [
        begun, "notifications/resources/list_changed", "notifications/prompts/list_changed",
    ]  # fmt: skip
    assert methods_for(client, one) == [begun, "notifications/resources/updated"]


def test_an_id_keeps_its_type(modern: Modern) -> None:
    client = modern()
    params = {"notifications": {"toolsListChanged": True}, "_meta": about_client()}
    for number in (1, "1"):
        client.send({"jsonrpc": "2.0", "id": number, "method": "subscriptions/listen", "params": params})
    client.notify("notifications/cancelled", {"requestId": 1})
    client.call("change-list")
    changes = [message for message in client.received if message.get("method") == "notifications/tools/list_changed"]
    assert [message["params"]["_meta"][SUBSCRIPTION] for message in changes] == ["1"]


def test_the_clock_ticks_while_a_client_is_subscribed(modern: Modern) -> None:
    client = modern(tick=0.005)
    number, _ = listen(client, resourceSubscriptions=["demo://clock"])
    client.wait(lambda _message: len(methods_for(client, number)) > 3)
    client.notify("notifications/cancelled", {"requestId": number})
    assert client.state._followers == 0


def test_progress_and_log_messages_do_not_come_to_who_listens(modern: Modern) -> None:  # SUB-06
    client = modern(log_level="debug")
    number, _ = listen(client, toolsListChanged=True)
    client.call("count", to=1)
    assert methods_for(client, number) == ["notifications/subscriptions/acknowledged"]
    assert len(client.all_of("notifications/message")) == 1


@pytest.mark.parametrize("requested", [None, [], "all", {"resourceSubscriptions": "demo://clock"},
                                    {"resourceSubscriptions": [1]}])  # fmt: skip
def test_a_malformed_filter_is_refused(modern: Modern, requested: Any) -> None:
    client = modern()
    assert client.error("subscriptions/listen", {"notifications": requested})["code"] == -32602
    assert client.state.subscriptions == []


def test_a_client_that_cancels_is_reported_nothing_more(modern: Modern) -> None:
    client = modern()
    number, _ = listen(client, toolsListChanged=True)
    client.notify("notifications/cancelled", {"requestId": number})
    client.call("change-list")
    assert methods_for(client, number) == ["notifications/subscriptions/acknowledged"]
    assert not any(message.get("id") == number for message in client.received)
    again = client.start("tools/list")
    client.response(again)


def test_the_server_ends_subscriptions_in_every_way(modern: Modern) -> None:  # SUB-07
    client = modern()
    for how, last in (("result", "result"), ("cancelled", "notifications/cancelled"), ("silence", "")):
        number, _ = listen(client, toolsListChanged=True)
        client.call("end-listening", how=how)
        ended = [message for message in client.received if message.get("id") == number]
        assert bool(ended) == (how == "result")
        for message in ended:
            check(MODERN, "SubscriptionsListenResultResponse", message)
            assert message["result"]["_meta"][SUBSCRIPTION] == number
        assert (last in methods_for(client, number)) == (how == "cancelled")
        client.call("change-list")
        assert "notifications/tools/list_changed" not in methods_for(client, number)


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
    client.wait(lambda _message: len(methods_for(client, number)) > 4)
    assert set(methods_for(client, number)[1:]) == {
        "notifications/prompts/list_changed",
        "notifications/resources/updated",
    }
    client.call("end-listening")
    assert client.response(number)["result"]["resultType"] == "complete"
    client.finish_posts()

"""The modern era: one stream of notifications for all that is wanted, and how it may end."""

import asyncio
from dataclasses import replace

import pytest

from inspector.errors import ConnectionProblem, NotOffered
from inspector.protocol.extensions import EVENTS
from tests.client.conftest import until
from tests.client.modern import DISCOVERED, OFFERED, SUBSCRIPTION, complete, modern, tell

LISTS = {"toolsListChanged": True, "resourcesListChanged": True, "promptsListChanged": True}


def about(method, id, **params):
    """A notification of the subscription with this id."""
    return tell(method, **params, _meta={SUBSCRIPTION: id})


def acknowledged(id, agreed):
    return about("notifications/subscriptions/acknowledged", id, notifications=agreed)


class Streams:
    """Takes `subscriptions/listen`, agrees to all or to what `agrees` says, and remembers how to reach each stream."""

    def __init__(self, agrees=None):
        self.agrees = agrees
        self.open = []
        self.reply = None

    def __call__(self, message, reply):
        requested = message["params"]["notifications"]
        self.open.append(message["id"])
        self.reply = reply
        reply(acknowledged(message["id"], requested if self.agrees is None else self.agrees))

    def end(self, id):
        """End a stream as the specification's page on subscriptions has it."""
        result = complete(_meta={SUBSCRIPTION: id})
        self.reply({"jsonrpc": "2.0", "id": id, "result": result})


def listening(streams, **methods):
    return modern(None, subscriptions__listen=streams, **methods)


async def test_what_is_offered_is_requested_in_one_stream(connect):
    """C-SUB-01."""
    streams = Streams()
    server = listening(streams)
    async with connect(server, era="modern") as session:
        await session.listen()
        await session.listen()
        [request] = server.asked("subscriptions/listen")
        assert request["params"]["notifications"] == LISTS
        assert session.subscriptions.refused == []


async def test_lists_and_resources_subscribed_at_once_are_one_request(connect):
    server = listening(Streams())
    async with connect(server, era="modern") as session:
        await asyncio.gather(session.listen(), session.subscribe("a:b"), session.subscribe("a:c"))
        [request] = server.asked("subscriptions/listen")
        assert request["params"]["notifications"] == LISTS | {"resourceSubscriptions": ["a:b", "a:c"]}


async def test_a_server_that_offers_no_changes_is_not_asked(connect):
    server = modern(DISCOVERED | {"capabilities": {"tools": {}}})
    async with connect(server, era="modern") as session:
        await session.listen()
        assert not server.asked("subscriptions/listen")


@pytest.mark.parametrize(
    ("agreed", "refused"),
    [
        ({"toolsListChanged": True}, ["promptsListChanged", "resourcesListChanged"]),
        (LISTS | {"promptsListChanged": False}, ["promptsListChanged"]),
        ({}, sorted(LISTS)),
        ("nonsense", sorted(LISTS)),
        ({"toolsListChanged": {"a": 1}, "resourceSubscriptions": "x"}, sorted(LISTS)),
    ],
)
async def test_what_the_server_does_not_agree_to_is_known(connect, agreed, refused):
    """C-SUB-01."""
    async with connect(listening(Streams(agreed)), era="modern") as session:
        await session.listen()
        assert sorted(session.subscriptions.refused) == refused


async def test_a_resource_that_is_not_agreed_to_is_refused_to_the_user(connect):
    """C-SUB-01."""
    async with connect(listening(Streams({})), era="modern") as session:
        with pytest.raises(NotOffered, match="did not acknowledge"):
            await session.subscribe("a:b")
        assert "a:b" not in session.subscriptions


async def test_resources_are_followed_and_left_by_a_new_stream(connect):
    """C-MOD-11: not by the methods of the handshake's era. The old stream is closed once the new one stands."""
    streams = Streams()
    server = listening(streams)
    async with connect(server, era="modern") as session:
        await session.subscribe("a:b")
        await session.subscribe("a:c")
        await session.unsubscribe("a:b")
        filters = [message["params"]["notifications"] for message in server.asked("subscriptions/listen")]
        assert filters == [
            {"resourceSubscriptions": ["a:b"]},
            {"resourceSubscriptions": ["a:b", "a:c"]},
            {"resourceSubscriptions": ["a:c"]},
        ]
        await until(lambda: len(server.asked("notifications/cancelled")) == 2)
        closed = [message["params"]["requestId"] for message in server.asked("notifications/cancelled")]
        assert closed == streams.open[:2]
        assert not server.asked("resources/subscribe")
        assert not server.asked("resources/unsubscribe")


async def test_news_of_the_stream_are_taken_in(connect):
    """C-SUB-02, C-STDIO-08, C-RES-03."""
    streams = Streams()
    server = listening(streams, tools__list=complete(tools=[{"name": "a"}]))
    async with connect(server, era="modern") as session:
        await session.load("tools")
        await session.listen()
        await session.subscribe("a:b")
        server.methods["tools/list"] = complete(tools=[{"name": "a"}, {"name": "b"}])
        streams.reply(about("notifications/tools/list_changed", streams.open[-1]))
        streams.reply(about("notifications/resources/updated", streams.open[-1], uri="a:b"))
        await until(lambda: len(session.catalog.tools) == 2)
        assert session.subscriptions.counts == {"a:b": 1}


async def test_an_acknowledgement_counts_for_the_stream_it_names_alone(connect):
    """C-SUB-02, C-STDIO-08: 1 is not "1"."""

    def listen(message, reply):
        id = message["id"]
        others = [acknowledged(other, LISTS) for other in (str(id), id + 100, None, {"a": id}, float(id) + 0.5)]
        for acknowledgement in (*others, acknowledged(id, {"promptsListChanged": True}), *others):
            reply(acknowledgement)

    async with connect(listening(listen), era="modern") as session:
        await session.listen()
        assert sorted(session.subscriptions.refused) == ["resourcesListChanged", "toolsListChanged"]


async def test_a_server_that_does_not_acknowledge_is_given_up(connect):
    server = listening(lambda message, reply: None)
    async with connect(server, era="modern") as session:
        session.options = replace(session.options, timeout=0.01)
        with pytest.raises(NotOffered, match="did not acknowledge"):
            await session.listen()


async def test_an_error_instead_of_a_stream_is_reported(connect):
    async with connect(modern(), era="modern") as session:
        with pytest.raises(Exception, match="Method not found"):
            await session.subscribe("a:b")
        assert "a:b" not in session.subscriptions


@pytest.mark.parametrize("way", ["result", "cancelled"])
async def test_both_ways_to_end_a_stream_are_an_end(connect, way):
    """C-CANC-03, C-SUB-03: it is not opened again, and what was wanted counts as refused."""
    streams = Streams()
    server = listening(streams, ping=complete())
    async with connect(server, era="modern") as session:
        await session.listen()
        [id] = streams.open
        if way == "result":
            streams.end(id)
        else:
            streams.reply(tell("notifications/cancelled", requestId=id))
        await until(lambda: len(session.subscriptions.refused) == 3)
        assert session.phase == "ready"
        assert len(server.asked("subscriptions/listen")) == 1


@pytest.mark.parametrize("named", ["other", None, {"a": 1}, [0], 10**6])
async def test_the_end_of_another_stream_is_none_of_ours(connect, named):
    """C-CANC-03."""
    streams = Streams()
    server = listening(streams, x=complete())
    async with connect(server, era="modern") as session:
        await session.listen()
        streams.reply(tell("notifications/cancelled", requestId=named))
        streams.reply(tell("notifications/cancelled", requestId=str(streams.open[0])))
        await session.request("x")
        assert session.subscriptions.refused == []


async def test_a_reconnect_subscribes_to_everything_again(connect):
    """C-SUB-02, C-STDIO-06."""
    streams = Streams()
    server = listening(streams)
    async with connect(server, era="modern") as session:
        await session.listen()
        await session.subscribe("a:b")
        before = len(server.asked("subscriptions/listen"))
        session.transport.drop(ConnectionProblem("gone"))
        await until(lambda: session.phase == "lost")
        await session.reopen()
        await until(lambda: len(server.asked("subscriptions/listen")) > before)
        last = server.asked("subscriptions/listen")[-1]["params"]["notifications"]
        assert last == LISTS | {"resourceSubscriptions": ["a:b"]}
        assert "a:b" in session.subscriptions
        assert len(set(map(repr, streams.open))) == len(streams.open)


async def test_the_end_of_a_stream_is_not_the_latency_of_the_server(connect):
    streams = Streams()
    async with connect(listening(streams), era="modern") as session:
        await session.listen()
        await until(lambda: streams.open)
        before = session.pending.latest
        ended = len(session.journal)
        streams.end(streams.open[0])
        await until(lambda: len(session.journal) > ended)
        assert session.pending.latest is before


async def test_what_is_offered_decides_what_is_requested(connect):
    capabilities = {**OFFERED, "prompts": {}}
    server = modern(DISCOVERED | {"capabilities": capabilities}, subscriptions__listen=Streams())
    async with connect(server, era="modern") as session:
        await session.listen()
        [request] = server.asked("subscriptions/listen")
        assert request["params"]["notifications"] == {"toolsListChanged": True, "resourcesListChanged": True}


async def test_a_stream_that_ends_with_its_acknowledgement_is_known_to_have_ended(connect):
    """C-CANC-03."""
    streams = Streams()

    def agrees_and_ends(message, reply):
        streams(message, reply)
        streams.end(message["id"])

    async with connect(listening(agrees_and_ends), era="modern") as session:
        await session.subscribe("a://b")
        assert session.subscriptions.refused == ["a://b"]


async def test_a_stream_that_cannot_be_opened_again_is_a_connection_that_is_lost(connect, monkeypatch):
    """C-SUB-03."""
    monkeypatch.setattr("inspector.client.engine.subscription_stream.FIRST_PAUSE", 0.001)
    streams = Streams()
    server = listening(streams)
    async with connect(server, era="modern") as session:
        await session.subscribe("a://b")
        server.methods["subscriptions/listen"] = lambda message, reply: reply(
            {"id": message["id"], "error": {"code": -32603, "message": "not now"}}
        )
        stream = session.driver.listening.stream
        session.pending.fail(stream.call, ConnectionProblem("The stream broke."))
        await until(lambda: session.phase == "lost")
        assert "not now" in session.error.message


@pytest.mark.parametrize(
    ("settings", "offered", "asked"),
    [({"listChanged": True}, {EVENTS: {}}, True), ({"listChanged": True}, {}, False), ({}, {EVENTS: {}}, False)],
)
async def test_changes_of_event_types_are_requested_only_if_both_sides_have_them(connect, settings, offered, asked):
    """C-EVENT-20: an acknowledgement without them says so."""
    streams = Streams({"toolsListChanged": True})
    capabilities = {"tools": {"listChanged": True}, "extensions": {EVENTS: settings}}
    server = modern(DISCOVERED | {"capabilities": capabilities}, subscriptions__listen=streams)
    async with connect(server, era="modern", extensions=offered) as session:
        await session.listen()
        requested = server.asked("subscriptions/listen")[0]["params"]["notifications"]
        assert requested == {"toolsListChanged": True} | ({"eventsListChanged": True} if asked else {})
        assert session.subscriptions.refused == (["eventsListChanged"] if asked else [])

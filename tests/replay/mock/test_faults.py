"""Faults of a mock server: their syntax, their effect, and that a seed repeats them."""

import pytest

from inspector.errors import UsageError
from inspector.journal.filters import FilterError
from inspector.journal.format import Kind
from inspector.protocol import jsonrpc
from inspector.replay.mock.faults import MockFaults, parse_fault
from tests.replay.scripted_mock import KeptClient, Written, mocked, until


@pytest.mark.parametrize(
    ("text", "kind", "value", "source", "chance"),
    [
        ("delay=200", "delay", 200, None, 1.0),
        ("drop", "drop", 0, None, 1.0),
        ("error", "error", -32603, None, 1.0),
        ("error=-1%25", "error", -1, None, 0.25),
        (" cut@method:tools/call ", "cut", 0, "method:tools/call", 1.0),
        ("disconnect@name:add size:>1k%0.5", "disconnect", 0, "name:add size:>1k", 0.005),
        ("corrupt@a@b%%7", "corrupt", 0, "a@b%", 0.07),
        ("drop%0", "drop", 0, None, 0.0),
    ],
)
def test_a_fault_is_spelled_kind_value_filter_percent(text, kind, value, source, chance):
    fault = parse_fault(text)
    assert (fault.kind, fault.value, fault.chance) == (kind, value, pytest.approx(chance))
    assert (fault.filter.source if fault.filter else None) == source


@pytest.mark.parametrize(
    "text",
    ["", "explode", "delay", "delay=", "delay=-1", "delay=1e3", "delay=99999999", "drop=1", "error=x", "drop%101",
     "drop%1.2.3", "drop@", "DROP", "delay=٣", "drop@%5"],
)  # fmt: skip
def test_what_is_none_is_refused(text):
    with pytest.raises(UsageError):
        parse_fault(text)


def test_a_filter_that_is_none_is_refused_as_one():
    with pytest.raises(FilterError):
        parse_fault("drop@size:big")


@pytest.fixture
async def serve():
    clients, written = [], Written()

    async def serve(*faults, **options):
        if not len(written.journal):
            written.exchange(1, "tools/call", {"name": "add"}, "sum")
            written.exchange(2, "tools/list", None, {"tools": []})
        mock = await mocked(written, faults=tuple(map(parse_fault, faults)), **options)
        clients.append(KeptClient(mock))
        return clients[-1]

    yield serve
    for client in clients:
        await client.handler.close(gone=True)
    written.journal.release()


async def outcome(client, method="tools/call"):
    """Return a call's reply, and the notes about it."""
    reply = client.ask(7, method, {"name": "add"} if method == "tools/call" else None)
    await until(lambda: not client.handler._tasks)
    return reply, [event.fields.get("fault") for event in client.handler.journal.events() if event.kind == Kind.NOTE]


async def test_a_delay_is_awaited_and_others_strike_after_it(serve):
    client = await serve("delay=200", "delay=50", "error=-5", "drop")
    reply, notes = await outcome(client)
    assert client.handler.mock.sleep.seconds == [0.25]
    assert reply.messages[0]["error"]["code"] == -5
    assert notes == ["delay", "error"]
    assert client.handler.mock.report().as_json()["faults"] == {"delay": 1, "error": 1}


async def test_a_dropped_answer_never_comes(serve):
    reply, _ = await outcome(await serve("drop"))
    assert (reply.sent, reply.ended, reply.cuts) == ([], False, [])


async def test_half_an_answer_comes_and_then_the_end(serve):
    client = await serve("cut")
    reply, _ = await outcome(client)
    whole = jsonrpc.encode(jsonrpc.result(7, "sum"))
    assert reply.cuts == [(whole[: len(whole) // 2], None)]
    cut = [event for event in client.handler.journal.events() if event.fields.get("cut")]
    assert [event.bytes for event in cut] == [reply.cuts[0][0]]


async def test_a_connection_ends_instead_of_the_answer(serve):
    reply, _ = await outcome(await serve("disconnect"))
    assert (reply.sent, reply.cuts) == ([], [(b"", None)])


async def test_a_corrupt_answer_is_no_json_and_goes_out_all_the_same(serve):
    client = await serve("corrupt")
    reply, _ = await outcome(client)
    with pytest.raises(jsonrpc.NotJson):
        jsonrpc.parse(reply.sent[0])
    assert b"\n" not in reply.sent[0]
    assert reply.ended


async def test_a_filter_chooses_the_answers(serve):
    client = await serve("drop@method:tools/call")
    assert (await outcome(client))[0].sent == []
    assert (await outcome(client, "tools/list"))[0].messages[0]["result"] == {"tools": []}


async def test_the_same_seed_draws_the_same_faults_for_each_client(serve):
    async def drawn(seed):
        client = await serve("error%50", seed=seed)
        return ["error" in message for _ in range(20) if (message := (await outcome(client))[0].messages[0])]

    first, again, other = await drawn("a"), await drawn("a"), await drawn("b")
    assert first == again != other
    assert {True, False} == set(first)


async def test_without_a_seed_one_is_made_and_told(serve):
    client = await serve("error%50")
    assert client.handler.mock.report().seed


@pytest.mark.parametrize("raw", [b"", b"{}", b"x" * 1000])
def test_corruption_never_leaves_json(raw):
    faults = MockFaults((), None, "seed")
    for _ in range(50):
        with pytest.raises((jsonrpc.NotJson, UnicodeDecodeError)):
            jsonrpc.parse(faults.corrupted(raw))

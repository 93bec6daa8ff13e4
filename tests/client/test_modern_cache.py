"""The modern era: how long an answer may be taken as fresh."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.client.inbox import StandingAnswers
from inspector.client.state.cache import KEPT, MAX_TTL, Cache
from tests.client.conftest import until
from tests.client.modern import complete, form, modern, tell, wanting

LIST = "tools/list"
READ = "resources/read"


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def cache(clock):
    return Cache(clock)


def lasting(ttl, scope="private"):
    return complete(ttlMs=ttl, cacheScope=scope)


def test_an_answer_is_fresh_for_as_long_as_the_server_says(cache, clock):
    """C-CACHE-02: fresh before the end of its time, stale from then on."""
    cache.took(READ, {"uri": "a:b"}, lasting(1500))
    assert cache.is_fresh(READ, {"uri": "a:b"})
    clock.now += 1.499
    assert cache.is_fresh(READ, {"uri": "a:b"})
    clock.now += 0.001
    assert not cache.is_fresh(READ, {"uri": "a:b"})


@pytest.mark.parametrize("ttl", [None, 0, -1, -(10**30), "1000", True, [1000], {"a": 1}, float("nan")])
def test_without_a_time_that_is_one_nothing_is_fresh(cache, ttl):
    """C-CACHE-02: absent and negative count as none."""
    cache.took(READ, {"uri": "a:b"}, complete(ttlMs=ttl) if ttl is not None else complete())
    assert not cache.is_fresh(READ, {"uri": "a:b"})


@pytest.mark.parametrize("ttl", [10**400, 1e308, float("inf")])
def test_nothing_is_fresh_for_ever(cache, clock, ttl):
    """C-HINT-04."""
    cache.took(READ, {"uri": "a:b"}, lasting(ttl))
    clock.now += MAX_TTL
    assert not cache.is_fresh(READ, {"uri": "a:b"})


def test_an_answer_serves_its_own_request_alone(cache):
    """C-CACHE-01: not another method, URI, cursor or parameter, and no method that is not cacheable."""
    cache.took(READ, {"uri": "a:b"}, lasting(1000))
    cache.took(LIST, {"cursor": "2"}, lasting(1000))
    cache.took("tools/call", {"name": "t"}, lasting(1000))
    assert not cache.is_fresh(READ, {"uri": "a:c"})
    assert not cache.is_fresh(LIST, {"cursor": "a:b"})
    assert not cache.is_fresh(LIST, {"cursor": ""})
    assert not cache.is_fresh(LIST)
    assert not cache.is_fresh("prompts/list", {"cursor": "2"})
    assert not cache.is_fresh("tools/call", {"name": "t"})
    assert cache.is_fresh(LIST, {"cursor": "2"})


def test_an_empty_cursor_is_another_page_than_the_first(cache):
    """C-CACHE-01, C-PAG-01."""
    cache.took(LIST, None, lasting(1000))
    assert cache.is_fresh(LIST, {})
    assert not cache.is_fresh(LIST, {"cursor": ""})


def test_a_response_that_took_input_is_not_cached_and_drops_the_cached_one(cache):
    """C-CACHE-01."""
    cache.took(READ, {"uri": "a:b"}, lasting(1000))
    cache.took(READ, {"uri": "a:b"}, lasting(1000), fresh=False)
    assert not cache.is_fresh(READ, {"uri": "a:b"})


def test_each_page_has_its_own_clock(cache, clock):
    """C-CACHE-03."""
    cache.took(LIST, None, lasting(1000))
    clock.now += 0.9
    cache.took(LIST, {"cursor": "2"}, lasting(1000))
    assert cache.list_is_fresh(LIST)
    clock.now += 0.2
    assert cache.is_fresh(LIST, {"cursor": "2"})
    assert not cache.is_fresh(LIST)
    assert not cache.list_is_fresh(LIST)


def test_a_change_outdates_at_once_what_it_is_about(cache):
    """C-CACHE-03."""
    cache.took(LIST, None, lasting(1000))
    cache.took("prompts/list", None, lasting(1000))
    cache.took(READ, {"uri": "a:b"}, lasting(1000))
    cache.took(READ, {"uri": "a:c"}, lasting(1000))
    cache.changed("notifications/tools/list_changed")
    cache.updated("a:b")
    cache.updated({"a": 1})
    assert not cache.is_fresh(LIST)
    assert not cache.is_fresh(READ, {"uri": "a:b"})
    assert cache.is_fresh("prompts/list")
    assert cache.is_fresh(READ, {"uri": "a:c"})


def test_a_list_of_no_answers_is_not_fresh(cache):
    assert not cache.list_is_fresh(LIST)


def test_what_is_remembered_is_bounded(cache):
    for number in range(KEPT + 10):
        cache.took(READ, {"uri": f"a:{number}"}, lasting(1000))
    assert not cache.is_fresh(READ, {"uri": "a:0"})
    assert cache.is_fresh(READ, {"uri": f"a:{KEPT + 9}"})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


@given(
    st.sampled_from([READ, LIST]),
    st.none() | st.fixed_dictionaries({}, optional={"uri": json_values, "cursor": json_values}),
    json_values | st.fixed_dictionaries({}, optional={"ttlMs": json_values, "cacheScope": json_values}),
)
def test_answers_and_parameters_of_any_shape_are_taken(method, params, result):
    cache = Cache(Clock())
    cache.took(method, params, result)
    assert cache.is_fresh(method, params) in (True, False)
    assert cache.hint(method, params) is None or cache.hint(method, params).ttl <= MAX_TTL


# In a session


def pages(ttl):
    def answer(message, reply):
        if message["params"].get("cursor") == "2":
            reply({"id": message["id"], "result": complete(tools=[{"name": "b"}], ttlMs=ttl)})
        else:
            reply({"id": message["id"], "result": complete(tools=[{"name": "a"}], nextCursor="2", ttlMs=ttl)})

    return answer


@pytest.mark.parametrize(("ttl", "asked"), [(60_000, 2), (0, 4)])
async def test_a_stale_list_is_loaded_again_at_its_next_use(connect, ttl, asked):
    """C-CACHE-02, C-HINT-04: and not before."""
    server = modern(tools__list=pages(ttl))
    async with connect(server, era="modern") as session:
        await session.load("tools")
        assert len(server.asked(LIST)) == 2
        await session.load("tools", fresh=True)
        assert len(server.asked(LIST)) == asked
        assert [tool["name"] for tool in session.catalog.tools.items] == ["a", "b"]


async def test_a_change_that_is_reported_makes_a_fresh_list_be_read_again(connect):
    """C-CACHE-03."""
    server = modern(tools__list=complete(tools=[{"name": "a"}], ttlMs=60_000))
    server.methods["poke"] = lambda message, reply: [
        reply(tell("notifications/tools/list_changed")),
        reply({"id": message["id"], "result": complete()}),
    ]
    async with connect(server, era="modern") as session:
        await session.load("tools")
        server.methods["tools/list"] = complete(tools=[{"name": "b"}], ttlMs=60_000)
        await session.request("poke")
        await until(lambda: session.catalog.tools.get("b") is not None)
        assert len(server.asked(LIST)) == 2


async def test_an_answer_after_input_is_not_kept_by_a_session(connect):
    """C-CACHE-01."""

    def read(message, reply):
        again = "inputResponses" in message["params"]
        reply({"id": message["id"], "result": lasting(60_000) if again else wanting({"a": form()})})

    server = modern(resources__read=read)
    async with connect(server, era="modern", standing=StandingAnswers(elicitation="decline")) as session:
        await session.read_resource("a:b").result()
        assert not session.cache.is_fresh(READ, {"uri": "a:b"})


async def test_what_was_kept_ends_with_the_connection(connect):
    """C-CACHE-01, C-HINT-02: what is private stays within its authorization context."""
    async with connect(modern(resources__read=lasting(60_000)), era="modern") as session:
        await session.read_resource("a:b").result()
        assert session.cache.is_fresh(READ, {"uri": "a:b"})
        await session.reopen()
        assert not session.cache.is_fresh(READ, {"uri": "a:b"})


async def test_a_refused_cursor_begins_the_list_again(connect):
    """C-CACHE-03: the pages before it may be of an older list."""
    refusals = [1]

    def answer(message, reply):
        if message["params"].get("cursor") == "2" and refusals:
            refusals.pop()
            reply({"id": message["id"], "error": {"code": -32602, "message": "Invalid cursor"}})
        else:
            pages(0)(message, reply)

    server = modern(tools__list=answer)
    async with connect(server, era="modern") as session:
        await session.load("tools")
        assert not session.cache.is_fresh(LIST)
        await session.load("tools", fresh=True)
        assert [tool["name"] for tool in session.catalog.tools.items] == ["a", "b"]
        assert "cursor" not in server.asked(LIST)[2]["params"]

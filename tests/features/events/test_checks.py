"""Events: for each check a server that breaks it, and one in order."""

import asyncio
import threading

import pytest

from inspector.check.registry import checks
from inspector.check.result import FAULT_VERDICTS
from inspector.check.run import Runner
from inspector.check.selection import CheckSelection
from inspector.check.visit.visit import Allowed
from inspector.client.options import Options
from inspector.features.events.webhook_receiver import WebhookAddress
from inspector.journal.journal import Journal
from inspector.protocol.extensions import EVENTS
from tests.check.faults import R4, R5, Both, capability, gives, in_result, notice, params, refuses
from tests.check.faulty_servers import (
    Adds,
    Answers,
    Case,
    Fault,
    Planted,
    Takes,
    is_found,
    is_not_blamed,
    refusal,
    result,
)
from tests.features.events.webhook_server import Hooks
from tests.interop.listening_servers import free_port

READ = Allowed(calls="read-only")
X = Allowed(intrusive=True)
PORT = free_port()
HOOKED = Allowed(intrusive=True, more={"webhook": WebhookAddress("https://hooks.example/in", "127.0.0.1", PORT)})
QUICK = {"tick": 0.02, "beat": 0.05}
NAME = "clock.ticked"


def declares(value):
    return capability("extensions", {EVENTS: value})


def listed(**changes):
    """Changes the first event type; ... takes a member away."""

    def change(message, _request):
        first = {key: value for key, value in (message["result"]["events"][0] | changes).items() if value is not ...}
        message["result"]["events"][0] = first
        return message

    return Answers("events/list", change)


def polled(**members):
    """Changes members of the result of a poll."""
    return Answers("events/poll", in_result(**members))


def first_event(**changes):
    """Changes the first event of a poll."""

    def change(message, _request):
        events = message.get("result", {}).get("events")
        if events:
            events[0] = {key: value for key, value in (events[0] | changes).items() if value is not ...}
        return message

    return Answers("events/poll", change)


class Notes(Fault):
    """Changes notifications of streams: `change(method, params)` returns params, or None to lose it."""

    def __init__(self, change):
        self.change = change

    def sends(self, message, request):
        name = str(message.get("method"))
        if not name.startswith("notifications/events/"):
            return [message]
        changed = self.change(name.rpartition("/")[2], message["params"])
        return [] if changed is None else [message | {"params": changed}]


class Deaf(Fault):
    """Takes no cancellation."""

    def response(self, message, say):
        return isinstance(message, dict) and message.get("method") == "notifications/cancelled"


class Pages(Takes):
    """Lists pages with one cursor for ever."""

    def __init__(self):
        super().__init__(self.intercept)

    def intercept(self, message, say):
        if isinstance(message, dict) and message.get("method") == "events/list":
            say(result(message, resultType="complete", events=[], nextCursor="again"))
            return True
        return False


def meta(id):
    return lambda _method, given: given | {"_meta": {"io.modelcontextprotocol/subscriptionId": id(given)}}


def of_bad_cursor(given):
    return given.get("cursor") == "inspector-check-cursor"


def wants(url="", secret=""):
    """Which requests for webhooks: with http, or with a short secret."""

    def where(given):
        delivery = given.get("delivery", {})
        return delivery.get("url", "").startswith(url) and delivery.get("secret", "").startswith(secret)

    return where


class Hooked(Fault):
    """Has webhooks, and delivers them to the address of the check through a tunnel."""

    def __init__(self, **faults):
        self.hooks = Hooks(PORT, **faults)

    def response(self, message, say):
        method = message.get("method") if isinstance(message, dict) else None
        if method not in ("events/subscribe", "events/unsubscribe"):
            return False
        loop = asyncio.get_running_loop()
        act = self.hooks.subscribe if method == "events/subscribe" else self.hooks.unsubscribe

        def work():
            answer = act(message["params"])
            reply = refusal(message, answer) if isinstance(answer, int) else result(message, **answer)
            loop.call_soon_threadsafe(say, reply)

        # A server answers in its own time: its verification arrives while the subscription waits for its answer.
        threading.Thread(target=work, daemon=True).start()
        return True


HOOKS = gives("events/subscribe", resultType="complete", id="s", refreshBefore="2030-01-01T00:00:00Z", cursor=None)
RIGHT = Fault()
CASES = [
    Case("EVENT-01", R5, declares(True), right=RIGHT),
    Case("EVENT-01", R5, declares({"listChanged": "yes"}), right=declares({"listChanged": True})),
    Case("EVENT-02", R5, Both(capability("extensions", {}), capability("events", {})), right=RIGHT),
    Case("EVENT-03", R5, Answers("events/list", in_result(events=...)), right=Answers("events/list", in_result(events=[]))),
    Case("EVENT-03", R5, refuses("events/list", -32601), right=RIGHT),
    Case("EVENT-03", R5, Answers("events/list", in_result(resultType=...)), right=RIGHT),
    Case("EVENT-04", R5, listed(inputSchema=...), right=RIGHT),
    Case("EVENT-05", R5, listed(delivery=[]), right=listed(delivery=["webhook"])),
    Case("EVENT-06", R5, listed(payloadSchema={"type": "nonsense"}), right=RIGHT),
    Case("EVENT-07", R5, listed(name="order.placed"), right=RIGHT),
    Case("EVENT-07", R5, Pages, right=RIGHT),
    Case("EVENT-08", R5, polled(events=[{"eventId": "old"}]), right=polled(cursor=...), allowed=READ),
    Case("EVENT-09", R5, polled(nextPollMs=..., nextPollSeconds=5), right=RIGHT, allowed=READ),
    Case("EVENT-09", R5, polled(nextPollMs=5), right=RIGHT, allowed=READ),
    Case("EVENT-10", R5, Answers("events/poll", lambda message, request: in_result(cursor=None)(message, request)
                                 if params(request).get("cursor") else message), right=polled(cursor=None), allowed=READ),
    Case("EVENT-11", R5, Answers("events/poll", lambda message, _: in_result(events=message["result"]["events"] * 2)(message, _)),
         right=RIGHT, allowed=READ),
    Case("EVENT-12", R5, first_event(timestamp=...), right=RIGHT, allowed=READ),
    Case("EVENT-12", R5, first_event(cursor="c"), right=RIGHT, allowed=READ),
    Case("EVENT-13", R5, first_event(data={"tick": "one"}), right=RIGHT, allowed=READ),
    Case("EVENT-14", R5, refuses("events/poll", -32603, where=lambda given: given.get("name") != NAME),
         right=refuses("events/poll", -32011, where=lambda given: given.get("name") != NAME)),
    Case("EVENT-15", R5, refuses("events/poll", -32603), right=RIGHT),
    Case("EVENT-16", R5, gives("events/poll", where=lambda given: given.get("name") == "order.placed", events=[]), right=RIGHT),
    Case("EVENT-17", R5, refuses("events/poll", -32602, where=of_bad_cursor), right=RIGHT, remark=True),
    Case("EVENT-17", R5, gives("events/poll", where=of_bad_cursor, resultType="complete", events=[], truncated=True,
                               cursor="inspector-check-cursor"), right=RIGHT),
    Case("EVENT-18", R5, Notes(lambda method, given: None if method == "active" else given), right=RIGHT, allowed=READ),
    Case("EVENT-19", R5, Notes(meta(lambda _given: "7100002")), right=RIGHT, allowed=READ),
    Case("EVENT-19", R5, Notes(lambda _method, given: {key: value for key, value in given.items() if key != "_meta"}),
         right=RIGHT, allowed=READ),
    Case("EVENT-20", R5, Notes(lambda method, given: given | {"cursor": 5} if method == "heartbeat" else given),
         right=RIGHT, allowed=READ),
    Case("EVENT-21", R5, Deaf, right=RIGHT, allowed=READ),
    Case("EVENT-22", R5, Adds("events/list", notice("notifications/events/list_changed")), right=RIGHT),
    Case("EVENT-23", R5, HOOKS, right=RIGHT, allowed=X),
    Case("EVENT-24", R5, HOOKS, right=refuses("events/subscribe", -32602), allowed=X),
    Case("EVENT-25", R5, Hooked(for_ever=True), right=Hooked(), allowed=HOOKED),
    Case("EVENT-26", R5, Hooked(new_ids=True), right=Hooked(), allowed=HOOKED),
    Case("EVENT-26", R5, Hooked(forgets=True), right=Hooked(), allowed=HOOKED),
    Case("EVENT-26", R5, Hooked(removed={"id": "sub_1"}), right=Hooked(), allowed=HOOKED),
    Case("EVENT-27", R5, Hooked(follows=True), right=Hooked(), allowed=HOOKED),
    Case("EVENT-27", R5, Hooked(challenges=False, sends={"webhook_signature": "v1,AAAA"}), right=Hooked(), allowed=HOOKED),
    Case("EVENT-27", R5, Hooked(sends={"X_MCP_Subscription_Id": None}), right=Hooked(), allowed=HOOKED),
    Case("EVENT-27", R5, Hooked(challenges=False, sends={"method": "PUT"}), right=Hooked(), allowed=HOOKED),
    Case("EVENT-27", R5, Hooked(sends={"Content-Type": "text/plain"}), right=Hooked(), allowed=HOOKED),
    Case("EVENT-27", R5, Hooked(challenges=False, sends={"at": 1_000_000_000}), right=Hooked(), allowed=HOOKED),
    Case("EVENT-28", R5, Hooked(challenges=False), right=Hooked(), allowed=HOOKED),
    Case("EVENT-28", R5, Hooked(takes_private=True), right=Hooked(), allowed=HOOKED),
    Case("EVENT-28", R5, Hooked(challenges=False, delivers=False), right=Hooked(), allowed=HOOKED),
]  # fmt: skip
for case in CASES:
    case.world = case.right_world = QUICK


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_planted_fault_is_found(case):
    await is_found(case)


RIGHTS = {f"{case.id} {repr(case.right)[:20]}": case for case in CASES if case.right is not RIGHT} | {
    case.id: case for case in CASES if case.right is RIGHT
}


@pytest.mark.parametrize("case", RIGHTS.values(), ids=RIGHTS)
async def test_a_server_in_order_is_not_blamed(case):
    await is_not_blamed(case)


async def test_events_in_the_legacy_era_are_named():
    await is_found(Case("EVENT-02", R4, declares({}), remark=True))


@pytest.mark.parametrize(("offered", "ran"), [({}, False), ({EVENTS: {}}, True), ({EVENTS: None}, False)])
async def test_the_group_runs_only_if_the_extension_is_offered(offered, ran):
    server = Planted(Fault(), **QUICK)
    journal = Journal.unnamed({})
    chosen = CheckSelection(revisions=(R5,), without=frozenset(check.group for check in checks().values()) - {"events"})
    options = Options(extensions=offered)
    run = await Runner(server.target, journal, options, chosen, connect=server.connect).go()
    journal.release()
    assert bool([check_result for check_result in run.results if check_result.check.group == "events"]) is ran


def test_a_fault_about_a_draft_is_a_warning_at_most():
    group = [check for check in checks().values() if check.group == "events"]
    assert {verdict for check in group for verdict in FAULT_VERDICTS[check.check_class, "bad"]} == {"warn", "note"}
    assert len(group) == 28

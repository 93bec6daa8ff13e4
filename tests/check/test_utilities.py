"""Pages, completion, logging, progress, cancellation, ping: for each check a server that breaks it, and one in order."""

import itertools

import pytest

from inspector.check.visit.visit import Allowed
from tests.check.faults import (
    R3,
    R4,
    R5,
    Both,
    Notices,
    capability,
    defaults,
    gives,
    in_params,
    in_result,
    method,
    notice,
    params,
    refuses,
    says_first,
)
from tests.check.faulty_servers import Adds, Answers, Case, Takes, case_tests, is_found, is_not_blamed, refusal, result

LOGS = Allowed(calls=("count",))
WORKS = Allowed(calls=("slow",))
FAST = defaults("slow", seconds=0.03, steps=3)
BRIEF = defaults("count", to=2, interval=0.001, level="info")
MANY = {"items": 250}
ENDS = defaults("end-listening", how="cancelled")
PROGRESS = "notifications/progress"
MESSAGE = "notifications/message"
LOGGED = notice(MESSAGE, level="info", data="begun")


def progress(**changes):
    """Changes the reports of progress of a tool that is quick."""
    return Both(FAST, Notices(PROGRESS, in_params(**changes)))


def logs(**changes):
    return Both(BRIEF, Notices(MESSAGE, in_params(**changes)))


def values(*listed, **more):
    return Answers("completion/complete", in_result(completion={"values": list(listed), **more}))


def numbers_as_text(message):
    message["params"]["progressToken"] = str(message["params"]["progressToken"])
    return message


class AnswersAllTheSame(Takes):
    """A cancelled request continues and gets a response."""

    def __init__(self):
        self.running = []
        super().__init__(self.handle)

    def handle(self, message, say):
        if method(message) == "tools/call":
            self.running.append(message)
        elif method(message) == "notifications/cancelled" and self.running:
            say(result(self.running[-1], content=[]))
            return True
        return False


def pings_with_a_word(message, say):
    if method(message) == "ping":
        say(result(message, hello="there"))
        return True
    return False


def refuses_cancellations(message, say):
    if method(message) == "notifications/cancelled" and params(message).get("requestId") is None:
        say({"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "requestId is missing"}})
    return False


CASES = [
    Case("UTIL-01", R4, Answers("tools/list", in_result(nextCursor=None))),
    Case("UTIL-02", R4, gives("resources/list", where=lambda given: "cursor" in given, resources=[{"uri": "demo://readme"}]), world=MANY, right_world=MANY),
    Case("UTIL-03", R4, gives("tools/list", where=lambda given: "cursor" in given, tools=[])),
    Case("UTIL-04", R4, capability("completions", ...)),
    Case("UTIL-05", R4, values(*map(str, range(101)))),
    Case("UTIL-06", R4, refuses("completion/complete", -32603, where=lambda given: "no-such" in given["ref"].get("name", ""))),
    Case("UTIL-07", R4, refuses("completion/complete", -32602, where=lambda given: "context" in given)),
    Case("UTIL-08", R4, Both(Adds("tools/list", LOGGED), capability("logging", ...)), right=Adds("tools/list", LOGGED)),
    Case("UTIL-09", R4, gives("logging/setLevel", where=lambda given: "no-such" in given["level"])),
    Case("UTIL-10", R4, Both(BRIEF, gives("logging/setLevel")), right=BRIEF, allowed=LOGS),
    Case("UTIL-11", R5, Both(BRIEF, says_first("tools/list", LOGGED)), right=BRIEF, allowed=LOGS),
    Case("UTIL-12", R5, gives("tools/list", where=lambda given: "no-such" in given["_meta"].get("io.modelcontextprotocol/logLevel", ""), tools=[])),
    Case("UTIL-13", R4, logs(level="loud"), right=BRIEF, allowed=LOGS),
    Case("UTIL-14", R4, logs(data={"request": "Authorization: Bearer 6fa459eaee8a3ca4894edb77e160355e"}), right=BRIEF, allowed=LOGS),
    Case("UTIL-15", R4, progress(progress=1), right=FAST, allowed=WORKS),
    Case("UTIL-16", R4, Both(FAST, says_first("tools/call", notice(PROGRESS, progressToken=0, progress=1))), right=FAST, allowed=WORKS),
    Case("UTIL-17", R4, Both(FAST, Notices(PROGRESS, numbers_as_text)), right=FAST, allowed=WORKS),
    Case("UTIL-18", R4, AnswersAllTheSame(), allowed=Allowed(calls=("forget",))),
    Case("UTIL-19", R4, Takes(refuses_cancellations)),
    Case("UTIL-20", R4, Takes(pings_with_a_word)),
    Case("UTIL-21", R5, Adds("tools/list", notice("notifications/cancelled", requestId=1)), right=ENDS, allowed=Allowed(calls=("end-listening",))),
]  # fmt: skip


test_a_planted_fault_is_found, test_a_server_in_order_is_not_blamed = case_tests(
    CASES, slow_faults=True, slow_right=True
)


@pytest.mark.parametrize("fault", [
    values("a", 7), values("a", "b", total=1), values("a", total=True), values("a", hasMore="no"),
    Answers("completion/complete", in_result(completion=["a"])), Answers("completion/complete", in_result(completion=...)),
])  # fmt: skip
async def test_each_part_of_a_completion_is_read(fault):
    await is_found(Case("UTIL-05", R4, fault))


async def test_a_cursor_that_leads_in_a_circle_is_found():
    await is_found(
        Case("UTIL-02", R4, Answers("resources/list", in_result(nextCursor="again", resources=[])), world=MANY)
    )


async def test_a_cursor_that_leads_to_two_pages_is_found():
    count = itertools.count()

    def changes(message, request):
        if "cursor" in request.get("params", {}):
            message["result"]["resources"] = [{"uri": f"demo://{next(count)}", "name": "one"}]
        return message

    await is_found(Case("UTIL-02", R4, Answers("resources/list", changes), world=MANY))


@pytest.mark.parametrize("data", [
    "-----BEGIN RSA PRIVATE KEY-----", "key AKIAIOSFODNN7EXAMPLE", ["token", {"deep": "ghp_" + "a1" * 18}],
    {"config": "password=correct-horse"}, "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
])  # fmt: skip
async def test_what_gives_something_away_is_found(data):
    await is_found(Case("UTIL-14", R4, logs(data=data), allowed=LOGS))


@pytest.mark.parametrize("data", [
    "password: ********", "The password is wrong.", {"token_count": 4096}, "basic authentication is required", "api_key=<redacted>",
    "task-4f9a2b and sk-learn", None,
])  # fmt: skip
async def test_what_gives_nothing_away_is_not_blamed(data):
    await is_not_blamed(Case("UTIL-14", R4, None, right=logs(data=data), allowed=LOGS))


async def test_completion_that_is_declared_and_unknown_is_found():
    await is_found(Case("UTIL-04", R3, refuses("completion/complete", -32601)))


async def test_a_ping_before_the_handshake_that_is_refused_is_found():
    def refuses_the_second(message, say):
        before, latest[0] = latest[0], method(message)
        if before == latest[0] == "ping":
            say(refusal(message, -32600))
            return True
        return False

    latest = [None]
    await is_found(Case("UTIL-20", R4, Takes(refuses_the_second)))

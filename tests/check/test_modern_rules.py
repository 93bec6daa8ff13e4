"""Findings of the judge on a modern server: each fault under its rule, and none for correct messages."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from inspector.check.judge.judge import Judge
from inspector.journal.format import Dir
from inspector.journal.journal import Journal

PREFIX = "io.modelcontextprotocol/"
R5 = "2026-07-28"
EXAMPLES = Path(__file__).parent.parent / "data" / "examples" / R5
INFO = {PREFIX + "serverInfo": {"name": "s", "version": "1"}}
KEPT = {"ttlMs": 1000, "cacheScope": "public"}
CAPABILITIES = {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "extensions": {PREFIX + "tasks": {}}}
DISCOVERED = {"supportedVersions": [R5], "capabilities": CAPABILITIES, **KEPT}
CLIENT = {"elicitation": {"form": {}}, "sampling": {}, "extensions": {PREFIX + "tasks": {}}}
FORM = {
    "method": "elicitation/create",
    "params": {"message": "?", "requestedSchema": {"type": "object", "properties": {}}},
}
URL = {"method": "elicitation/create", "params": {
    "mode": "url", "message": "?", "url": "https://a.example/", "elicitationId": "1"}}  # fmt: skip
SAMPLE: dict[str, Any] = {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}
TOOL = {"name": "t", "inputSchema": {"type": "object"}}
TASK = {"resultType": "task", "taskId": "7", "status": "working", "createdAt": "2026-01-01T00:00:00Z",
        "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttlMs": None}  # fmt: skip


class Modern:
    """A recording of the modern era with two hands, and its judge. Over HTTP each request has a channel of its own."""

    def __init__(self, *, http: bool = False, discover: bool = True, client: Any = CLIENT) -> None:
        self.journal = Journal.unnamed({})
        self.judge = Judge(self.journal)
        self.http = http
        self.client = client
        self.channels: dict[Any, str] = {}
        if discover:
            self.request("server/discover", id="discover-1")
            self.answer("discover-1", DISCOVERED)

    def request(self, method: str, params: dict[str, Any] | None = None, *, id: Any = 1, **meta: Any) -> int:
        meta = {PREFIX + "protocolVersion": R5, PREFIX + "clientCapabilities": self.client} | {
            PREFIX + key: value for key, value in meta.items()
        }
        message = {"jsonrpc": "2.0", "id": id, "method": method, "params": {**(params or {}), "_meta": meta}}
        self.channels[id] = f"post-{len(self.channels) + 1}" if self.http else "stdio"
        return self.journal.record_sent(self.channels[id], json.dumps(message).encode(), message)

    def answer(self, id: Any, result: Any, **members: Any) -> int:
        """A result with all that each result has."""
        body = {"resultType": "complete", "_meta": INFO, **result} if type(result) is dict else result
        return self.receive({"jsonrpc": "2.0", "id": id, "result": body}, id, **members)

    def fail(self, id: Any, code: Any, data: Any = None, status: int = 200) -> int:
        error = {"code": code, "message": "m"} | ({} if data is None else {"data": data})
        return self.receive({"jsonrpc": "2.0", "id": id, "error": error}, id, status=status)

    def tell(self, method: str, subscription: Any = None, *, on: Any = 1, **params: Any) -> int:
        meta = {} if subscription is None else {"_meta": {PREFIX + "subscriptionId": subscription}}
        return self.receive({"jsonrpc": "2.0", "method": method, "params": {**params, **meta}}, on)

    def receive(self, message: Any, on: Any = 1, status: int = 200) -> int:
        extra = "" if status == 200 else f',"status":{status}'
        raw = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.journal.record_received(self.channels.get(on, "stdio"), [raw], extra)
        return len(self.journal)

    def listen(self, id: Any = "l", agreed: Any = None, **requested: Any) -> int:
        n = self.request("subscriptions/listen", {"notifications": requested}, id=id)
        if agreed is not None:
            self.tell("notifications/subscriptions/acknowledged", id, on=id, notifications=agreed)
        return n

    def rules(self, n: int | None = None) -> list[str]:
        """The rules found for event `n`, or for all; what the schema says besides is not meant here."""
        self.judge.run_all()
        findings = self.journal.findings
        return [one.rule for one in (findings.all() if n is None else findings.of(n)) if one.rule != "BASE-14"]

    def all_rules(self) -> list[str]:
        self.judge.run_all()
        return [f"{one.n} {one.rule} {one.message}" for one in self.journal.findings.all()]


def both() -> tuple[Modern, Modern]:
    return Modern(), Modern(http=True)


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: inner for key, inner in value.items() if key not in names}


def test_a_session_without_fault_has_no_findings() -> None:
    for court in both():
        court.request("tools/list", id=1)
        court.answer(1, {"tools": [TOOL], "nextCursor": "2", **KEPT})
        court.request("tools/list", {"cursor": "2"}, id=2)
        court.answer(2, {"tools": [], **KEPT})
        court.listen(
            "l", {"toolsListChanged": True}, toolsListChanged=True, resourceSubscriptions=["a:b"], taskIds=["7"]
        )
        court.tell("notifications/tools/list_changed", "l", on="l")
        court.tell("notifications/resources/updated", "l", on="l", uri="a:b/c")
        court.tell("notifications/tasks", "l", on="l", **without(TASK, "resultType"))
        court.request("tools/call", {"name": "t", "progressToken": 1}, id=3, logLevel="info")
        court.tell("notifications/message", on=3, level="info", data=1)
        court.answer(3, {"resultType": "input_required", "inputRequests": {"a": FORM, "b": SAMPLE}})
        court.request("tools/call", {"name": "t"}, id=4)
        court.answer(4, {"resultType": "input_required", "requestState": "s"})
        court.request("tools/call", {"name": "t"}, id=5)
        court.answer(5, TASK)
        court.request("tasks/get", {"taskId": "7"}, id=6)
        court.answer(6, {**TASK, "resultType": "complete", "status": "input_required", "inputRequests": {"a": FORM}})
        court.request("completion/complete", {"ref": {}, "argument": {}}, id=7)
        court.answer(7, {"completion": {"values": []}})
        court.request("tools/call", {"name": "none"}, id=8)
        court.fail(8, -32602)
        court.tell("notifications/cancelled", on="l", requestId="l")
        court.answer("l", {"_meta": {PREFIX + "subscriptionId": "l", **INFO}})
        assert court.all_rules() == []


ANSWERS: list[tuple[str, str, Any, str]] = [
    # method, what is wrong, the result as it stands on the wire, the rule
    ("tools/call", "no resultType", {"content": [], "_meta": INFO}, "BASE-15"),
    ("tools/call", "an unknown resultType", {"resultType": "done", "content": []}, "BASE-16"),
    ("tools/call", "a resultType that is not a string", {"resultType": ["complete"], "content": []}, "BASE-16"),
    ("tools/call", "a server without version", {"content": [], "_meta": {PREFIX + "serverInfo": {"name": "s"}}}, "BASE-17"),
    ("tools/call", "a server that is a text", {"content": [], "_meta": {PREFIX + "serverInfo": "s"}}, "BASE-17"),
    ("tools/list", "no ttlMs", {"tools": [], "cacheScope": "public"}, "CACHE-01"),
    ("prompts/list", "no hints", {"prompts": []}, "CACHE-01"),
    ("resources/list", "no cacheScope", {"resources": [], "ttlMs": 0}, "CACHE-01"),
    ("resources/templates/list", "no hints", {"resourceTemplates": []}, "CACHE-01"),
    ("resources/read", "no hints", {"contents": []}, "CACHE-01"),
    ("tools/list", "a negative ttlMs", {"tools": [], **KEPT, "ttlMs": -1}, "CACHE-02"),
    ("tools/list", "a broken ttlMs", {"tools": [], **KEPT, "ttlMs": 1.5}, "CACHE-02"),
    ("tools/list", "a ttlMs that is true", {"tools": [], **KEPT, "ttlMs": True}, "CACHE-02"),
    ("tools/list", "a third scope", {"tools": [], **KEPT, "cacheScope": "shared"}, "CACHE-03"),
    ("tools/call", "hints beside wanted input",
     {"resultType": "input_required", "requestState": "s", "ttlMs": 1}, "CACHE-06"),
    ("tools/list", "input for a list", {"resultType": "input_required", "requestState": "s"}, "MRTR-01"),
    ("tools/call", "nothing wanted", {"resultType": "input_required"}, "MRTR-02"),
    ("tools/call", "requests as a list", {"resultType": "input_required", "inputRequests": [FORM]}, "MRTR-03"),
    ("tools/call", "another method", {"resultType": "input_required", "inputRequests": {"a": {"method": "ping"}}}, "MRTR-03"),
    ("tools/call", "no request at all", {"resultType": "input_required", "inputRequests": {"a": None}}, "MRTR-03"),
    ("tools/call", "roots, undeclared",
     {"resultType": "input_required", "inputRequests": {"a": {"method": "roots/list"}}}, "MRTR-04"),
    ("tools/call", "a URL, undeclared", {"resultType": "input_required", "inputRequests": {"a": URL}}, "MRTR-04"),
    ("tools/call", "tools of a model, undeclared", {"resultType": "input_required", "inputRequests": {
        "a": {**SAMPLE, "params": {**SAMPLE["params"], "tools": []}}}}, "MRTR-04"),
    ("tasks/get", "roots of a task, undeclared", {**TASK, "resultType": "complete", "status": "input_required",
                                                  "inputRequests": {"a": {"method": "roots/list"}}}, "MRTR-04"),
    ("prompts/get", "a task for a prompt", TASK, "C-TASK-02"),
    ("tools/call", "a task without id", without(TASK, "taskId"), "C-TASK-02"),
    ("tasks/get", "another resultType", TASK, "TASK-05"),
    ("tasks/cancel", "input for a cancellation", {"resultType": "input_required", "requestState": "s"}, "TASK-05"),
    ("server/discover", "no versions", {**without(DISCOVERED, "supportedVersions")}, "LIFE-21"),
    ("server/discover", "versions that are numbers", {**DISCOVERED, "supportedVersions": [1]}, "LIFE-21"),
    ("server/discover", "no capabilities", {**without(DISCOVERED, "capabilities")}, "LIFE-21"),
    ("server/discover", "no hints", without(DISCOVERED, *KEPT), "CACHE-01"),
    ("server/discover", "another version than asked", {**DISCOVERED, "supportedVersions": ["2025-11-25"]}, "LIFE-22"),
    ("server/discover", "an extension without prefix",
     {**DISCOVERED, "capabilities": {"extensions": {"tasks": {}}}}, "LIFE-28"),
    ("server/discover", "settings that are no object",
     {**DISCOVERED, "capabilities": {"extensions": {"a.b/c": True}}}, "LIFE-28"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "what", "result", "rule"), ANSWERS, ids=[f"{row[0]}: {row[1]}" for row in ANSWERS])
def test_faults_of_results(method: str, what: str, result: dict[str, Any], rule: str) -> None:
    for court in both():
        court.request(method, id=1)
        if rule == "BASE-15":
            n = court.receive({"jsonrpc": "2.0", "id": 1, "result": result})
        else:
            n = court.answer(1, result)
        assert rule in court.rules(n)
        assert court.rules() == court.rules(n)


def test_a_task_is_for_those_who_know_of_them() -> None:
    court = Modern(client={})
    court.request("tools/call", {"name": "t"}, id=1)
    n = court.answer(1, TASK)
    assert court.rules() == court.rules(n) == ["TASK-04"]


@pytest.mark.parametrize(
    ("client", "request_", "fault"),
    [
        ({"elicitation": {}}, FORM, False),
        ({"elicitation": {"url": {}}}, FORM, True),
        ({"elicitation": {"url": {}}}, URL, False),
        ({"elicitation": {}}, URL, True),
        ({}, FORM, True),
        ({}, SAMPLE, True),
        ({"sampling": {"tools": {}}}, {**SAMPLE, "params": {**SAMPLE["params"], "toolChoice": {}}}, False),
    ],
)
def test_input_is_wanted_of_whom_can_give_it(client: Any, request_: dict[str, Any], fault: bool) -> None:
    """MRTR-04: what counts is what this request declared."""
    court = Modern(client=client)
    court.request("tools/call", {"name": "t"}, id=1)
    n = court.answer(1, {"resultType": "input_required", "inputRequests": {"a": request_}})
    assert court.rules(n) == (["MRTR-04"] if fault else [])


def test_that_results_do_not_name_the_server_is_told_once() -> None:
    court = Modern()
    for id in (1, 2):
        court.request("tools/call", {"name": "t"}, id=id)
        court.answer(id, {"content": [], "_meta": {}})
    assert court.rules() == ["BASE-17"]


def test_all_pages_of_a_list_are_for_the_same_readers() -> None:
    court = Modern()
    court.request("tools/list", id=1)
    court.answer(1, {"tools": [], "nextCursor": "2", **KEPT})
    court.request("tools/list", {"cursor": "2"}, id=2)
    n = court.answer(2, {"tools": [], **KEPT, "cacheScope": "private"})
    court.request("tools/list", id=3)
    court.answer(3, {"tools": [], "nextCursor": "2", **KEPT, "cacheScope": "private"})
    assert court.rules() == court.rules(n) == ["CACHE-04"]


def changed(*between: dict[str, Any], ttl: Any = 300_000, method: str = "tools/list") -> list[str]:
    """The findings on a second, different answer, after messages of the server."""
    court = Modern()
    params = {"uri": "demo://a"} if method == "resources/read" else None
    court.request(method, params, id=1)
    court.answer(1, {"tools": [], "contents": [], **KEPT, "ttlMs": ttl})
    for message in between:
        court.receive(message)
    court.request(method, params, id=2)
    n = court.answer(2, {"tools": [], "contents": [{"uri": "demo://a", "text": "b"}], **KEPT, "ttlMs": ttl})
    return [rule for rule in court.rules(n) if rule == "C-HINT-03"]


@pytest.mark.parametrize("method", ["tools/list", "resources/read"])
def test_an_answer_that_changes_inside_its_time_to_live_is_noted(method: str) -> None:
    assert changed(method=method) == ["C-HINT-03"]


@pytest.mark.parametrize("ttl", [0, -1, None, "300000"])
def test_a_stale_answer_may_change(ttl: Any) -> None:
    assert changed(ttl=ttl) == []


@pytest.mark.parametrize(("method", "notification", "params"), [
    ("tools/list", "notifications/tools/list_changed", {}),
    ("resources/read", "notifications/resources/updated", {"uri": "demo://a"}),
])  # fmt: skip
def test_a_notification_ends_the_time_to_live(method: str, notification: str, params: dict[str, Any]) -> None:
    assert changed({"jsonrpc": "2.0", "method": notification, "params": params}, method=method) == []


def test_a_notification_about_something_else_does_not() -> None:
    other = {"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"}
    assert changed(other) == ["C-HINT-03"]


def test_annotations_for_the_header_obey_their_rules_over_http() -> None:
    tool = {"name": "t", "inputSchema": {
        "type": "object", "properties": {"a": {"type": "number", "x-mcp-header": "A"}}}}  # fmt: skip
    for court in both():
        court.request("tools/list", id=1)
        n = court.answer(1, {"tools": [tool], **KEPT})
        assert court.rules(n) == (["TOOL-19"] if court.http else [])


ERRORS: list[tuple[Any, Any, int, list[str]]] = [
    # code, data, HTTP status, rules over HTTP
    (-32602, None, 200, []),
    (-32601, None, 404, []),
    (-32601, None, 200, ["HTTP-69"]),
    (-32002, None, 200, ["BASE-21"]),
    (-32042, None, 200, ["BASE-21"]),
    (-32050, None, 200, ["BASE-20"]),
    (-32099, None, 200, ["BASE-20"]),
    (-32000, None, 200, ["BASE-22"]),
    (-32768, None, 200, ["BASE-22"]),
    (-32769, None, 200, []),
    (42, None, 200, []),
    (-32020, None, 400, []),
    (-32020, None, 200, ["HTTP-61"]),
    (-32021, {"requiredCapabilities": {"sampling": {}}}, 400, []),
    (-32021, {"requiredCapabilities": {"sampling": {}}}, 500, ["BASE-23"]),
    (-32021, {"requiredCapabilities": ["sampling"]}, 400, ["BASE-23"]),
    (-32021, None, 400, ["BASE-23"]),
    (-32022, {"supported": ["2027-01-01"], "requested": R5}, 400, []),
    (-32022, {"supported": ["2027-01-01"], "requested": R5}, 404, ["LIFE-23"]),
    (-32022, {"supported": [], "requested": R5}, 400, ["LIFE-23"]),
    (-32022, {"supported": "2027-01-01", "requested": R5}, 400, ["LIFE-23"]),
    (-32022, {"supported": ["2027-01-01"]}, 400, ["LIFE-23"]),
    (-32022, {"supported": [R5], "requested": R5}, 400, ["LIFE-23"]),
    (-32022, None, 400, ["LIFE-23", "LIFE-23"]),
    (True, None, 200, ["BASE-04"]),
]


@pytest.mark.parametrize(("code", "data", "status", "rules"), ERRORS)
def test_errors_and_their_status(code: Any, data: Any, status: int, rules: list[str]) -> None:
    court = Modern(http=True)
    court.request("tools/call", {"name": "t"}, id=1)
    n = court.fail(1, code, data, status)
    assert court.rules(n) == rules


def test_an_error_about_the_header_fields_of_a_notification_came_over_http() -> None:
    court = Modern(http=True)
    court.channels["notified"] = "post-9"
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32020, "message": "m"}}
    assert court.rules(court.receive(error, "notified", status=400)) == []


def test_an_error_about_header_fields_where_there_are_none() -> None:
    court = Modern()
    court.request("tools/call", {"name": "t"}, id=1)
    assert court.rules(court.fail(1, -32020)) == ["BASE-20"]
    court.request("tools/call", {"name": "t"}, id=2)
    assert court.rules(court.fail(2, -32601)) == []


def test_the_server_asks_by_a_request() -> None:
    for court in both():
        n = court.receive({"jsonrpc": "2.0", "id": 5, "method": "roots/list"})
        assert court.rules(n) == ["BASE-31"]


def test_log_messages_that_were_not_wanted() -> None:
    """C-LOG-02. On stdio the request of a log message is unknown, so one request with a logLevel is enough."""
    for court in both():
        court.request("tools/call", {"name": "t"}, id=1)
        unwanted = court.tell("notifications/message", on=1, level="info", data=1)
        court.request("tools/call", {"name": "t"}, id=2, logLevel="info")
        requested = court.tell("notifications/message", on=2, level="info", data=1)
        late = court.tell("notifications/message", on=1, level="info", data=1)
        assert court.rules(unwanted) == ["UTIL-11"]
        assert court.rules(requested) == []
        assert court.rules(late) == (["UTIL-11"] if court.http else [])


def test_what_is_given_of_one_request_comes_on_its_own_stream() -> None:
    court = Modern(http=True)
    court.request("tools/call", {"name": "t", "_meta": {}}, id=1)
    for id in (2, 3):
        message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": "t", "_meta": {"progressToken": id}}}  # fmt: skip
        court.channels[id] = f"post-x{id}"
        court.journal.record_sent(court.channels[id], json.dumps(message).encode(), message)
    right = court.tell("notifications/progress", on=2, progressToken=2, progress=1)
    foreign = court.tell("notifications/progress", on=3, progressToken=2, progress=2)
    assert court.rules(right) == []
    assert court.rules(foreign) == ["HTTP-17"]


SUBSCRIBED: list[tuple[str, Any, dict[str, Any], list[str]]] = [
    # notification, its subscriptionId, params, rules; asked for and agreed to: tools, and the resource a:b
    ("tools/list_changed", "l", {}, []),
    ("tools/list_changed", None, {}, ["SUB-04"]),
    ("tools/list_changed", "m", {}, ["SUB-04"]),
    ("tools/list_changed", ["l"], {}, ["SUB-04"]),
    ("resources/list_changed", "l", {}, ["C-LIFE-07", "SUB-03"]),
    ("resources/updated", "l", {"uri": "a:b"}, []),
    ("resources/updated", "l", {"uri": "a:b#part"}, []),
    ("resources/updated", "l", {"uri": "c:d"}, ["SUB-03"]),
    ("tasks", "l", {"taskId": "7"}, ["SUB-03"]),
    ("progress", "l", {"progressToken": "p", "progress": 1}, ["UTIL-16", "SUB-06"]),
    ("message", "l", {"level": "info", "data": 1}, ["UTIL-11", "SUB-06"]),
    ("cancelled", None, {"requestId": "l"}, []),
    ("cancelled", None, {"requestId": 9}, ["UTIL-21"]),
    ("cancelled", None, {"requestId": {}}, ["UTIL-21"]),
]


@pytest.mark.parametrize(("name", "id", "params", "rules"), SUBSCRIBED)
def test_what_a_subscription_brings(name: str, id: Any, params: dict[str, Any], rules: list[str]) -> None:
    for court in both():
        requested: dict[str, Any] = {"toolsListChanged": True, "resourceSubscriptions": ["a:b"]}
        court.listen("l", requested, **requested)
        n = court.tell(f"notifications/{name}", id, on="l", **params)
        # On the stream of a subscription a log message is that rule's business alone.
        expected = [rule for rule in rules if not (court.http and rule == "UTIL-11")]
        assert court.rules(n) == court.rules() == expected


ACKNOWLEDGED: list[tuple[Any, dict[str, Any], list[str]]] = [
    ("l", {"toolsListChanged": True}, []),
    ("l", {}, []),
    (None, {}, ["SUB-01"]),
    ("m", {}, ["SUB-01"]),
    ("l", {"promptsListChanged": True}, ["SUB-02"]),
    ("l", {"promptsListChanged": False}, []),
    ("l", {"resourceSubscriptions": ["a:b", "c:d"]}, ["SUB-02"]),
    ("l", {"taskIds": ["7"]}, ["SUB-02"]),
]


@pytest.mark.parametrize(("id", "agreed", "rules"), ACKNOWLEDGED)
def test_what_an_acknowledgement_says(id: Any, agreed: dict[str, Any], rules: list[str]) -> None:
    for court in both():
        court.listen("l", None, toolsListChanged=True, resourceSubscriptions=["a:b"])
        n = court.tell("notifications/subscriptions/acknowledged", id, on="l", notifications=agreed)
        assert court.rules(n) == court.rules() == rules


def test_a_subscription_id_of_another_type() -> None:
    court = Modern()
    court.listen(7, None, toolsListChanged=True)
    n = court.tell("notifications/subscriptions/acknowledged", "7", notifications={})
    right = court.tell("notifications/subscriptions/acknowledged", 7, notifications={})
    assert court.rules(n) == ["SUB-01"]
    assert "another type" in court.journal.findings.of(n)[0].message
    assert court.rules(right) == []


def test_the_acknowledgement_comes_first_and_each_on_its_own_stream() -> None:
    court = Modern(http=True)
    court.listen("l", None, toolsListChanged=True)
    court.listen("m", {"toolsListChanged": True}, toolsListChanged=True)
    early = court.tell("notifications/tools/list_changed", "l", on="l")
    foreign = court.tell("notifications/subscriptions/acknowledged", "l", on="m", notifications={})
    swapped = court.tell("notifications/tools/list_changed", "m", on="l")
    assert [court.rules(n) for n in (early, foreign, swapped)] == [["SUB-01"], ["SUB-01"], ["SUB-04"]]


def test_a_question_in_the_middle_of_a_session_forgets_nothing() -> None:
    court = Modern()
    court.listen("l", {"toolsListChanged": True}, toolsListChanged=True)
    court.request("server/discover", id=9)
    court.answer(9, DISCOVERED)
    court.tell("notifications/tools/list_changed", "l")
    assert court.all_rules() == []


def test_a_new_connection_starts_with_new_state() -> None:
    court = Modern()
    court.listen("l", {"toolsListChanged": True}, toolsListChanged=True)
    court.journal.record_life("", "reopen")
    court.request("server/discover", id=9)
    court.answer(9, DISCOVERED)
    n = court.tell("notifications/tools/list_changed", "l")
    assert court.rules(n) == ["SUB-04"]


def test_a_server_that_was_not_asked_who_it_is() -> None:
    """The first request shows the era. The server has not declared its capabilities, so no rule applies to them."""
    court = Modern(discover=False)
    court.listen("l", {"toolsListChanged": True}, toolsListChanged=True)
    court.tell("notifications/tools/list_changed", "l")
    court.request("tools/list", id=1)
    n = court.receive({"jsonrpc": "2.0", "id": 1, "result": {"tools": [], **KEPT}})
    assert court.rules() == court.rules(n) == ["BASE-15", "BASE-17"]


# Official examples


def _examples(suffix: str) -> list[Path]:
    return sorted(path for path in EXAMPLES.rglob("*.json") if path.parent.name.endswith(suffix))


METHODS = {
    "CallToolResult": "tools/call", "CompleteResult": "completion/complete", "DiscoverResult": "server/discover",
    "GetPromptResult": "prompts/get", "InputRequiredResult": "tools/call", "ListPromptsResult": "prompts/list",
    "ListResourceTemplatesResult": "resources/templates/list", "ListResourcesResult": "resources/list",
    "ListToolsResult": "tools/list", "ReadResourceResult": "resources/read",
    "SubscriptionsListenResult": "subscriptions/listen",
}  # fmt: skip


@pytest.mark.parametrize("path", [p for p in _examples("Result") if p.parent.name in METHODS], ids=lambda p: p.stem)
def test_official_results_are_not_blamed(path: Path) -> None:
    for court in both():
        court.request(METHODS[path.parent.name], {"name": "x"}, id="x", logLevel="info")
        n = court.receive({"jsonrpc": "2.0", "id": "x", "result": json.loads(path.read_text(encoding="utf-8"))}, "x")
        # Most of the examples do not name the server, and its discovery differs from the one that opened the session.
        assert [rule for rule in court.rules(n) if rule not in ("BASE-17", "C-HINT-03")] == []


@pytest.mark.parametrize("path", _examples("Error"), ids=lambda path: path.stem)
def test_official_errors_are_not_blamed(path: Path) -> None:
    example = json.loads(path.read_text(encoding="utf-8"))
    error = example.get("error", example)
    court = Modern(http=True)
    response = {"protocolVersion": error["data"]["requested"]} if error["code"] == -32022 else {}
    court.request("prompts/get", {"name": "x"}, id=1, **response)
    n = court.fail(1, error["code"], error.get("data"), 404 if error["code"] == -32601 else 400)
    assert court.rules(n) == []


@pytest.mark.parametrize("path", _examples("Notification"), ids=lambda path: path.stem)
def test_official_notifications_are_not_blamed(path: Path) -> None:
    message = json.loads(path.read_text(encoding="utf-8"))
    meta = message.get("params", {}).get("_meta", {})
    court = Modern(discover=False)
    requested = {
        "toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True,
        "resourceSubscriptions": ["file:///project/", "file:///project/config.json"],
    }  # fmt: skip
    listening = meta.get(PREFIX + "subscriptionId", message.get("params", {}).get("requestId", "l"))
    agreed = None if "acknowledged" in message["method"] else requested
    court.listen(listening, agreed, **requested)
    token = message.get("params", {}).get("progressToken")
    if token is not None:
        court.request("tools/call", {"name": "t"}, id=1)
        sent = court.journal.event(len(court.journal)).message
        sent = copy.deepcopy(sent) | {"id": 2}
        sent["params"]["_meta"]["progressToken"] = token
        court.journal.record_sent("stdio", json.dumps(sent).encode(), sent)
    court.request("tools/call", {"name": "t"}, id=3, logLevel="debug")
    court.receive(message)
    assert court.all_rules() == []


# What the negotiation asks of servers that do not know it


def initialized(court: Modern, channel: str = "stdio") -> None:
    """We go on with the handshake, as with a server that did not understand."""
    init = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "i", "version": "1"}}}  # fmt: skip
    welcome = {"jsonrpc": "2.0", "id": 0, "result": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}}  # fmt: skip
    court.journal.record_sent(channel, json.dumps(init).encode(), init)
    court.journal.record_received(channel, [json.dumps(welcome).encode()])


PROBED: list[tuple[Any, int]] = [
    ({"jsonrpc": "2.0", "id": "d", "result": {}}, 200),
    ({"jsonrpc": "2.0", "id": "d", "result": []}, 200),
    ({"jsonrpc": "2.0", "id": "d", "result": {"supportedVersions": ["2025-11-25"], "capabilities": []}}, 200),
    ({"jsonrpc": "2.0", "id": "d", "error": {"code": -32601, "message": "m"}}, 200),
    ({"jsonrpc": "2.0", "id": "d", "error": {"code": -32000, "message": "m"}}, 200),
    ({"jsonrpc": "2.0", "id": "d", "error": {"code": -32022, "message": "m", "data": {"supported": []}}}, 200),
]
REFUSED: list[tuple[Any, int]] = [
    (b"<!DOCTYPE html><h1>Not Found</h1>", 404),
    (b"", 405),
    (b'{"error":"invalid_token"}', 401),
    (b'{"detail":"Not Found","detail":1}', 404),
    (b"\xff\xfe", 500),
    ([], 400),
    ([1], 400),
    ({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "Server not initialized"}}, 400),
    ({"jsonrpc": "2.0", "error": {"code": -32000, "message": "m"}}, 400),
    ({"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32600, "message": "Missing session ID"}}, 400),
    ({"jsonrpc": "2.0", "id": "d", "error": {"code": -32601, "message": "m"}}, 404),
]


@pytest.mark.parametrize(("body", "status"), [*PROBED, *REFUSED])
def test_a_server_of_the_handshake_may_answer_the_question_as_it_likes(body: Any, status: int) -> None:
    for court in (Modern(discover=False), Modern(discover=False, http=True)):
        if court.http or status == 200:
            court.request("server/discover", id="d")
            court.receive(body, "d", status)
            initialized(court, "post-2" if court.http else "stdio")
            assert court.all_rules() == []


@pytest.mark.parametrize(("body", "status"), REFUSED)
def test_the_body_of_a_refusal_may_be_anything(body: Any, status: int) -> None:
    """In the handshake too, and at any time."""
    court = Modern(discover=False, http=True)
    initialized(court, "post-1")
    message = {"jsonrpc": "2.0", "id": "d", "method": "tools/list"}
    court.channels["d"] = "post-2"
    court.journal.record_sent("post-2", json.dumps(message).encode(), message)
    court.receive(body, "d", status)
    assert court.all_rules() == []


@pytest.mark.parametrize(("body", "status"), REFUSED)
def test_so_may_that_of_a_refused_notification(body: Any, status: int) -> None:
    court = Modern(discover=False, http=True)
    initialized(court, "post-1")
    message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    court.channels["n"] = "post-2"
    court.journal.record_sent("post-2", json.dumps(message).encode(), message)
    court.receive(without(body, "id") | {"id": None} if type(body) is dict else body, "n", status)
    assert court.all_rules() == []


def test_what_claims_to_be_an_error_response_is_held_to_it() -> None:
    court = Modern(discover=False, http=True)
    initialized(court, "post-1")
    court.request("tools/list", id="d")
    n = court.receive({"jsonrpc": "2.0", "id": "d", "error": {"code": "x", "message": 1}}, "d", 400)
    assert court.rules(n) == ["BASE-04", "BASE-04"]


def test_an_error_without_id_is_reported_by_the_response_that_brought_it() -> None:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "m"}}
    for court in both():
        court.request("tools/list", id=1)
        n = court.receive(error)
        court.judge.run_all()
        levels = [finding.level for finding in court.journal.findings.of(n)]
        assert levels == (["note"] if court.http else ["should"]), "the fault is the response that is missing"


def test_what_is_not_json_in_an_answer_that_was_accepted_is_named() -> None:
    court = Modern(discover=False, http=True)
    initialized(court, "post-1")
    court.request("tools/list", id=1)
    assert court.rules(court.receive(b"<html>")) == ["BASE-01"]


def test_an_answer_that_says_nothing_is_judged_when_we_go_on_as_if_it_did() -> None:
    court = Modern(discover=False)
    court.request("server/discover", id="d")
    n = court.receive({"jsonrpc": "2.0", "id": "d", "result": {}}, "d")
    assert court.rules() == []
    court.request("tools/list", id=1)
    assert {"BASE-15", "LIFE-21", "CACHE-01"} <= set(court.rules(n))
    assert {court.journal.index.dir(finding.n) for finding in court.journal.findings.all()} == {Dir.RECV}


def test_a_question_of_a_server_that_has_not_shown_its_era_is_none_of_the_modern_rules() -> None:
    court = Modern(discover=False)
    court.request("server/discover", id="d")
    court.receive({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert court.all_rules() == []


HOSTILE = (
    None, True, -1, 1.5, 10**400, float("nan"), "", "x" * 5000, "\ud800\x1b", [], {}, [[[]]], {"a": {"b": []}},
    {"name": {"name": 1}}, [None, "x", {"name": []}],
)  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_values_of_any_type_in_any_place_are_judged_and_never_fail(value: Any) -> None:
    court = Modern(http=True)
    id = 10
    for row in ANSWERS:
        for key in row[2]:
            id += 1
            court.request(row[0], {"cursor": value}, id=id)
            court.answer(id, {**row[2], key: value}, status=400 if id % 2 else 200)
    for requests in ({"a": value}, {"a": {"method": value}}, {"a": {**FORM, "params": value}},
                     {"a": {**FORM, "params": {"mode": value}}}):  # fmt: skip
        id += 1
        court.request("tools/call", value if type(value) is dict else {}, id=id)
        court.answer(id, {"resultType": "input_required", "inputRequests": requests, "_meta": value})
        court.fail(id, value, value)
    court.listen("l", value, toolsListChanged=value, resourceSubscriptions=value, taskIds=value)
    for name in ("tools/list_changed", "resources/updated", "tasks", "progress", "message", "cancelled",
                 "subscriptions/acknowledged"):  # fmt: skip
        court.tell(f"notifications/{name}", value, on="l", uri=value, taskId=value, requestId=value)
        court.tell(f"notifications/{name}", "l", on="l", notifications=value, uri=value, taskId=value, level=value)
        court.receive({"jsonrpc": "2.0", "method": f"notifications/{name}", "params": value}, "l")
        court.receive({"jsonrpc": "2.0", "method": f"notifications/{name}", "params": {"_meta": value}}, "l")
    court.client = value
    court.request("server/discover", id="again")
    court.answer("again", {"supportedVersions": value, "capabilities": {"extensions": value}})
    court.fail("again", -32022, {"supported": value, "requested": value})
    court.rules()
